"""Graphs in the form that kernels take."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.direct_calls import kernels_of
from graphbandit.base.trusted import tuple_of
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph

if TYPE_CHECKING:
    from graphbandit.kernels.graphs.adjacency import Graph, Graphs

WHOLE = slice(None)
"""All rounds of a batch."""

_NO_WORDS = np.empty((1, 0, 0), dtype=np.uint64)
_FIRST = np.zeros(1, dtype=np.int32)
_NO_LISTS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)) * 2
for _array in (_NO_WORDS, _FIRST, *_NO_LISTS):
    _array.flags.writeable = False  # like the arrays of graphs: kernels are compiled for one type


def kernel_graph(graph: FeedbackGraph) -> "Graph":
    """One graph."""
    if not isinstance(graph.rows, np.ndarray):
        return listed_graph(graph)
    packed: Graph = kernels_of("graphs.adjacency").Graph(graph.rows, *_NO_LISTS)
    return packed


def listed_graph(graph: FeedbackGraph) -> "Graph":
    """One graph as neighbour lists, for kernels that walk over all edges many times."""
    listed: Graph = kernels_of("graphs.adjacency").Graph(_NO_WORDS[0], *graph.csr(), *graph.in_csr())
    return listed


def packed_batch(graphs: FeedbackGraphs) -> "Graphs | None":
    """A whole batch of packed graphs; None for large ones, which are listed."""
    form = graphs.__dict__.get("packed_form")  # kept, because many rounds have the same graph
    if form is None:
        stored = graphs.stored
        if not isinstance(stored, np.ndarray):
            return None
        form = graphs.__dict__["packed_form"] = tuple_of(
            kernels_of("graphs.adjacency").Graphs, (stored, graphs.index, *_NO_LISTS)
        )
    kept: Graphs = form
    return kept


def kernel_batches(graphs: FeedbackGraphs) -> "Iterable[tuple[slice, Graphs]]":
    """A batch as slices of its rounds: all rounds at once if the graphs are packed, else one by one."""
    packed = packed_batch(graphs)
    return _one_by_one(graphs) if packed is None else ((WHOLE, packed),)


def _one_by_one(graphs: FeedbackGraphs) -> "Iterator[tuple[slice, Graphs]]":
    for t, graph in enumerate(graphs):
        yield slice(t, t + 1), kernels_of("graphs.adjacency").Graphs(_NO_WORDS, _FIRST, *graph.csr(), *graph.in_csr())
