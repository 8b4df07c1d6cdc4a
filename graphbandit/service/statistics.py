"""Figures about a bandit: counts, delays, probabilities of arms over time, the gain over a baseline.

The figures are a function of the log up to their position. They are saved with that position, and continue from there.
"""

from collections import OrderedDict
from typing import Any

import msgspec
import numpy as np

from graphbandit.service.comparison import Comparison
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.protocol import known_from
from graphbandit.service.rows import DecisionBody, Kind, Row, unpack
from graphbandit.service.store import Store

BUCKETS = 60
"""Bars of the picture of probabilities over time; neighbours are joined when there are twice as many."""
DELAYS = 500
"""Delays of the newest rewards that are kept for quantiles."""
REMEMBERED = 8_000
"""Decisions without a window that are kept in memory; others are looked up in the log."""
EDGES = 64
"""The most arms for which it is counted which arm was revealed by playing which."""


class Bucket(msgspec.Struct):
    """Some consecutive decisions: their number, the time of the last, and the sum of the probabilities of each arm."""

    count: int
    time: float
    mass: dict[str, float]


class Figures(msgspec.Struct):
    """The sums over the rows up to `position`."""

    position: int = 0
    decisions: int = 0
    activations: int = 0
    deferred: int = 0
    rewards: int = 0
    late: int = 0
    complete: int = 0
    expired: int = 0
    first: float = 0.0
    last: float = 0.0
    bucket_size: int = 1
    buckets: list[Bucket] = []
    delays: list[float] = []
    played: dict[str, int] = {}
    through: dict[str, int] = {}
    rates: list[tuple[int, int, int]] = []
    comparison: Comparison | None = None
    unknown: dict[str, int] = {}
    missing: dict[str, int] = {}

    @property
    def open(self) -> int:
        """Decisions that still await rewards."""
        return self.decisions - self.complete - self.expired


class _Entry:
    """A decision that awaits rewards."""

    __slots__ = ("body", "left", "rewards", "time")

    def __init__(self, time: float, body: DecisionBody) -> None:
        self.time, self.body = time, body
        self.rewards: dict[str, float] = {}
        self.left = len(body.revealed)


