"""Intervals for the value of a policy, from sums over groups of rounds.

| interval | what it promises |
| --- | --- |
| asymptotic | coverage as the number of rounds grows, for independent rounds; too short with heavy weights |
| bootstrap | the same, without assuming a symmetric distribution |
| bernstein | coverage at every number of rounds and for adaptive logs; if the value drifts, of its average |
| betting | coverage at every number of rounds and for adaptive logs, if the value does not drift |
| sequence | the same at all numbers of rounds at once, so you may look as often as you like |

The last three need rewards within a known range and the true probabilities of the log. They assume nothing about the
size of the weights: their terms are bounded on one side by construction (`terms.bounded_terms`). Each end of the
interval is a bound of its own, at half the error: a lower bound for the mean of the lower terms, and minus a lower
bound for the mean of minus the upper terms. Let x_i >= floor_i be the average of group i with c_i rounds; given all
groups before, its mean is V <= top (or less).

betting (Waudby-Smith, Ramdas 2024): K_i(m) = prod_{j <= i} (1 + l_j (x_j - m)), with bets up to 3/4 / (top - floor_i)
chosen from groups before i, is a nonnegative martingale at m = V (or a supermartingale). With probability 1 - error it
never reaches 1 / error, so V is at least the smallest m for which it never does.

The bets are l_i = c_i sqrt(2 log(1 / error) / (n v_i)), v_i the variance of a round before i. The sequence, which must
not know n, averages the wealth of ten bets l_i = c_i s that fall from s = 2 / (top - bottom) by factors of 2.5.

bernstein (Howard, Ramdas, McAuliffe, Sekhon 2021, with the constants of Fan, Grama, Liu 2015): with
psi(l) = -log(1 - l) - l, r_i = top - floor_i and g_i the mean before i,
exp(l sum_i c_i (x_i - V_i) - sum_i psi(l c_i r_i) ((x_i - g_i) / r_i)^2) is a supermartingale for every l, whatever the
means V_i of the groups are. The bound is that of the average over ten l, and is one for sum_i c_i V_i / n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int

RESAMPLES = 1000
CLUSTERS = 4096
"""The largest number of units that the bootstrap resamples; if there are more groups, consecutive ones are joined."""

Outside = Literal["terms", "part"] | None
"""Why a value lies outside of its interval."""

BET, BET_BERNSTEIN = 0.75, 0.5
"""The largest share of the wealth that a bet may lose, in `betting` and in `bernstein`."""


@dataclass(frozen=True)
class Interval:
    """A value with its interval.

    - `value`, `standard_error`: the estimate and its standard error.
    - `low`, `high`: the ends of the interval.
    - `drifts`: whether the value seems to have changed within the log, so that the interval was widened to one for its
      average; False by default.
    - `outside`: why the value lies outside: the interval is built on other "terms", or a "part" of the log rules the
      value out; None (default): it lies inside.
    """

    value: float
    low: float
    high: float
    standard_error: float
    drifts: bool = False
    outside: Outside = None

    @property
    def width(self) -> float:
        """The distance from low to high."""
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Groups:
    """The means and the numbers of rounds of consecutive groups, with their bounds."""

    mean: Float[np.ndarray, " groups"]
    count: Int[np.ndarray, " groups"]
    floor: Float[np.ndarray, " groups"]
    bottom: float
    top: float

    def __post_init__(self) -> None:
        assert (self.mean >= self.floor - 1e-9 * (1 + np.abs(self.floor))).all()


def standard_error(residuals: Float[np.ndarray, " groups"], n: int) -> float:
    """The standard error of a mean of n rounds, from the sums S_i of each group's differences from the mean.

    It is sqrt(sum_i S_i^2 / n^2 * g / (g - 1)) for g groups, the usual standard error if each round is a group.
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
    """The unit of each group, and how often each unit occurs in each resample."""
    units = min(n_groups, CLUSTERS)
    unit = np.arange(n_groups) * units // max(n_groups, 1)
    rng = stream(seed, "evaluation", "bootstrap", n_groups)
    drawn = rng.integers(units, size=(RESAMPLES, units))
    shifted = drawn + np.arange(RESAMPLES)[:, None] * units
    return unit, np.bincount(shifted.ravel(), minlength=RESAMPLES * units).reshape(RESAMPLES, units)


