"""IDS-N (Liu, Buccapatnam & Shroff 2018): information-directed sampling that knows what the graph reveals."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.learners.every_round.arm_means import ArmMeansState, GaussianMeansLearner
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


# the settings are those of GaussianMeansLearner, listed here and in TSN so that help() shows them
@savable
@dataclass(frozen=True, kw_only=True)
class IDSN(GaussianMeansLearner):
    """Play the p of the smallest information ratio (sum_a p(a) Delta(a))^2 / sum_a p(a) sum_{j in out(a)} h(j).

    Delta(a) is the expected regret of arm a under the posterior, and h(j) is what a reward of arm j tells about which
    arm is the best. Some p on at most two arms has the smallest ratio (the long version of Russo & Van Roy 2014), and
    it is found exactly. The posterior is Gaussian, as in `TSN`. h(j) is the lower bound Var(E[theta_j | best arm]) / (2
    (sigma^2 + Var theta_j)) of the mutual information: Russo & Van Roy's v(a) of their variance-based form, divided by
    2 (sigma^2 + Var), where the paper computes the information itself for rewards 0 and 1.

    The noise and the prior are told, so decisions depend on the units and the zero of the rewards. Where you do not
    know them, take `IDSG` with a `LinearClass` per arm.

    - `prior_mean`, `prior_scale`: of the arm means beforehand, 0 and 1 by default.
    - `noise`: sigma, the sub-Gaussian scale of rewards; None (default): the problem's.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(IDSN(), Problem(n_arms=3, noise=0.5))
    >>> bandit.decide([], graphs.star(3, hub=1)).action  # all cost the same, and the hub tells most
    1
    """

    _rule = "IDS_N"

    def _address(self) -> int:
        from graphbandit.kernels.learners.gaussian_information import ids_pointer

        return ids_pointer()

    def words(self, state: ArmMeansState, shown: Shown, made: Decisions) -> Words:
        """The posterior and, for a single round, the expected regret and information that follow from it."""
        from graphbandit.kernels.learners.gaussian_information import regrets_and_information

        words = super().words(state, shown, made)
        if len(made) != 1:
            return words
        means, variances = self._posterior(state)
        regrets, information = np.empty((2, len(means)))
        offered = np.ascontiguousarray(shown.offered(len(means))[0])
        noise = self._settings(state.problem).noise
        regrets_and_information(means, variances, noise, offered, regrets, information)
        return {**words, "expected regret": regrets[None], "information": information[None]}
