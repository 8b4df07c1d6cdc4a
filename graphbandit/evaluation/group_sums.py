"""Sums over groups of consecutive rounds: a small summary of a log. The sums of parts of a log are added up.

Every interval is computed from these sums. Each of the first 8,192 rounds is a group of its own; then groups grow like
the square root of the round's number: rounds 2,048 * 4^j to 2,048 * 4^(j+1) have groups of 2^j rounds. The group
depends on nothing but the number of the round, so the groups stay the same when a log grows. 10 million rounds make
415,000 groups. The average over a group has the same mean as its rounds, so guarantees for single rounds hold for
groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from graphbandit.base.shapes import Float, Int

FIRST = 2048
HISTOGRAM = np.concatenate([[0.0], np.geomspace(1e-3, 1e4, 57)])
"""The left edges of the bins of the histogram of weights."""


def group_of(rows: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """The group of each round.

    >>> group_of(np.array([0, 1, 8191, 8192, 8193, 8194]))
    array([   0,    1, 8191, 8192, 8192, 8193])
    """
    level = np.maximum((_log2(np.maximum(rows, 1) // FIRST)) // 2, 0)
    start = np.where(level > 0, FIRST << (2 * level), 0)
    before = np.where(level > 0, 4 * FIRST + 3 * FIRST * ((1 << level) - 2), 0)
    return np.asarray(before + ((rows - start) >> level))


def group_starts(n_groups: int) -> Int[np.ndarray, " groups"]:
    """The first round of each group.

    >>> group_starts(8195)[-3:]
    array([8192, 8194, 8196])
    """
    groups = np.arange(n_groups)
    # before(level) = FIRST * (3 * 2^level - 2)
    level = np.where(groups < 4 * FIRST, 0, _log2(np.maximum((groups // FIRST + 2) // 3, 1)))
    start = np.where(level > 0, FIRST << (2 * level), 0)
    before = np.where(level > 0, 4 * FIRST + 3 * FIRST * ((1 << level) - 2), 0)
    return np.asarray(start + ((groups - before) << level))


def group_slack(n_groups: int, reward_width: float) -> Float[np.ndarray, " groups"]:
    """How far bounded terms may fall below their base: width * max(1, sqrt(t) / (10 c)) in groups of c rounds.

    Bets shrink like c / sqrt(t), so this slack hardly ever limits a bet, and models are nearly always used unchanged.
    """
    starts = group_starts(n_groups + 1)
    return np.asarray(reward_width * np.maximum(1.0, np.sqrt(starts[:-1]) / (10.0 * np.diff(starts))))


def n_groups(rounds: int) -> int:
    """The number of groups of this many rounds."""
    return int(group_of(np.array([rounds - 1]))[0]) + 1 if rounds else 0


def _log2(values: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """The whole part of the binary logarithm; -1 for 0."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64) - 1


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of one policy in each round, or their sums in each group.

    - `value`: the estimator's term.
    - `weight`: the sum of its weights, whose mean is one; self-normalised estimators divide by it.
    - `lower`, `upper`: terms that are bounded from below and from above, for the intervals that hold at any number of
      rounds. The mean of `lower` is the value V or less, that of `upper` is V or more.
    - `moments`: the sums of value^2, value * weight and weight^2 over the rounds.
    """

    value: Float[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    moments: Float[np.ndarray, " 3"] = field(default_factory=lambda: np.zeros(3))

    @classmethod
    def zeros(cls, n: int) -> Terms:
        """Sums of no rounds."""
        return cls(*(np.zeros(n) for _ in range(4)))

    def add(self, first: int, groups: Int[np.ndarray, " n"], terms: Terms) -> None:
        """Add the terms of rounds to those of their groups; the numbers in `groups` count from `first`."""
        count = int(groups[-1]) + 1 if len(groups) else 0
        for name in ("value", "weight", "lower", "upper"):
            getattr(self, name)[first : first + count] += np.bincount(groups, getattr(terms, name), minlength=count)
        v, w = terms.value, terms.weight
        self.moments[:] += ((v * v).sum(), (v * w).sum(), (w * w).sum())

    def merge(self, other: Terms) -> Terms:
        """The sums of both parts."""
        return Terms(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(kw_only=True, eq=False)
class WeightSums:
    """Sums of one policy's weights, for the effective sample size, the support (nan: not known) and the histogram."""

    total: float = 0.0
    squares: float = 0.0
    largest: float = 0.0
    unsupported: float = 0.0
    histogram: Int[np.ndarray, " bins"] = field(default_factory=lambda: np.zeros(len(HISTOGRAM), dtype=np.int64))

    @property
    def effective(self) -> float:
        """The effective sample size: (sum of W)^2 / sum of W^2 over the weights W of the rounds."""
        return self.total**2 / self.squares if self.squares > 0 else 0.0

    def support(self, rounds: int) -> float:
        """The share of the policy's probability on arms that could be revealed; nan if the log does not tell."""
        return 1.0 - self.unsupported / rounds

    def merge(self, other: WeightSums) -> WeightSums:
        """The sums of both parts."""
        return WeightSums(
            total=self.total + other.total,
            squares=self.squares + other.squares,
            largest=max(self.largest, other.largest),
            unsupported=self.unsupported + other.unsupported,
            histogram=self.histogram + other.histogram,
        )

    def add(self, weights: Float[np.ndarray, " n"], unsupported: Float[np.ndarray, " n"]) -> None:
        """Add the weights of some rounds, and the unsupported probability in each; nan where it is not known."""
        self.total += float(weights.sum())
        self.squares += float((weights * weights).sum())
        self.largest = max(self.largest, float(weights.max(initial=0.0)))
        self.unsupported += float(unsupported.sum())
        bins = np.searchsorted(HISTOGRAM, weights, side="right") - 1
        self.histogram += np.bincount(np.maximum(bins, 0), minlength=len(HISTOGRAM))


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentSums:
    """Moments of one policy's terms in one segment: count, sum, sum of squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def merge(self, other: SegmentSums) -> SegmentSums:
        """The sums of both parts."""
        return SegmentSums(
            count=self.count + other.count, total=self.total + other.total, squares=self.squares + other.squares
        )


@dataclass(kw_only=True, eq=False)
class Sums:
    """All sums of an evaluation, to which batches are added. `merge` adds up the sums of parts of a log.

    - `counts`: the number of rounds in each group.
    - `terms`, `plain`: the terms of each target, with and without side observations.
    - `weights`: the sums of each policy's weights.
    - `segments`: the sums of each policy in each segment.
    - `dropped`: the number of rounds left out for missing rewards.
    - `times`: the first and the last time in the log; NaT (default) if the log has no times.
    """

    counts: Int[np.ndarray, " groups"]
    terms: dict[str, Terms]
    plain: dict[str, Terms]
    weights: dict[str, WeightSums]
    segments: dict[str, dict[str, SegmentSums]]
    dropped: int
    times: tuple[np.datetime64, np.datetime64] = (np.datetime64("NaT"), np.datetime64("NaT"))

    def merge(self, other: Sums) -> Sums:
        """The sums of both parts of a log."""
        segments = {
            name: {
                value: self.segments[name]
                .get(value, SegmentSums())
                .merge(other.segments[name].get(value, SegmentSums()))
                for value in sorted({*self.segments[name], *other.segments[name]})
            }
            for name in self.segments
        }
        plain = {name: self.plain[name].merge(other.plain[name]) for name in self.plain if name in other.plain}
        return Sums(
            counts=self.counts + other.counts,
            terms={name: terms.merge(other.terms[name]) for name, terms in self.terms.items()},
            plain=plain,
            weights={name: sums.merge(other.weights[name]) for name, sums in self.weights.items()},
            segments=segments,
            dropped=self.dropped + other.dropped,
            times=(np.fmin(self.times[0], other.times[0]), np.fmax(self.times[1], other.times[1])),
        )
