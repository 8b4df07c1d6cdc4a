"""From the service's log to the log format (docs/log-format.md), in memory that does not grow with the log.

A round of the exported log is a decision that has started: one that was requested as active, or activated later.
Decisions that nobody has activated are left out. With a default reward, decisions whose window is still open are left
out too, as fast rewards would otherwise count before slow defaults; the others have the rewards that came within the
window, and the default where none came. Decisions are read some at a time, each with all rows about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from graphbandit.bandit.given_arms import stacked_masks
from graphbandit.bandit.given_graphs import graph_batch
from graphbandit.errors import SettingError
from graphbandit.logs import LogBatch, LogWriter
from graphbandit.logs.format import REWARDS, TIME
from graphbandit.logs.whole_folder import whole_folder
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.core import Asked, Core
from graphbandit.service.rows import DecisionBody, Kind, Row, unpack
from graphbandit.service.store import Store

CHUNK = 1000
"""Decisions that are in memory at a time."""


@dataclass
class Exported:
    """What was written.

    - `folder`: where it is.
    - `decisions`, `rewards`: how many of each are there.
    - `inactive`, `waiting`: decisions left out because nobody has activated them, or their window is still open.
    - `late`: rewards that came after the window of a decision with a default reward; the column `late` has them.
    """

    folder: Path
    decisions: int = 0
    rewards: int = 0
    inactive: int = 0
    waiting: int = 0
    late: int = 0


def export(
    store: Store, name: str, settings: BanditSettings, folder: Path, *, until: int | None = None, finished: bool = False
) -> Exported:
    """Write a bandit's rounds as a log to a new or empty folder: all of them, or nothing.

    - `until`: the last position of the decisions that count; None (default): all count.
    - `finished`: whether to leave out decisions with a row after `until`; False by default.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SettingError(f"{folder} is not empty; expected a new folder")
    with whole_folder(folder) as part:
        exporter = _Exporter(store, name, settings, part)
        with exporter.writer:
            exporter.export(until, finished)
    exporter.outcome.folder = folder
    return exporter.outcome


@dataclass
class _Round:
    """A decision that has started, with what was asked and its rewards by arm, each with its time."""

    row: Row
    body: DecisionBody
    asked: Asked
    rewards: dict[str, tuple[float, float]]
    late: dict[str, float] = field(default_factory=dict)


