"""The one writer: it takes requests from a queue, commits them in groups, and answers after the commit."""

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from graphbandit.errors import DatabaseError
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.metrics import Metrics
from graphbandit.service.protocol import Answer, Configure, Operation, Refusal, apply, known_from, pairs_of
from graphbandit.service.rows import Kind, Row
from graphbandit.service.store import Store

GROUP = 1000
"""The most requests in one transaction."""

Reply = Callable[[Answer], None]


class Clock:
    """Seconds since 1970: the machine's clock when this was made, plus the time that has passed since.

    So time never goes back, and a jump of the machine's clock does not move it. `after` is the time of the log's last
    row: if the machine's clock is behind it, time goes on from there.
    """

    def __init__(self, after: float = 0.0) -> None:
        self._start = max(time.time(), after)
        self._began = time.monotonic()

    def now(self) -> float:
        """The time now."""
        return self._start + (time.monotonic() - self._began)


class Writer:
    """A thread that owns the connection that appends. `submit` may be called from any thread."""

    def __init__(
        self,
        store: Store,
        bandits: Mapping[str, BanditSettings],
        metrics: Metrics,
        *,
        on_group: Callable[[], None] | None = None,
    ) -> None:
        self._store, self.metrics = store, metrics
        self._windows = {name: b.window_seconds for name, b in bandits.items() if b.window_seconds is not None}
        self._queue: queue.SimpleQueue[tuple[Sequence[Operation], Reply] | None] = queue.SimpleQueue()
        self._on_group = on_group
        self._clock = Clock()
        self._last_time = 0.0
        self._closes = 0.0  # when the last window closes
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Start to write."""
        _, last = self._store.last()
        self._clock = Clock(last)
        for bandit, window in self._windows.items():
            for kind in (Kind.DECISION, Kind.ACTIVATION):
                for row in self._store.newest(bandit, kind, 1):
                    self._closes = max(self._closes, row.time + window)
        self._last_time = last
        self._thread.start()

    def stop(self) -> None:
        """Write what has been submitted, then stop."""
        self._queue.put(None)
        self._thread.join()

    def submit(self, request: Sequence[Operation], reply: Reply) -> None:
        """Queue a request; `reply` is called in the writer's thread, once the request is durable or refused."""
        self._queue.put((request, reply))

    def _run(self) -> None:
        running = True
        idle_since = time.monotonic()
        while running:
            group: list[tuple[Sequence[Operation], Reply]] = []
            try:
                item = self._queue.get(timeout=self._pause())
                while item is not None and len(group) < GROUP:
                    group.append(item)
                    item = self._queue.get_nowait()
                running = item is not None
                if item is not None:
                    group.append(item)
            except queue.Empty:
                pass
            if group:
                self._write(group)
                idle_since = time.monotonic()
            elif running and time.monotonic() - idle_since >= self._pause():
                self._tick()
                idle_since = time.monotonic()

    def _pause(self) -> float:
        """Seconds to wait for requests before logging a tick, which says that time has passed."""
        if self._last_time >= self._closes:
            return 1.0
        return min(1.0, max(0.05, min(self._windows.values()) / 60))

    def _write(self, group: Sequence[tuple[Sequence[Operation], Reply]]) -> None:
        started = time.perf_counter()
        rows: list[Row] = []
        try:
            with self._store.writing():
                known = known_from(self._store.find(pairs_of([request for request, _ in group])))
                position, before = self._store.last()
                answers = [apply(request, known, rows, position + 1) for request, _ in group]
                now = max(before, self._clock.now())
                if rows:
                    self._store.append([row._replace(time=now) for row in rows])
        except DatabaseError as error:
            self.metrics.failures.inc()
            refusal = Refusal(503, f"the log cannot be written, try again with the same key: {error}")
            for _, reply in group:
                reply(refusal)
            return
        self._wrote(rows, now, time.perf_counter() - started)
        for (_, reply), answer in zip(group, answers, strict=True):
            reply(answer)
        if self._on_group is not None:
            self._on_group()

    def _wrote(self, rows: Sequence[Row], now: float, seconds: float) -> None:
        self._last_time = now if rows else self._last_time
        for (bandit, kind), count in Counter((row.bandit, row.kind) for row in rows).items():
            self.metrics.rows.labels(bandit, Kind(kind).name.lower()).inc(count)
        for row in rows:
            if row.kind in (Kind.DECISION, Kind.ACTIVATION) and row.bandit in self._windows:
                self._closes = max(self._closes, now + self._windows[row.bandit])
        self.metrics.groups.inc()
        self.metrics.commit_seconds.inc(seconds)

    def _tick(self) -> None:
        """Log that time has passed, while a window is still open: the learner knows the time from the log alone."""
        if self._last_time >= self._closes:
            return
        with contextlib.suppress(DatabaseError), self._store.writing():
            position, before = self._store.last()
            now = max(before, self._clock.now())
            self._store.append([Row(position + 1, "", Kind.TICK, str(position + 1), "", 0, None, now, None)])
            self._last_time = now


def configure(store: Store, bandits: Mapping[str, bytes]) -> None:
    """Log the configuration of each bandit where it differs from the newest one in the log."""
    with store.writing():
        position, before = store.last()
        rows: list[Row] = []
        for name, body in bandits.items():
            found = store.configuration(name)
            if found is None or found.body is None or bytes(found.body) != body:
                apply([Configure(name, body)], {}, rows, position + 1)
        now = max(before, Clock(before).now())
        store.append([row._replace(time=now) for row in rows])
