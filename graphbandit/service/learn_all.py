"""The learner of all bandits: reads the log in order under a lease, and publishes snapshots."""

import contextlib
import logging
import os
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

from graphbandit.errors import DatabaseError, SavedFileError
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.core import Core, Snapshot
from graphbandit.service.json_logging import logger, say
from graphbandit.service.learn_one import LogLearner
from graphbandit.service.statistics import Statistics
from graphbandit.service.store import SnapshotRow, Store

LEASE = 5.0
"""Seconds without a sign of a learner before another takes over."""
CHUNK = 500
"""Rows read at a time."""
PUBLISH_EVERY = 0.2
"""Seconds between snapshots of a learner that learns in every round."""
RETRY = 10.0
"""Seconds before a learner that has failed starts again."""
KEPT = 100
"""Snapshots of a bandit whose content is kept; of older ones only the name is kept, for replays to compare."""
GATHER = 0.01
"""Seconds to wait before reading the log again, so that the few rows of several commits are read together."""


class LostLeaseError(DatabaseError):
    """Somebody else is the learner now."""


def resumed(store: Store, name: str, settings: BanditSettings) -> LogLearner:
    """The learner of a bandit as its newest snapshot left it.

    A damaged snapshot is made again: the learner begins at the one before it, or at the first row of the log.
    """
    for row in reversed(store.snapshots(name)):
        kept = store.snapshot(row.hash)
        if kept is None or kept.data is None:
            break  # compaction has emptied this one and all before it
        core = core_at(store, name, settings, row.learnt)
        try:
            return LogLearner(core, store, core.restore(bytes(kept.data), row.hash))
        except SavedFileError as error:
            say("a snapshot is damaged, and is made again", level=logging.WARNING, bandit=name, error=str(error))
    if store.statistics(f"{name}/base") is not None:
        raise DatabaseError(f"no snapshot of {name!r} can be read, and the rows that they were made of are archived")
    return LogLearner(core_at(store, name, settings, 0), store)


def core_at(store: Store, name: str, settings: BanditSettings, position: int | None = None) -> Core:
    """The bandit as configured at a position of the log, or at its end; `settings` if the log has no configuration."""
    logged = store.configuration(name, position)
    if logged is not None and logged.body is not None:
        settings = msgspec.json.decode(logged.body, type=BanditSettings)
    return Core(name, settings)


