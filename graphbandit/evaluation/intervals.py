"""Intervals for the value of a policy, from sums over groups of rounds.

| interval | what it promises |
| --- | --- |
| asymptotic | coverage as the number of rounds grows, for independent rounds; too short with heavy weights |
| bootstrap | the same, without assuming a symmetric distribution |
| bernstein | coverage at every number of rounds, adaptive logs included; wide |
| betting | coverage at every number of rounds, adaptive logs included |
| sequence | coverage at all numbers of rounds at once, so one may look as often as one likes |

The last three need rewards within a known range and the true probabilities of the log. They ask nothing of the size of
the weights: their terms are bounded from one side by construction (`terms.bounded_terms`). Each side of the interval is
a bound of its own, at half the error: a lower bound for the mean of the lower terms, and minus a lower bound for the
mean of minus the upper ones. Let x_i >= floor_i be the mean of group i with c_i rounds; given all groups before, its
mean is V <= top (or less).

betting (Waudby-Smith, Ramdas 2024): K_i(m) = prod_{j <= i} (1 + l_j (x_j - m)), with bets up to 3/4 / (top - floor_i)
chosen from groups before i, is a nonnegative martingale at m = V (or a supermartingale). With probability 1 - error it
never reaches 1 / error, so V is at least the smallest m for which it never does.

bernstein (predictable plug-in, ibid.): with psi(l) = -log(1 - l) - l, r_i = top - floor_i and g_i the mean before i,
V >= (sum_i l_i x_i - log(1 / error) - sum_i psi(l_i r_i) ((x_i - g_i) / r_i)^2) / sum_i l_i.

Both bet l_i = c_i sqrt(2 log(1 / error) / (n v_i)), v_i the variance of a round before i; the sequence has
t log(1 + t) for n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int

RESAMPLES = 1000
CLUSTERS = 4096
"""Resampled units of the bootstrap, at most; consecutive groups are joined beyond."""

BET, BET_BERNSTEIN = 0.75, 0.5
"""The largest share of the wealth that a bet may lose."""


@dataclass(frozen=True)
class Interval:
    """A value, its interval and its standard error."""

    value: float
    low: float
    high: float
    standard_error: float

    @property
    def width(self) -> float:
        """From low to high."""
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Groups:
    """Means of consecutive groups, with how many rounds each has."""

    mean: Float[np.ndarray, " groups"]
    count: Int[np.ndarray, " groups"]
    floor: Float[np.ndarray, " groups"]
    bottom: float
    top: float

    def __post_init__(self) -> None:
        assert (self.mean >= self.floor - 1e-9 * (1 + np.abs(self.floor))).all()


def standard_error(residuals: Float[np.ndarray, " groups"], n: int) -> float:
    """Of a mean of n rounds, from the sums over groups of what each round differs from it.

    sqrt(sum_i S_i^2 / n^2 * g / (g - 1)) for g groups: with a round a group, the usual standard error.
    """
    g = len(residuals)
    if g < 2:
        return math.nan
    return float(np.sqrt((residuals * residuals).sum() * g / (g - 1)) / n)


def asymptotic(value: float, error: float, level: float) -> tuple[float, float]:
    """value -+ z * standard error."""
    from scipy.stats import norm

    margin = float(norm.ppf((1 + level) / 2)) * error
    return value - margin, value + margin


def bootstrap_counts(n_groups: int, seed: int) -> tuple[Int[np.ndarray, " groups"], Int[np.ndarray, "resamples units"]]:
    """Which unit each group belongs to, and how often each unit is in each resample."""
    units = min(n_groups, CLUSTERS)
    unit = np.arange(n_groups) * units // max(n_groups, 1)
    rng = stream(seed, "evaluation", "bootstrap", n_groups)
    drawn = rng.integers(units, size=(RESAMPLES, units))
    shifted = drawn + np.arange(RESAMPLES)[:, None] * units
    return unit, np.bincount(shifted.ravel(), minlength=RESAMPLES * units).reshape(RESAMPLES, units)


def quantiles(values: Float[np.ndarray, " resamples"], level: float) -> tuple[float, float]:
    """The interval between the outer quantiles of resampled values."""
    low, high = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bets(groups: Groups, error: float, limit: float, *, uniform: bool) -> Float[np.ndarray, " groups"]:
    """l_i, from groups before i alone."""
    x, c = groups.mean, groups.count
    wide = groups.top - groups.bottom
    before = np.cumsum(c) - c
    centre = (groups.top + groups.bottom) / 2
    means = (centre + np.cumsum(c * x) - c * x) / (1 + before)
    np.clip(means, groups.bottom, groups.top, out=means)
    squares = np.minimum(c * (x - means) ** 2, 1e300)
    variance = ((wide / 2) ** 2 + np.cumsum(squares) - squares) / (1 + np.arange(len(x)))
    after = before + c
    horizon = after * np.log1p(after) if uniform else float(c.sum())
    wish = c * np.sqrt(2 * math.log(1 / error) / (horizon * np.maximum(variance, 1e-12 * wide * wide)))
    return np.minimum(wish, limit / (groups.top - groups.floor))


def betting_lower(groups: Groups, error: float, *, uniform: bool = False) -> float:
    """The lower bound at the end of the groups."""
    if not len(groups.mean):
        return groups.bottom
    stakes = bets(groups, error, BET, uniform=uniform)
    return _betting_root(groups.mean, stakes, error, groups.bottom, groups.top)


def _betting_root(
    x: Float[np.ndarray, " groups"], stakes: Float[np.ndarray, " groups"], error: float, bottom: float, top: float
) -> float:
    """The smallest m whose wealth never reaches 1 / error: the wealth falls in m at all times, so by halving."""
    needed = math.log(1 / error)

    def reached(m: float) -> bool:
        return float(np.cumsum(np.log1p(stakes * (x - m))).max()) >= needed

    if not reached(bottom):
        return bottom
    if reached(top):
        return top
    while top - bottom > 1e-10 * (1 + abs(top)):
        middle = (bottom + top) / 2
        if reached(middle):
            bottom = middle
        else:
            top = middle
    return bottom


def betting_path(groups: Groups, error: float, ends: Int[np.ndarray, " looks"]) -> Float[np.ndarray, " looks"]:
    """The time-uniform lower bound after each of these numbers of groups; it never falls."""
    stakes = bets(groups, error, BET, uniform=True)
    found, best = np.empty(len(ends)), groups.bottom
    for i, end in enumerate(ends.tolist()):
        best = max(best, _betting_root(groups.mean[:end], stakes[:end], error, best, groups.top)) if end else best
        found[i] = best
    return found


def bernstein_lower(groups: Groups, error: float) -> float:
    """The lower bound of the empirical Bernstein inequality."""
    if not len(groups.mean):
        return groups.bottom
    x, c = groups.mean, groups.count
    stakes = bets(groups, error, BET_BERNSTEIN, uniform=False)
    before = np.cumsum(c) - c
    centre = (groups.top + groups.bottom) / 2
    means = np.clip((centre + np.cumsum(c * x) - c * x) / (1 + before), groups.bottom, groups.top)
    reach = groups.top - groups.floor
    scaled = stakes * reach
    penalty = (-np.log1p(-scaled) - scaled) * ((x - means) / reach) ** 2
    bound = float((stakes * x).sum() - math.log(1 / error) - penalty.sum()) / float(stakes.sum())
    return max(bound, groups.bottom)
