"""EXP3.G (Alon, Cesa-Bianchi, Dekel & Koren 2015, Algorithm 1): any graph in which some arm reveals each arm."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.checks import optional_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.learners.every_round.exponential_weights import Exp3Learner


@savable
@dataclass(frozen=True, kw_only=True)
class Exp3G(Exp3Learner):
    """p = (1 - gamma) w + gamma u, w(a) proportional to exp(-eta sum_s l_s(a)), l_s(a) = loss / q_s(a) where revealed.

    The paper has one graph. Where graphs change, alpha and delta are averages over the rounds so far. Without a
    horizon, T is the number of the round. A graph with an arm that nothing reveals is refused.

    - `eta`, `gamma`: learning rate and share of exploration. None (default): those of the paper's Theorem 2. While all
      graphs were strongly observable (each arm reveals itself or is revealed by all others), u is uniform on all arms,
      gamma = min(sqrt(1 / (alpha T)), 1/2) and eta = 2 gamma. From the first weakly observable graph on, gamma =
      min((delta log K / T)^(1/3), 1/2) and eta = gamma^2 / delta, and in such rounds u is uniform on delta arms, found
      greedily, that together reveal all weakly observable ones. Only arms on offer count in what reveals an arm.
    - `independence`: alpha. None (default): the size of a greedy independent set.
    - `low`, `high`: the range of rewards, 0 and 1 by default; loss = (high - reward) / (high - low).
    - `clip`: whether a reward outside counts as the nearer end; False (default): it is refused.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> import numpy as np
    >>> from graphbandit import Bandit, FeedbackGraph, Problem
    >>> bandit = Bandit(Exp3G(gamma=0.2, eta=0.1), Problem(n_arms=3))
    >>> only_by_0 = FeedbackGraph.from_edges([(0, 0), (0, 1), (0, 2)], 3, require_loops=False)
    >>> decision = bandit.decide([], only_by_0)
    >>> decision.exploration_set, decision.probabilities.round(4)  # 0.8 / 3 each, and 0.2 on arm 0
    (array([0]), array([0.4667, 0.2667, 0.2667]))
    """

    gamma: float | None = None
    independence: float | None = None

    _rule = "EXP3_G"

    needs_loops = False
    """No: it is enough that some arm reveals each arm."""

    def __post_init__(self) -> None:
        super().__post_init__()
        optional_number("gamma", self.gamma, above=0.0)
        optional_number("gamma", self.gamma, below=1.0)
        optional_number("independence", self.independence, at_least=1.0)

    def _address(self) -> int:
        from graphbandit.kernels.learners.exponential_weights import observability_pointer

        return observability_pointer()

    def _empty(self, n_arms: int) -> tuple[Float[np.ndarray, "levels arms"], Float[np.ndarray, "kinds 2"]]:
        return np.zeros((1, n_arms)), np.zeros((2, 2))
