"""LinTS with side observations: Thompson sampling in ridge regression (Agrawal & Goyal 2013)."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import LARGEST_SCALE, optional_number, setting_integer, setting_number
from graphbandit.base.direct_calls import kernels_of
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.learners.every_round.linear_rewards import LinearLearner
from graphbandit.learners.problem import Problem

if TYPE_CHECKING:
    from graphbandit.kernels.learners.linear_rewards import LinearSettings

MOST_DRAWS = 1_000_000
"""Draws for a decision, at most: a kernel that draws cannot be interrupted."""


@savable
@dataclass(frozen=True, kw_only=True)
class LinTS(LinearLearner):
    """Play each arm as often as it is the best of a posterior draw, theta ~ N(V^-1 sum r phi, (scale sigma)^2 V^-1).

    V and the features are those of `LinUCB`; every reward the graph reveals counts.

    Textbooks take one draw and play its best arm. Here p is worked out first and the arm is drawn from it, so that
    propensities are known. With a theta for each arm the arms are independent and p is an integral, as in `TSN`. With
    one theta for all, p(a) is the share of `draws` draws in which a is the best, the same law as one draw picked out of
    them. The draws of a round are fixed by its number and `seed`, whatever happens, so p is a function of state and
    context alone and the recorded propensities are exactly the true ones. With one theta for all, repeats of a
    simulation therefore share these draws, and their effect does not average out over repeats unless each repeat has a
    `seed` of its own.

    - `posterior_scale`: 1 (default) is the posterior of a N(0, sigma^2 / ridge) prior; Agrawal & Goyal's analysis asks
      for sqrt(9 d log(t / delta)), which explores far more.
    - `draws`: how many draws p(a) is a share of, 100 by default.
    - `arm_features`: z, shape (arms, d_a); None (default): none.
    - `intercept`: whether a 1 is put behind x, and behind z; False by default.
    - `ridge`: regularisation of the regression, 1 by default.
    - `noise`: sigma, the sub-Gaussian scale of rewards; None (default): the problem's. Where neither says it, rewards
      are counted from the first one seen, and sigma is estimated from the residuals.
    - `seed`: names the stream of the draws, 0 by default.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(LinTS(draws=10), Problem(n_arms=2, noise=0.5))
    >>> bandit.decide([[1.0, 0.0], [1.0, 0.0]], graphs.complete(2)).probabilities  # ties: lowest index
    array([1., 0.])
    """

    posterior_scale: float = 1.0
    draws: int = 100
    # these fields are here and not in the base: the name of a type is looked up in the module of the class
    arm_features: "npt.ArrayLike | None" = None
    intercept: bool = False
    ridge: float = 1.0
    noise: float | None = None
    seed: int = 0

    _told_words = ("posterior mean", "posterior deviation")

    def __post_init__(self) -> None:
        setting_number("posterior_scale", self.posterior_scale, at_least=0.0, at_most=LARGEST_SCALE)
        setting_integer("draws", self.draws, at_least=1, at_most=MOST_DRAWS)
        setting_integer("seed", self.seed, at_least=0, at_most=2**62)
        optional_number("noise", self.noise, at_least=0.0, at_most=LARGEST_SCALE)
        self._check_features()

    def _counts_from_first(self, problem: Problem) -> bool:
        return math.isnan(self._told_noise(problem))

    def _settings(self, problem: Problem, features: Float[np.ndarray, "n rows d"]) -> "LinearSettings":
        kernels = kernels_of("learners.linear_rewards")
        settings: LinearSettings = kernels.LinearSettings(
            rule=kernels.LIN_TS,
            features=features,
            width=float(self.posterior_scale),
            noise=self._told_noise(problem),
            log_term=0.0,
            bias=0.0,
            draws=int(self.draws),
            seed=int(self.seed),
            address=kernels.thompson_pointer(),
        )
        return settings
