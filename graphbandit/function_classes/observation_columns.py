"""Observations for classes that need all of them at each fit: rows that are appended and never changed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ObservationIndices, PerObservation
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import InputError


class _Rows(NamedTuple):
    """Some observations."""

    contexts: Float[np.ndarray, "new ..."]
    arms: Int[np.ndarray, " new"]
    rewards: Float[np.ndarray, " new"]
    rounds: Int[np.ndarray, " new"]

    def check(self, row: tuple[int, ...]) -> None:
        """Raise InputError unless there is one row of this shape, one arm, one reward and one round an observation."""
        contexts, arms, rewards, rounds = self
        n = len(contexts)
        fits = contexts.shape == (n, *row) and arms.shape == rounds.shape == (n,) == rewards.shape
        kinds = contexts.dtype.kind + rewards.dtype.kind == "ff"
        if not fits or not kinds or arms.dtype.kind not in "iu" or rounds.dtype.kind not in "iu":
            raise InputError(
                f"observations have contexts of shape {contexts.shape} ({contexts.dtype}), arms of shape {arms.shape} "
                f"({arms.dtype}), rewards of shape {rewards.shape} ({rewards.dtype}) and rounds of shape "
                f"{rounds.shape} ({rounds.dtype}); expected (n, {', '.join(map(str, row))}) numbers, n whole numbers, "
                "n numbers, n rounds"
            )


class _Buffer:
    """Arrays with room to grow, whose first `used` rows are taken and never change again."""

    def __init__(self, row: tuple[int, ...], capacity: int) -> None:
        self.contexts = np.empty((capacity, *row))
        self.arms = np.empty(capacity, dtype=np.int64)
        self.rewards = np.empty(capacity)
        self.rounds = np.empty(capacity, dtype=np.int64)
        self.used = 0
        self.lock = threading.Lock()

    def write(self, new: _Rows) -> None:
        rows = slice(self.used, self.used + len(new.arms))
        self.contexts[rows], self.arms[rows], self.rewards[rows], self.rounds[rows] = new
        self.used = rows.stop


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class ObservationColumns:
    """N observations as columns, in their order.

    An `ObservationColumns` never changes: `append` returns a new one. Both share memory, in which the new rows are
    written behind the old ones; it doubles when it is full. So N observations in parts cost O(N), and all parts
    together take hardly more memory than the last. A file holds the N rows and no more.

    - `contexts`: what the class knows of (x, a), one row an observation.
    - `arms`, `rewards`, `rounds`: the arm, the reward and the round of each.

    >>> none = ObservationColumns.empty((2,))
    >>> one = none.append(np.array([[0.5, 1.0]]), np.array([3]), np.array([0.25]), np.array([0]))
    >>> two = one.append(np.array([[0.0, 2.0]]), np.array([1]), np.array([0.75]), np.array([1]))
    >>> len(one), two.arms, np.shares_memory(one.rewards, two.rewards)
    (1, array([3, 1]), True)
    """

    contexts: Float[np.ndarray, "observed ..."]
    arms: ObservationIndices
    rewards: PerObservation
    rounds: ObservationIndices
    _buffer: _Buffer = field(init=False, repr=False)

    def __init__(
        self,
        *,
        contexts: Float[np.ndarray, "observed ..."],
        arms: ObservationIndices,
        rewards: PerObservation,
        rounds: ObservationIndices,
    ) -> None:
        if not isinstance(contexts, np.ndarray) or contexts.ndim == 0:
            raise InputError(f"contexts is {contexts!r}; expected an array with one row an observation")
        rows = _Rows(contexts, arms, rewards, rounds)
        rows.check(contexts.shape[1:])
        if len(arms) and arms.min() < 0:
            raise InputError(f"arms has {arms.min()}; expected numbers from 0")
        buffer = _Buffer(contexts.shape[1:], len(contexts))
        buffer.write(rows)
        self._look_at(buffer, len(contexts))

    def _look_at(self, buffer: _Buffer, count: int) -> None:
        for name in _Rows._fields:
            view = getattr(buffer, name)[:count]
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        object.__setattr__(self, "_buffer", buffer)

    def __len__(self) -> int:
        return len(self.arms)

    def __reduce__(self) -> tuple[Callable[[], "ObservationColumns"], tuple[()]]:
        """Pickled, and copied, as the rows it holds."""
        return partial(ObservationColumns, **self._rows._asdict()), ()

    @property
    def _rows(self) -> _Rows:
        return _Rows(self.contexts, self.arms, self.rewards, self.rounds)

    @classmethod
    def empty(cls, row: tuple[int, ...]) -> "ObservationColumns":
        """No observation yet, of rows of this shape."""
        none = np.empty(0, dtype=np.int64)
        return cls(contexts=np.empty((0, *row)), arms=none, rewards=np.empty(0), rounds=none)

    def append(
        self,
        contexts: Float[np.ndarray, "new ..."],
        arms: Int[np.ndarray, " new"],
        rewards: Float[np.ndarray, " new"],
        rounds: Int[np.ndarray, " new"],
    ) -> "ObservationColumns":
        """Return a new `ObservationColumns` with these observations added at the end."""
        row, new = self.contexts.shape[1:], _Rows(contexts, arms, rewards, rounds)
        new.check(row)
        count = len(self) + len(arms)
        buffer = self._buffer
        with buffer.lock:
            # another `ObservationColumns` may already have been appended to this one, and uses the memory behind it
            if buffer.used == len(self) and count <= len(buffer.arms):
                buffer.write(new)
            else:
                buffer = _Buffer(row, max(count, 2 * len(self), 16))
                buffer.write(self._rows)
                buffer.write(new)
        grown = ObservationColumns.__new__(ObservationColumns)
        grown._look_at(buffer, count)
        return grown
