"""Modified RegCB.G: the method of Zhang et al. (2023) with an offline oracle, as the paper compares with it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphbandit.base.array_types import ArmMasks
from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import EpochState
from graphbandit.learners.epochs.estimates import InverseGapLearner
from graphbandit.planning.sampled_rounds import SamplingRule
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


# the examples of Falcon, RegCB.G and Greedy have the same data, to be compared
@savable
@dataclass(frozen=True, kw_only=True)
class RegCBG(InverseGapLearner):
    """p(a) = 1 / (|S_t| + gamma_t c(a)) on the exploration set S_t of all arms, the rest on best.

    gamma_t = sqrt(eta |S_t| tau_{m-1} / (2 log(2 K |F| T^2 / delta))), divided by the span of the rewards where the
    class holds a + b f with every f, so that units do not matter; uniform on S_t in epoch 1. It has no candidate
    set, scale factor or linear program, which AdaCB.G adds; the paper's ablation shows what they are worth.

    - `eta`: strength of exploitation; gamma^2 is in proportion to it. 1 (default) is the paper's.
    - `delta`: probability of failure, 0.1 by default.
    - `epoch_growth`: factor between the ends of epochs, 2 by default; smaller fits more often.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> import numpy as np
    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    >>> bandit = Bandit(RegCBG(), Problem(n_arms=3, function_class=functions))
    >>> bandit.decide([0.1, 0.5, 0.4], graphs.complete(3)).exploration_set  # one arm reveals all
    array([0])
    >>> Bandit(RegCBG(), bandit.problem).decide([0.1, 0.5, 0.4], graphs.bandit(3)).probabilities.round(4)
    array([0.3333, 0.3333, 0.3333])
    """

    said: ClassVar[Words] = {**InverseGapLearner.said, "exploration set": "exploration_set"}

    needs_loops = True
    """Yes: S covers the arms outside it, and itself."""

    def rule(self, state: EpochState) -> SamplingRule:
        """The greedy exploration set, no program."""
        return SamplingRule(explore="candidates", coverage="none", rate=self._rate(state))

    def candidates(self, state: EpochState, shown: Shown) -> ArmMasks:
        """Every arm on offer."""
        return np.array(shown.offered(state.problem.n_arms))
