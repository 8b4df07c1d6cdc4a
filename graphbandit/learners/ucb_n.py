"""UCB-N (Caron, Kveton, Lelarge & Bhagat 2012, Algorithm 1): UCB1 that learns from every reward it is shown."""

from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.every_round.arm_means import OptimisticMeansLearner


@savable
@dataclass(frozen=True, kw_only=True)
class UCBN(OptimisticMeansLearner):
    """Play the arm with the largest mean + width sigma sqrt(8 log t / O(a)), lowest index on ties.

    O(a) counts how often arm a's reward was seen, whichever arm revealed it; arms never seen come first. The paper has
    rewards in [0, 1] and sqrt(2 log t / O), which is sigma = 1/2, the largest sub-Gaussian scale of such rewards.
    Contexts are ignored. The noise is told, so decisions depend on the units of the rewards.

    - `width`: scales the bound, 1 by default; less explores less.
    - `noise`: sigma, the sub-Gaussian scale of rewards; None (default): the problem's.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> import numpy as np
    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(UCBN(), Problem(n_arms=3, noise=0.5))
    >>> played = []
    >>> for t in range(5):
    ...     decision = bandit.decide([], graphs.star(3, hub=0))
    ...     bandit.observe(decision, {int(a): float(a) for a in decision.revealed})
    ...     played.append(decision.action)
    >>> played  # the hub reveals all; arm 2 is the best by far
    [0, 2, 2, 2, 2]
    """

    _rule = "UCB_N"
