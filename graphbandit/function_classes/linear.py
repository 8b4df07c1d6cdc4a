"""Functions linear in features phi(x, a), with ridge regression as oracle and an ellipsoid as version space."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMasks, Contexts, RoundIndices, RoundsByArms
from graphbandit.base.checks import (
    BOOL,
    LARGEST,
    LARGEST_FEATURE,
    as_in_kernels,
    everyone_always,
    kernel_mask,
    optional_number,
    setting_integer,
    setting_number,
)
from graphbandit.base.declared import limits
from graphbandit.base.direct_calls import DirectCall
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import trusted, tuple_of
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Drawer, Draws, Prospector, Prospects
from graphbandit.function_classes.discount import added, now, root_weights, shrinkage
from graphbandit.function_classes.ellipsoid import (
    Ellipsoid,
    LinearDraws,
    LinearModel,
    check_parameters,
    gaussian_draws,
    predictor_of_draws,
)
from graphbandit.function_classes.feature_maps import FeatureMap, Parameters
from graphbandit.function_classes.parametric import ParametricClass
from graphbandit.function_classes.scale import RIDGES, Centred, NoiseLaw, RewardsSeen, Scale, centred, shares
from graphbandit.rounds.observations import Observations

_linear_prospects = DirectCall("function_classes.ellipsoid", "linear_prospects")


class Regression(NamedTuple):
    """The regression of a linear class on its data: y = offset + phi'theta + noise."""

    parameters: Float[np.ndarray, "blocks d"]
    """thetahat = V^-1 b"""
    factors: Float[np.ndarray, "blocks d d"]
    """U of V = lambda I + sum phi phi' = U'U"""
    ridge: float
    """lambda"""
    offset: float
    """c, 0 where the class's ridge is a number"""
    offset_weight: float
    """c has the variance sigma^2 over this; infinite where c is 0"""
    residual: float
    """R = sum (y - c)^2 - thetahat'b"""
    freedom: float
    """trace(V^-1 sum phi phi'), the effective number of parameters"""
    law: NoiseLaw
    """the posterior of sigma^2"""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearData(RewardsSeen):
    """All that a linear class keeps of its data, however much there is: sums, one of each for every block.

    w are the weights of observations: 1, or less the older they are if there is a half-life. Rewards y are counted from
    the first one, which keeps the digits of rewards that are far from zero. Observations are added one after the other,
    so the sums have the same bits in whatever portions they come. The regression is computed when it is first needed,
    once an epoch.

    - `matrices`: sum w phi phi' (the upper triangle).
    - `moments`, `sums`: sum w y phi and sum w phi.
    - `weight`, `total`, `squares`: sum w, sum w y and sum w y^2.
    - `count`: the number of observations.
    - `shift`: the first reward.
    - `lowest`, `highest`: the smallest and the largest reward seen.
    - `ridge`: that of the class.
    - `half_life`: the number of rounds after which an observation counts half as much; None (default): all count the
      same.
    - `newest`: the last round that was seen, -1 (default) before any.
    """

    matrices: Float[np.ndarray, "blocks d d"]
    moments: Float[np.ndarray, "blocks d"]
    sums: Float[np.ndarray, "blocks d"]
    weight: float = field(metadata=limits(at_least=0.0))
    total: float
    squares: float = field(metadata=limits(at_least=0.0))
    count: int = field(metadata=limits(at_least=0))
    shift: float
    lowest: float
    highest: float
    ridge: float | None = field(metadata=limits(above=0.0))
    half_life: float | None = field(default=None, metadata=limits(above=0.0))
    newest: int = field(default=-1, metadata=limits(at_least=-1))

    @cached_property
    def regression(self) -> Regression:
        """Ridge regression with the class's ridge or, without one, with the lambda and the c that are most likely."""
        # the smallest lambda on ties
        return self.regression_with(max(self.tried, key=attrgetter("likelihood"), default=None))

    @cached_property
    def tried(self) -> list[Centred]:
        """Every lambda with its c and its likelihood; none if the class has a ridge, or all rewards are the same."""
        if self.ridge is not None or self.span == 0.0:
            return []
        scale = now(self.newest, self.half_life)
        return centred(
            self.matrices * scale,
            self.moments * scale,
            self.sums * scale,
            count=self.weight * scale,
            total=self.total * scale,
            squares=self.squares * scale,
            span=self.span,
        )

    def regression_with(self, chosen: Centred | None) -> Regression:
        """Ridge regression with this lambda and c; if None, with the class's ridge, or 1."""
        from graphbandit.kernels.cholesky import inverse_trace
        from graphbandit.kernels.function_classes.linear import solve_blocks

        scale = now(self.newest, self.half_life)
        matrices, moments, sums = self.matrices * scale, self.moments * scale, self.sums * scale
        weight, total, squares = self.weight * scale, self.total * scale, self.squares * scale
        offset, offset_weight, ridge = 0.0, math.inf, 1.0 if self.ridge is None else self.ridge
        if chosen is not None:
            ridge, offset, offset_weight = chosen.ridge, chosen.offset, chosen.offset_weight
        elif self.ridge is None and weight > 0.0:
            offset_weight = weight
        if offset_weight < math.inf:
            moments = moments - offset * sums
            squares += weight * offset * offset - 2.0 * offset * total
        parameters, factors = np.empty_like(moments), np.empty_like(matrices)
        penalty = ridge * np.eye(moments.shape[1])
        solve_blocks(matrices + penalty, moments, ridge, factors, parameters)
        residual = max(squares - float((parameters * moments).sum()), 0.0)
        parted = inverse_trace(factors)
        law = NoiseLaw.given(span=self.span, count=weight - (offset_weight < math.inf), residual=residual)
        return Regression(
            parameters=parameters,
            factors=factors,
            ridge=ridge,
            offset=offset + self.shift,
            offset_weight=offset_weight,
            residual=residual,
            freedom=max(parameters.size - ridge * parted, 0.0),
            law=law,
        )