class Statistics:
    """Reads the rows of one bandit, as its learner does, and adds them up."""

    def __init__(self, name: str, settings: BanditSettings, store: Store, figures: Figures) -> None:
        self._name, self._settings, self._store = name, settings, store
        self.figures = figures
        if figures.comparison is None or not figures.comparison.fits(settings):
            figures.comparison = Comparison.of(settings)
        self._comparison = figures.comparison
        self._window = settings.window_seconds
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self.changed = True

    @classmethod
    def load(cls, store: Store, name: str, settings: BanditSettings) -> "Statistics":
        """The statistics as they were last saved."""
        saved = store.statistics(name)
        figures = Figures() if saved is None else msgspec.msgpack.decode(saved[1], type=Figures)
        found = cls(name, settings, store, figures)
        if found._window is not None and figures.position:
            found._remember_open()
        return found

    def _remember_open(self) -> None:
        """Fill in the decisions whose window is still open, from the log."""
        after = self._store.position_at(self.figures.last - (self._window or 0.0))
        while rows := self._store.read(after, limit=1000, bandit=self._name, until=self.figures.position):
            for row in rows:
                if row.kind == Kind.DECISION:
                    self._enter(row)
                elif row.kind in (Kind.REWARD, Kind.FINAL) and row.key in self._entries:
                    self._settle(row, self._entries[row.key])
            after = rows[-1].position

    def pack(self) -> bytes:
        """The figures as bytes."""
        self.changed = False
        return msgspec.msgpack.encode(self.figures)

    def read(self, row: Row) -> None:
        """Add a row, unless it was added already."""
        figures = self.figures
        if row.position <= figures.position:
            return
        figures.position = row.position
        self.changed = True
        self._expire(row.time)
        if row.kind == Kind.DECISION:
            self._count_decision(row, self._enter(row))
        elif row.kind == Kind.ACTIVATION:
            figures.activations += 1
        elif row.kind in (Kind.REWARD, Kind.FINAL):
            self._count_reward(row)

    def _enter(self, row: Row) -> _Entry:
        entry = _Entry(row.time, unpack(row.body))
        self._entries[row.key] = entry
        if self._window is None and len(self._entries) > REMEMBERED:
            self._entries.popitem(last=False)
        return entry

    def _expire(self, now: float) -> None:
        if self._window is None:
            return
        while self._entries:
            key, entry = next(iter(self._entries.items()))
            if entry.time + self._window > now:
                return
            del self._entries[key]
            self.figures.expired += 1
            default = self._settings.default_reward
            if default is not None:
                for arm in self._settings.defaulted(entry.body):
                    entry.rewards.setdefault(arm, default)
            self._comparison.add(self._settings, entry.body, entry.rewards)

    def _count_decision(self, row: Row, entry: _Entry) -> None:
        figures, body = self.figures, entry.body
        figures.decisions += 1
        figures.deferred += not body.active
        figures.first = figures.first or row.time
        figures.last = row.time
        figures.played[body.arm] = figures.played.get(body.arm, 0) + 1
        for counts, more in ((figures.unknown, body.unknown), (figures.missing, body.missing)):
            for column, count in more.items():
                counts[column] = counts.get(column, 0) + count
        self._rate(row.time, 1, 0)
        names = body.arms or self._settings.names
        mass = {name: p for name, p in zip(names, np.frombuffer(body.p).tolist(), strict=False) if p > 0}
        if body.proposed is not None:
            mass = {body.arm: 1.0}
        if not figures.buckets or figures.buckets[-1].count >= figures.bucket_size:
            figures.buckets.append(Bucket(0, row.time, {}))
        bucket = figures.buckets[-1]
        bucket.count, bucket.time = bucket.count + 1, row.time
        for name, p in mass.items():
            bucket.mass[name] = bucket.mass.get(name, 0.0) + p
        if len(figures.buckets) > 2 * BUCKETS:
            self._join()
        if not entry.left:
            figures.complete += 1
            self._entries.pop(row.key, None)

    def _join(self) -> None:
        """Merge neighbours, two into one."""
        figures = self.figures
        joined = []
        for first, second in zip(figures.buckets[0:-1:2], figures.buckets[1::2], strict=False):
            mass = dict(first.mass)
            for name, p in second.mass.items():
                mass[name] = mass.get(name, 0.0) + p
            joined.append(Bucket(first.count + second.count, second.time, mass))
        figures.bucket_size *= 2
        figures.buckets = joined + figures.buckets[2 * len(joined) :]

    def _count_reward(self, row: Row) -> None:
        figures = self.figures
        entry = self._entries.get(row.key)
        late = entry is None and self._window is not None
        if row.kind == Kind.REWARD:
            figures.rewards += 1
            figures.late += late
            self._rate(row.time, 0, 1)
        if late:
            return
        if entry is None:
            entry = self._looked_up(row)
            if entry is None:
                return
        if row.kind == Kind.REWARD:
            figures.delays.append(row.time - entry.time)
            del figures.delays[:-DELAYS]
            if row.arm != entry.body.arm and len(self._settings.names) <= EDGES and not self._settings.own_arms:
                edge = f"{entry.body.arm}\0{row.arm}"
                figures.through[edge] = figures.through.get(edge, 0) + 1
        if self._settle(row, entry):
            figures.complete += 1
            self._comparison.add(self._settings, entry.body, entry.rewards)

    def _settle(self, row: Row, entry: _Entry) -> bool:
        """Note a reward, or that no more will come; returns whether the decision is complete now."""
        if row.kind == Kind.FINAL:
            entry.left = 0
        elif row.reward is not None:
            entry.left -= row.part == 0
            entry.rewards[row.arm] = entry.rewards.get(row.arm, 0.0) + row.reward
        if entry.left > 0 or (self._settings.default_reward is not None and row.kind != Kind.FINAL):
            return False
        return self._entries.pop(row.key, None) is not None or self._window is None

    def _looked_up(self, row: Row) -> _Entry | None:
        """A decision that is not in memory, as in the log before this row; None if it was complete already."""
        rows = [found for found in self._store.find([(row.bandit, row.key)]) if found.position < row.position]
        known = known_from(rows)[row.bandit, row.key]
        if known.final:
            return None
        entry = _Entry(rows[0].time, known.decision)
        entry.rewards = {arm: sum(given) for arm, given in known.rewards.items()}
        entry.left -= len(known.rewards)
        return entry

    def _rate(self, time: float, decisions: int, rewards: int) -> None:
        rates, second = self.figures.rates, int(time)
        if rates and rates[-1][0] == second:
            rates[-1] = (second, rates[-1][1] + decisions, rates[-1][2] + rewards)
        else:
            rates.append((second, decisions, rewards))
            del rates[:-120]


def summary(figures: Figures, settings: BanditSettings) -> dict[str, Any]:
    """The figures as the page and `GET /v1/{bandit}` show them."""
    delays = sorted(figures.delays)
    comparison = figures.comparison or Comparison.of(settings)
    return {
        "decisions": figures.decisions,
        "rewards": figures.rewards,
        "open": figures.open,
        "late_rewards": figures.late,
        "deferred": figures.deferred,
        "activated": figures.activations,
        "first_decision": figures.first or None,
        "last_decision": figures.last or None,
        "delay": {
            name: delays[min(len(delays) - 1, int(q * len(delays)))] if delays else None
            for name, q in (("median", 0.5), ("p90", 0.9), ("p99", 0.99))
        },
        **comparison.summary(),
        "played": figures.played,
        "unknown_categories": figures.unknown,
        "missing_values": figures.missing,
    }
