"""95 % intervals over repeats: Student's for a mean, the bootstrap for a statistic of several means.

Learners and environments of one repeat share draws, so the bootstrap resamples whole repeats, with all their learners
and environments.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphbandit.base.printed_table import short_number, signed_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float

LEVEL = 0.95
"""The level of every interval and test."""

RESAMPLES = 2000
"""The number of resamples of a bootstrap; the same number of repeats always has the same resamples."""


@dataclass(frozen=True)
class RepeatInterval:
    """An estimate and the bounds of its interval; the bounds are nan if there are fewer than two repeats."""

    mean: float
    low: float
    high: float

    def inside(self, low: float, high: float) -> bool:
        """Whether the whole interval lies between two numbers; False if there is no interval."""
        return self.low >= low and self.high <= high

    @property
    def half_width(self) -> float:
        """The distance from the estimate to the upper bound."""
        return self.high - self.mean

    @property
    def spread(self) -> str:
        """Half the width for readers, such as "± 1.2"; empty if there is no interval."""
        return f"± {short_number(self.half_width)}" if math.isfinite(self.half_width) else ""

    @property
    def text(self) -> str:
        """The estimate and half the width, such as "12.5 ± 1.2"."""
        return f"{short_number(self.mean)} {self.spread}".rstrip()

    @property
    def bounds(self) -> str:
        """The estimate and its bounds with their signs, such as "+1.2 (-0.3 to +2.7)"."""
        return f"{signed_number(self.mean)} ({signed_number(self.low)} to {signed_number(self.high)})"

    def outside(self, low: float, high: float) -> bool:
        """Whether the whole interval lies below the one or above the other number."""
        return self.low > high or self.high < low


def student_interval(values: Float[np.ndarray, " n"]) -> RepeatInterval:
    """mean ∓ t * standard error, with t the quantile of Student's distribution with n - 1 degrees of freedom.

    >>> found = student_interval(np.array([1.0, 2.0, 3.0]))
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, -0.484, 4.484)
    """
    from scipy.stats import t

    n = len(values)
    mean = float(values.mean()) if n else math.nan
    error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    margin = float(t.ppf((1 + LEVEL) / 2, n - 1)) * error if n > 1 else math.nan
    return RepeatInterval(mean, mean - margin, mean + margin)


def bootstrap_interval(
    samples: Float[np.ndarray, "series repeats"],
    statistic: Callable[[Float[np.ndarray, "n series"]], Float[np.ndarray, " n"]],
) -> RepeatInterval:
    """A statistic of the means of several series, with its quantiles over resampled repeats.

    A repeat that any of the series lacks (nan) is left out.

    >>> twice = np.array([[2.0, 4.0, 6.0], [1.0, 2.0, 3.0]])
    >>> bootstrap_interval(twice, lambda means: means[:, 0] / means[:, 1])
    RepeatInterval(mean=2.0, low=2.0, high=2.0)
    """
    whole = samples[:, np.isfinite(samples).all(axis=0)]
    n = whole.shape[1]
    if n == 0:
        return RepeatInterval(math.nan, math.nan, math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = float(statistic(whole.mean(axis=1)[None, :])[0])
        if n == 1:
            return RepeatInterval(mean, math.nan, math.nan)
        drawn = stream(0, "bootstrap", n).integers(n, size=(RESAMPLES, n))
        values = statistic(whole[:, drawn].mean(axis=2).T)
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return RepeatInterval(mean, float(low), float(high))


def slope_interval(x: Float[np.ndarray, " points"], samples: Float[np.ndarray, "points repeats"]) -> RepeatInterval:
    """The exponent b of the least-squares fit of means ~ x^b on logarithmic axes; nan if a mean is not positive.

    >>> slope_interval(np.array([1.0, 4.0, 16.0]), np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])).mean
    0.5
    """
    centred = np.log(x) - np.log(x).mean()

    def slope(means: Float[np.ndarray, "n points"]) -> Float[np.ndarray, " n"]:
        logarithms = np.log(np.where(means > 0, means, np.nan))
        found: Float[np.ndarray, " n"] = (logarithms * centred).sum(axis=1) / (centred**2).sum()
        return found

    return bootstrap_interval(samples, slope)
