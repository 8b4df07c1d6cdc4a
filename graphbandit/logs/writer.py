"""Write a log as rounds are played: rows are appended, and a kill at any moment loses at most the rows being written.

Rows go to an unfinished file, an Arrow stream, and reach the operating system before `append` returns. A full file is
sealed: written as Parquet under a temporary name, flushed to disk and renamed. The next writer of the log after a kill
seals the whole rows that are left; `recovered_rows` and `lost_bytes` count them.

Writing has two steps. `stage_decisions` and `stage_rewards` write rows behind those that count, and `commit` lets them
count. What was staged and not committed is written over by the next stage, so a caller that is interrupted between its
own change and the log's can do the one or the other again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.base.choices import LogSync
from graphbandit.base.saved_files import write_bytes
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import LogError, SettingError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraphs
from graphbandit.logs.arrow_rows import decision_rows, integers, reward_rows
from graphbandit.logs.batch import LogBatch
from graphbandit.logs.column_types import to_format
from graphbandit.logs.folder import OPEN, log_folder, read_stamp, read_stream, table_files
from graphbandit.logs.format import DECISIONS, GRAPHS, REWARDS, STAMP, TABLES, TIME, Layout, Stamp
from graphbandit.logs.from_arrays import log_batch, log_stamp
from graphbandit.logs.graph_rows import EdgeRow, GraphStore, edge_columns, edge_row
from graphbandit.logs.growing_file import GrowingFile, lock_file, seal
from graphbandit.logs.widening import widened

ROWS_PER_FILE = 1 << 18
ZERO = np.zeros(1, dtype=np.int64)
SHARED_BYTES = 1 << 26
"""The size up to which graphs are written once and referred to; beyond, each round carries its own edges."""


class LogWriter:
    """Append rounds and rewards to a log in a folder. One writer at a time: the folder is locked.

    - `folder`: where the log is; it is made if it does not exist, and continued if it does.
    - `n_arms`: K; None (default): that of a log that exists.
    - `context_shape`: the shape of one context; (0,) by default, where there is none.
    - `arms`: the names of the arms; None (default): they have none.
    - `context_names`: what the numbers of a context are; None (default): they have no names.
    - `columns`: further columns of the decisions and their Arrow types; None (default): none.
    - `rows_per_file`: rows after which a file is sealed and the next one begun, 262,144 by default.
    - `sync`: "file" (default) flushes to disk when a file is sealed, so rows survive a kill of the process; "append"
      flushes every append, so they survive a loss of power, at the price of milliseconds.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "log"
    >>> with LogWriter(folder, n_arms=2) as writer:
    ...     ids = writer.append_decisions(actions=[0, 1], probabilities=[[0.5, 0.5], [0.2, 0.8]])
    ...     writer.append_rewards(decisions=ids, revealed_arms=[0, 1], rewards=[1.0, 0.0])
    >>> ids
    array([0, 1])
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        n_arms: int | None = None,
        context_shape: Sequence[int] = (0,),
        arms: Sequence[str] | None = None,
        context_names: Sequence[str] | None = None,
        columns: Mapping[str, pa.DataType] | None = None,
        rows_per_file: int = ROWS_PER_FILE,
        sync: LogSync = "file",
    ) -> None:
        setting_choice("sync", sync, get_args(LogSync))
        self._rows_per_file = setting_integer("rows_per_file", rows_per_file, at_least=1)
        self._sync = sync == "append"
        self.folder = log_folder(folder)
        self.recovered_rows = self.lost_bytes = 0
        exists = (self.folder / "log.json").exists()
        if not exists and n_arms is None:
            raise SettingError("n_arms is None; expected the number of arms of a new log")
        stamp = read_stamp(self.folder) if exists else log_stamp(n_arms, tuple(context_shape), arms, context_names)
        if exists and n_arms is not None and (stamp.n_arms, stamp.context_shape) != (n_arms, tuple(context_shape)):
            raise LogError(
                f"the log has {stamp.n_arms} arms and contexts of shape {stamp.context_shape}; "
                f"expected {n_arms} and {tuple(context_shape)}"
            )
        self.layout = Layout(stamp=stamp, columns=dict(columns or {}))
        self._graphs: dict[FeedbackGraph | bytes, int] = {}
        self._graph_bytes = self._next_graph = 0
        self._staged = _Staged()
        self.next_id = 0
        for table in TABLES:
            (self.folder / table).mkdir(parents=True, exist_ok=True)
        self._lock = lock_file(self.folder / "writer.lock")
        try:
            if not exists:
                self._write_stamp(stamp)
            self._files = {table: self._continued(table) for table in TABLES}
        except BaseException:
            self._lock.close()
            raise

    def append(self, batch: LogBatch) -> None:
        """Append rounds with the rewards they have; ids must follow those of the log."""
        batch.check()
        if len(batch):
            self.stage_decisions(batch)
            rows = reward_rows(self.layout, batch)
            if rows.num_rows:
                self._stage(REWARDS, rows)
            self.commit()

    # the columns of `Log.from_arrays`, but for those that need rewards
    def append_decisions(
        self,
        *,
        contexts: npt.ArrayLike | None = None,
        actions: npt.ArrayLike,
        probabilities: npt.ArrayLike,
        graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraphs | None = None,
        available: npt.ArrayLike | None = None,
        epochs: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Int[np.ndarray, " n"]:
        """Append rounds without rewards and return their ids.

        - `contexts`: (n, ...); None (default): there are none.
        - `actions`: the arm played, (n,).
        - `probabilities`: (n, K), or (n,) if only that of the arm played is known.
        - `graphs`: one graph for all rounds, or a batch; None (default): the log does not say what is revealed, so
          rewards need their observation probabilities.
        - `available`: the arms on offer, (n, K); None (default): all.
        - `epochs`, `times`: of the rounds, (n,); None (default): not known.
        - `ids`: the decisions' numbers, ascending; None (default): they go on from the last one.
        - `columns`: the further columns by name, (n,) each; None (default): none.
        """
        played = np.atleast_1d(np.asarray(actions))
        given = np.arange(self.next_id, self.next_id + len(played)) if ids is None else np.atleast_1d(np.asarray(ids))
        batch = log_batch(
            self.layout.stamp,
            ids=given,
            contexts=contexts,
            graphs=graphs,
            actions=played,
            probabilities=probabilities,
            rewards=None,
            available=available,
            epochs=epochs,
            times=times,
            columns=columns,
        )
        if len(batch):
            self.stage_decisions(batch)
            self.commit()
        return batch.ids

    def append_rewards(
        self,
        *,
        decisions: npt.ArrayLike,
        revealed_arms: npt.ArrayLike,
        rewards: npt.ArrayLike,
        observation_probabilities: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
    ) -> None:
        """Append rewards of decisions that are in the log, late and in any order.

        - `decisions`, `revealed_arms`, `rewards`: whose reward it is, of which arm, and the reward; (n,) each.
        - `observation_probabilities`: the probability of each of being revealed, if the log does not say; None
          (default): it does.
        - `times`: when they came in; None (default): not known.
        """
        of, which = (np.atleast_1d(np.asarray(values)) for values in (decisions, revealed_arms))
        values = np.atleast_1d(np.asarray(rewards, dtype=np.float64))
        n_arms = self.layout.stamp.n_arms
        if not len(of) == len(which) == len(values):
            raise LogError(f"there are {len(of)} decisions, {len(which)} arms and {len(values)} rewards")
        for name, numbers, stop in (("decision", of, self.next_id), ("arm", which, n_arms)):
            wrong = (numbers < 0) | (numbers >= stop)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise LogError(f"the {name} is {numbers[row]}; expected one of 0 .. {stop - 1}", table=REWARDS, row=row)
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise LogError(f"the reward is {values[row]}; expected a finite number", table=REWARDS, row=row)
        n = len(of)
        q = None if observation_probabilities is None else np.asarray(observation_probabilities, dtype=np.float64)
        stamps = None if times is None else np.asarray(times, dtype="datetime64[us]")
        columns = [
            pa.array(of, pa.int64()),
            pa.array(which, pa.int32()),
            pa.array(values),
            pa.nulls(n, pa.float64()) if q is None else pa.array(q, mask=np.isnan(q)),
            pa.nulls(n, TIME) if stamps is None else pa.array(stamps).cast(TIME),
        ]
        if n:
            self.stage_rewards(pa.table(columns, schema=self.layout.schema(REWARDS)))
            self.commit()

    def stage_decisions(self, batch: LogBatch) -> None:
        """Write rounds that are trusted, one at least; they count from `commit` on."""
        if int(batch.ids[0]) < self.next_id:
            raise LogError(f"the first id is {batch.ids[0]}; expected at least {self.next_id}", table=DECISIONS, row=0)
        self._begin_stage()
        numbers, edges = self._graph_columns(batch)
        self._stage(DECISIONS, decision_rows(self.layout, batch, numbers, edges))
        self._staged.next_id = int(batch.ids[-1]) + 1

    def stage_rewards(self, rows: pa.Table) -> None:
        """Write rows of rewards that are trusted, one at least; they count from `commit` on."""
        self._begin_stage()
        self._stage(REWARDS, rows)

    def commit(self) -> None:
        """Let what was staged last count. Doing it twice is the same as once."""
        staged = self._staged
        for table, done in staged.ends.items():
            self._files[table].done = done
        self._graphs.update(staged.graphs)
        self._graph_bytes = max(self._graph_bytes, staged.graph_bytes)
        self._next_graph = max(self._next_graph, staged.next_graph)
        self.next_id = max(self.next_id, staged.next_id)

    def grow(self, n_arms: int, arms: Sequence[str] | None = None) -> None:
        """Let arms join, behind those of the log; in rounds before they were not on offer.

        Files are sealed first, so that each has the arms of its own time.

        - `n_arms`: K from now on.
        - `arms`: the names of all arms, those of the log first; None (default): they have none.
        """
        before = self.layout.stamp
        stamp = log_stamp(n_arms, before.context_shape, arms, before.context_names)
        if not stamp.extends(before):
            has = f"{before.n_arms} arms" if before.arms is None else f"the arms {', '.join(before.arms)}"
            raise LogError(f"the log has {has}; expected these and others behind them, not {arms or n_arms}")
        for table in TABLES:
            self._files[table].seal()
        self._write_stamp(stamp)
        self.layout = Layout(stamp=stamp, columns=self.layout.columns)
        for table in TABLES:
            self._files[table].schema = self.layout.schema(table)

    def sync(self) -> None:
        """Flush every row that counts to disk."""
        for file in self._files.values():
            file.sync()

    def release(self) -> None:
        """Close the files as they are, unsealed, and unlock the folder."""
        for file in self._files.values():
            file.release()
        self._lock.close()

    def close(self) -> None:
        """Seal the unfinished files and unlock the folder."""
        try:
            for table in TABLES:
                self._files[table].seal()
        finally:
            self.release()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write_stamp(self, stamp: Stamp) -> None:
        write_bytes(self.folder / "log.json", stamp.to_json().encode() + b"\n")

    def _begin_stage(self) -> None:
        """Forget what was staged and not committed, and seal the files that are full."""
        self._staged = _Staged(next_id=self.next_id, graph_bytes=self._graph_bytes, next_graph=self._next_graph)
        for file in self._files.values():
            if file.full:
                file.seal()

    def _stage(self, table: str, rows: pa.Table) -> None:
        self._staged.ends[table] = self._files[table].stage(rows)

    def _graph_columns(self, batch: LogBatch) -> tuple[Int[np.ndarray, " n"] | None, list[EdgeRow | None] | None]:
        """Refer to graphs that are in the log or may still be added to it; spell out the edges of others."""
        if batch.graphs is None:
            return None, None
        graphs = batch.graphs
        used, place = (graphs.index, ZERO) if len(batch) == 1 else np.unique(graphs.index, return_inverse=True)
        numbers = np.empty(len(used), dtype=np.int64)
        spelt: dict[int, EdgeRow] = {}
        new: list[tuple[int, EdgeRow]] = []
        for i, stored in enumerate(used.tolist()):
            graph = graphs._stored_graph(stored) if isinstance(graphs, FeedbackGraphs) else graphs.stored[stored]
            key, size = _key_and_size(graph)
            number = self._graphs.get(key)
            if number is None:
                row = edge_row(graph)
                if self._staged.graph_bytes + size <= SHARED_BYTES:
                    number = self._staged.graphs[key] = self._staged.next_graph
                    self._staged.next_graph += 1
                    self._staged.graph_bytes += size
                    new.append((number, row))
                else:
                    number, spelt[i] = -1, row
            numbers[i] = number
        if new:
            edges, probabilities = edge_columns([row for _, row in new])
            rows = [pa.array([number for number, _ in new], pa.int64()), edges, probabilities]
            self._stage(GRAPHS, pa.table(rows, schema=self.layout.schema(GRAPHS)))
        return numbers[place], [spelt.get(int(i)) for i in place] if spelt else None

    def _continued(self, table: str) -> GrowingFile:
        """Seal what a killed writer left, learn the last id and the graphs, and begin the next file."""
        number = 0
        for path in table_files(self.folder, table):
            number = int(path.stem) + 1
            if path.suffix == OPEN:
                rows, lost = read_stream(path)
                self.lost_bytes += lost
                if rows is not None and rows.num_rows:
                    self.recovered_rows += rows.num_rows
                    seal(path, rows)
                else:
                    path.unlink()
        for path in (self.folder / table).glob(f"*{OPEN}"):  # sealed, but the writer was killed before it was removed
            path.unlink()
        sealed = table_files(self.folder, table)
        if table == GRAPHS:
            store = GraphStore(self.layout.stamp.n_arms)
            for path in sealed:
                store.add(self._sealed_rows(path, GRAPHS), path.name)
            for known, graph in store.graphs.items():
                key, size = _key_and_size(graph)
                self._next_graph = max(self._next_graph, known + 1)
                self._graphs[key] = known
                self._graph_bytes += size
        if table == DECISIONS and sealed:
            self.next_id = int(integers(self._sealed_rows(sealed[-1], DECISIONS, ["id"]), "id", DECISIONS)[-1]) + 1
        return GrowingFile(self.folder / table, number, self.layout.schema(table), self._rows_per_file, self._sync)

    def _sealed_rows(self, path: Path, table: str, columns: list[str] | None = None) -> pa.Table:
        """Rows of a finished file."""
        place = f"{table}/{path.name}"
        try:
            rows = pq.read_table(path, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise LogError(f"{place} is truncated or damaged: {error}", table=table) from None
        text = (rows.schema.metadata or {}).get(STAMP)
        few = self.layout.stamp.n_arms if text is None else Stamp.from_json(text, place).n_arms
        rows = to_format(rows, table, Layout(stamp=self.layout.stamp), place=place)
        return widened(rows, table, few, self.layout.stamp.n_arms)


@dataclass
class _Staged:
    """What is written and does not count yet: the ends of files, and what the writer knows once it counts."""

    next_id: int = 0
    graph_bytes: int = 0
    next_graph: int = 0
    graphs: dict[FeedbackGraph | bytes, int] = field(default_factory=dict)
    ends: dict[str, tuple[int, int, int]] = field(default_factory=dict)


def _key_and_size(graph: FeedbackGraph | Float[np.ndarray, "arms arms"]) -> tuple[FeedbackGraph | bytes, int]:
    """What a graph is known by, and how many bytes it takes in memory."""
    if isinstance(graph, FeedbackGraph):
        return graph, graph.n_arms**2 // 8
    return graph.tobytes(), graph.nbytes
