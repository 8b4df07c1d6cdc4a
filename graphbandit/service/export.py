"""From the service's log to the log format (docs/log-format.md): Parquet tables of decisions, rewards and graphs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphbandit.base.saved_files import write_atomically
from graphbandit.errors import SettingError
from graphbandit.graphs import FeedbackGraph
from graphbandit.logs.graph_rows import edge_row
from graphbandit.service.configuration import Bandit
from graphbandit.service.core import Core
from graphbandit.service.rows import Kind, Row, unpack
from graphbandit.service.store import Store

FORMAT, VERSION = "graphbandit-log", 1
ROWS_PER_FILE = 200_000


@dataclass
class Exported:
    """What was written."""

    folder: Path
    decisions: int = 0
    rewards: int = 0
    graphs: int = 0
    first: int = 0
    last: int = 0


@dataclass
class _Rewards:
    """The rewards of one arm of a decision, its parts added up or the earliest taken."""

    reward: float
    time: float


@dataclass
class _Tables:
    decisions: list[dict[str, Any]] = field(default_factory=list)
    rewards: list[dict[str, Any]] = field(default_factory=list)


def export(
    store: Store, name: str, settings: Bandit, folder: Path, *, until: int | None = None, keys: set[str] | None = None
) -> Exported:
    """Write a bandit's rows to an empty folder; those up to a position, or only those of some keys."""
    if folder.exists() and any(folder.iterdir()):
        raise SettingError(f"{folder} is not empty; expected a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(Core(name, settings), folder)
    for row in _rows(store, name, until):
        if keys is None or row.key in keys or row.kind == Kind.CONFIGURATION:
            writer.take(row)
    return writer.close()


def _rows(store: Store, name: str, until: int | None) -> Iterator[Row]:
    after = 0
    while rows := store.read(after, limit=2000, bandit=name, until=until):
        yield from rows
        after = rows[-1].position


class _Writer:
    """Collects rows and writes a file of each table whenever enough have come."""

    def __init__(self, core: Core, folder: Path) -> None:
        self._core, self._folder = core, folder
        self._tables = _Tables()
        self._graphs: dict[Any, int] = {}
        self._edges: list[dict[str, Any]] = []
        self._numbers = {"decisions": 0, "rewards": 0}
        self._places: dict[str, tuple[int, list[str], np.ndarray]] = {}
        self._sums: dict[tuple[str, str], _Rewards] = {}
        self.outcome = Exported(folder)
        self._any_p = False
        self._stamp: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "n_arms": core.slots,
            "context_shape": list(core.context_shape),
        }
        if len(core.settings.names) == core.slots:
            self._stamp["arms"] = list(core.settings.names)

    def take(self, row: Row) -> None:
        """Add a row."""
        if row.kind == Kind.CONFIGURATION:
            self._core = Core(self._core.name, msgspec.json.decode(row.body or b"", type=Bandit))
        elif row.kind == Kind.DECISION:
            self._decision(row)
        elif row.kind == Kind.REWARD:
            self._reward(row)

    def _decision(self, row: Row) -> None:
        body, core = unpack(row.body or b""), self._core
        features = None if body.arm_features is None else msgspec.json.decode(body.arm_features)
        arms = None if body.arms is None else list(zip(body.arms, features or [], strict=True))
        graph = None if body.graph is None else msgspec.json.decode(body.graph)
        asked = core.asked(row.key, msgspec.json.decode(body.context), arms, graph, body.available)
        given = asked.graph if isinstance(asked.graph, FeedbackGraph) else asked.graph.matrix
        same = given if isinstance(given, FeedbackGraph) else given.tobytes()
        number = self._graphs.setdefault(same, len(self._graphs))
        if number == len(self._edges):
            edges, odds = edge_row(given)
            self._edges.append({"graph": number, "edges": edges.tolist(), "edge_probabilities": odds})
        p = np.zeros(core.slots)
        p[: len(body.p) // 8] = np.frombuffer(body.p)
        names = list(asked.names)
        self._tables.decisions.append(
            {
                "id": row.position,
                "time": round(row.time * 1e6),
                "context": asked.context.ravel().tolist(),
                "available": None if asked.available is None else np.flatnonzero(asked.available).tolist(),
                "graph": number,
                "action": names.index(body.arm),
                "probability": body.probability,
                "probabilities": None if body.proposed is not None else p.tolist(),
                "epoch": body.epoch,
                "key": row.key,
                "snapshot": body.snapshot,
                "active": body.active,
            }
        )
        self._any_p = self._any_p or body.proposed is not None
        self._places[row.key] = (row.position, names, np.frombuffer(body.q))
        self.outcome.decisions += 1
        self.outcome.first = self.outcome.first or row.position
        self.outcome.last = row.position
        if len(self._tables.decisions) >= ROWS_PER_FILE:
            self._write("decisions")

    def _reward(self, row: Row) -> None:
        if row.key not in self._places or row.reward is None:
            return
        found = self._sums.get((row.key, row.arm))
        if found is None:
            self._sums[row.key, row.arm] = _Rewards(row.reward, row.time)
        elif self._core.settings.aggregation == "sum":
            found.reward += row.reward

    def close(self) -> Exported:
        """Write what is left, then the graphs and the stamp."""
        for (key, arm), given in self._sums.items():
            position, names, q = self._places[key]
            slot = names.index(arm)
            self._tables.rewards.append(
                {
                    "decision": position,
                    "arm": slot,
                    "reward": given.reward,
                    "observation_probability": min(1.0, float(q[slot])),
                    "time": round(given.time * 1e6),
                }
            )
            self.outcome.rewards += 1
        for table in ("decisions", "rewards"):
            self._write(table)
        columns = [("edges", pa.list_(pa.int32())), ("edge_probabilities", pa.list_(pa.float64()))]
        graphs = pa.schema([("graph", pa.int64()), *columns])
        self._file("graphs", 0, self._edges, graphs)
        self.outcome.graphs = len(self._edges)
        text = json.dumps(self._stamp).encode()
        write_atomically(self._folder / "log.json", lambda file: _put(file, text))
        return self.outcome

    def _write(self, table: str) -> None:
        rows = getattr(self._tables, table)
        if not rows and self._numbers[table]:
            return
        schema = self._schemas()[table]
        self._file(table, self._numbers[table], rows, schema)
        self._numbers[table] += 1
        setattr(self._tables, table, [])

    def _schemas(self) -> dict[str, Any]:
        core, moment = self._core, pa.timestamp("us", tz="UTC")
        size = int(np.prod(core.context_shape))
        decisions = [
            ("id", pa.int64()),
            ("time", moment),
            ("context", pa.list_(pa.float64(), size)),
            ("available", pa.list_(pa.int32())),
            ("graph", pa.int64()),
            ("action", pa.int32()),
            ("probability", pa.float64()),
            *([] if self._any_p else [("probabilities", pa.list_(pa.float64(), core.slots))]),
            ("epoch", pa.int64()),
            ("key", pa.string()),
            ("snapshot", pa.string()),
            ("active", pa.bool_()),
        ]
        rewards = [
            ("decision", pa.int64()),
            ("arm", pa.int32()),
            ("reward", pa.float64()),
            ("observation_probability", pa.float64()),
            ("time", moment),
        ]
        return {"decisions": pa.schema(decisions), "rewards": pa.schema(rewards)}

    def _file(self, table: str, number: int, rows: Iterable[dict[str, Any]], schema: Any) -> None:
        metadata = {b"graphbandit.log": json.dumps({**self._stamp, "table": table}).encode()}
        columns = pa.Table.from_pylist(list(rows), schema=schema.with_metadata(metadata))
        (self._folder / table).mkdir(exist_ok=True)
        path = self._folder / table / f"{number:06d}.parquet"
        write_atomically(path, lambda file: pq.write_table(columns, file, write_page_checksum=True))


def _put(file: Any, data: bytes) -> None:
    file.write(data)
