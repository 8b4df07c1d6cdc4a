"""Bounds of f(x, a) over F_m by regression alone: the reduction of Krishnamurthy et al. 2017 and Foster et al. 2018.

Let f_w minimise L(f) + w (f(x, a) - h)^2: the oracle's answer to the data and one more observation (x, a, h) of
weight w. Any f of no more loss than f_w has |f(x, a) - h| >= |f_w(x, a) - h|. So with h the upper end of the range,
f_w(x, a) is the largest value within the range that loss L(f_w) can buy. Both grow with w, and a binary search finds
the w at which the loss is min L + radius. The lower bound is the same with h the lower end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, PerObservation, RoundIndices, RoundsByArms, Vector
from graphbandit.base.checks import setting_number
from graphbandit.base.declared import Declared, limits
from graphbandit.base.saved_files import savable
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import Contest
from graphbandit.function_classes.fits import RefitData, RefitModel, loss_of, tried
from graphbandit.function_classes.from_scratch import BLOCK, PAIRS, Member
from graphbandit.function_classes.regressor import ALL, RegressorClass, Regressors, weight_parameter
from graphbandit.function_classes.value_bounds import candidates_within, widths_within

GROWTH = 8.0
"""The factor between weights until the loss is exceeded."""

MOST_GROWTHS = 12
"""Weights up to 8^12 are tried: what they do not bound is bounded by the range."""

MOST_HALVINGS = 40
"""Fits of a binary search at most: a class that is not convex may jump, and then no weight meets the tolerance."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class ReductionSpace(Declared):
    """F_m = { f in F : L(f) <= min L + radius } of this data. Bounds found are kept, by context and arm."""

    data: RefitData
    radius: float = field(metadata=limits(at_least=0.0))
    found: dict[tuple[bytes, int], tuple[float, float]] = field(init=False, repr=False, default_factory=dict)


def farthest_value(
    refit: Callable[[float], tuple[float, float]],
    *,
    estimate: float,
    target: float,
    excess: float,
    tolerance: float,
) -> float:
    """How far towards `target` the value f(x, a) gets, over all f whose loss exceeds the least by at most `excess`.

    `refit(w)` is the value and the excess loss of f_w; `estimate` is the value at w = 0. The answer is on the far side
    by up to `tolerance`, so that no value of the version space is lost; it is `target` if no weight is too much.

    In the class of constants, with n observations of mean m, the answer is m + sqrt(excess / n):

    >>> n, m = 100, 0.3
    >>> def refit(w):
    ...     value = (n * m + w * 1.0) / (n + w)
    ...     return value, n * (value - m) ** 2
    >>> farthest_value(refit, estimate=m, target=1.0, excess=4.0, tolerance=1e-6) - (m + math.sqrt(4.0 / n)) < 1e-6
    True
    """
    towards = 1.0 if target > estimate else -1.0
    inside, weight = (0.0, estimate), 1.0
    for _ in range(MOST_GROWTHS):
        if towards * (target - inside[1]) <= tolerance:
            return target
        value, loss = refit(weight)
        if loss > excess:
            break
        inside, weight = (weight, value), GROWTH * weight
    else:
        return target
    outside = (weight, value)
    for _ in range(MOST_HALVINGS):
        if towards * (outside[1] - inside[1]) <= tolerance:
            break
        weight = math.sqrt(inside[0] * outside[0]) if inside[0] > 0.0 else outside[0] / GROWTH
        value, loss = refit(weight)
        if loss > excess:
            outside = (weight, value)
        else:
            inside = (weight, value)
    return towards * min(towards * target, max(towards * outside[1], towards * inside[1]))


