"""Turn sums into values with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.evaluation.group_sums import Terms, group_slack
from graphbandit.evaluation.intervals import (
    Groups,
    Interval,
    Outside,
    asymptotic,
    bernstein_lower,
    betting_lower,
    betting_path,
    bootstrap_counts,
    standard_error,
)
from graphbandit.evaluation.settings import Settings

MANY_GROUPS = 20_000
CHANGE = 3.0
"""A value counts as changing if the halves of the log differ by more than this many standard errors."""
FULL = 1 - 1e-9
"""A support from here on counts as full."""
SELF_NORMALISED = ("snips", "graph-snips")


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimator:
    """Turns the sums of a target into a value with its interval."""

    settings: Settings
    reward_range: tuple[float, float]
    counts: Int[np.ndarray, " groups"]

    @property
    def n(self) -> int:
        """The number of rounds that count."""
        return int(self.counts.sum())

    def value(self, terms: Terms) -> float:
        """The mean of the terms, divided by the mean of the weights if the estimator is self-normalised."""
        total = float(terms.value.sum())
        return total / (float(terms.weight.sum()) if self.normalised else self.n)

    @property
    def normalised(self) -> bool:
        """Whether the estimator divides by the mean of the weights."""
        return self.settings.method in SELF_NORMALISED

    def residuals(self, terms: Terms) -> Float[np.ndarray, " groups"]:
        """How much the sum of each group differs from what the value predicts; linearised for a ratio of means."""
        value = self.value(terms)
        if self.normalised:
            scale = self.n / float(terms.weight.sum())
            return (terms.value - value * terms.weight) * scale
        return terms.value - value * self.counts

    def standard_error(self, terms: Terms) -> float:
        """The standard error of the value: the usual one of a mean, or linearised for a ratio of means."""
        n, value = self.n, self.value(terms)
        if n < 2:
            return math.nan
        squares, products, weights = terms.moments.tolist()
        if self.normalised:
            left = squares - 2 * value * products + value * value * weights
            return math.sqrt(max(left, 0.0) * n / (n - 1)) / abs(float(terms.weight.sum()))
        return math.sqrt(max(squares - n * value * value, 0.0) / (n - 1) / n)

    def of_policy(self, terms: Terms, *, part: bool = False) -> Interval:
        """The value of one policy; with `part`, some of its probability may be on unsupported arms."""
        low, high = self.reward_range
        bottom = min(low, 0.0) if part else low
        top = max(high, 0.0) if part else high
        error = self.standard_error(terms)
        return self._interval(self.value(terms), error, terms, bottom, top, self._resampled(terms))

    def of_difference(self, first: Terms, second: Terms, difference: Terms) -> Interval:
        """The value of one policy minus that of another, in the same rounds."""
        wide = self.reward_range[1] - self.reward_range[0]
        one, other = self._resampled(first), self._resampled(second)
        resampled = None if one is None or other is None else one - other
        value = self.value(first) - self.value(second)
        if self.normalised:  # a difference of two ratios has no moments of its own, so from groups
            residuals = self.residuals(first) - self.residuals(second)
            error = standard_error(residuals[self.counts > 0], self.n)
        else:
            error = self.standard_error(difference)
        return self._interval(value, error, difference, -wide, wide, resampled)

    def _resampled(self, terms: Terms) -> Float[np.ndarray, " resamples"] | None:
        """The value in each bootstrap resample."""
        if self.settings.interval != "bootstrap":
            return None
        there = self.counts > 0
        unit, times = bootstrap_counts(int(there.sum()), self.settings.seed)
        over = terms.weight if self.normalised else self.counts.astype(np.float64)
        tops, bottoms = (np.bincount(unit, values[there]) for values in (terms.value, over))
        below = times @ bottoms
        found = np.full(len(times), np.nan)
        np.divide(times @ tops, below, out=found, where=below != 0)
        return found

    def _interval(
        self,
        value: float,
        error: float,
        terms: Terms,
        bottom: float,
        top: float,
        resampled: Float[np.ndarray, " resamples"] | None,
    ) -> Interval:
        drifts, level = False, self.settings.level
        if resampled is not None:
            low, high = np.nanquantile(resampled, [(1 - level) / 2, (1 + level) / 2]).tolist()
        elif self.settings.interval == "asymptotic":
            low, high = asymptotic(value, error, level)
        else:
            each = (1 - level) / 2
            lower, upper = self.sides(terms, bottom, top)
            if self.settings.interval == "bernstein":
                low, high = bernstein_lower(lower, each), -bernstein_lower(upper, each)
            else:
                uniform = self.settings.interval == "sequence"
                low, high = betting_lower(lower, each, uniform=uniform), -betting_lower(upper, each, uniform=uniform)
            if self.settings.interval != "bernstein" and (low > high or self._changes(terms)):
                drifts = True
                wide = bernstein_lower(lower, each), -bernstein_lower(upper, each)
                # bounds that cross contradict a constant value, and are replaced; others are only widened
                low, high = wide if low > high else (min(low, wide[0]), max(high, wide[1]))
        return Interval(value, low, high, error, drifts, self._outside(terms, low, value, high, bottom, top))

    def _outside(self, terms: Terms, low: float, value: float, high: float, bottom: float, top: float) -> Outside:
        """Why the value lies outside of its interval; the ends `bottom` and `top` rule nothing out."""
        if not self.settings.any_size or math.isnan(value) or low <= value <= high:
            return None
        lowest, highest = float(terms.lower.sum()) / self.n, float(terms.upper.sum()) / self.n
        return "part" if (low > bottom and lowest < low) or (high < top and highest > high) else "terms"

    def _changes(self, terms: Terms) -> bool:
        """Whether the two halves of the log differ by more than `CHANGE` standard errors of their difference."""
        there = self.counts > 0
        counts, sums = self.counts[there], self.residuals(terms)[there]
        first = np.cumsum(counts) <= self.n / 2
        difference = variance = 0.0
        for half, sign in ((first, 1.0), (~first, -1.0)):
            n = int(counts[half].sum())
            if not n:
                return False
            mean = float(sums[half].sum()) / n
            difference += sign * mean
            variance += standard_error(sums[half] - mean * counts[half], n) ** 2
        return bool(difference * difference > CHANGE * CHANGE * variance > 0)

    def sides(self, terms: Terms, bottom: float, top: float) -> tuple[Groups, Groups]:
        """The groups of the lower bound and, with the sign changed, those of the upper bound."""
        there = self.counts > 0
        counts = self.counts[there]
        wide = self.reward_range[1] - self.reward_range[0]
        slack = group_slack(len(self.counts), wide)[there]
        lower = Groups(terms.lower[there] / counts, counts, bottom - slack, bottom, top)
        upper = Groups(-terms.upper[there] / counts, counts, -top - slack, -top, -bottom)
        return lower, upper

    def over_time(self, terms: Terms, looks: int) -> OverTime:
        """The value after more and more rounds, evenly spaced on a logarithmic scale, with its interval."""
        there = self.counts > 0
        groups = int(there.sum())
        # each look costs as much as a whole interval, so a long log has fewer looks
        looks = looks if groups <= MANY_GROUPS else min(looks, 20)
        ends = np.unique(np.geomspace(min(10, groups), groups, looks).round().astype(np.int64))
        counts = np.cumsum(self.counts[there])
        below = np.cumsum(terms.weight[there]) if self.normalised else counts.astype(np.float64)
        above = np.cumsum(terms.value[there])
        values = np.full(len(ends), np.nan)
        np.divide(above[ends - 1], below[ends - 1], out=values, where=below[ends - 1] != 0)
        rounds = counts[ends - 1]
        if self.settings.any_size:
            each = (1 - self.settings.level) / 2
            lower, upper = self.sides(terms, min(self.reward_range[0], 0.0), self.reward_range[1])
            low, high = betting_path(lower, each, ends), -betting_path(upper, each, ends)
        else:
            residual = self.residuals(terms)[there]
            squares = np.cumsum(residual * residual)[ends - 1]
            margins = np.array([asymptotic(0.0, 1.0, self.settings.level)[1]]) * np.sqrt(squares) / rounds
            low, high = values - margins, values + margins
        return OverTime(rounds=rounds, value=values, low=low, high=high)


@dataclass(frozen=True, kw_only=True, eq=False)
class OverTime:
    """A value after several numbers of rounds, with a time-uniform or a pointwise interval."""

    rounds: Int[np.ndarray, " looks"]
    value: Float[np.ndarray, " looks"]
    low: Float[np.ndarray, " looks"]
    high: Float[np.ndarray, " looks"]
