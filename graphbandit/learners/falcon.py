"""FALCON (Simchi-Levi & Xu 2021): inverse-gap weighting over all arms; the graph only feeds the estimate."""

from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import EpochState
from graphbandit.learners.epochs.estimates import InverseGapLearner
from graphbandit.planning.sampled_rounds import SamplingRule


# the examples of Falcon, RegCB.G and Greedy have the same data, to be compared
@savable
@dataclass(frozen=True, kw_only=True)
class Falcon(InverseGapLearner):
    """p(a) = 1 / (K + gamma_m c(a)) for a != best, the rest on best; uniform in epoch 1.

    gamma_m = sqrt(eta K tau_{m-1} / (2 log(2 K |F| T^2 / delta))), divided by the span of the rewards where the class
    holds a + b f with every f, so that units do not matter. It uses every reward the graph reveals to estimate,
    and ignores the graph when choosing: the baseline of Gong & Zhang's experiments, and this is their gamma. The
    published one has another constant, which `eta` of about 1/200 recovers.

    - `eta`: strength of exploitation; gamma^2 is in proportion to it. 1 (default) is Gong & Zhang's.
    - `delta`: probability of failure, 0.1 by default.
    - `epoch_growth`: factor between the ends of epochs, 2 by default; smaller fits more often.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> import numpy as np
    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    >>> bandit = Bandit(Falcon(), Problem(n_arms=3, function_class=functions))
    >>> for t in range(2):  # epoch 1; the rewards are those of the first function
    ...     bandit.observe(bandit.decide([0.1, 0.5, 0.4], graphs.complete(3)), {0: 0.1, 1: 0.5, 2: 0.4})
    >>> decision = bandit.decide([0.1, 0.5, 0.4], graphs.complete(3))
    >>> round(decision.gamma, 4), decision.probabilities.round(4)  # 1 / (3 + 0.4 gamma), the rest, 1 / (3 + 0.1 gamma)
    (0.5664, array([0.3099, 0.3629, 0.3272]))
    """

    def rule(self, state: EpochState) -> SamplingRule:
        """All arms, no program."""
        return SamplingRule(explore="all", coverage="none", rate=self._rate(state))