class ReductionClass(RegressorClass):
    """A `RegressorClass` whose bounds of f(x, a) are over all of F_m, found by regressions with one more observation.

    They are exact if the regressor minimises squares exactly (not with a penalty) over a convex class, and a heuristic
    otherwise. Each context, arm and side takes 10 to 20 fits, so this is for small settings; `docs/regressors.md` has
    figures. The regressor must take weights. Draws are refits, as in `RegressorClass`.

    - `regressor`: as in `RegressorClass`.
    - `entropy`: stands for log |F|, such as (d / 2) log(number of observations) for a class of d parameters.
    - `tolerance`: how exact the bounds are, as a share of the range; 0.001 by default.
    - `settings`: the others of `RegressorClass`, but for `factors`.
    """

    def __init__(self, regressor: Any, *, entropy: float, tolerance: float = 1e-3, **settings: Any) -> None:
        if "factors" in settings:
            raise SettingError("factors came with a ReductionClass; expected a RegressorClass, which takes them")
        if entropy is None:
            raise SettingError(
                "entropy is None; expected a number, such as (d / 2) log(number of observations) for d parameters"
            )
        super().__init__(regressor, entropy=entropy, **settings)
        self._tolerance = setting_number("tolerance", tolerance, above=0.0)
        weight_parameter(self._regressor)

    def __external__(self) -> dict[str, Any]:
        """As its base, with the tolerance."""
        return super().__external__() | {"tolerance": self._tolerance}

    def smallest_loss(self, data: RefitData) -> float:
        """The loss of the estimate: the reduction needs no other fits."""
        return min((fit.loss for fit in self.fits(data, 1)), default=0.0)

    def version_space(self, data: RefitData, radius: float) -> Any:
        """The data and the radius; bounds are found when they are asked for."""
        if not self.enough(data):
            return super().version_space(data, radius)
        self.fits(data, 1)
        return ReductionSpace(data=data, radius=radius)

    def candidates(self, space: Any, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """The arms whose upper bound reaches the best lower one; all arms where nothing is known."""
        if isinstance(space, ReductionSpace):
            return candidates_within(*self.bounds(space, contexts), available)
        return super().candidates(space, contexts, available)

    def widths(self, space: Any, model: RefitModel, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """What the bounds allow, which is more than the supremum."""
        if isinstance(space, ReductionSpace):
            return widths_within(*self.bounds(space, contexts), self.predict(model, contexts), best)
        return super().widths(space, model, contexts, best)

    def deviations(self, space: Any, model: RefitModel, contexts: Contexts, contest: Contest) -> RoundsByArms:
        """w(a) sigma / sqrt(radius): there are no members to look at."""
        if isinstance(space, ReductionSpace):
            return self.widths(space, model, contexts, contest.best) * (contest.noise / math.sqrt(contest.radius))
        return super().deviations(space, model, contexts, contest)

    def bounds(self, space: Any, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """The bounds of all functions of F_m, cut to the range; the range itself where nothing is known."""
        if not isinstance(space, ReductionSpace):
            return super().bounds(space, contexts)
        self._check_shape(contexts)
        estimate = self.predict(RefitModel(data=space.data), contexts)
        known = ~self.unseen(space.data.columns)
        low, high = self.range_of(space.data)
        lower, upper = np.full(estimate.shape, low), np.full(estimate.shape, high)
        if space.radius < np.inf:
            for i, arm in np.ndindex(estimate.shape):
                if known[arm]:
                    row = contexts[i, arm] if self._arm_contexts else contexts[i]
                    lower[i, arm], upper[i, arm] = self._pair_bounds(space, row, arm, float(estimate[i, arm]))
        return lower, upper

    def _pair_bounds(self, space: ReductionSpace, row: Vector, arm: int, estimate: float) -> tuple[float, float]:
        """The least and the largest f(x, a), found once for each context and arm."""
        key = (row.tobytes(), arm)
        if key not in space.found:
            low, high = self.range_of(space.data)
            refit = self._with_one_more(space.data, row, arm)
            at_most = {"estimate": min(max(estimate, low), high), "excess": space.radius}
            at_most["tolerance"] = self._tolerance * (high - low)
            lower = farthest_value(partial(refit, low), target=low, **at_most)
            upper = farthest_value(partial(refit, high), target=high, **at_most)
            space.found[key] = (lower, upper)
        return space.found[key]

    def _with_one_more(self, data: RefitData, row: Vector, arm: int) -> Callable[[float, float], tuple[float, float]]:
        """From h and w to f_w(x, a) and L(f_w) - L(fhat), f_w being fitted to the data and to (x, a, h) of weight w."""
        part, index = next(of for of in self._parts(data.columns) if of[0] in (ALL, arm))
        rows, arms, rewards = (
            column[index] for column in (data.columns.contexts, data.columns.arms, data.columns.rewards)
        )
        features = self._features(np.concatenate([rows, row[None]]), np.append(arms, arm))
        member: Member[Regressors] = self.fits(data, 1)[0].function
        center, unit = member.center, member.unit

        def values(function: Any) -> PerObservation:
            return center + unit * self._predictions(function, rows, arms, PAIRS)

        known, weighted = data.weights[index], weight_parameter(self._regressor)
        least = float((known * np.square(values(member.function[part]) - rewards)).sum())

        def refit(h: float, w: float) -> tuple[float, float]:
            weights = {weighted: np.append(known, w)}
            who = f"{self.name}, with one more observation of weight {w:g},"
            targets = (np.append(rewards, h) - center) / unit
            function = tried(who, len(rewards), lambda: self._fresh(data, 0, part).fit(features, targets, **weights))
            loss = loss_of(who, rewards, lambda: values(function), known)
            value = center + unit * float(self._predictions(function, row[None], np.array([arm]), BLOCK)[0])
            return value, loss - least

        return refit
