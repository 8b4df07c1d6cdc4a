"""Graphs in the form that kernels take."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.values import tuple_of
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


@cache
def _forms() -> Any:
    from graphbandit.kernels.graphs import adjacency

    return adjacency


def kernel_graph(graph: FeedbackGraph) -> "Graph":
    """One graph."""
    rows = graph.rows
    if isinstance(rows, np.ndarray):
        packed: Graph = _forms().Graph(rows, *_NO_LISTS)
        return packed
    listed: Graph = _forms().Graph(_NO_WORDS[0], *graph.csr(), *graph.in_csr())
    return listed


def kernel_batches(graphs: FeedbackGraphs) -> "Iterable[tuple[slice, Graphs]]":
    """A batch as slices of its rounds: all rounds at once if the graphs are packed, else one by one."""
    form = graphs.__dict__.get("kernel_form")  # kept, because many rounds have the same graph
    if form is None:
        stored = graphs.stored
        if not isinstance(stored, np.ndarray):
            return _one_by_one(graphs)
        fields = stored, graphs.index, *_NO_LISTS
        form = graphs.__dict__["kernel_form"] = ((WHOLE, tuple_of(_forms().Graphs, fields)),)
    kept: tuple[tuple[slice, Graphs], ...] = form
    return kept


def _one_by_one(graphs: FeedbackGraphs) -> "Iterator[tuple[slice, Graphs]]":
    for t, graph in enumerate(graphs):
        yield slice(t, t + 1), _forms().Graphs(_NO_WORDS, _FIRST, *graph.csr(), *graph.in_csr())
