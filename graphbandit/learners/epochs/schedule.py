"""Epochs: when the learners of the paper learn, and what their formulas need at that time."""

import bisect
import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from graphbandit.base.checks import setting_number

END = 2**62
"""No run has more rounds."""

_LOG_END = math.log(END)


@dataclass(frozen=True, kw_only=True)
class EpochSchedule:
    """Epoch m is the rounds tau_{m-1} + 1 .. tau_m, tau_0 = 0, tau_m = growth^m (2^m in the paper).

    For other growths tau_m is rounded, and at least one more than tau_{m-1}. The split point is t_0 = 0, t_m = (tau_m +
    tau_{m-1}) / 2, rounded down.

    - `growth`: the factor between the ends of epochs, above 1; 2 by default.
    - `longest`: epochs have at most this many rounds; None (default): they grow without end.
    - `single`: epochs are one round each up to the end of the epoch that holds this round, and then go on as without;
      0 by default.

    >>> doubling = EpochSchedule()
    >>> [doubling.tau(m) for m in range(5)], [doubling.split(m) for m in range(5)]
    ([0, 2, 4, 8, 16], [0, 1, 3, 6, 12])
    >>> [EpochSchedule(growth=1.5).tau(m) for m in range(7)]
    [0, 2, 3, 4, 5, 8, 11]
    >>> [EpochSchedule(longest=3).tau(m) for m in range(6)]
    [0, 2, 4, 7, 10, 13]
    >>> [EpochSchedule(single=3).tau(m) for m in range(8)]
    [0, 1, 2, 3, 4, 8, 16, 32]
    """

    growth: float = 2.0
    longest: int | None = None
    single: int = 0

    def __post_init__(self) -> None:
        setting_number("epoch_growth", self.growth, above=1.0)

    def tau(self, m: int) -> int:
        """The last round of epoch m (counted from 1)."""
        if self.single == 0:
            return self._growing(m)
        last, epoch = self._last_single
        return m if m <= last else self._growing(m - last + epoch)

    @functools.cached_property
    def _last_single(self) -> tuple[int, int]:
        """The last round that is an epoch of its own, and the epoch that would end with it if all were growing."""
        epoch = bisect.bisect_left(range(self.single + 1), self.single, key=self._growing)
        return self._growing(epoch), epoch

    def _growing(self, m: int) -> int:
        """tau_m where no round is an epoch of its own.

        tau_m = max(tau_{m-1} + 1, [growth^m]) = m + max over j <= m of [growth^j] - j. As growth^j - j is convex in j,
        the largest is the first or the last, so no epoch costs more than another.
        """
        if self.longest is None or m < self._first_cut:
            return self._uncut(m)
        return self._uncut(self._first_cut - 1) + (m - self._first_cut + 1) * self.longest

    @functools.cached_property
    def _first_cut(self) -> int:
        """The first epoch that would be longer than `longest`: from there on all would."""
        longest = self.longest
        assert longest is not None
        most = math.ceil(_LOG_END / math.log(self.growth)) + 2
        return bisect.bisect_right(range(most), longest, lo=1, key=lambda m: self._uncut(m) - self._uncut(m - 1))

    def _uncut(self, m: int) -> int:
        if m <= 0:
            return 0
        if m * math.log(self.growth) >= _LOG_END:
            return END + m  # beyond any run, and still later than the epoch before
        if self.growth == 2.0:
            return 1 << m
        return max(m, round(self.growth) - 1 + m, round(self.growth**m))

    def portions(self, m: int, rounds: int, n: int) -> Iterator[int]:
        """The lengths of the portions of n rounds by epochs, where the first is the next after `rounds`, in epoch m.

        >>> list(EpochSchedule().portions(3, 5, 9))
        [3, 6]
        """
        end = rounds + n
        while rounds < end:
            length = min(self.tau(m), end) - rounds
            yield length
            rounds, m = rounds + length, m + 1

    def split(self, m: int) -> int:
        """t_m: data up to here makes F_{m+1}; the rest of epoch m measures it."""
        return (self.tau(m) + self.tau(m - 1)) // 2 if m > 0 else 0

    @functools.lru_cache(maxsize=4096)  # noqa: B019  # a schedule is one number
    def epochs(self, horizon: int) -> int:
        """M, the number of epochs that hold `horizon` rounds: ceil(log2 T) in the paper, at least 1."""
        return max(1, bisect.bisect_left(range(horizon + 1), horizon, key=self.tau))


@dataclass(frozen=True, kw_only=True)
class EpochTerms:
    """T, M and delta as the formulas of epoch m take them.

    With a known horizon they are the horizon's. Without one, T is the end of the epoch, M = m, and
    delta_m = delta / (m (m + 1)), so that the failures of all epochs still sum to at most delta.
    """

    epoch: int
    T: int
    M: int
    delta: float

    @classmethod
    def of(cls, schedule: EpochSchedule, horizon: int | None, m: int, delta: float) -> "EpochTerms":
        """The terms of epoch m."""
        if horizon is not None:
            return cls(epoch=m, T=horizon, M=schedule.epochs(horizon), delta=delta)
        return cls(epoch=m, T=schedule.tau(m), M=m, delta=delta / (m * (m + 1)))

    def log_term(self, n_arms: int, log_size: float) -> float:
        """log(2 K |F| T^2 / delta)."""
        return math.log(2.0 * n_arms * self.T**2 / self.delta) + log_size
