"""TS-N (Tossou et al. 2017; Liu, Buccapatnam & Shroff 2018): Thompson sampling with side observations."""

from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.every_round.arm_means import GaussianMeansLearner


# the settings are those of GaussianMeansLearner, listed here and in IDSN so that help() shows them
@savable
@dataclass(frozen=True, kw_only=True)
class TSN(GaussianMeansLearner):
    """Play each arm with the probability that it is the best, under the posterior given every reward revealed.

    Arm means are independent N(prior_mean, prior_scale^2) beforehand and rewards N(mean, sigma^2). Thompson sampling
    draws from the posterior and plays the best draw. Here the probability that each arm would be that best is computed
    by quadrature, within about 1e-3 of the integral, and the arm is drawn from it: the same algorithm, with known
    propensities.

    The noise and the prior are told, so decisions depend on the units and the zero of the rewards. Where you do not
    know them, take `IDSG` with a `LinearClass` per arm.

    - `prior_mean`, `prior_scale`: of the arm means beforehand, 0 and 1 by default.
    - `noise`: sigma, the sub-Gaussian scale of rewards; None (default): the problem's.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(TSN(), Problem(n_arms=2, noise=0.5))
    >>> decision = bandit.decide([], graphs.complete(2))
    >>> decision.probabilities
    array([0.5, 0.5])
    """

    _rule = "TS_N"

    def _address(self) -> int:
        from graphbandit.kernels.learners.gaussian_best import best_pointer

        return best_pointer()
