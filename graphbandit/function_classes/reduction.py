"""Bounds of f(x, a) over F_m by regression alone: the reduction of Krishnamurthy et al. 2017 and Foster et al. 2018.

Let f_w minimise L(f) + w (f(x, a) - h)^2: the oracle's answer to the data and one more observation (x, a, h) of
weight w. Any f of no more loss than f_w has |f(x, a) - h| >= |f_w(x, a) - h|. So with h the upper end of the range,
f_w(x, a) is the largest value within the range that loss L(f_w) can buy. Both grow with w, and a binary search finds
the w at which the loss is min L + radius. The lower bound is the same with h the lower end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from graphbandit.base.declared import check_declared, limits
from graphbandit.base.saved_files import savable
from graphbandit.function_classes.refits import RefitData

GROWTH = 8.0
"""The factor between weights until the loss is exceeded."""

MOST_GROWTHS = 12
"""Weights up to 8^12 are tried: what they do not bound is bounded by the range."""

MOST_HALVINGS = 40
"""Fits of a binary search at most: a class that is not convex may jump, and then no weight meets the tolerance."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class ReductionSpace:
    """F_m = { f in F : L(f) <= min L + radius } of this data. Bounds found are kept, by context and arm."""

    data: RefitData
    radius: float = field(metadata=limits(at_least=0.0))
    found: dict[tuple[bytes, int], tuple[float, float]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_declared(self)


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
