"""Greedy: always the arm that looks best. No exploration but the first epoch, and what the graph reveals by itself."""

from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import AnyFunctionClass, EpochState
from graphbandit.learners.epochs.estimates import RuleLearner
from graphbandit.planning.sampled_rounds import UNIFORM, SamplingRule

_BEST_ALONE = SamplingRule(explore="best", coverage="none", rate=0.0)


# the examples of Falcon, RegCB.G and Greedy have the same data, to be compared
@savable
@dataclass(frozen=True, kw_only=True)
class Greedy(RuleLearner):
    """Plays argmax_a fhat_m(x, a); uniform in epoch 1, when there is no estimate.

    It is hard to beat where contexts are diverse or the graph reveals much, and may stay with a wrong arm forever
    elsewhere.

    - `epoch_growth`: factor between the ends of epochs, 2 by default; smaller fits more often.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> import numpy as np
    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    >>> bandit = Bandit(Greedy(), Problem(n_arms=3, function_class=functions))
    >>> for t in range(2):  # epoch 1; the rewards are those of the first function
    ...     bandit.observe(bandit.decide([0.1, 0.5, 0.4], graphs.complete(3)), {0: 0.1, 1: 0.5, 2: 0.4})
    >>> bandit.decide([0.1, 0.5, 0.4], graphs.complete(3)).probabilities
    array([0., 1., 0.])
    """

    epoch_growth: float = 2.0
    function_class: AnyFunctionClass | None = None

    def rule(self, state: EpochState) -> SamplingRule:
        """Uniform over all arms in epoch 1; afterwards the only arm to cover is the best."""
        return UNIFORM if state.model is None else _BEST_ALONE
