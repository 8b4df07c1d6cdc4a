"""Learn one bandit from the log: read its rows in order, and make a state after each epoch.

The state is a function of the rows alone. A decision *starts* at its row, or at its activation if it was deferred. It
becomes a round at once, and its rewards count when they come. With a default reward it becomes a round when its window
has closed, with all its rewards. An epoch has as many rounds as the learner asks for. It closes when it is full and
either all rewards of its rounds have come or the next round comes.
"""

import contextlib
from array import array
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from graphbandit.errors import GraphBanditError
from graphbandit.learners.played import News, Played
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.core import Core, Snapshot
from graphbandit.service.protocol import Known, known_from
from graphbandit.service.rows import DecisionBody, Kind, Row, unpack
from graphbandit.service.store import Store

CONTEXTS = 16
"""How many of the newest contexts are checked for a change of their best arm."""
REMEMBERED = 8_000
"""Decisions kept unpacked in memory; others are looked up in the log."""


@dataclass
class _Start:
    """Where and when a decision started, and what it was."""

    position: int
    time: float
    body: DecisionBody


@dataclass
class _Pending:
    """The rounds of the open epoch, and rewards that came during it, in compact arrays."""

    starts: "array[int]" = field(default_factory=lambda: array("q"))
    contexts: "array[float]" = field(default_factory=lambda: array("d"))
    actions: "array[int]" = field(default_factory=lambda: array("q"))
    notes: "array[float]" = field(default_factory=lambda: array("d"))
    seen_starts: "array[int]" = field(default_factory=lambda: array("q"))
    seen_slots: "array[int]" = field(default_factory=lambda: array("q"))
    seen_rewards: "array[float]" = field(default_factory=lambda: array("d"))
    seen_q: "array[float]" = field(default_factory=lambda: array("d"))
    masks: dict[int, np.ndarray] = field(default_factory=dict)  # by row, where not all arms were on offer
    late: dict[int, Played] = field(default_factory=dict)


