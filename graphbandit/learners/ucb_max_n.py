"""UCB-MaxN (Caron, Kveton, Lelarge & Bhagat 2012, Algorithm 2): explore an arm through its best neighbour."""

from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.every_round.arm_means import OptimisticMeansLearner


@savable
@dataclass(frozen=True, kw_only=True)
class UCBMaxN(OptimisticMeansLearner):
    """Find UCB-N's arm i, and play the arm of the highest mean among those that reveal i.

    The bound of arm i is `UCBN`'s. Only arms whose reward was ever seen have a mean; where none of those that reveal
    i has one, i itself is played. The paper's graph is undirected and fixed; here "neighbours" are the arms that
    reveal i in this round's graph. The noise is told, so decisions depend on the units of the rewards.

    - `width`: scales the bound, 1 by default; less explores less.
    - `noise`: sigma, the sub-Gaussian scale of rewards; None (default): the problem's.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(UCBMaxN(), Problem(n_arms=3, noise=0.5))
    >>> played = []
    >>> for t in range(5):
    ...     decision = bandit.decide([], graphs.complete(3))
    ...     bandit.observe(decision, {int(a): float(a) for a in decision.revealed})
    ...     played.append(decision.action)
    >>> played
    [0, 2, 2, 2, 2]
    """

    _rule = "UCB_MAX_N"
