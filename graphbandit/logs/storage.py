"""Where the rounds of a log are: in arrays, in Arrow tables, or in the files of a folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from graphbandit.base.shapes import Float
from graphbandit.graphs import FeedbackGraphs
from graphbandit.logs.arrow_rows import decision_rows, integers, reward_rows, to_batch
from graphbandit.logs.batch import LogBatch, check_growing
from graphbandit.logs.column_types import to_format
from graphbandit.logs.format import DECISIONS, GRAPHS, REWARDS, Layout
from graphbandit.logs.graph_rows import GraphStore, edge_columns, edge_row
from graphbandit.rounds.shown import Graphs


class Storage(ABC):
    """The rounds of a log, read in batches.

    `lost_bytes`: the size of rows that a killed writer left unfinished, and that are left out.
    """

    layout: Layout
    lost_bytes = 0

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def batches(self, first: int, stop: int, size: int) -> Iterator[LogBatch]:
        """The rounds first .. stop - 1, checked, at most `size` at a time."""

    @abstractmethod
    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """All rows as pieces of the tables, graphs first; each piece with the name of its table."""

    @abstractmethod
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward; (nan, nan) if there is none."""

    def restricted(self, first: int, stop: int) -> Storage:
        """The same log, possibly without all rounds but these, so that little is sent elsewhere."""
        return self

    @property
    def n_unmatched(self) -> int:
        """How many rewards belong to decisions after the last one of the log, and are left out."""
        return 0


class ArrayStorage(Storage):
    """Rounds that are in memory as arrays."""

    def __init__(self, layout: Layout, rounds: LogBatch, length: int | None = None) -> None:
        self.layout, self._rounds = layout, rounds
        self._offset, self._length = rounds.first_row, len(rounds) if length is None else length

    def __len__(self) -> int:
        return self._length

    def restricted(self, first: int, stop: int) -> ArrayStorage:
        """The same log, holding only these rounds."""
        part = slice(first - self._offset, stop - self._offset)
        return ArrayStorage(self.layout, self._rounds.take(part), self._length)

    def batches(self, first: int, stop: int, size: int) -> Iterator[LogBatch]:
        """Slices; nothing is copied."""
        for start in range(first - self._offset, stop - self._offset, size):
            yield self._rounds.take(slice(start, min(start + size, stop - self._offset)))

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """Graphs first, each once; then the decisions and rewards in pieces."""
        graphs = self._rounds.graphs
        if graphs is not None:
            yield GRAPHS, graph_rows(self.layout, graphs)
        for start in range(0, len(self._rounds), 65_536):
            batch = self._rounds.take(slice(start, start + 65_536))
            numbers = None if batch.graphs is None else batch.graphs.index.astype(np.int64)
            yield DECISIONS, decision_rows(self.layout, batch, numbers, None)
            yield REWARDS, reward_rows(self.layout, batch)

    def reward_range(self) -> tuple[float, float]:
        """The range of all rewards."""
        return range_of(self._rounds.rewards[self._rounds.revealed])


def graph_rows(layout: Layout, graphs: Graphs) -> pa.Table:
    """The stored graphs of a batch as rows of the graphs table, numbered as the batch's index counts them."""
    stored = graphs.stored_graphs() if isinstance(graphs, FeedbackGraphs) else list(graphs.stored)
    edges, edge_probabilities = edge_columns([edge_row(graph) for graph in stored])
    return pa.table([pa.array(range(len(stored)), pa.int64()), edges, edge_probabilities], schema=layout.schema(GRAPHS))


class TableStorage(Storage):
    """Rounds that are in memory as Arrow tables; rewards may come in any order."""

    def __init__(self, layout: Layout, decisions: pa.Table, rewards: pa.Table, graphs: pa.Table | None) -> None:
        self.layout = layout
        if graphs is not None:
            graphs = to_format(graphs, GRAPHS, layout, place=GRAPHS)
        decisions = to_format(decisions, DECISIONS, layout, place=DECISIONS)
        rewards = to_format(rewards, REWARDS, layout, place=REWARDS)
        self._decisions, self._rewards, self._graphs = decisions.combine_chunks(), rewards.combine_chunks(), graphs
        self._store = GraphStore(layout.stamp.n_arms)
        if graphs is not None:
            self._store.add(graphs, GRAPHS)
        of = integers(rewards, "decision", REWARDS)
        self._order = np.argsort(of, kind="stable")
        self._of = of[self._order]
        self._ids = integers(decisions, "id", DECISIONS)
        check_growing(self._ids, 0)

    def __len__(self) -> int:
        return int(self._decisions.num_rows)

    @property
    def n_unmatched(self) -> int:
        """Rewards of decisions after the last."""
        return int((self._of > self._ids[-1]).sum()) if len(self) else len(self._of)

    def batches(self, first: int, stop: int, size: int) -> Iterator[LogBatch]:
        """The decisions in their order, each with its rewards."""
        for start in range(first, stop, size):
            end = min(start + size, stop)
            # from the id after the last batch's, so that a reward without a decision is found
            after = self._ids[start - 1] + 1 if start else np.iinfo(np.int64).min
            low, high = np.searchsorted(self._of, [after, self._ids[end - 1] + 1])
            rows = self._order[low:high]
            yield to_batch(
                self._decisions.slice(start, end - start),
                self._rewards.take(pa.array(rows)),
                rows,
                stamp=self.layout.stamp,
                graphs=self._store,
                first_row=start,
            )

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """The tables that were given."""
        if self._graphs is not None:
            yield GRAPHS, self._graphs
        yield DECISIONS, self._decisions
        yield REWARDS, self._rewards

    def reward_range(self) -> tuple[float, float]:
        """The range of all rewards."""
        return range_of(np.asarray(self._rewards["reward"].to_numpy(), dtype=np.float64))


def range_of(values: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """The smallest and the largest, neither of them minus zero; nan if there is none."""
    return (float(values.min()) + 0.0, float(values.max()) + 0.0) if len(values) else (np.nan, np.nan)
