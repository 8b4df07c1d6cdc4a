"""An interval that is updated round by round from a few sums, for a page that people watch all day.

It is the empirical Bernstein bound of `intervals`, with slopes l that are fixed in advance instead of chosen for a
number of rounds. So it holds at all numbers of rounds at once and for adaptive data. If the mean drifts, as that of a
learning policy does, it holds for the average so far. Let u_i >= 0 be a term whose mean V_i, given all before, is in
[0, 1], and g_i the mean of the terms before it. With psi(l) = -log(1 - l) - l,

    exp(l sum_i (u_i - V_i) - psi(l) sum_i (u_i - g_i)^2)

is a supermartingale for every l in [0, 1); the bound is that of the average over ten l. Only n, sum u and
sum (u - g)^2 have to be kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphbandit.errors import InputError, SettingError
from graphbandit.evaluation.intervals import BET_BERNSTEIN, Interval, bernstein_excess

SLOPES = BET_BERNSTEIN / 2.5 ** np.arange(10)
PSI = -np.log1p(-SLOPES) - SLOPES


@dataclass
class RunningInterval:
    """A mean in [bottom, top] with an interval that holds however often you look at it.

    `add` takes the value of a round and a term for each of the two bounds. For values in [bottom, top] all three are
    the same. A weighted value may lie outside; it needs a `lower` of the same mean (or less) that is never below
    bottom, and an `upper` of the same mean (or more) that is never above top.

    >>> running = RunningInterval(0.0, 1.0)
    >>> for value in [0.0, 1.0, 1.0, 1.0] * 100:
    ...     running.add(value, value, value)
    >>> found = running.interval()
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.75, 0.66, 0.84)
    """

    bottom: float
    top: float
    n: int = 0
    total: float = 0.0
    total_squares: float = 0.0
    lower: float = 0.0
    lower_squares: float = 0.0
    upper: float = 0.0
    upper_squares: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.bottom) and math.isfinite(self.top) and self.bottom < self.top):
            raise SettingError(f"the range is [{self.bottom}, {self.top}]; expected two numbers, the lower one first")

    def add(self, value: float, lower: float, upper: float) -> None:
        """Add a round."""
        if not (math.isfinite(value) and lower >= self.bottom and upper <= self.top):
            raise InputError(
                f"the round is {value}, with {lower} and {upper} for its bounds; "
                f"expected numbers that are at least {self.bottom} and at most {self.top}"
            )
        wide = self.top - self.bottom
        low, high = (lower - self.bottom) / wide, (self.top - upper) / wide
        self.lower_squares += (low - self._mean(self.lower)) ** 2
        self.upper_squares += (high - self._mean(self.upper)) ** 2
        self.lower += low
        self.upper += high
        self.total += value
        self.total_squares += value * value
        self.n += 1

    def _mean(self, total: float) -> float:
        """The mean so far, with one extra round at the middle."""
        return min((0.5 + total) / (1 + self.n), 1.0)

    def interval(self, level: float = 0.95) -> Interval:
        """The mean so far and its interval, which is [bottom, top] before the first round."""
        if not 0 < level < 1:
            raise SettingError(f"level is {level!r}; expected a number between 0 and 1")
        if not self.n:
            return Interval(math.nan, self.bottom, self.top, math.nan)
        value, wide = self.total / self.n, self.top - self.bottom
        low = self.bottom + wide * self._bound(self.lower, self.lower_squares, (1 - level) / 2)
        high = self.top - wide * self._bound(self.upper, self.upper_squares, (1 - level) / 2)
        spread = max(self.total_squares - self.n * value * value, 0.0) / max(self.n - 1, 1)
        return Interval(value, low, high, math.sqrt(spread / self.n) if self.n > 1 else math.nan)

    def _bound(self, total: float, squares: float, error: float) -> float:
        return max((total - bernstein_excess(SLOPES, PSI * squares, math.log(1 / error))) / self.n, 0.0)