class LogLearner:
    """Reads the rows of one bandit; decisions that are not in memory any more are looked up in the store."""

    def __init__(self, core: Core, store: Store, snapshot: Snapshot | None = None) -> None:
        self.core, self._store = core, store
        self.closed = core.initial() if snapshot is None else snapshot  # the newest closed epoch
        self.position = self.closed.learnt  # rows up to here have been read
        self._loop = core.loop(self.closed)
        self._pending = _Pending()
        self._awaited: dict[str, int] = {}  # rewards that rounds of this epoch still await
        self._waiting: deque[tuple[int, float, str]] = deque()  # started, window still open
        self._given: dict[str, dict[str, float]] = {}  # rewards of those
        self._recent: OrderedDict[str, _Start] = OrderedDict()
        self.unlearnt_rewards = 0

    def read(self, row: Row) -> bool:
        """Read the next row, and return whether an epoch closed."""
        before = self.closed
        if row.position > self.closed.position:
            self._close_windows(row.time)
        if row.kind == Kind.DECISION:
            body = unpack(row.body)
            if body.active:
                self._start(row.key, _Start(row.position, row.time, body), {}, False)
        elif row.kind == Kind.ACTIVATION:
            known = self._known(row.bandit, row.key, row.position)
            adds_up = self.core.settings.aggregation == "sum"
            given = {arm: sum(rewards) if adds_up else rewards[0] for arm, rewards in known.rewards.items()}
            self._start(row.key, _Start(row.position, row.time, known.decision), given, known.final)
        elif row.kind == Kind.REWARD:
            self._reward(row)
        elif row.kind == Kind.FINAL:
            self._awaited.pop(row.key, None)
        elif row.kind == Kind.CONFIGURATION:
            self.core = Core(self.core.name, msgspec.json.decode(row.body or b"", type=BanditSettings))
        self.position = row.position
        if self._full and not self._awaited:
            self._close(row.position)
        return self.closed is not before

    # starting

    def _start(self, key: str, start: _Start, given: dict[str, float], final: bool) -> None:
        self._remember(key, start)
        if self.core.settings.default_reward is not None:
            self._waiting.append((start.position, start.time, key))
            if given:
                self._given[key] = given
            return
        if self._full:
            self._close(start.position - 1)
        self._round(start)
        for arm, reward in given.items():
            self._see(start, arm, reward)
        missing = 0 if final else len(start.body.revealed) - len(given)
        if missing:
            self._awaited[key] = missing

    def _close_windows(self, now: float) -> None:
        """Make rounds of decisions whose window has closed, in the order in which they started."""
        window, default = self.core.settings.window_seconds, self.core.settings.default_reward
        if window is None or default is None:
            return
        while self._waiting and self._waiting[0][1] + window <= now:
            position, started, key = self._waiting.popleft()
            start = self._recent.get(key)
            if start is None or start.position != position:
                start = _Start(position, started, self._known(self.core.name, key, position).decision)
            rewards = self._given.pop(key, {})
            for arm in self.core.settings.defaulted(start.body):
                rewards.setdefault(arm, default)
            self._round(start)
            for arm, reward in rewards.items():
                self._see(start, arm, reward)
            if self._full:
                self._close(self.position)

    # rewards

    def _reward(self, row: Row) -> None:
        reward = float(row.reward or 0.0)
        start = self._recent.get(row.key)
        if start is None:
            start = self._looked_up(row)
            if start is None:
                return  # not active yet: its rewards are looked up on activation
            self._remember(row.key, start)
        window = self.core.settings.window_seconds
        if self.core.settings.default_reward is not None:
            if start.position > self.closed.learnt and (
                not self._pending.starts or start.position > self._pending.starts[-1]
            ):
                given = self._given.setdefault(row.key, {})
                given[row.arm] = given.get(row.arm, 0.0) + reward if self.core.settings.aggregation == "sum" else reward
            else:
                self.unlearnt_rewards += 1
            return
        if start.position <= self.closed.learnt and row.position <= self.closed.position:
            return  # learnt already
        if window is not None and row.time >= start.time + window:
            self.unlearnt_rewards += 1
        else:
            self._see(start, row.arm, reward)
        left = self._awaited.pop(row.key, 0)
        if left > 1:
            self._awaited[row.key] = left - 1

    def _looked_up(self, row: Row) -> _Start | None:
        """Where the decision of a reward started, from the log up to that reward; None if it is not active yet."""
        rows = [found for found in self._store.find([(row.bandit, row.key)]) if found.position <= row.position]
        decision = next((found for found in rows if found.kind == Kind.DECISION), None)
        if decision is None:
            return None  # moved to the archive together with all its rewards
        body = unpack(decision.body)
        start = decision if body.active else next((found for found in rows if found.kind == Kind.ACTIVATION), None)
        return None if start is None else _Start(start.position, start.time, body)

    def _known(self, bandit: str, key: str, until: int) -> Known:
        rows = [row for row in self._store.find([(bandit, key)]) if row.position <= until]
        return known_from(rows)[bandit, key]

    def _remember(self, key: str, start: _Start) -> None:
        self._recent[key] = start
        if len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    # rounds and epochs

    @property
    def _full(self) -> bool:
        return 0 < self._loop.left <= len(self._pending.starts)

    def _context(self, body: DecisionBody) -> np.ndarray:
        features = None if body.arm_features is None else msgspec.json.decode(body.arm_features)
        return self.core.encode(msgspec.json.decode(body.context), features)

    def _slot(self, body: DecisionBody, arm: str) -> int:
        return self.core.slot[arm] if body.arms is None else body.arms.index(arm)

    def _round(self, start: _Start) -> None:
        pending, body = self._pending, start.body
        mask = self.core.offered_before(body)
        if mask is not None:
            pending.masks[len(pending.starts)] = mask
        pending.starts.append(start.position)
        pending.contexts.frombytes(self._context(body).tobytes())
        pending.actions.append(self._slot(body, body.arm))
        pending.notes.frombytes(body.notes)

    def _passed(self, body: DecisionBody) -> Played:
        """A round of an earlier epoch; it gets its number when the epoch of its late rewards closes."""
        mask, action = self.core.offered_before(body), np.array([self._slot(body, body.arm)], dtype=np.int64)
        masks = None if mask is None else mask[None]
        return Played(0, self._context(body)[None], action, np.frombuffer(body.notes)[None], masks)

    def _see(self, start: _Start, arm: str, reward: float) -> None:
        pending = self._pending
        if start.position <= self.closed.learnt and start.position not in pending.late:
            pending.late[start.position] = self._passed(start.body)
        pending.seen_starts.append(start.position)
        slot = self._slot(start.body, arm)
        pending.seen_slots.append(slot)
        pending.seen_rewards.append(reward)
        pending.seen_q.append(float(np.frombuffer(start.body.q)[slot]))

    def _close(self, position: int) -> None:
        """Learn the epoch; `position` is the last row that counts for it."""
        pending, first, count = self._pending, self._loop.rounds, self._loop.left
        assert count == len(pending.starts)
        late = sorted(pending.late)
        n_late = len(late)
        masks = None
        if pending.masks:
            masks = np.ones((count, self.core.slots), dtype=np.bool_)
            for row, mask in pending.masks.items():
                masks[row] = mask
        played = Played(
            first,
            np.array(pending.contexts).reshape(count, *self.core.context_shape),
            np.array(pending.actions, dtype=np.int64),
            np.array(pending.notes).reshape(count, -1),
            masks,
        )
        # late rounds are known by their places in the log; they get the numbers just before those of this epoch
        passed = [pending.late[start]._replace(first=first - n_late + i) for i, start in enumerate(late)]
        order = np.array([*late, *pending.starts], dtype=np.int64)
        seen = np.searchsorted(order, np.array(pending.seen_starts, dtype=np.int64)) + (first - n_late)
        slots = np.array(pending.seen_slots, dtype=np.int64)
        news = News(seen, slots, np.array(pending.seen_rewards), np.array(pending.seen_q))
        self._loop = loop = self.core.learnt(self._loop, played, passed, news)
        self.closed = Snapshot("", loop.state, position, pending.starts[-1], loop.rounds)
        self._pending, self._awaited = _Pending(), {}

    def snapshot(self) -> tuple[Snapshot, bytes]:
        """The newest closed epoch as a snapshot with its name, and its bytes."""
        self.closed, data = self.core.named(self.closed)
        return self.closed, data

    def facts(self, before: Any) -> dict[str, Any]:
        """Figures about the newest snapshot; `before` is the state of the snapshot before it, or None.

        `changed` is the share of the newest contexts whose best arm has changed; None without contexts or `before`, or
        if arms come with the request.
        """
        epoch = int(getattr(self.closed.state, "epoch", self.closed.rounds))
        contexts = [self._context(start.body) for start in islice(reversed(self._recent.values()), CONTEXTS)]
        changed = None
        if before is not None and contexts and not self.core.settings.own_arms:
            with contextlib.suppress(GraphBanditError):  # a mere figure must not stop the learning
                now, then = self.core.best(self.closed.state, contexts), self.core.best(before, contexts)
                changed = float((now != then).mean())
        return {"epoch": epoch, "failed_fits": self._loop.postponed, "changed": changed}
