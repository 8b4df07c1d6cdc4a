"""Graphs as rows of Arrow tables, and back: lists of edges, with their probabilities where those are not all one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from graphbandit.base.shapes import Float, Int
from graphbandit.errors import GraphError, LogError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraphs
from graphbandit.rounds.shown import Graphs

EdgeRow = tuple[Int[np.ndarray, " numbers"], Float[np.ndarray, " edges"] | None]
"""The edges j0, a0, j1, a1, .. and their probabilities; None if every edge is sure."""


def edge_row(graph: FeedbackGraph | Float[np.ndarray, "arms arms"]) -> EdgeRow:
    """A graph, or a matrix of edge probabilities, as a row."""
    if isinstance(graph, FeedbackGraph):
        return graph.edges().astype(np.int32).ravel(), None
    edges = np.argwhere(graph > 0.0)
    probabilities = graph[edges[:, 0], edges[:, 1]]
    return edges.astype(np.int32).ravel(), probabilities


def edge_columns(rows: Sequence[EdgeRow | None]) -> tuple[Any, Any]:
    """The columns `edges` and `edge_probabilities` of some rows; None for a row without edges of its own."""
    return (
        pa.array([None if row is None else row[0] for row in rows], type=pa.list_(pa.int32())),
        pa.array([None if row is None else row[1] for row in rows], type=pa.list_(pa.float64())),
    )


class GraphStore:
    """The graphs of a log: `graphs`, those of its graphs table by number, and those that decisions bring along."""

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms
        self.graphs: dict[int, FeedbackGraph | Float[np.ndarray, "arms arms"]] = {}

    def add(self, table: pa.Table, place: str) -> None:
        """Take the rows of a graphs table; a number that is there already must name the same graph."""
        probabilities = table["edge_probabilities"] if "edge_probabilities" in table.column_names else None
        for row, (number, edges) in enumerate(zip(table["graph"], table["edges"], strict=True)):
            for name, value in (("graph", number), ("edges", edges)):
                if not value.is_valid:
                    raise LogError(f"{name} is empty; expected a graph in every row", table=place, row=row)
            given = None if probabilities is None else probabilities[row]
            graph = read_graph(edges, given, self.n_arms, place, row)
            old = self.graphs.setdefault(number.as_py(), graph)
            if old is not graph and not _equal(old, graph):
                raise LogError(f"graph {number} differs from an earlier one of that number", table=place, row=row)

    def batch(self, decisions: pa.Table, first_row: int) -> Graphs | None:
        """The graphs of these decisions, each stored once; None if no row has one."""
        n = decisions.num_rows
        numbers = np.full(n, -1, dtype=np.int64)
        if "graph" in decisions.column_names:
            numbers = np.asarray(decisions["graph"].fill_null(-1).to_numpy(), dtype=np.int64)
        inline = decisions["edges"] if "edges" in decisions.column_names else None
        has_inline = np.zeros(n, bool) if inline is None else inline.is_valid().to_numpy(zero_copy_only=False)
        given = has_inline | (numbers >= 0)
        if not given.any():
            return None
        if not given.all():
            row = first_row + int(np.argmin(given))
            raise LogError("there is no graph; expected one in every row or in none", table="decisions", row=row)
        pool: list[FeedbackGraph | Float[np.ndarray, "arms arms"]] = []
        index = np.empty(n, dtype=np.int32)
        for number in np.unique(numbers[~has_inline]).tolist():
            rows = np.flatnonzero((numbers == number) & ~has_inline)
            if number not in self.graphs:
                raise LogError(
                    f"there is no graph {number} in the graphs table", table="decisions", row=first_row + int(rows[0])
                )
            index[rows] = len(pool)
            pool.append(self.graphs[number])
        places: dict[tuple[bytes, bytes], int] = {}
        edge_probabilities = decisions["edge_probabilities"] if "edge_probabilities" in decisions.column_names else None
        for row in np.flatnonzero(has_inline).tolist():
            assert inline is not None
            edges, probabilities = inline[row], None if edge_probabilities is None else edge_probabilities[row]
            key = (_bytes(edges), b"" if probabilities is None else _bytes(probabilities))
            if key not in places:
                places[key] = len(pool)
                pool.append(read_graph(edges, probabilities, self.n_arms, "decisions", first_row + row))
            index[row] = places[key]
        return _pooled(pool, index)


def _pooled(pool: Sequence[FeedbackGraph | Float[np.ndarray, "arms arms"]], index: Int[np.ndarray, " n"]) -> Graphs:
    """A batch in which row i has graph index[i] of the pool: edge probabilities if any of them is a matrix."""
    sure = [graph for graph in pool if isinstance(graph, FeedbackGraph)]
    if len(sure) == len(pool):
        return FeedbackGraphs.pool(sure, index)
    matrices = [graph.to_dense().astype(np.float64) if isinstance(graph, FeedbackGraph) else graph for graph in pool]
    return ProbabilisticGraphs.pool(np.stack(matrices), index)


def read_graph(
    edges: Any, probabilities: Any, n_arms: int, place: str, row: int
) -> FeedbackGraph | Float[np.ndarray, "arms arms"]:
    """One graph from the Arrow scalars of its row."""
    pairs = edges.values.to_numpy(zero_copy_only=False) if edges.is_valid else np.empty(0, np.int32)
    if len(pairs) % 2:
        raise LogError(f"edges has {len(pairs)} numbers; expected pairs", table=place, row=row)
    pairs = pairs.reshape(-1, 2)
    try:
        graph = FeedbackGraph.from_edges(pairs, n_arms, require_loops=False)
        if probabilities is None or not probabilities.is_valid:
            return graph
        edge_probabilities = probabilities.values.to_numpy(zero_copy_only=False)
        if len(edge_probabilities) != len(pairs):
            raise GraphError(f"there are {len(edge_probabilities)} edge probabilities for {len(pairs)} edges")
        matrix = np.zeros((n_arms, n_arms))
        matrix[pairs[:, 0], pairs[:, 1]] = edge_probabilities
        ProbabilisticGraphs.from_dense(matrix[None])  # refuses what is not a probability
    except GraphError as error:
        raise LogError(str(error), table=place, row=row) from None
    return matrix


def _bytes(values: Any) -> bytes:
    return bytes(values.values.to_numpy(zero_copy_only=False).tobytes()) if values.is_valid else b"-"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, FeedbackGraph) or isinstance(other, FeedbackGraph):
        return bool(isinstance(one, type(other)) and one == other)
    return np.array_equal(one, other)
