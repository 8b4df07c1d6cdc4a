"""EXP3-DOM (Alon, Cesa-Bianchi, Gentile & Mansour 2013, Algorithm 2): exploration on a dominating set."""

import math
from dataclasses import dataclass

import numpy as np

from graphbandit.base.array_types import RoundsByArms
from graphbandit.base.checks import setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.learners.every_round.exponential_weights import Exp3Learner, Exp3State
from graphbandit.rounds.decisions import Decisions


@savable
@dataclass(frozen=True, kw_only=True)
class Exp3DOM(Exp3Learner):
    """p = (1 - gamma) w + gamma times uniform on R, where R is a greedy dominating set of the round's graph.

    Rounds fall into levels b = floor(log2 |R|) with weights w of their own, w(a) proportional to exp(-(gamma_b / 2^b)
    sum of estimated losses of the level). gamma_b = min(1, sqrt(2^b log K / 2^r)), where r grows by 1 and the level
    starts afresh once the sum of 1 + Q_t / 2^(b+1) over its rounds passes 2^r (the paper's doubling trick; r starts at
    the smallest whole number with gamma_b of at most 1). A late reward is added to the level of its round, even if that
    level has restarted since: with long delays the sums after a restart hold losses from before it.

    - `eta`: learning rate of all levels. None (default): gamma_b / 2^b.
    - `gamma`: share of exploration of all levels, without the doubling trick. None (default): gamma_b.
    - `low`, `high`: the range of rewards, 0 and 1 by default; loss = (high - reward) / (high - low).
    - `clip`: whether a reward outside counts as the nearer end; False (default): it is refused.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(Exp3DOM(gamma=0.4), Problem(n_arms=4))
    >>> decision = bandit.decide([], graphs.star(4, hub=2))
    >>> decision.exploration_set, decision.probabilities  # 0.6 times 1/4, and 0.4 on the hub
    (array([2]), array([0.15, 0.15, 0.55, 0.15]))
    """

    gamma: float | None = None

    _rule = "EXP3_DOM"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma is not None and setting_number("gamma", self.gamma, above=0.0) > 1.0:
            raise SettingError(f"gamma is {self.gamma!r}; expected a number above 0 and up to 1")

    def _address(self) -> int:
        from graphbandit.kernels.graphs.domination import cover_pointer

        return cover_pointer()

    def _empty(self, n_arms: int) -> tuple[Float[np.ndarray, "levels arms"], Float[np.ndarray, "kinds 2"]]:
        levels = n_arms.bit_length()
        totals = np.zeros((levels, 2))
        for b in range(levels if n_arms > 1 else 0):
            totals[b, 1] = max(0, math.ceil(math.log2(2**b * math.log(n_arms))))
        return np.zeros((levels, n_arms)), totals

    def _losses(self, state: Exp3State, made: Decisions) -> RoundsByArms:
        """Those of the level that a round falls into."""
        levels = made.notes[:, 0].astype(np.int64)
        return np.asarray(state.losses[levels])