def _drawn(
    data: LinearData, known: Regression, noise: float | None, count: int, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "draws blocks d"], Float[np.ndarray, " draws"]]:
    """theta and c of this many draws, given lambda."""
    from graphbandit.kernels.cholesky import solve

    scales = np.full(count, noise) if noise is not None else known.law.draw(count, rng)
    offsets = np.full(count, known.offset)
    if known.offset_weight == math.inf:
        return gaussian_draws(known.parameters, known.factors, scales=scales, rng=rng), offsets
    moved = scales / math.sqrt(known.offset_weight) * rng.standard_normal(count)
    parameters = gaussian_draws(known.parameters, known.factors, scales=scales, rng=rng)
    # theta given c has the mean V^-1 (b - (c - chat) s): it falls by V^-1 s when c rises by 1
    pull = data.sums * now(data.newest, data.half_life)
    solve(known.factors, pull)
    parameters -= moved[:, None, None] * pull
    return parameters, offsets + moved


class LinearFunctionClass(ParametricClass[LinearData]):
    """What all classes that are linear in their features share; each class defines its own features."""

    ridge: float | None

    def empty(self, half_life: float | None = None) -> LinearData:
        """No observation."""
        blocks, size = self.features.blocks, self.features.size
        return LinearData(
            matrices=np.zeros((blocks, size, size)),
            moments=np.zeros((blocks, size)),
            sums=np.zeros((blocks, size)),
            weight=0.0,
            total=0.0,
            squares=0.0,
            count=0,
            shift=0.0,
            lowest=math.inf,
            highest=-math.inf,
            ridge=self.ridge,
            half_life=half_life,
        )

    def grown_data(self, data: LinearData) -> LinearData:
        """The same sums, and empty ones for each new arm that has its own parameter."""
        new = self.features.blocks - len(data.moments)
        fresh = self.empty()
        return replace(
            data,
            matrices=np.concatenate([data.matrices, fresh.matrices[:new]]),
            moments=np.concatenate([data.moments, fresh.moments[:new]]),
            sums=np.concatenate([data.sums, fresh.sums[:new]]),
        )

    def add(self, data: LinearData, observations: Observations) -> LinearData:
        """The sums with these observations added, in their order."""
        from graphbandit.kernels.function_classes.linear import add_sums

        if not observations.n_observed:
            return data
        self.check_data(data)
        observations.check(self.n_arms)
        half_life, newest = data.half_life, max(data.newest, int(observations.rounds.max()))
        shrink = shrinkage(data.newest, newest, half_life)
        roots = root_weights(observations.rounds, newest, half_life)
        shift = data.shift
        if self.ridge is None and not data.count:
            shift = float(observations.rewards[0])
        matrices, moments, sums = data.matrices * shrink, data.moments * shrink, data.sums * shrink
        weight, total, squares = data.weight * shrink, data.total * shrink, data.squares * shrink
        for part, rows in self.features.blocks_of(observations.contexts):
            seen = observations.take(part.start, part.stop)
            rewards = seen.rewards - shift
            ones = np.ones(len(rewards))
            if roots is not None:
                root = roots[part]
                rows, ones = rows * root[:, None, None], root[seen.rows]
                rewards = rewards * ones
            squares = add_sums(rows, seen.rows, seen.arms, rewards, matrices, moments, squares)
            blocks = seen.arms if self.features.blocks > 1 else np.zeros(len(seen.arms), dtype=np.int64)
            phi = rows[seen.rows, seen.arms if rows.shape[1] > 1 else 0]
            np.add.at(sums, blocks, phi * ones[:, None])
            weight = added(weight, ones * ones)
            total = added(total, rewards * ones)
        return LinearData(
            matrices=matrices,
            moments=moments,
            sums=sums,
            weight=weight,
            total=total,
            squares=squares,
            count=data.count + observations.n_observed,
            shift=shift,
            lowest=float(observations.rewards.min(initial=data.lowest)),
            highest=float(observations.rewards.max(initial=data.highest)),
            ridge=self.ridge,
            half_life=half_life,
            newest=newest,
        )

    def n_observed(self, data: LinearData) -> int:
        """How many rewards the data holds."""
        return data.count

    def fit(self, data: LinearData) -> LinearModel:
        """thetahat = V^-1 b, and c."""
        self.check_data(data)
        return trusted(LinearModel, {"parameters": data.regression.parameters, "offset": data.regression.offset})

    def smallest_loss(self, data: LinearData) -> float:
        """L(thetahat) = R - lambda |thetahat|^2: that of the fit, at least min L for the ridge."""
        self.check_data(data)
        known = data.regression
        return max(known.residual - known.ridge * float((known.parameters**2).sum()), 0.0)

    def natural_scale(self, data: LinearData) -> Scale:
        """sigma by its posterior, and the effective number of parameters, trace(V^-1 sum phi phi')."""
        self.check_data(data)
        if data.span == 0.0:
            return Scale(noise=0.0, complexity=1.0)
        return Scale(noise=data.regression.law.estimate, complexity=max(data.regression.freedom, 1.0))

    def unit(self, data: LinearData) -> float:
        """The span of the rewards seen; 1 if a ridge is given, which fixes the units."""
        return data.span if self.ridge is None and data.span > 0.0 else 1.0

    def sharp_radius(self, data: LinearData, noise: float, delta: float) -> float:
        """(sigma sqrt(2 log(1 / delta) + log det V - log det lambda I) + sqrt(lambda) S)^2.

        The self-normalised bound (Abbasi-Yadkori, Pal and Szepesvari 2011, theorem 2): valid at all times at once,
        whatever arms were revealed, for sigma-sub-Gaussian noise and |theta*| <= S. This needs a given `ridge` and
        `norm_bound`. Without a ridge, delta is divided by the number of lambdas that are tried, which makes the
        choice among them valid, but c is taken as if it had been known. Without a norm bound, sqrt(lambda) S is what
        the most likely prior expects, sigma times the root of the number of parameters: an estimate, not a bound.
        """
        from graphbandit.kernels.cholesky import log_determinant

        self.check_data(data)
        known = data.regression
        growth = sum(log_determinant(factor) for factor in known.factors)
        growth -= data.moments.size * math.log(known.ridge)
        failure = delta if self.ridge is not None else delta / len(RIDGES)
        deviation = noise * math.sqrt(max(growth, 0.0) - 2.0 * math.log(failure))
        if self.norm_bound is None:
            bias = known.law.estimate * math.sqrt(data.moments.size)
        else:
            bias = math.sqrt(known.ridge) * self.total_bound
        return (deviation + bias) ** 2

    def version_space(self, data: LinearData, radius: float) -> Ellipsoid:
        """(theta - thetahat)'V (theta - thetahat) <= radius; the ball |theta| <= S at infinity.

        Without a norm bound S is the span of the rewards seen.
        """
        self.check_data(data)
        if radius == math.inf:
            unit = self.unit(data) if self.norm_bound is None else 1.0
            return Ellipsoid.ball(self.features, self.total_bound * unit)
        known = data.regression
        return Ellipsoid(center=known.parameters, factors=known.factors, radius=radius, offset=known.offset)

    def prospector(self, model: LinearModel, space: Ellipsoid, noise: float | None) -> Prospector:
        """One pass of a kernel, if all arms share one theta and candidates are exact."""
        features, in_parts = self.features, super().prospector(model, space, noise)
        if features.blocks > 1 or not self.exact_candidates:
            return in_parts
        parameters, offset, (center, factor, radius) = (
            as_in_kernels(model.parameters),
            float(model.offset),
            space.only_block,
        )
        n_arms, at_a_time, scale = features.n_arms, features.at_a_time, 0.0 if noise is None else float(noise)
        everyone = everyone_always(n_arms)

        def prospects(contexts: Contexts, available: ArmMasks | None) -> Prospects:
            n = len(contexts)
            if n > at_a_time:
                return in_parts(contexts, available)
            rows, limit = features.rows_and_limit(contexts)
            values, chosen = np.empty((n, n_arms)), np.zeros((n, n_arms), BOOL)
            deviations = None if noise is None else np.empty((n, n_arms))
            into = values if deviations is None else deviations
            mask = everyone if available is None else kernel_mask(available, n, n_arms)
            find = _linear_prospects.call
            if not find(rows, limit, parameters, offset, center, factor, radius, mask, scale, values, chosen, into):
                features.check_contexts(contexts)
                find(rows, math.inf, parameters, offset, center, factor, radius, mask, scale, values, chosen, into)
            return tuple_of(Prospects, (values, chosen, None, deviations))

        return prospects

    def widths(self, space: Ellipsoid, model: LinearModel, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """|(center - thetahat)'v| + sqrt(radius v'V^-1 v) with v = phi(x, a) - phi(x, best); exact."""
        return space.predictor_widths(self.features, model, contexts, best)

    def draws(self, data: LinearData, *, noise: float | None, count: int, rng: np.random.Generator) -> Draws:
        """Parameters from N(thetahat, sigma^2 V^-1), all of the same weight.

        Without a ridge, lambda is drawn from its posterior, and c from N(chat, sigma^2 / k) given lambda. If `noise` is
        None, sigma is drawn from its posterior, too. Until rewards of different size are seen, nothing is known of
        sigma, and parameters come from the prior with sigma = 1.
        """
        self.check_data(data)
        setting_integer("count", count, at_least=1)
        optional_number("noise", noise, at_least=0.0)
        if noise is None and data.span == 0.0:
            data, noise = self.empty(), 1.0
        if data.tried:
            many = shares([each.likelihood for each in data.tried], count, rng)
            parts = [(data.regression_with(each), n) for each, n in zip(data.tried, many, strict=True) if n]
        else:
            parts = [(data.regression, count)]
        drawn = [_drawn(data, known, noise, n, rng) for known, n in parts]
        parameters, offsets = (np.concatenate(arrays) for arrays in zip(*drawn, strict=True))
        members = trusted(LinearDraws, {"parameters": parameters, "offsets": offsets})
        return trusted(Draws, {"members": members, "weights": np.full(count, 1.0 / count)})

    def stays_within(self, model: LinearModel) -> bool:
        """Yes if theta is of a fair size, as features are; embedded features may have any size."""
        return type(self) is LinearClass and model.length * LARGEST_FEATURE <= LARGEST

    def drawer(self, draws: Draws) -> Drawer:
        """The parameters are checked once."""
        return predictor_of_draws(self.features, draws)

    def check_data(self, data: LinearData) -> None:
        """Raise InputError unless the data is of this class; kernels trust it."""
        check_parameters(self.features, data.moments)
        if data.ridge != self.ridge:
            raise InputError(f"the data was made with ridge {data.ridge}; expected {self.ridge}")


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearClass(LinearFunctionClass):
    """f(x, a) = c + theta'phi(x, a), or c + theta[a]'phi(x, a) with parameters="per-arm"; no value is clipped.

    `FeatureMap` says how phi follows from contexts of shape (n, d) or (n, K, d) and `arm_features`. `fit` is ridge
    regression, thetahat = argmin L(theta) + lambda |theta|^2. The version space of a radius is where this loss is
    within `radius` of its least value: the ellipsoid (theta - thetahat)'V (theta - thetahat) <= radius, V = lambda I +
    sum phi phi'. At radius infinity it is all of F: the ball |theta| <= S. Candidates are exact.

    Without a ridge and a norm bound, each fit takes lambda and the level c of the rewards from the data, by the largest
    marginal likelihood (`scale.centred`). Everything is then in proportion to the rewards: with rewards a + b y, b
    > 0, decisions are the same as with y. Features may be of any size: if they are small, smaller lambdas are tried
    (`scale.ridges_for`).

    - `n_arms`: K.
    - `dimension`: d, the length of a context, or of an arm's row of it.
    - `parameters`: "shared" (default): one theta for all arms. "per-arm": one for each.
    - `arm_features`: (K, d_a) features of the arms, for contexts of shape (n, d) and one theta; None (default): none.
    - `intercept`: whether a 1 is appended to the context and to the arm features; False by default.
    - `ridge`: lambda of the prior N(0, sigma^2 / lambda) for theta, with c = 0; None (default): lambda and c from the
      data.
    - `norm_bound`: S, a bound on |theta| (on each |theta[a]|, so sqrt(K) times that on all); None (default): none.
    - `resolution`: the scale at which functions count as different in `log_size`, 0.01 by default.

    >>> line = LinearClass(n_arms=2, dimension=1, parameters="per-arm", ridge=1e-9)
    >>> seen = Observations.from_masks(np.array([[1.0], [2.0]]), np.ones((2, 2), bool), np.array([[1, 3], [2, 6.0]]))
    >>> line.predict(line.fit(line.add(line.empty(), seen)), np.array([[10.0]])).round(6)
    array([[10., 30.]])
    """

    features: FeatureMap
    ridge: float | None
    norm_bound: float | None
    resolution: float

    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        parameters: Parameters = "shared",
        arm_features: "npt.ArrayLike | None" = None,
        intercept: bool = False,
        ridge: float | None = None,
        norm_bound: float | None = None,
        resolution: float = 0.01,
    ) -> None:
        features = FeatureMap(
            n_arms=n_arms, dimension=dimension, parameters=parameters, arm_features=arm_features, intercept=intercept
        )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "ridge", optional_number("ridge", ridge, above=0.0))
        object.__setattr__(self, "norm_bound", optional_number("norm_bound", norm_bound, above=0.0))
        object.__setattr__(self, "resolution", setting_number("resolution", resolution, above=0.0))
