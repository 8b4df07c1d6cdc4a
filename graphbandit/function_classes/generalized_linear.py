"""Generalised linear functions mu(theta'phi(x, a)), for clicks (logistic) and counts (Poisson)."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMasks, Contexts, PerArm, PerObservation, RoundIndices, RoundsByArms
from graphbandit.base.checks import LARGEST, optional_number, setting_choice, setting_integer, setting_number
from graphbandit.base.declared import Declared, limits
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Contest, Drawer, Draws
from graphbandit.function_classes.discount import weights_now
from graphbandit.function_classes.ellipsoid import (
    Ellipsoid,
    LinearDraws,
    LinearModel,
    gaussian_draws,
    linear_predictor,
    predictor_of_draws,
)
from graphbandit.function_classes.evidence import LINKS, Link, Prior, Tried, all_tried, blocks_seen, fitted
from graphbandit.function_classes.feature_maps import FeatureMap, Parameters, arm_factors
from graphbandit.function_classes.observation_columns import ObservationColumns
from graphbandit.function_classes.parametric import Known, ParametricClass
from graphbandit.function_classes.scale import RIDGES, NoiseLaw, Scale, shares
from graphbandit.function_classes.value_bounds import candidates_within, widths_within
from graphbandit.rounds.observations import Observations

ROUNDING = 1e-9
"""By how much an outcome may miss [0, 1] without a warning."""


FEWEST_IMPOSSIBLE, MARGIN, ERRORS = 10, 0.1, 4.0
"""How many rewards there must be, and by how much and by how many standard errors their mean must lie outside the range
of mu, for a warning."""


class _Fit(NamedTuple):
    """thetahat, U of its curvature H = U'U, and what the radius needs to know.

    `growth` is at least -2 log of the integral of the penalised likelihood, relative to its maximum, over theta with
    the prior N(0, P^-1); `widest` is the largest sqrt(phi'H^-1 phi) of the observations.
    """

    prior: Prior
    parameters: Float[np.ndarray, "blocks d"]
    factors: Float[np.ndarray, "blocks d d"]
    loss: float
    growth: float
    widest: float


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralizedLinearData(Declared):
    """All observations; the fit is made when it is first asked for, once an epoch.

    - `columns`: phi(x, a), arm and reward of each observation.
    - `link`, `ridge`: those of the class.
    - `blocks`: how many parameter vectors there are: 1, or one for each arm.
    - `half_life`: the rounds after which an observation counts half; None (default): all count the same.
    """

    columns: ObservationColumns
    link: Link
    ridge: float | None = field(metadata=limits(above=0.0))
    blocks: int = field(metadata=limits(at_least=1))
    half_life: float | None = field(default=None, metadata=limits(above=0.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.columns.contexts.ndim != 2:
            raise InputError(f"the columns hold {self.columns.contexts.shape[1:]} numbers a row; expected a vector")
        if self.blocks > 1 and len(self.columns) and self.columns.arms.max() >= self.blocks:
            raise InputError(f"the columns hold arm {self.columns.arms.max()}; expected 0 to {self.blocks - 1}")

    @property
    def weights(self) -> PerObservation:
        """How much each observation counts: 1, or half as much for each half-life of its age."""
        return weights_now(self.columns.rounds, self.half_life)

    @cached_property
    def tried(self) -> list[Tried]:
        """The maximum of the penalised likelihood with the class's ridge or, without one, with each lambda.

        If a reward can be neither click nor count, no likelihood tells lambdas apart, and lambda is 1.
        """
        parts, size = list(self._parts()), self.columns.contexts.shape[1]
        if self.ridge is None and self.link != "identity" and self._may_be_outcomes:
            return all_tried(parts, size)
        return [fitted(parts, Prior.plain(self.ridge or 1.0, size))]

    @property
    def _may_be_outcomes(self) -> bool:
        """Whether all rewards are in [0, 1], for clicks, or at least 0, for counts."""
        rewards, most = self.columns.rewards, 1.0 if self.link == "logistic" else np.inf
        return bool(((rewards >= -ROUNDING) & (rewards <= most + ROUNDING)).all())

    def _parts(self) -> Iterator[Any]:
        return blocks_seen(self.columns, self.weights, LINKS.index(self.link), self.blocks)

    @cached_property
    def fit(self) -> _Fit:
        """The maximum of the penalised likelihood, with the lambda that is most likely if the class has no ridge."""
        from graphbandit.kernels.cholesky import cholesky, log_determinant
        from graphbandit.kernels.function_classes.generalized_linear import describe_block

        prior, parameters, factors, _ = max(self.tried, key=attrgetter("likelihood"))
        loss, growth, widest = 0.0, -prior.log_determinant(self.blocks), 0.0
        for mine, parameter, factor in zip(self._parts(), parameters, factors, strict=True):
            steepest, whole = prior.precision.copy(), np.empty_like(factor)
            most = 0.25 if self.link == "logistic" else 1.0
            facts = describe_block(mine, parameter, factor, most, steepest)
            loss, widest = loss + facts[0], max(widest, facts[2])
            if self.link == "poisson":
                growth += log_determinant(factor) + 2.0 * facts[1] + prior.shrunk(factor[None]) - len(parameter)
            else:
                cholesky(steepest, prior.floor, whole)
                growth += log_determinant(whole)
        return _Fit(prior, parameters, factors, loss, max(growth, 0.0), widest)


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralizedLinearClass(ParametricClass[GeneralizedLinearData]):
    """f(x, a) = mu(theta'phi(x, a)), mu the identity, logistic 1 / (1 + e^-eta), or e^eta (Poisson).

    `FeatureMap` says how phi follows from contexts and arm features. thetahat maximises the likelihood penalised with
    ridge |theta|^2 / 2, where sum (y - mu) phi = ridge theta. Only the mean has to be right, so rewards may be any
    numbers, as clicks with noise; the class warns if their mean is one that mu cannot have. The version space is the
    ellipsoid (theta - thetahat)'H (theta - thetahat) <= radius, H = ridge I + sum mu'(thetahat'phi) phi phi'. mu rises,
    so candidates are those of theta'phi, and they are exact. The fit needs all observations again, so they are kept.

    Without a ridge, each fit takes the lambda of the prior N(0, I / lambda) that clicks or counts make most likely, and
    draws take lambda from its posterior; `evidence.py` says how, and what becomes of a feature that never changes.
    Clicks and counts have units of their own. With the link "identity" `ridge` is 1 unless given, and decisions depend
    on the units and the zero of the rewards; those of `LinearClass` do not.

    - `n_arms`: K.
    - `dimension`: d, the length of a context, or of an arm's row of it.
    - `link`: mu, "identity", "logistic" (rewards 0 and 1) or "poisson" (counts).
    - `parameters`: "shared" (default): one theta for all arms. "per-arm": one for each.
    - `arm_features`: (K, d_a) features of the arms, for contexts of shape (n, d) and one theta; None (default): none.
    - `intercept`: whether a 1 is put behind the context, and behind the arm features; False by default.
    - `ridge`: the weight of the penalty; None (default): learnt from the rewards, 1 with the identity.
    - `norm_bound`: S, a bound on |theta| (on each |theta[a]|, so sqrt(K) times that on all); 1 by default.
    - `resolution`: the scale at which functions count as different in `log_size`, 0.01 by default.
    - `factors`: K known numbers above 0, for rewards that are an outcome times such a number; None (default): none.
      With prices as factors and a reward of the price for a sale and 0 otherwise, the class learns the probability of a
      sale from 0 and 1, and f(x, a) = price(a) mu(theta'phi(x, a)). Candidates are then those of the bounds, not exact.
      A reward of 1 at a price of 4 is taken for a quarter of a sale; with the logistic link a reward below 0 or above
      the factor is warned of once.

    >>> clicks = GeneralizedLinearClass(n_arms=2, dimension=1, parameters="per-arm", link="logistic")
    >>> clicks.predict(clicks.fit(clicks.empty()), np.array([[3.0]]))
    array([[0.5, 0.5]])
    """

    features: FeatureMap
    link: Link
    factors: PerArm | None
    ridge: float | None
    norm_bound: float
    resolution: float

    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        link: Link,
        parameters: Parameters = "shared",
        arm_features: "npt.ArrayLike | None" = None,
        intercept: bool = False,
        ridge: float | None = None,
        norm_bound: float = 1.0,
        resolution: float = 0.01,
        factors: "npt.ArrayLike | None" = None,
    ) -> None:
        features = FeatureMap(
            n_arms=n_arms, dimension=dimension, parameters=parameters, arm_features=arm_features, intercept=intercept
        )
        setting_choice("link", link, LINKS)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "link", link)
        object.__setattr__(self, "factors", arm_factors(factors, self.features.n_arms))
        object.__setattr__(self, "ridge", optional_number("ridge", ridge, above=0.0))
        object.__setattr__(self, "norm_bound", setting_number("norm_bound", norm_bound, above=0.0))
        object.__setattr__(self, "resolution", setting_number("resolution", resolution, above=0.0))

    def empty(self, half_life: float | None = None) -> GeneralizedLinearData:
        """No observation yet."""
        return GeneralizedLinearData(
            columns=ObservationColumns.empty((self.features.size,)),
            link=self.link,
            ridge=self.ridge,
            blocks=self.features.blocks,
            half_life=half_life,
        )

    def grown_data(self, data: GeneralizedLinearData) -> GeneralizedLinearData:
        """The same observations, none of them of a new arm."""
        return replace(data, blocks=self.features.blocks)

    def add(self, data: GeneralizedLinearData, observations: Observations) -> GeneralizedLinearData:
        """These observations behind those that are there."""
        if not observations.n_observed:
            return data
        self.check_data(data)
        observations.check(self.n_arms)
        columns = data.columns
        for part, rows in self.features.blocks_of(observations.contexts):
            seen = observations.take(part.start, part.stop)
            phi = rows[seen.rows, seen.arms if rows.shape[1] > 1 else 0]
            outcomes = seen.rewards if self.factors is None else seen.rewards / self.factors[seen.arms]
            before = columns
            columns = before.append(phi, seen.arms, outcomes, seen.rounds[seen.rows])
            if self.factors is not None and self.link == "logistic":
                self._warn_of_impossible(before, seen, outcomes)
            elif self.link != "identity":
                self._warn_of_impossible_mean(before.rewards, columns.rewards, outcomes)
        return replace(data, columns=columns)

    def _warn_of_impossible(self, before: ObservationColumns, seen: Observations, outcomes: PerObservation) -> None:
        """Warn of the first outcome outside [0, 1]: the factor was probably not what the reward was made with."""
        strange = np.flatnonzero(np.abs(outcomes - 0.5) > 0.5 + ROUNDING)
        if not len(strange) or (np.abs(before.rewards - 0.5) > 0.5 + ROUNDING).any():
            return
        assert self.factors is not None
        first = strange[0]
        arm = int(seen.arms[first])
        warnings.warn(
            f"the reward {seen.rewards[first]:g} of arm {arm} with factor {self.factors[arm]:g} means an outcome of "
            f"{outcomes[first]:g}; expected an outcome in [0, 1], as a reward of 0 or of the factor itself",
            stacklevel=2,
        )

    def _warn_of_impossible_mean(self, before: PerObservation, after: PerObservation, new: PerObservation) -> None:
        """Warn when the mean leaves the range of mu: single rewards may do so, as clicks with noise."""
        most = 1.0 if self.link == "logistic" else math.inf
        if not len(new) or (new.min() >= 0.0 and new.max() <= most):
            return
        if _mean_is_outside(after, most) and not _mean_is_outside(before, most):
            wanted = "rewards of 0 and 1, or between" if self.link == "logistic" else "counts, which are not negative"
            divided = "" if self.factors is None else ", divided by the factors,"
            warnings.warn(
                f"the mean of {len(after)} rewards{divided} is {after.mean():.3g}, which no function with the link "
                f"{self.link!r} has; expected {wanted} (LinearClass takes any rewards)",
                stacklevel=2,
            )

    def n_observed(self, data: GeneralizedLinearData) -> int:
        """How many rewards the data holds."""
        return len(data.columns)

    def fit(self, data: GeneralizedLinearData) -> LinearModel:
        """thetahat."""
        self.check_data(data)
        return LinearModel(parameters=data.fit.parameters)

    def smallest_loss(self, data: GeneralizedLinearData) -> float:
        """L(thetahat), the squared loss of the fit; the least squares of the class are at most that."""
        self.check_data(data)
        if self.factors is None or not len(data.columns):
            return data.fit.loss
        seen, blocks = data.columns, data.fit.parameters
        predictors = (seen.contexts * blocks[seen.arms if len(blocks) > 1 else 0]).sum(axis=1)
        outcomes = self._mu(predictors[:, None])[:, 0]
        return float((data.weights * np.square(self.factors[seen.arms] * (outcomes - seen.rewards))).sum())

    def unit(self, data: GeneralizedLinearData) -> float:
        """The largest factor, which is what an outcome of 1 pays at most; 1 without factors."""
        return 1.0 if self.factors is None else float(self.factors.max())

    def sharp_radius(self, data: GeneralizedLinearData, noise: float, delta: float) -> float:
        """r^2 with r = (w B + sqrt(w^2 B^2 + 8 B)) / 2, B = log(1 / delta) + growth / 2 + ridge S^2 / 2.

        w is the largest sqrt(phi'H^-1 phi) of what was seen. growth = log det(I + sum phi phi' / (4 ridge)) for clicks;
        for counts log det(H / ridge) and a little more. It holds at all times at once if |theta*| <= S and rewards are
        in [0, 1] (logistic), or Poisson or in [0, 1] (Poisson): their distribution says how noisy they are, and `noise`
        is not used. This needs a given `ridge`. Without one, the most likely prior counts as known, delta is divided by
        the number of lambdas, and ridge S^2 is the largest theta'P theta. `docs/function-classes.md` has the proof. For
        the identity it is the radius of `LinearClass`.
        """
        self.check_data(data)
        fit = data.fit
        failure = delta if len(data.tried) == 1 else delta / len(RIDGES)
        certainty, prior = -2.0 * math.log(failure), fit.prior.largest * self.total_bound * self.total_bound
        if self.link == "identity":
            reach = noise * math.sqrt(fit.growth + certainty) + math.sqrt(prior)
        else:
            level = 0.5 * (certainty + fit.growth + prior)
            bent = fit.widest * level
            reach = 0.5 * (bent + math.sqrt(bent * bent + 8.0 * level))
        return reach * reach

    def candidates(self, space: Ellipsoid, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """Those of theta'phi, as mu rises; with factors, the arms whose upper bound reaches the best lower one."""
        if self.factors is None:
            return super().candidates(space, contexts, available)
        return candidates_within(*self.bounds(space, contexts), available)

    def _mark_candidates(
        self, space: Ellipsoid, rows: Float[np.ndarray, "n rows d"], available: ArmMasks | None, chosen: ArmMasks
    ) -> None:
        if self.factors is None:
            super()._mark_candidates(space, rows, available, chosen)
        else:
            lower, upper = space.bounds_of_rows(self.features, rows)
            chosen[:] = candidates_within(self.means(lower), self.means(upper), available)

    def _find_deviations(self, space: Ellipsoid, known: Known, contest: Contest, found: RoundsByArms) -> None:
        """As for linear functions, but clicks and counts say themselves how noisy they are: sigma is 1 there.

        mu rises, so without factors an arm is the best if its theta'phi is: s(a) is the deviation of theta'phi(x, best)
        - theta'phi(x, a), times the slope of mu between them. With factors it takes the slopes at thetahat.
        """
        if self.link != "identity":
            contest = contest._replace(noise=1.0)
        super()._find_deviations(space, known, contest, found)
        if self.link != "identity" and self.factors is None:
            found *= self._slopes_between(known, contest.best)

    def _slopes_between(self, known: Known, best: RoundIndices) -> RoundsByArms:
        """(mu(z) - mu(z')) / (z - z'), z and z' the predictors of a and of best; mu'(z) where they are the same."""
        predictors, means, chosen = known.predictors, known.means, best[:, None]
        apart = predictors - np.take_along_axis(predictors, chosen, axis=1)
        same = np.abs(apart) < 1e-6
        risen = means - np.take_along_axis(means, chosen, axis=1)
        return np.where(same, self._slopes(means), risen / np.where(same, 1.0, apart))

    def _slopes_of(self, known: Known) -> RoundsByArms | None:
        """mu'(thetahat'phi) times the arm's factor; None without factors."""
        if self.factors is None:
            return None
        if self.link == "identity":
            return np.broadcast_to(self.factors, known.means.shape)
        slopes: RoundsByArms = self._slopes(known.means / self.factors) * self.factors
        return slopes

    def _slopes(self, means: RoundsByArms) -> RoundsByArms:
        """mu' where mu has these values; for clicks and counts."""
        return means * (1.0 - means) if self.link == "logistic" else means

    def version_space(self, data: GeneralizedLinearData, radius: float) -> Ellipsoid:
        """(theta - thetahat)'H (theta - thetahat) <= radius; the ball |theta| <= S at infinity."""
        self.check_data(data)
        if radius == math.inf:
            return Ellipsoid.ball(self.features, self.total_bound)
        return Ellipsoid(center=data.fit.parameters, factors=data.fit.factors, radius=radius)

    def widths(self, space: Ellipsoid, model: LinearModel, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """An upper bound, exact for the identity; with factors, what the bounds allow.

        With s(a) the slope of mu between thetahat'phi(a) and theta'phi(a), and e(a) = (theta - thetahat)'phi(a), the
        difference is s(a) e(a) - s(b) e(b), b = best: at most |s(a)| |e(a) - e(b)| + |s(a) - s(b)| |e(b)|, and at most
        the sum of the largest errors of a and b.
        """
        from graphbandit.kernels.function_classes.generalized_linear import slope_ranges

        if self.factors is not None:
            return widths_within(*self.bounds(space, contexts), self.predict(model, contexts), best)
        apart = space.predictor_widths(self.features, model, contexts, best)
        lower, upper = space.predictor_bounds(self.features, contexts)
        predictor = linear_predictor(self.features, model.parameters, contexts)
        lower, upper = np.minimum(lower, predictor), np.maximum(upper, predictor)
        least, most = np.empty_like(lower), np.empty_like(lower)
        slope_ranges(LINKS.index(self.link), lower, upper, least, most)
        least, most = np.minimum(least, LARGEST), np.minimum(most, LARGEST)
        means = self.means(predictor.copy())
        errors = np.maximum(self.means(upper.copy()) - means, means - self.means(lower.copy()))
        error = np.maximum(upper - predictor, predictor - lower)

        def of_best(values: RoundsByArms) -> Float[np.ndarray, "n 1"]:
            return np.take_along_axis(values, best[:, None], axis=1)

        slopes = np.maximum(most - of_best(least), of_best(most) - least)
        widths: RoundsByArms
        widths = np.minimum(most * apart + slopes * of_best(error), errors + of_best(errors))
        np.put_along_axis(widths, best[:, None], 0.0, axis=1)
        return widths

    def draws(self, data: GeneralizedLinearData, *, noise: float | None, count: int, rng: np.random.Generator) -> Draws:
        """Parameters from N(thetahat, H^-1), all of the same weight: Laplace's approximation of the posterior.

        Without a ridge lambda is drawn from its posterior, and thetahat and H are those of this lambda. The likelihood
        of clicks and counts says how noisy they are; `noise` scales the identity's alone, and None has it drawn from
        its posterior.
        """
        self.check_data(data)
        setting_integer("count", count, at_least=1)
        scales = np.ones(count)
        optional_number("noise", noise, at_least=0.0)
        if self.link == "identity":
            scales = scales * noise if noise is not None else self._noise_law(data).draw(count, rng)
        many = shares([each.likelihood for each in data.tried], count, rng)
        drawn = [
            gaussian_draws(each.parameters, each.factors, scales=scales[:n], rng=rng)
            for each, n in zip(data.tried, many, strict=True)
            if n
        ]
        parameters = np.concatenate(drawn)
        members = LinearDraws(parameters=parameters, offsets=np.zeros(count))
        return Draws(members=members, weights=np.full(count, 1.0 / count))

    def _noise_law(self, data: GeneralizedLinearData) -> NoiseLaw:
        rewards = data.columns.rewards
        if self.factors is not None:
            rewards = rewards * self.factors[data.columns.arms]
        span = float(np.ptp(rewards)) if len(rewards) else 0.0
        return NoiseLaw.given(
            span=span or 4.0 * self.unit(data), count=float(data.weights.sum()), residual=self.smallest_loss(data)
        )

    def natural_scale(self, data: GeneralizedLinearData) -> Scale:
        """sigma by its posterior, and trace(H^-1 (H - P)), the effective number of parameters."""
        self.check_data(data)
        freedom = data.fit.parameters.size - data.fit.prior.shrunk(data.fit.factors)
        noise = self._noise_law(data).estimate if len(data.columns) else 0.0
        return Scale(noise=noise, complexity=max(freedom, 1.0))

    def drawer(self, draws: Draws) -> Drawer:
        """The parameters are checked once."""
        predictors = predictor_of_draws(self.features, draws)

        def values_of(contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
            values = predictors(contexts)
            return self.means(values.reshape(-1, self.n_arms)).reshape(values.shape)

        return values_of

    def means(self, predictors: RoundsByArms) -> RoundsByArms:
        """The arm's factor times mu of every predictor."""
        means = self._mu(predictors)
        return means if self.factors is None else np.minimum(means * self.factors, LARGEST)

    def _mu(self, predictors: RoundsByArms) -> RoundsByArms:
        """mu in place of every predictor, at most the largest number a learner takes."""
        from graphbandit.kernels.function_classes.generalized_linear import means_of

        means_of(LINKS.index(self.link), predictors)
        np.minimum(predictors, LARGEST, out=predictors)
        return predictors

    def check_data(self, data: GeneralizedLinearData) -> None:
        """Raise InputError unless the data is of this class; kernels trust it."""
        found = (data.link, data.ridge, data.blocks, data.columns.contexts.shape[1])
        expected = (self.link, self.ridge, self.features.blocks, self.features.size)
        if found != expected:
            raise InputError(f"the data has (link, ridge, parameters, their length) {found}; expected {expected}")


def _mean_is_outside(rewards: PerObservation, most: float) -> bool:
    """Whether the mean of these rewards is clearly not in [0, most]."""
    if len(rewards) < FEWEST_IMPOSSIBLE:
        return False
    slack = MARGIN + ERRORS * float(rewards.std()) / math.sqrt(len(rewards))
    return not -slack <= float(rewards.mean()) <= most + slack
