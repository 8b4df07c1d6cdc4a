"""LinUCB with side observations: optimism in ridge regression (Li et al. 2010; Abbasi-Yadkori et al. 2011)."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import LARGEST_SCALE, optional_number, setting_number
from graphbandit.base.direct_calls import kernels_of
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import tuple_of
from graphbandit.learners.every_round.linear_rewards import LinearLearner
from graphbandit.learners.problem import Problem

if TYPE_CHECKING:
    from graphbandit.kernels.learners.linear_rewards import LinearSettings


@savable
@dataclass(frozen=True, kw_only=True)
class LinUCB(LinearLearner):
    """Play the arm with the largest phi' theta + alpha sqrt(phi' V^-1 phi), lowest index on ties.

    V = ridge I + sum phi phi' and theta = V^-1 sum r phi run over every reward the graph has revealed. Contexts of
    shape (arms, d) are features of the arms, for one theta. Contexts of shape (d,) are features of the round, for a
    theta of each arm; or, with `arm_features` z, for one theta and phi = x kron z(a).

    - `alpha`: Li et al.'s constant. None (default): the radius of the confidence set (Abbasi-Yadkori et al., Theorem
      2), sigma sqrt(2 log(1/delta) + log(det V / ridge^d)) + sqrt(ridge) norm_bound.
    - `delta`: probability of failure of that radius, 0.1 by default; divided by K where each arm has its own theta.
    - `arm_features`: z, shape (arms, d_a); None (default): none.
    - `intercept`: whether a 1 is put behind x, and behind z; False by default.
    - `ridge`: regularisation of the regression, 1 by default.
    - `norm_bound`: the largest |theta| that the radius allows for, 1 by default.
    - `noise`: sigma, the sub-Gaussian scale of rewards; None (default): the problem's. Where neither says it, rewards
      are counted from the first one, sigma is estimated on the high side (half the span of the rewards at least), and
      `norm_bound` is in units of that half: then, with `alpha=None`, the units of rewards do not matter.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(LinUCB(alpha=1.0), Problem(n_arms=3))
    >>> arms = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    >>> played = []
    >>> for t in range(5):
    ...     decision = bandit.decide(arms, graphs.bandit(3))
    ...     bandit.observe(decision, {decision.action: 2.0 * arms[decision.action][1]})
    ...     played.append(decision.action)
    >>> played  # both axes once, then the one that pays
    [0, 1, 1, 1, 1]
    """

    alpha: float | None = None
    delta: float = 0.1
    # these fields are here and not in the base: the name of a type is looked up in the module of the class
    arm_features: "npt.ArrayLike | None" = None
    intercept: bool = False
    ridge: float = 1.0
    norm_bound: float = 1.0
    noise: float | None = None

    _told_words = ("estimate", "upper bound")

    def __post_init__(self) -> None:
        optional_number("alpha", self.alpha, at_least=0.0)
        optional_number("noise", self.noise, at_least=0.0, at_most=LARGEST_SCALE)
        setting_number("delta", self.delta, above=0.0, below=1.0)
        setting_number("norm_bound", self.norm_bound, at_least=0.0)
        self._check_features()

    def _counts_from_first(self, problem: Problem) -> bool:
        return self.alpha is None and math.isnan(self._told_noise(problem))

    def _settings(self, problem: Problem, features: Float[np.ndarray, "n rows d"]) -> "LinearSettings":
        kernels = kernels_of("learners.linear_rewards")
        width = math.nan if self.alpha is None else float(self.alpha)
        noise = self._told_noise(problem) if self.alpha is None else 0.0
        log_term = 2.0 * math.log(self._vectors(problem, features) / self.delta)
        bias = math.sqrt(self.ridge) * self.norm_bound
        # the last three are for LinTS
        settings: LinearSettings = tuple_of(
            kernels.LinearSettings, (kernels.LIN_UCB, features, width, noise, log_term, bias, 0, 0, 0)
        )
        return settings