class Learning:
    """The learners of all bandits, which read the log together. Not to be shared between threads."""

    def __init__(
        self, store: Store, bandits: dict[str, BanditSettings], *, on_snapshot: Callable[[], None] | None = None
    ) -> None:
        self._store, self._bandits = store, bandits
        self._on_snapshot = on_snapshot
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._learners: dict[str, LogLearner] = {}
        self._statistics: dict[str, Statistics] = {}
        self._published: dict[str, Snapshot] = {}
        self._kept: dict[str, deque[str]] = {}
        self._published_at = 0.0
        self._told_at = 0.0
        self._lease_until = 0.0
        self.position = 0

    def take_over(self) -> bool:
        """Take the lease and catch up with the log; False while somebody else holds it."""
        with self._store.writing():
            if not self._store.take_lease(self.owner, LEASE):
                return False
        self._lease_until = time.monotonic() + LEASE
        self._learners = {name: resumed(self._store, name, bandit) for name, bandit in self._bandits.items()}
        self._statistics = {name: Statistics.load(self._store, name, bandit) for name, bandit in self._bandits.items()}
        self._published = {
            name: learner.closed
            for name, learner in self._learners.items()
            if self._store.newest_hash(name) is not None
        }
        self._kept = {
            name: deque(row.hash for row in self._store.snapshots(name, newest=KEPT)) for name in self._bandits
        }
        self.position = min(
            *(learner.position for learner in self._learners.values()),
            *(statistics.figures.position for statistics in self._statistics.values()),
        )
        self._publish()
        return True

    def step(self) -> int:
        """Read some rows and publish what they taught; returns how many rows were read."""
        rows = self._store.read(self.position, limit=CHUNK)
        for row in rows:
            for name in (row.bandit,) if row.bandit else self._learners:
                learner = self._learners.get(name)
                if learner is None:
                    continue
                if row.position > learner.position:
                    learner.read(row)
                self._statistics[name].read(row)
            self.position = row.position
        now = time.monotonic()
        if len(rows) < CHUNK or now - self._published_at >= PUBLISH_EVERY:
            self._publish()
        return len(rows)

    def _publish(self) -> None:
        """Publish what is new, and renew the lease."""
        self._published_at = now = time.monotonic()
        news = {name: one for name, one in self._learners.items() if one.closed is not self._published.get(name)}
        tell = now - self._told_at >= 1.0
        if not news and not tell and now < self._lease_until - LEASE / 2:
            return
        rows = []  # made before the transaction, because the writer waits during it
        for name, learner in news.items():
            before = self._published.get(name)
            snapshot, data = learner.snapshot()
            facts = msgspec.json.encode(learner.facts(None if before is None else before.state)).decode()
            place_of = (snapshot.position, snapshot.learnt, snapshot.rounds)
            rows.append(SnapshotRow(snapshot.hash, name, *place_of, time.time(), facts, data))
        changed = [(n, s.figures.position, s.pack()) for n, s in self._statistics.items() if tell and s.changed]
        with self._store.writing():
            if not self._store.take_lease(self.owner, LEASE):
                raise LostLeaseError("another learner has the lease")
            for row in rows:
                self._store.publish(row)
                self._forget_before(row)
            for name, position, body in changed:
                self._store.put_statistics(name, position, body)
        self._lease_until = now + LEASE
        self._told_at = now if tell else self._told_at
        self._published.update((name, learner.closed) for name, learner in news.items())
        if news and self._on_snapshot is not None:
            self._on_snapshot()

    def _forget_before(self, row: SnapshotRow) -> None:
        """Empty the snapshot that is no longer one of the newest, unless replays begin there."""
        kept = self._kept[row.bandit]
        kept.append(row.hash)
        if len(kept) > KEPT:
            oldest, base = kept.popleft(), self._store.statistics(f"{row.bandit}/base")
            if oldest not in kept and (base is None or base[1].decode() != oldest):
                self._store.empty_snapshot(oldest)

    def give_up(self) -> None:
        """Give the lease back."""
        with self._store.writing():
            self._store.give_lease(self.owner)


def run(
    store: Store,
    bandits: dict[str, BanditSettings],
    stop: threading.Event,
    news: threading.Event,
    on_snapshot: Callable[[], None] | None = None,
) -> None:
    """Learn until `stop`; `news` says that the log has grown. After an error it says why, and tries again.

    What is wrong with the database is said at most once a minute. Any other error gives the lease back first, so that
    the page shows that nobody learns.
    """
    said: dict[str, float] = {}
    while not stop.is_set():
        learning = Learning(store, bandits, on_snapshot=on_snapshot)
        try:
            store.relax()
            while not stop.is_set() and not learning.take_over():
                stop.wait(LEASE / 4)
            while not stop.is_set():
                if learning.step() < CHUNK:
                    stop.wait(GATHER)
                    news.wait(0.1)
                    news.clear()
            learning.give_up()
        except DatabaseError as error:
            reason, now = str(error), time.monotonic()
            if not isinstance(error, LostLeaseError) and now - said.get(reason, -60.0) >= 60.0:
                say("the learner cannot go on, and tries again", level=logging.WARNING, error=reason)
                said[reason] = now
            stop.wait(0.5)
        except Exception:  # otherwise the reason would be lost, and learning would stop for good
            with contextlib.suppress(DatabaseError):
                learning.give_up()
            logger.exception("the learner has failed, and tries again in %g seconds", RETRY)
            stop.wait(RETRY)
    store.close()