class _Exporter:
    """Turns decisions with the rows about them into batches, and writes these."""

    def __init__(self, store: Store, name: str, settings: BanditSettings, folder: Path) -> None:
        self._store, self._core = store, Core(name, settings)
        self._now = store.last()[1]
        configurations = [settings, *map(_settings, store.newest(name, Kind.CONFIGURATION, store.last()[0]))]
        self._proposes = any(each.mode == "apprentice" for each in configurations)
        core, names = self._core, self._core.feature_names
        columns = {"key": pa.string(), "snapshot": pa.string(), "given": pa.string()}
        if settings.own_arms:
            columns["offered"] = pa.list_(pa.string())
        if self._proposes:
            columns["proposed"] = pa.list_(pa.float64())
        if any(each.default_reward is not None for each in configurations):
            columns["late"] = pa.string()
        self.writer = LogWriter(
            folder,
            n_arms=core.slots,
            context_shape=core.context_shape,
            arms=settings.names if len(settings.names) == core.slots else None,
            context_names=names if core.context_shape == (len(names),) else None,
            columns=columns,
        )
        self.outcome = Exported(folder)

    def export(self, until: int | None, finished: bool) -> None:
        """Write all rounds up to a position."""
        name, after = self._core.name, 0
        held: list[Row] = []
        while rows := self._store.read(after, limit=2 * CHUNK, bandit=name, until=until):
            for row in rows:
                if row.kind == Kind.DECISION:
                    held.append(row)
                if len(held) >= CHUNK or (held and row.kind == Kind.CONFIGURATION):
                    self._write(held, until if finished else None)
                    held = []
                if row.kind == Kind.CONFIGURATION:
                    self._core = Core(name, _settings(row))
            after = rows[-1].position
        if held:
            self._write(held, until if finished else None)

    def _write(self, decisions: Sequence[Row], until: int | None) -> None:
        about: dict[str, list[Row]] = {row.key: [] for row in decisions}
        for row in self._store.find((row.bandit, row.key) for row in decisions):
            about[row.key].append(row)
        rounds = [
            found
            for row in decisions
            if until is None or about[row.key][-1].position <= until
            if (found := self._round(row, about[row.key])) is not None
        ]
        if not rounds:
            return
        self.writer.stage_decisions(self._batch(rounds))
        self.writer.commit()
        rewards = self._rewards(rounds)
        if rewards.num_rows:
            self.writer.stage_rewards(rewards)
            self.writer.commit()
        outcome = self.outcome
        outcome.decisions += len(rounds)
        outcome.rewards += rewards.num_rows
        outcome.late += sum(len(each.late) for each in rounds)

    def _round(self, row: Row, about: Sequence[Row]) -> _Round | None:
        """The decision with its rewards; None if it has not started, or waits for its default reward."""
        body, settings = unpack(row.body), self._core.settings
        started = row.time if body.active else next((r.time for r in about if r.kind == Kind.ACTIVATION), None)
        if started is None:
            self.outcome.inactive += 1
            return None
        closes, default = None, settings.default_reward
        if default is not None:
            closes = started + (settings.window_seconds or 0.0)
            if closes > self._now:
                self.outcome.waiting += 1
                return None
        rewards: dict[str, tuple[float, float]] = {}
        late: dict[str, float] = {}
        for each in about:
            if each.kind != Kind.REWARD or each.reward is None:
                continue
            if closes is not None and each.time >= closes:
                late[each.arm] = late.get(each.arm, 0.0) + each.reward
            elif each.arm not in rewards:
                rewards[each.arm] = each.reward, each.time
            elif settings.aggregation == "sum":
                rewards[each.arm] = rewards[each.arm][0] + each.reward, each.time
        if default is not None and closes is not None:
            for arm in settings.defaulted(body):
                rewards.setdefault(arm, (default, closes))
        return _Round(row, body, self._core.asked_before(row.key, body), rewards, late)

    def _batch(self, rounds: Sequence[_Round]) -> LogBatch:
        n, slots = len(rounds), self._core.slots
        played = np.array([each.asked.names.index(each.body.arm) for each in rounds], dtype=np.int64)
        probability = np.array([each.body.probability for each in rounds])
        service, p = np.zeros((n, slots)), np.full((n, slots), np.nan)
        for i, each in enumerate(rounds):
            proposed = np.frombuffer(each.body.p)
            service[i, : len(proposed)] = proposed
            if each.body.proposed is None:
                p[i] = service[i]
            elif probability[i] == 1.0:  # a caller that draws gives only the probability of the arm it played
                p[i], p[i, played[i]] = 0.0, 1.0
        columns: dict[str, Any] = {
            "key": [each.row.key for each in rounds],
            "snapshot": [each.body.snapshot for each in rounds],
            "given": [each.body.context.decode() for each in rounds],
            "offered": [each.asked.names for each in rounds],
            "proposed": service,
            "late": [msgspec.json.encode(each.late).decode() if each.late else None for each in rounds],
        }
        return LogBatch(
            first_row=0,
            ids=np.array([each.row.position for each in rounds], dtype=np.int64),
            contexts=np.stack([each.asked.context for each in rounds]),
            graphs=graph_batch([each.asked.graph for each in rounds]),
            actions=played,
            probability=probability,
            probabilities=p,
            rewards=np.empty((n, 0)),
            available=stacked_masks([each.asked.available for each in rounds], slots),
            epochs=np.array([each.body.epoch for each in rounds], dtype=np.int64),
            times=np.array([round(each.row.time * 1e6) for each in rounds], dtype="datetime64[us]"),
            columns={name: np.array(columns[name], dtype=object) for name in self.writer.layout.columns},
        )

    def _rewards(self, rounds: Sequence[_Round]) -> pa.Table:
        found: list[tuple[int, int, float, float | None, int]] = []
        for each in rounds:
            q = np.frombuffer(each.body.q)
            told = each.body.proposed is None or each.body.probability == 1.0
            for arm, (reward, time) in each.rewards.items():
                slot = each.asked.names.index(arm)
                odds = min(1.0, float(q[slot])) if told else None
                found.append((each.row.position, slot, reward, odds, round(time * 1e6)))
        columns = list(zip(*found, strict=True)) or [()] * 5
        schema = self.writer.layout.schema(REWARDS)
        kinds = [pa.int64(), pa.int32(), pa.float64(), pa.float64(), TIME]
        return pa.table([pa.array(c, kind) for c, kind in zip(columns, kinds, strict=True)], schema=schema)


def _settings(row: Row) -> BanditSettings:
    return msgspec.json.decode(row.body or b"", type=BanditSettings)
