"""Generalised linear functions mu(theta'phi(x, a)), for clicks (logistic) and counts (Poisson)."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import LARGEST, setting_choice, setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.errors import FitError, InputError
from graphbandit.function_classes.base import Draws
from graphbandit.function_classes.columns import Columns
from graphbandit.function_classes.ellipsoid import (
    Ellipsoid,
    LinearModel,
    check_parameters,
    draw_predictors,
    gaussian_draws,
    linear_predictor,
)
from graphbandit.function_classes.features import FeatureMap
from graphbandit.function_classes.parametric import ParametricClass
from graphbandit.rounds.observations import Observations

LINKS = ("identity", "logistic", "poisson")


class _Fit(NamedTuple):
    """thetahat, U of its curvature H = U'U, and what the radius needs to know.

    `growth` is at least -2 log of the integral of the penalised likelihood, relative to its maximum, over theta with
    the prior N(0, I / ridge); `widest` is the largest sqrt(phi'H^-1 phi) of the observations.
    """

    parameters: Float[np.ndarray, "blocks d"]
    factors: Float[np.ndarray, "blocks d d"]
    loss: float
    growth: float
    widest: float


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralizedLinearData:
    """All observations: phi(x, a), arm and reward. The fit is made when it is first asked for, once an epoch."""

    columns: Columns
    link: str
    ridge: float
    blocks: int

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Columns) or self.columns.contexts.ndim != 2:
            raise InputError(f"columns is {self.columns!r}; expected Columns with a vector an observation")
        setting_choice("link", self.link, LINKS)
        setting_number("ridge", self.ridge, above=0.0)
        setting_integer("blocks", self.blocks, at_least=1)

    @cached_property
    def fit(self) -> _Fit:
        """The maximum of the penalised likelihood, parameter by parameter."""
        from graphbandit.kernels.function_classes.cholesky import cholesky, inverse_trace, log_determinant
        from graphbandit.kernels.function_classes.generalized_linear import describe_block, fit_block

        seen, link, size = self.columns, LINKS.index(self.link), self.columns.contexts.shape[1]
        parameters, factors = np.empty((self.blocks, size)), np.empty((self.blocks, size, size))
        loss, growth, widest = 0.0, -self.blocks * size * math.log(self.ridge), 0.0
        by_arm = np.argsort(seen.arms, kind="stable") if self.blocks > 1 else np.arange(len(seen))
        ends = np.searchsorted(seen.arms[by_arm], np.arange(self.blocks - 1), side="right")
        for block, order in enumerate(np.split(by_arm, ends)):
            parameter, factor = parameters[block], factors[block]
            if not fit_block(seen.contexts, seen.rewards, order, link, self.ridge, parameter, factor):
                raise FitError(
                    f"the {self.link} fit of {len(order)} rewards up to {np.abs(seen.rewards[order]).max():g} in size "
                    f"does not converge with ridge {self.ridge:g}; expected smaller rewards or features, or more ridge"
                )
            steepest, whole = self.ridge * np.eye(size), np.empty((size, size))
            most = 0.25 if self.link == "logistic" else 1.0
            facts = describe_block(seen.contexts, seen.rewards, order, link, parameter, factor, most, steepest)
            loss, widest = loss + facts[0], max(widest, facts[2])
            if self.link == "poisson":
                growth += log_determinant(factor) + 2.0 * facts[1] + self.ridge * inverse_trace(factor) - size
            else:
                cholesky(steepest, self.ridge, whole)
                growth += log_determinant(whole)
        return _Fit(parameters, factors, loss, max(growth, 0.0), widest)


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralizedLinearClass(ParametricClass[GeneralizedLinearData]):
    """f(x, a) = mu(theta'phi(x, a)), mu the identity, logistic 1 / (1 + e^-eta), or e^eta (Poisson).

    Features, parameters and settings are those of `LinearClass`. thetahat maximises the likelihood penalised with
    ridge |theta|^2 / 2, where sum (y - mu) phi = ridge theta. Only the mean has to be right, so rewards may be any
    numbers, as clicks with noise. The version space is the ellipsoid (theta - thetahat)'H (theta - thetahat) <= radius,
    H = ridge I + sum mu'(thetahat'phi) phi phi'. As mu rises, candidates are those of theta'phi, and exact. The fit
    needs all observations again, so they are kept.

    >>> clicks = GeneralizedLinearClass(n_arms=2, dimension=1, parameters="per-arm", link="logistic")
    >>> clicks.predict(clicks.fit(clicks.empty()), np.array([[3.0]]))
    array([[0.5, 0.5]])
    """

    features: FeatureMap
    link: Literal["identity", "logistic", "poisson"]
    ridge: float
    norm_bound: float
    resolution: float

    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        link: Literal["identity", "logistic", "poisson"],
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
        setting_choice("link", link, LINKS)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "link", link)
        object.__setattr__(self, "ridge", setting_number("ridge", ridge, above=0.0))
        object.__setattr__(self, "norm_bound", setting_number("norm_bound", norm_bound, above=0.0))
        object.__setattr__(self, "resolution", setting_number("resolution", resolution, above=0.0))

    def empty(self) -> GeneralizedLinearData:
        """No observation yet."""
        columns = Columns.empty((self.features.size,))
        return GeneralizedLinearData(columns=columns, link=self.link, ridge=self.ridge, blocks=self.features.blocks)

    def grown_data(self, data: GeneralizedLinearData) -> GeneralizedLinearData:
        """The same observations, none of them of a new arm."""
        return replace(data, blocks=self.features.blocks)

    def add(self, data: GeneralizedLinearData, observations: Observations) -> GeneralizedLinearData:
        """These observations behind those that are there."""
        if not observations.n_observed:
            return data
        self._check(data)
        self.features.check_observations(observations)
        columns = data.columns
        for part, rows in self.features.blocks_of(observations.contexts):
            seen = observations.take(part.start, part.stop)
            phi = rows[seen.rows, seen.arms if rows.shape[1] > 1 else 0]
            columns = columns.append(phi, seen.arms, seen.rewards)
        return GeneralizedLinearData(columns=columns, link=self.link, ridge=self.ridge, blocks=self.features.blocks)

    def n_observed(self, data: GeneralizedLinearData) -> int:
        """How many rewards the data holds."""
        return len(data.columns)

    def fit(self, data: GeneralizedLinearData) -> LinearModel:
        """thetahat."""
        self._check(data)
        return LinearModel(parameters=data.fit.parameters)

    def predict(self, model: LinearModel, contexts: Shaped[np.ndarray, "n ..."]) -> Float[np.ndarray, "n arms"]:
        """mu(thetahat'phi(x, a))."""
        check_parameters(self.features, model.parameters)
        return self._means(linear_predictor(self.features, model.parameters, contexts))

    def smallest_loss(self, data: GeneralizedLinearData) -> float:
        """L(thetahat), the squared loss of the fit; the least squares of the class are at most that."""
        self._check(data)
        return data.fit.loss

    def sharp_radius(self, data: GeneralizedLinearData, noise: float, delta: float) -> float:
        """r^2 with r = (w B + sqrt(w^2 B^2 + 8 B)) / 2, B = log(1 / delta) + growth / 2 + ridge S^2 / 2.

        w is the largest sqrt(phi'H^-1 phi) of what was seen. growth = log det(I + sum phi phi' / (4 ridge)) for clicks;
        for counts log det(H / ridge) and a little more. Valid at all times at once if |theta*| <= S and rewards are
        in [0, 1] (logistic) or Poisson, or in [0, 1], (Poisson): their distribution says how noisy they are,
        and `noise` is not looked at. Why: `docs/function-classes.md`. For the identity it is that of `LinearClass`.
        """
        self._check(data)
        fit = data.fit
        certainty, prior = -2.0 * math.log(delta), self.ridge * self.total_bound * self.total_bound
        if self.link == "identity":
            reach = noise * math.sqrt(fit.growth + certainty) + math.sqrt(prior)
        else:
            level = 0.5 * (certainty + fit.growth + prior)
            bent = fit.widest * level
            reach = 0.5 * (bent + math.sqrt(bent * bent + 8.0 * level))
        return reach * reach

    def version_space(self, data: GeneralizedLinearData, radius: float) -> Ellipsoid:
        """(theta - thetahat)'H (theta - thetahat) <= radius; the ball |theta| <= S at infinity."""
        self._check(data)
        if radius == math.inf:
            return Ellipsoid.ball(self.features, self.total_bound)
        return Ellipsoid(center=data.fit.parameters, factors=data.fit.factors, radius=radius)

    def widths(
        self,
        space: Ellipsoid,
        model: LinearModel,
        contexts: Shaped[np.ndarray, "n ..."],
        best: Int[np.ndarray, " n"],
    ) -> Float[np.ndarray, "n arms"]:
        """An upper bound, exact for the identity.

        With s(a) the slope of mu between thetahat'phi(a) and theta'phi(a), and e(a) = (theta - thetahat)'phi(a), the
        difference is s(a) e(a) - s(b) e(b), b = best: at most |s(a)| |e(a) - e(b)| + |s(a) - s(b)| |e(b)|, and at most
        the sum of the largest errors of a and b.
        """
        from graphbandit.kernels.function_classes.generalized_linear import slope_ranges

        apart = space.predictor_widths(self.features, model, contexts, best)
        lower, upper = space.predictor_bounds(self.features, contexts)
        predictor = linear_predictor(self.features, model.parameters, contexts)
        lower, upper = np.minimum(lower, predictor), np.maximum(upper, predictor)
        least, most = np.empty_like(lower), np.empty_like(lower)
        slope_ranges(LINKS.index(self.link), lower, upper, least, most)
        least, most = np.minimum(least, LARGEST), np.minimum(most, LARGEST)
        means = self._means(predictor.copy())
        errors = np.maximum(self._means(upper.copy()) - means, means - self._means(lower.copy()))
        error = np.maximum(upper - predictor, predictor - lower)

        def of_best(values: Float[np.ndarray, "n arms"]) -> Float[np.ndarray, "n 1"]:
            chosen: Float[np.ndarray, "n 1"] = np.take_along_axis(values, best[:, None], axis=1)
            return chosen

        slopes = np.maximum(most - of_best(least), of_best(most) - least)
        widths: Float[np.ndarray, "n arms"]
        widths = np.minimum(most * apart + slopes * of_best(error), errors + of_best(errors))
        np.put_along_axis(widths, best[:, None], 0.0, axis=1)
        return widths

    def bounds(
        self, space: Ellipsoid, contexts: Shaped[np.ndarray, "n ..."]
    ) -> tuple[Float[np.ndarray, "n arms"], Float[np.ndarray, "n arms"]]:
        """mu(center'phi -+ sqrt(radius phi'H^-1 phi)); exact."""
        lower, upper = space.predictor_bounds(self.features, contexts)
        return self._means(lower), self._means(upper)

    def draws(self, data: GeneralizedLinearData, *, noise: float, count: int, rng: np.random.Generator) -> Draws:
        """Parameters from N(thetahat, H^-1), all of the same weight: Laplace's approximation of the posterior.

        The likelihood of clicks and counts says how noisy they are; `noise` scales the identity's alone.
        """
        self._check(data)
        setting_number("noise", noise, at_least=0.0)
        setting_integer("count", count, at_least=1)
        scale = noise if self.link == "identity" else 1.0
        members = gaussian_draws(data.fit.parameters, data.fit.factors, scale=scale, count=count, rng=rng)
        return Draws(members=members, weights=np.full(count, 1.0 / count))

    def draw_values(self, draws: Draws, contexts: Shaped[np.ndarray, "n ..."]) -> Float[np.ndarray, "n draws arms"]:
        """mu(theta_b'phi(x, a))."""
        values = draw_predictors(self.features, draws, contexts)
        return self._means(values.reshape(-1, self.n_arms)).reshape(values.shape)

    def _means(self, predictors: Float[np.ndarray, "n arms"]) -> Float[np.ndarray, "n arms"]:
        """mu in place of every predictor, at most the largest number a learner takes."""
        from graphbandit.kernels.function_classes.generalized_linear import means_of

        means_of(LINKS.index(self.link), predictors)
        np.minimum(predictors, LARGEST, out=predictors)
        return predictors

    def _check(self, data: GeneralizedLinearData) -> None:
        """Raise InputError unless the data is of this class; kernels trust it."""
        found = (data.link, data.ridge, data.blocks, data.columns.contexts.shape[1])
        expected = (self.link, self.ridge, self.features.blocks, self.features.size)
        if found != expected:
            raise InputError(f"the data has (link, ridge, parameters, their length) {found}; expected {expected}")
