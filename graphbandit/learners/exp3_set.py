"""EXP3-SET (Alon, Cesa-Bianchi, Gentile & Mansour 2013, Algorithm 1): weights that need no graph beforehand."""

from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.every_round.exponential_weights import Exp3Learner, Exp3State
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


@savable
@dataclass(frozen=True, kw_only=True)
class Exp3SET(Exp3Learner):
    """p(a) proportional to exp(-eta sum_s l_s(a)), l_s(a) = loss / q_s(a) where it was revealed and 0 elsewhere.

    q(a) is the probability that an arm that reveals a is played. The regret is at most log(K) / eta + (eta / 2)
    sum_t Q_t, Q_t = sum_a p_t(a) / q_t(a), which is at most the independence number of an undirected graph.

    - `eta`: learning rate. None (default): eta_t = sqrt(2 log K / (K + sum_{s<t} Q_s)), the best fixed one for what was
      seen so far, so no horizon and no property of the graphs must be known.
    - `low`, `high`: the range of rewards, 0 and 1 by default; loss = (high - reward) / (high - low).
    - `clip`: whether a reward outside counts as the nearer end; False (default): it is refused.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(Exp3SET(eta=0.5), Problem(n_arms=2))
    >>> decision = bandit.decide([], graphs.complete(2))
    >>> bandit.observe(decision, {0: 1.0, 1: 0.0})  # losses 0 and 1, both seen with probability 1
    >>> bandit.decide([], graphs.complete(2)).probabilities.round(4)  # 1 and exp(-0.5), in proportion
    array([0.6225, 0.3775])
    """

    _rule = "EXP3_SET"

    def words(self, state: Exp3State, shown: Shown, made: Decisions) -> Words:
        """The weights are the probabilities."""
        return {"weight": made.baseline, "estimated losses": self._losses(state, made)}
