"""Functions linear in features phi(x, a), with ridge regression as oracle and an ellipsoid as version space."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Draws
from graphbandit.function_classes.ellipsoid import (
    Ellipsoid,
    LinearModel,
    check_array,
    check_parameters,
    draw_predictors,
    gaussian_draws,
    linear_predictor,
)
from graphbandit.function_classes.features import FeatureMap
from graphbandit.function_classes.parametric import ParametricClass
from graphbandit.rounds.observations import Observations


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearData:
    """All that a linear class keeps of what was seen, whatever its number: sums, one of each a block.

    `matrices` hold V = ridge I + sum phi phi' (the upper triangle), `moments` b = sum y phi, `squares` sum y^2. One
    observation is added after the other, so they are the same bits however observations are portioned. The Cholesky
    factor of V is made when it is first asked for, once an epoch: cheaper than its update at every observation, which
    `kernels.cholesky.cholesky_update` offers to learners that learn after every round.
    """

    matrices: Float[np.ndarray, "blocks d d"]
    moments: Float[np.ndarray, "blocks d"]
    squares: float
    count: int
    ridge: float

    def __post_init__(self) -> None:
        check_array("matrices", self.matrices, 3)
        check_array("moments", self.moments, 2)
        setting_number("squares", self.squares, at_least=0.0)
        setting_integer("count", self.count, at_least=0)
        setting_number("ridge", self.ridge, above=0.0)
        if self.matrices.shape != (*self.moments.shape, self.moments.shape[1]):
            raise InputError(f"matrices have shape {self.matrices.shape}; expected one square a row of the moments")

    @cached_property
    def solution(self) -> tuple[Float[np.ndarray, "blocks d"], Float[np.ndarray, "blocks d d"]]:
        """thetahat = V^-1 b, and U of V = U'U."""
        from graphbandit.kernels.function_classes.linear import solve_blocks

        parameters, factors = np.empty_like(self.moments), np.empty_like(self.matrices)
        solve_blocks(self.matrices, self.moments, self.ridge, factors, parameters)
        return parameters, factors


