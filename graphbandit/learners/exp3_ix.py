"""EXP3-IX (Kocak, Neu, Valko & Munos 2014): implicit exploration with side observations."""

from dataclasses import dataclass

from graphbandit.base.checks import optional_number
from graphbandit.base.saved_files import savable
from graphbandit.learners.every_round.exponential_weights import Exp3Learner


@savable
@dataclass(frozen=True, kw_only=True)
class Exp3IX(Exp3Learner):
    """p(a) proportional to exp(-eta_t sum_s l_s(a)), l_s(a) = loss / (q_s(a) + gamma_s) where it was revealed.

    The bias gamma takes the place of explicit exploration.

    - `eta`, `gamma`: learning rate and bias. None (default): the paper's, eta_t = gamma_t = sqrt(log K / (K + sum_{s<t}
      Q_s)) with Q_s = sum_a p_s(a) / (q_s(a) + gamma_s), which needs to know neither the graphs nor the horizon.
    - `low`, `high`: the range of rewards, 0 and 1 by default; loss = (high - reward) / (high - low).
    - `clip`: whether a reward outside counts as the nearer end; False (default): it is refused.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(Exp3IX(eta=1.0, gamma=0.25), Problem(n_arms=2))
    >>> decision = bandit.decide([], graphs.complete(2))
    >>> bandit.observe(decision, {0: 1.0, 1: 0.0})  # losses 0 and 1, which counts 1 / (1 + 0.25)
    >>> bandit.decide([], graphs.complete(2)).probabilities.round(4)  # 1 and exp(-0.8), in proportion
    array([0.69, 0.31])
    """

    gamma: float | None = None

    _rule = "EXP3_IX"

    def __post_init__(self) -> None:
        super().__post_init__()
        optional_number("gamma", self.gamma, above=0.0)