def bets(groups: Groups, error: float) -> Float[np.ndarray, "1 groups"]:
    """The bets l_i for a known number of rounds, each computed from the groups before i."""
    x, c = groups.mean, groups.count
    wide = groups.top - groups.bottom
    means = means_before(groups)
    squares = np.minimum(c * (x - means) ** 2, 1e300)
    variance = ((wide / 2) ** 2 + np.cumsum(squares) - squares) / (1 + np.arange(len(x)))
    wish = c * np.sqrt(2 * math.log(1 / error) / (float(c.sum()) * np.maximum(variance, 1e-12 * wide * wide)))
    return np.asarray(np.minimum(wish, BET / (groups.top - groups.floor)))[None]


def uniform_bets(groups: Groups) -> Float[np.ndarray, "bets groups"]:
    """Bets for all numbers of rounds at once."""
    slopes = 2 / (groups.top - groups.bottom) / 2.5 ** np.arange(10)
    return np.asarray(np.minimum(slopes[:, None] * groups.count, BET / (groups.top - groups.floor)))


def means_before(groups: Groups) -> Float[np.ndarray, " groups"]:
    """The mean of all rounds before each group, clipped to the bounds; one extra round counts with the middle."""
    x, c = groups.mean, groups.count
    before = np.cumsum(c) - c
    centre = (groups.top + groups.bottom) / 2
    return np.asarray(np.clip((centre + np.cumsum(c * x) - c * x) / (1 + before), groups.bottom, groups.top))


def betting_lower(groups: Groups, error: float, *, uniform: bool = False) -> float:
    """The lower bound at the end of the groups."""
    if not len(groups.mean):
        return groups.bottom
    stakes = uniform_bets(groups) if uniform else bets(groups, error)
    return _betting_root(groups.mean, stakes, error, groups.bottom, groups.top)


def _betting_root(
    x: Float[np.ndarray, " groups"], stakes: Float[np.ndarray, "bets groups"], error: float, bottom: float, top: float
) -> float:
    """The smallest m whose wealth never reaches 1 / error, by bisection, because the wealth decreases in m."""
    needed = math.log(1 / error) + math.log(len(stakes))

    def reached(m: float) -> bool:
        total = None
        for stake in stakes:
            wealth = np.cumsum(np.log1p(stake * (x - m)))
            total = wealth if total is None else np.logaddexp(total, wealth, out=total)
        return total is not None and bool(total.max() >= needed)

    if not reached(bottom):
        return bottom
    if reached(top):
        return top
    precision = 1e-7 * (top - bottom)
    while top - bottom > precision:
        middle = (bottom + top) / 2
        if reached(middle):
            bottom = middle
        else:
            top = middle
    return bottom


def betting_path(groups: Groups, error: float, ends: Int[np.ndarray, " looks"]) -> Float[np.ndarray, " looks"]:
    """The time-uniform lower bound after each of these numbers of groups; it never decreases."""
    stakes = uniform_bets(groups)
    found, best = np.empty(len(ends)), groups.bottom
    for i, end in enumerate(ends.tolist()):
        best = max(best, _betting_root(groups.mean[:end], stakes[:, :end], error, best, groups.top)) if end else best
        found[i] = best
    return found


def bernstein_lower(groups: Groups, error: float) -> float:
    """The lower bound of a mixture of empirical Bernstein inequalities."""
    if not len(groups.mean):
        return groups.bottom
    x, c, reach = groups.mean, groups.count, groups.top - groups.floor
    n = float(c.sum())
    squares = ((x - means_before(groups)) / reach) ** 2
    needed = math.log(1 / error)
    spreads = (groups.top - groups.bottom) / 2 * 2.0 ** np.arange(-5, 5)
    slopes = np.minimum(np.sqrt(2 * needed / n) / spreads, BET_BERNSTEIN / float((c * reach).max()))
    penalties = np.array([((-np.log1p(-slope * c * reach) - slope * c * reach) * squares).sum() for slope in slopes])

    high = bernstein_excess(slopes, penalties, needed)
    return max((float((c * x).sum()) - high) / n, groups.bottom)


def bernstein_excess(
    slopes: Float[np.ndarray, " slopes"], penalties: Float[np.ndarray, " slopes"], needed: float
) -> float:
    """The smallest e with log(mean_l exp(l e - penalty_l)) >= needed: the most that a sum may exceed its mean."""

    def wealth(excess: float) -> float:
        exponents = slopes * excess - penalties
        most = float(exponents.max())
        return most + math.log(float(np.exp(exponents - most).mean()))

    low, high = 0.0, 1.0
    while wealth(high) < needed:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(middle) < needed else (low, middle)
    return high