class LinearFunctionClass(ParametricClass[LinearData]):
    """What all classes linear in their features share; what the features are is each one's own."""

    ridge: float

    def empty(self) -> LinearData:
        """V = ridge I and no moment."""
        blocks, size = self.features.blocks, self.features.size
        matrices = np.array(np.broadcast_to(self.ridge * np.eye(size), (blocks, size, size)))
        return LinearData(matrices=matrices, moments=np.zeros((blocks, size)), squares=0.0, count=0, ridge=self.ridge)

    def grown_data(self, data: LinearData) -> LinearData:
        """The same sums, and those of no observation for each new arm with a parameter of its own."""
        new = self.features.blocks - len(data.moments)
        fresh = self.empty()
        return LinearData(
            matrices=np.concatenate([data.matrices, fresh.matrices[:new]]),
            moments=np.concatenate([data.moments, fresh.moments[:new]]),
            squares=data.squares,
            count=data.count,
            ridge=data.ridge,
        )

    def add(self, data: LinearData, observations: Observations) -> LinearData:
        """V, b and sum y^2 with these observations added, in their order."""
        from graphbandit.kernels.function_classes.linear import add_sums

        if not observations.n_observed:
            return data
        self._check(data)
        self.features.check_observations(observations)
        matrices, moments, squares = data.matrices.copy(), data.moments.copy(), data.squares
        for part, rows in self.features.blocks_of(observations.contexts):
            seen = observations.take(part.start, part.stop)
            squares = add_sums(rows, seen.rows, seen.arms, seen.rewards, matrices, moments, squares)
        count = data.count + observations.n_observed
        return LinearData(matrices=matrices, moments=moments, squares=squares, count=count, ridge=self.ridge)

    def n_observed(self, data: LinearData) -> int:
        """How many rewards the data holds."""
        return data.count

    def fit(self, data: LinearData) -> LinearModel:
        """thetahat = V^-1 b."""
        self._check(data)
        return LinearModel(parameters=data.solution[0])

    def predict(self, model: LinearModel, contexts: Shaped[np.ndarray, "n ..."]) -> Float[np.ndarray, "n arms"]:
        """thetahat'phi(x, a)."""
        check_parameters(self.features, model.parameters)
        return linear_predictor(self.features, model.parameters, contexts)

    def smallest_loss(self, data: LinearData) -> float:
        """L(thetahat) = sum y^2 - thetahat'b - ridge |thetahat|^2: that of the fit, at least min L for the ridge."""
        self._check(data)
        parameters, _ = data.solution
        explained = float((parameters * data.moments).sum() + self.ridge * (parameters * parameters).sum())
        return max(data.squares - explained, 0.0)

    def sharp_radius(self, data: LinearData, noise: float, delta: float) -> float:
        """(sigma sqrt(2 log(1 / delta) + log det V - log det ridge I) + sqrt(ridge) S)^2.

        The self-normalised bound (Abbasi-Yadkori, Pal and Szepesvari 2011, theorem 2): valid at all times at once,
        whatever arms were revealed, for sigma-sub-Gaussian noise and |theta*| <= S.
        """
        from graphbandit.kernels.function_classes.cholesky import log_determinant

        self._check(data)
        growth = sum(log_determinant(factor) for factor in data.solution[1])
        growth -= data.moments.size * math.log(self.ridge)
        deviation = noise * math.sqrt(max(growth, 0.0) - 2.0 * math.log(delta))
        reach = deviation + math.sqrt(self.ridge) * self.total_bound
        return reach * reach

    def version_space(self, data: LinearData, radius: float) -> Ellipsoid:
        """(theta - thetahat)'V (theta - thetahat) <= radius; the ball |theta| <= S at infinity."""
        self._check(data)
        if radius == math.inf:
            return Ellipsoid.ball(self.features, self.total_bound)
        parameters, factors = data.solution
        return Ellipsoid(center=parameters, factors=factors, radius=radius)

    def widths(
        self,
        space: Ellipsoid,
        model: LinearModel,
        contexts: Shaped[np.ndarray, "n ..."],
        best: Int[np.ndarray, " n"],
    ) -> Float[np.ndarray, "n arms"]:
        """|(center - thetahat)'v| + sqrt(radius v'V^-1 v) with v = phi(x, a) - phi(x, best); exact."""
        return space.predictor_widths(self.features, model, contexts, best)

    def bounds(
        self, space: Ellipsoid, contexts: Shaped[np.ndarray, "n ..."]
    ) -> tuple[Float[np.ndarray, "n arms"], Float[np.ndarray, "n arms"]]:
        """center'phi -+ sqrt(radius phi'V^-1 phi); exact."""
        return space.predictor_bounds(self.features, contexts)

    def draws(self, data: LinearData, *, noise: float, count: int, rng: np.random.Generator) -> Draws:
        """Parameters from N(thetahat, sigma^2 V^-1), all of the same weight.

        The posterior for Gaussian noise and the prior N(0, sigma^2 / ridge I).
        """
        self._check(data)
        setting_number("noise", noise, at_least=0.0)
        setting_integer("count", count, at_least=1)
        parameters, factors = data.solution
        members = gaussian_draws(parameters, factors, scale=noise, count=count, rng=rng)
        return Draws(members=members, weights=np.full(count, 1.0 / count))

    def draw_values(self, draws: Draws, contexts: Shaped[np.ndarray, "n ..."]) -> Float[np.ndarray, "n draws arms"]:
        """theta_b'phi(x, a)."""
        return draw_predictors(self.features, draws, contexts)

    def _check(self, data: LinearData) -> None:
        """Raise InputError unless the data is of this class; kernels trust it."""
        check_parameters(self.features, data.moments)
        if data.ridge != self.ridge:
            raise InputError(f"the data was made with ridge {data.ridge}; expected {self.ridge}")


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearClass(LinearFunctionClass):
    """f(x, a) = theta'phi(x, a), or theta[a]'phi(x, a) with parameters="per-arm"; no value is clipped.

    How phi follows from contexts of shape (n, d) or (n, K, d) and `arm_features`: see `FeatureMap`. `fit` is ridge
    regression, thetahat = argmin L(theta) + ridge |theta|^2, and the version space of a radius is where this loss is
    within `radius` of its least value, which is the ellipsoid (theta - thetahat)'V (theta - thetahat) <= radius,
    V = ridge I + sum phi phi'. At radius infinity it is all of F: the ball |theta| <= S. S is `norm_bound`, a bound on
    |theta| (on each |theta[a]|, so sqrt(K) times that on all of them together). Candidates are exact.
    `resolution` is the scale at which functions count as different in `log_size`.

    >>> line = LinearClass(n_arms=2, dimension=1, parameters="per-arm", ridge=1e-9)
    >>> seen = Observations.from_masks(np.array([[1.0], [2.0]]), np.ones((2, 2), bool), np.array([[1, 3], [2, 6.0]]))
    >>> line.predict(line.fit(line.add(line.empty(), seen)), np.array([[10.0]])).round(6)
    array([[10., 30.]])
    """

    features: FeatureMap
    ridge: float
    norm_bound: float
    resolution: float

    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        parameters: Literal["shared", "per-arm"] = "shared",
        arm_features: npt.ArrayLike | None = None,
        intercept: bool = False,
        ridge: float = 1.0,
        norm_bound: float = 1.0,
        resolution: float = 0.01,
    ) -> None:
        features = FeatureMap(
            n_arms=n_arms, dimension=dimension, parameters=parameters, arm_features=arm_features, intercept=intercept
        )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "ridge", setting_number("ridge", ridge, above=0.0))
        object.__setattr__(self, "norm_bound", setting_number("norm_bound", norm_bound, above=0.0))
        object.__setattr__(self, "resolution", setting_number("resolution", resolution, above=0.0))
