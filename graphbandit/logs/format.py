"""The files of a log: names, columns, types, and the version that every file carries.

    folder/
      decisions/000000.parquet, 000001.parquet, ...   one row a round, in the order of their ids
      rewards/000000.parquet, ...                     one row a reward, in the order they came
      graphs/000000.parquet, ...                      one row a graph that decisions refer to by number
      log.json                                        the stamp: format, version, arms, shape of a context

A file that is being written is an Arrow stream, `000002.arrows`; it becomes Parquet when it is full.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from graphbandit.base.arm_names import MOST_ARMS
from graphbandit.errors import LogError

FORMAT = "graphbandit-log"
VERSION = 1
STAMP = b"graphbandit.log"
"""The key of the stamp in the metadata of a file's schema."""

DECISIONS, REWARDS, GRAPHS = "decisions", "rewards", "graphs"
TABLES = (GRAPHS, DECISIONS, REWARDS)
"""In the order in which they are written: what is referred to comes first."""

TIME = pa.timestamp("us", tz="UTC")


def _decisions(context_size: int, n_arms: int) -> list[pa.Field]:
    return [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("time", TIME),
        pa.field("context", pa.list_(pa.float64(), context_size)),
        pa.field("available", pa.list_(pa.int32())),
        pa.field("graph", pa.int64()),
        pa.field("edges", pa.list_(pa.int32())),
        pa.field("edge_probabilities", pa.list_(pa.float64())),
        pa.field("action", pa.int32(), nullable=False),
        pa.field("probability", pa.float64(), nullable=False),
        pa.field("probabilities", pa.list_(pa.float64(), n_arms)),
        pa.field("epoch", pa.int64()),
    ]


_REWARDS = [
    pa.field("decision", pa.int64(), nullable=False),
    pa.field("arm", pa.int32(), nullable=False),
    pa.field("reward", pa.float64(), nullable=False),
    pa.field("observation_probability", pa.float64()),
    pa.field("time", TIME),
]
_GRAPHS = [
    pa.field("graph", pa.int64(), nullable=False),
    pa.field("edges", pa.list_(pa.int32()), nullable=False),
    pa.field("edge_probabilities", pa.list_(pa.float64())),
]

DECISION_COLUMNS = tuple(column.name for column in _decisions(1, 1))
"""The columns of the decisions that have a meaning; all others are carried along."""

REQUIRED = {
    table: [column.name for column in columns if not column.nullable]
    for table, columns in ((DECISIONS, _decisions(1, 1)), (REWARDS, _REWARDS), (GRAPHS, _GRAPHS))
}


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """What every file of a log says about the whole log."""

    n_arms: int
    context_shape: tuple[int, ...] = (0,)
    arms: tuple[str, ...] | None = None
    context_names: tuple[str, ...] | None = None

    @property
    def context_size(self) -> int:
        """How many numbers a context is."""
        return math.prod(self.context_shape)

    def extends(self, other: Stamp) -> bool:
        """Whether all arms of the other have their places here, so that arms may have joined since."""
        if self.context_shape != other.context_shape or self.n_arms < other.n_arms:
            return False
        return other.arms is None or (self.arms is not None and self.arms[: other.n_arms] == other.arms)

    def to_json(self, table: str | None = None) -> str:
        """As it stands in log.json and, with the table's name, in the metadata of a file."""
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if table is not None:
            content["table"] = table
        content |= {"n_arms": self.n_arms, "context_shape": list(self.context_shape)}
        if self.arms is not None:
            content["arms"] = list(self.arms)
        if self.context_names is not None:
            content["context_names"] = list(self.context_names)
        return json.dumps(content)

    @classmethod
    def from_json(cls, text: str | bytes, place: str) -> Stamp:
        """Read it back; `place` names the file in errors."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise LogError(f"{place} has format {content['format']!r}; expected {FORMAT!r}")
            if content["version"] != VERSION:
                raise LogError(f"{place} has log version {content['version']!r}; expected {VERSION}")
            for name in ("context_shape", "arms", "context_names"):
                if not isinstance(content.get(name, []), list):
                    raise LogError(f"{place} has {name} {content[name]!r}; expected a list")
            arms, names = content.get("arms"), content.get("context_names")
            stamp = cls(
                n_arms=content["n_arms"],
                context_shape=tuple(content["context_shape"]),
                arms=None if arms is None else tuple(map(str, arms)),
                context_names=None if names is None else tuple(map(str, names)),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, LogError):
                raise
            raise LogError(f"{place} has no stamp of a log: {type(error).__name__}: {error}") from None
        stamp._check(place)
        return stamp

    def _check(self, place: str) -> None:
        """Raise LogError unless all of it makes sense."""
        if not (type(self.n_arms) is int and 1 <= self.n_arms <= MOST_ARMS):
            raise LogError(f"{place} has n_arms {self.n_arms!r}; expected a whole number from 1 to {MOST_ARMS}")
        if not all(type(size) is int and 0 <= size <= MOST_ARMS for size in self.context_shape):
            raise LogError(f"{place} has context_shape {list(self.context_shape)}; expected whole numbers from 0")
        if self.arms is not None and (len(self.arms) != self.n_arms or len(set(self.arms)) != self.n_arms):
            raise LogError(
                f"{place} has {len(self.arms)} arms, {len(set(self.arms))} different ones; expected {self.n_arms}"
            )


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The stamp, and the types of the columns that a log carries along."""

    stamp: Stamp
    columns: dict[str, pa.DataType] = field(default_factory=dict)

    def schema(self, table: str) -> pa.Schema:
        """The Arrow schema of a table, with the stamp in its metadata."""
        return self._schemas[table]

    @cached_property
    def _schemas(self) -> dict[str, pa.Schema]:
        size = self.stamp.context_size
        decisions = [each for each in _decisions(size, self.stamp.n_arms) if size or each.name != "context"]
        decisions += [pa.field(name, kind) for name, kind in self.columns.items()]
        fields = {DECISIONS: decisions, REWARDS: _REWARDS, GRAPHS: _GRAPHS}
        return {
            table: pa.schema(columns, metadata={STAMP: self.stamp.to_json(table).encode()})
            for table, columns in fields.items()
        }


def check_columns(table: str, schema: pa.Schema, place: str | None = None) -> None:
    """Raise LogError if a column that every log must have is missing."""
    check_present(REQUIRED[table], schema, place or table)


def check_present(needed: Sequence[str], schema: pa.Schema, place: str) -> None:
    """Raise LogError unless all columns that are needed are there; `place` names the table or the file."""
    missing = [name for name in needed if name not in schema.names]
    if missing:
        words = f"column {missing[0]} is" if len(missing) == 1 else f"columns {', '.join(missing)} are"
        raise LogError(
            f"the {words} missing; expected at least {', '.join(needed)}, and found "
            f"{', '.join(schema.names) or 'none'}",
            table=place,
        )
