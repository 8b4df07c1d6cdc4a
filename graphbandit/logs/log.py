"""The log of a bandit: who decided what with which probability, and what was revealed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Shaped
from graphbandit.errors import InputError, LogError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraphs, bandit
from graphbandit.logs.batch import LogBatch
from graphbandit.logs.folder import FolderStorage, log_folder
from graphbandit.logs.format import TABLES, Layout
from graphbandit.logs.from_arrays import integer_array, log_batch, log_stamp, number_array, numbered, told_n_arms
from graphbandit.logs.from_frames import storage_of_frames
from graphbandit.logs.growing_file import ROWS_PER_GROUP, parquet_writer
from graphbandit.logs.storage import ArrayStorage, Storage
from graphbandit.logs.whole_folder import whole_folder
from graphbandit.logs.writer import ROWS_PER_FILE

CELLS = 1 << 20
"""Rounds times arms of a batch: what bounds the memory."""

LARGEST_BATCH = 1 << 16
"""Rounds of a batch with few arms."""


@dataclass(frozen=True, kw_only=True)
class LogSummary:
    """What a log holds.

    - `rounds`, `n_arms`, `rewards`: how many of each.
    - `side_observations`: how many rewards are those of arms that were not played.
    - `incomplete`: the rounds in which a reward that the graph reveals is missing.
    - `reward_range`: the lowest and the highest reward.
    - `smallest_probability`: the least probability with which an arm was played.
    - `unmatched`: rewards of decisions after the last; they are left out.
    - `lost_bytes`: what a killed writer left unfinished; it is left out.
    """

    rounds: int
    n_arms: int
    rewards: int
    side_observations: int
    incomplete: int
    reward_range: tuple[float, float]
    smallest_probability: float
    unmatched: int
    lost_bytes: int


class Log:
    """Rounds that were decided by some policy, in arrays, in frames or in a folder of any size.

    Build one with `from_arrays`, `from_frames` or `read`. ``log[100:200]`` is the log of these rounds.

    - `storage`: where the rounds are.
    - `first`, `stop`: the rounds first .. stop - 1 of it are in the log; 0 and None by default: all.

    >>> log = Log.from_arrays(actions=[0, 1], probabilities=[[0.5, 0.5], [0.2, 0.8]], rewards=[1.0, 0.0])
    >>> log
    Log(2 rounds, n_arms=2)
    """

    def __init__(self, storage: Storage, first: int = 0, stop: int | None = None) -> None:
        if not isinstance(storage, Storage):
            raise InputError(
                f"storage is {storage!r}; expected Log.read(folder) for a log in a folder, or Log.from_arrays(...) or "
                "Log.from_frames(...)"
            )
        self._storage = storage
        self._first, self._stop = first, len(storage) if stop is None else stop
        self.policies: dict[str, Any] = {}
        """The policies that `evaluate` was last given for this log, by name."""

    @classmethod
    def from_arrays(
        cls,
        *,
        contexts: npt.ArrayLike | None = None,
        actions: npt.ArrayLike,
        probabilities: npt.ArrayLike,
        rewards: npt.ArrayLike,
        graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraphs | None = None,
        observation_probabilities: npt.ArrayLike | None = None,
        available: npt.ArrayLike | None = None,
        epochs: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
        n_arms: int | None = None,
        arms: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Log:
        """A log from arrays with one row a round.

        - `contexts`: (n, ...); None (default): there are none.
        - `actions`: the arm played, (n,); its name will do where `arms` are given.
        - `probabilities`: of all arms, (n, K); or of the arm played, (n,).
        - `rewards`: (n, K), nan where not revealed; or (n,), of the arm played.
        - `graphs`: one graph for all rounds, or a batch. None (default): each round reveals the arm played and no
          other, unless `observation_probabilities` are given.
        - `observation_probabilities`: q, (n, K), if it does not follow from probabilities and graphs; None (default):
          it does.
        - `available`: the arms on offer, (n, K); None (default): all.
        - `epochs`, `times`: of the rounds, (n,); None (default): not known.
        - `ids`: the decisions' numbers, (n,); None (default): 0 .. n - 1.
        - `n_arms`: K, if no array says it; None (default): one does.
        - `arms`: names of the arms; None (default): they have none.
        - `columns`: further columns by name, (n,) each, as segments for `evaluate(by=...)`; None (default): none.
        """
        played = integer_array("actions", actions if arms is None else numbered(actions, arms))
        if not len(played):
            raise LogError("actions is empty; expected at least one round")
        n_arms = _n_arms(n_arms, arms, graphs, probabilities, rewards, played)
        rows = np.empty((len(played), 0)) if contexts is None else number_array("contexts", contexts)
        if rows.ndim < 2:
            raise LogError(f"contexts has shape {rows.shape}; expected ({len(played)}, ...), one row a round")
        if graphs is None and observation_probabilities is None:
            graphs = bandit(n_arms)
        stamp = log_stamp(n_arms, rows.shape[1:], arms)
        batch = log_batch(
            stamp,
            ids=ids,
            contexts=rows,
            graphs=graphs,
            actions=played,
            probabilities=probabilities,
            rewards=rewards,
            observation_probabilities=observation_probabilities,
            available=available,
            epochs=epochs,
            times=times,
            columns=columns,
        )
        kinds = {name: _arrow_type(name, values) for name, values in batch.columns.items()}
        return cls(ArrayStorage(Layout(stamp=stamp, columns=kinds), batch))

    @classmethod
    def from_frames(
        cls,
        decisions: Any,
        rewards: Any = None,
        *,
        context: str | Sequence[str] | None = None,
        probabilities: str | Sequence[str] | None = None,
        graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraphs | Any = None,
        n_arms: int | None = None,
        arms: Sequence[str] | None = None,
    ) -> Log:
        """A log from data frames of any kind: pandas, Polars or Arrow.

        - `decisions`: a row a round, with columns action and probability, and others as `docs/log-format.md` has them.
        - `rewards`: a row a reward, with columns decision, arm, reward. None (default): the column reward of the
          decisions is that of the arm played.
        - `context`: the columns that are the context (a column of lists, or one or more of numbers); None (default): as
          `docs/log-format.md` names them.
        - `probabilities`: the columns of the arms' probabilities, in the order of the arms; None (default): as
          `docs/log-format.md` names them.
        - `graphs`: one graph for all rounds, a batch, or a frame with the columns graph and edges, to which the column
          graph of the decisions refers. None (default): the decisions have edges, or each round reveals the arm played.
        - `n_arms`: K, if neither `arms`, graphs nor probabilities say it; None (default): they do.
        - `arms`: names of the arms; action and arm may then be names. None (default): they have none.
        """
        return cls(storage_of_frames(decisions, rewards, graphs, context, probabilities, n_arms, arms))

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Log:
        """A log in a folder. Only its outline is read now; the rows are read in batches when they are needed."""
        return cls(FolderStorage(log_folder(folder)))

    @classmethod
    def of(cls, log: Log | str | os.PathLike[str]) -> Log:
        """A log as it is, or the one in a folder."""
        if isinstance(log, Log):
            return log
        if not isinstance(log, str | os.PathLike):
            raise InputError(f"log is a {type(log).__name__}; expected a Log, or the folder of one")
        return cls.read(log)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the log to a new folder: all of it, or nothing."""
        layout = self._storage.layout
        with whole_folder(log_folder(folder)) as part:
            files = {table: _Files(part / table, layout.schema(table)) for table in TABLES}
            for table, rows in self._tables():
                files[table].write(rows)
            for file in files.values():
                file.close()
            (part / "log.json").write_text(layout.stamp.to_json() + "\n", encoding="utf-8")

    def _tables(self) -> Iterator[tuple[str, pa.Table]]:
        """All rows, piece by piece, each piece with the name of its table."""
        whole = len(self) == len(self._storage)
        return (self._storage if whole else ArrayStorage(self._storage.layout, self.to_batch())).tables()

    def __len__(self) -> int:
        return self._stop - self._first

    def __getitem__(self, rows: slice) -> Log:
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise InputError(f"rows is {rows!r}; expected a slice of consecutive rounds")
        try:
            first, stop, _ = rows.indices(len(self))
        except TypeError:
            raise InputError(f"rows is {rows!r}; expected whole numbers") from None
        part = Log(self._storage, self._first + first, self._first + max(first, stop))
        part.policies = dict(self.policies)
        return part

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: neither rounds outside of the log, nor the policies it was evaluated with."""
        return {**self.__dict__, "_storage": self._storage.restricted(self._first, self._stop), "policies": {}}

    def __repr__(self) -> str:
        return f"Log({len(self)} rounds, n_arms={self.n_arms})"

    @property
    def n_arms(self) -> int:
        """K."""
        return self._storage.layout.stamp.n_arms

    @property
    def context_shape(self) -> tuple[int, ...]:
        """The shape of one context; (0,) if there is none."""
        return self._storage.layout.stamp.context_shape

    @property
    def arms(self) -> tuple[str, ...] | None:
        """The names of the arms, if they have any."""
        return self._storage.layout.stamp.arms

    @property
    def columns(self) -> list[str]:
        """The further columns of the decisions."""
        return list(self._storage.layout.columns)

    @property
    def first_row(self) -> int:
        """The number of its first round in the log that was read or built; 0 unless this is a slice."""
        return self._first

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of the log this is a part of; (nan, nan) without rewards."""
        return self._storage.reward_range()

    def batches(self, rounds: int | None = None) -> Iterator[LogBatch]:
        """The rounds in order, as checked batches; memory does not grow with the log.

        - `rounds`: the largest number of rounds in a batch; None (default): `batch_rounds`.
        """
        size = self.batch_rounds if rounds is None else setting_integer("rounds", rounds, at_least=1)
        return self._storage.batches(self._first, self._stop, size)

    @property
    def batch_rounds(self) -> int:
        """The default number of rounds in a batch: a power of two that depends on the number of arms alone."""
        return 1 << (int(np.clip(CELLS // self.n_arms, 1, LARGEST_BATCH)).bit_length() - 1)

    def to_batch(self) -> LogBatch:
        """The whole log as one batch, in memory."""
        if not len(self):
            raise LogError("the log is empty; expected at least one round")
        return next(self.batches(len(self)))

    def to_arrow(self) -> dict[str, pa.Table]:
        """The tables graphs, decisions and rewards, in memory."""
        layout = self._storage.layout
        pieces: dict[str, list[pa.Table]] = {table: [layout.schema(table).empty_table()] for table in TABLES}
        for table, rows in self._tables():
            pieces[table].append(rows)
        return {table: pa.concat_tables(rows, promote_options="permissive") for table, rows in pieces.items()}

    def summary(self) -> LogSummary:
        """Read and check every round, and count what there is."""
        rewards = side = incomplete = 0
        smallest = 1.0
        for batch in self.batches():
            seen = batch.revealed
            rewards += int(seen.sum())
            side += int(seen.sum()) - int(seen[np.arange(len(batch)), batch.actions].sum())
            if batch.expected is not None:
                incomplete += int((batch.expected & ~seen).any(axis=1).sum())
            smallest = min(smallest, float(batch.probability.min()))
        return LogSummary(
            rounds=len(self),
            n_arms=self.n_arms,
            rewards=rewards,
            side_observations=side,
            incomplete=incomplete,
            reward_range=self.reward_range,
            smallest_probability=smallest,
            unmatched=self._storage.n_unmatched,
            lost_bytes=self._storage.lost_bytes,
        )


class _Files:
    """Sized Parquet files of one table."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder, self._schema = folder, schema
        self._folder.mkdir()
        self._number = self._rows = 0
        self._writer: Any = None

    def write(self, rows: pa.Table) -> None:
        rows = _conform(rows, self._schema)
        while rows.num_rows:
            if self._writer is None:
                path = self._folder / f"{self._number:06d}.parquet"
                self._writer, self._rows = parquet_writer(path, self._schema), 0
            part = rows.slice(0, ROWS_PER_FILE - self._rows)
            self._writer.write_table(part, row_group_size=ROWS_PER_GROUP)
            self._rows += part.num_rows
            rows = rows.slice(part.num_rows)
            if self._rows >= ROWS_PER_FILE:
                self.close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            self._number += 1


def _conform(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with exactly the columns of the schema; those they lack are empty."""
    columns = [
        rows[field.name].cast(field.type) if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _n_arms(
    given: int | None,
    arms: Sequence[str] | None,
    graphs: Any,
    probabilities: npt.ArrayLike,
    rewards: npt.ArrayLike,
    actions: Shaped[np.ndarray, " n"],
) -> int:
    told = told_n_arms(given, arms, graphs)
    if told is not None:
        return told
    for name, value in (("probabilities", probabilities), ("rewards", rewards)):
        array = number_array(name, value)
        if array.ndim == 2:
            return int(array.shape[1])
    raise LogError(f"the number of arms is not told; expected n_arms, at least {actions.max(initial=0) + 1}")


def _arrow_type(name: str, values: Shaped[np.ndarray, "n ..."]) -> pa.DataType:
    try:
        if values.ndim > 1:
            return pa.array(values[:1].tolist()).type
        return pa.array(values, from_pandas=True).type
    except (pa.ArrowException, TypeError) as error:
        raise LogError(f"the column {name!r} has no type that a log can hold: {error}") from None
