"""Graphs as people hand them to a `Bandit`: graphs of the package, arrays, NetworkX graphs, one or one a round."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from graphbandit.base.arm_names import ArmNames, shown
from graphbandit.base.frames import is_frame
from graphbandit.errors import GraphError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators.bandit import bandit
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph, ProbabilisticGraphs
from graphbandit.rounds.shown import Graphs

Graph = FeedbackGraph | ProbabilisticGraph
"""The graph of one round."""


@runtime_checkable
class Arms(Protocol):
    """Arms that may have names: those of a problem, or of one round."""

    @property
    def n_arms(self) -> int:
        """How many there are."""

    @property
    def arms(self) -> ArmNames | None:
        """Their names, if they have any."""


def graph_of(arms: Arms, graph: object) -> Graph | None:
    """One graph: a graph of the package, a square array or frame of 0 and 1, a NetworkX graph, or None.

    An array, a frame or a NetworkX graph must have all self-loops, as everywhere; a `FeedbackGraph` may lack some.
    """
    if graph is None:
        return None
    made: Graph
    if isinstance(graph, Graph):
        made = graph
    elif _is_square(graph):
        if _are_pairs(graph, arms.n_arms):
            raise GraphError(
                f"graph is a {type(graph).__name__} of pairs, which are edges rather than rows of a square; expected "
                f"FeedbackGraph.from_edges(graph, {arms.n_arms}, add_loops=True), or an array of 0 and 1"
            )
        names = None if isinstance(graph, np.ndarray | list | tuple) else arms.arms  # a frame may name its rows
        made = _with_loops("from_dense", FeedbackGraph.from_dense(graph, arms=names, require_loops=False), arms)
    elif _is_networkx(graph):
        nodes = None if arms.arms is None else arms.arms.names
        read = FeedbackGraph.from_networkx(graph, arms=nodes, require_loops=False)
        made = _with_loops("from_networkx", read, arms)
    else:
        raise GraphError(
            f"graph is a {type(graph).__name__}{' of texts' if _has_text(graph) else ''}; expected a FeedbackGraph, "
            "a ProbabilisticGraph, an array or a frame of 0 and 1, a NetworkX graph, or None (FeedbackGraph.from_edges "
            "and from_sparse make one of edges and of sparse matrices)"
        )
    if made.n_arms != arms.n_arms:
        raise GraphError(f"the graphs have {made.n_arms} arms; expected {arms.n_arms}")
    if made.arms is not None:
        check_names(arms, made.arms)
    return made


def _is_square(graph: object) -> TypeGuard[npt.ArrayLike]:
    """Whether this is an array, or a frame, of what may be numbers."""
    return not _has_text(graph) if isinstance(graph, np.ndarray | list | tuple) else is_frame(graph)


def _are_pairs(graph: object, n_arms: int) -> bool:
    """Whether these are edges: tuples of two, also where two arms make them fit, or lists of two for more arms."""
    if not isinstance(graph, np.ndarray | list | tuple):  # a frame
        return np.asarray(graph).shape[1:] == (2,) and n_arms != 2
    if isinstance(graph, np.ndarray) or not graph:
        return False
    return all(isinstance(row, tuple if n_arms == 2 else list | tuple) and len(row) == 2 for row in graph)


def _with_loops(how: str, graph: FeedbackGraph, arms: Arms) -> FeedbackGraph:
    """The graph, if every arm reveals itself."""
    if graph.has_all_loops:
        return graph
    lacking = shown(arms.arms, *graph.arms_without_loop[:5].tolist())
    more = ", ..." if len(graph.arms_without_loop) > 5 else ""
    raise GraphError(
        f"the graph lacks the self-loop of {lacking}{more}: playing such an arm would not reveal its own "
        f"reward; expected FeedbackGraph.{how}(..., add_loops=True), or require_loops=False if that is meant"
    )


def graphs_of(arms: Arms, graphs: object, n: int) -> Graphs | None:
    """The graphs of n rounds: a batch, a list of what `graph_of` takes, an array (n, arms, arms), or one for all."""
    if graphs is None or isinstance(graphs, Graphs):
        return graphs
    several = several_graphs(graphs)
    if several is not None:
        return given_batch([graph_of(arms, graph) for graph in several], arms.n_arms)
    one = graph_of(arms, graphs)
    return None if one is None else _repeated(one, n)


def _repeated(graph: Graph, n: int) -> Graphs:
    if isinstance(graph, ProbabilisticGraph):
        return ProbabilisticGraphs.repeat(graph, n)
    return FeedbackGraphs.repeat(graph, n)


def several_graphs(graphs: object) -> Graphs | Sequence[Any] | None:
    """One graph a round, if that is what this is; None if it is one graph, or none."""
    if isinstance(graphs, Graphs):
        return graphs
    if isinstance(graphs, np.ndarray):
        return list(graphs) if graphs.ndim == 3 else None
    if not isinstance(graphs, list | tuple):
        return None
    if not graphs:
        return graphs
    first = graphs[0]
    whole = isinstance(first, FeedbackGraph | ProbabilisticGraph) or _is_networkx(first) or is_frame(first)
    rows = isinstance(first, np.ndarray | list | tuple) and len(first) > 0 and np.ndim(first[0]) == 1
    return graphs if whole or rows else None


def given_batch(graphs: Sequence[Graph | None], n_arms: int) -> Graphs:
    """The graphs of some rounds, which must be of one kind, as a batch."""
    known = [graph for graph in graphs if graph is not None]
    if not graphs:
        return FeedbackGraphs.repeat(bandit(n_arms), 0)
    if len(known) < len(graphs) or len({isinstance(graph, FeedbackGraph) for graph in known}) > 1:
        raise GraphError("some rounds have a ProbabilisticGraph and some have none; expected the same kind in all")
    return graph_batch(known)


def graph_batch(graphs: Sequence[Graph]) -> Graphs:
    """One graph a round as a batch, each stored once; with edge probabilities if any of them has some."""
    first = graphs[0]
    if all(graph is first for graph in graphs):
        return _repeated(first, len(graphs))
    sure = [graph for graph in graphs if isinstance(graph, FeedbackGraph)]
    if len(sure) == len(graphs):
        return FeedbackGraphs.stack(sure)
    matrices = [
        graph.matrix if isinstance(graph, ProbabilisticGraph) else graph.to_dense().astype(np.float64)
        for graph in graphs
    ]
    stored = {matrix.tobytes(): matrix for matrix in matrices}
    place = {key: i for i, key in enumerate(stored)}
    return ProbabilisticGraphs.pool(np.stack([*stored.values()]), [place[matrix.tobytes()] for matrix in matrices])


def _has_text(graph: object) -> bool:
    """Whether this is a list of edges by name, or something like it."""
    rows = graph if isinstance(graph, list | tuple) else ()
    return any(isinstance(row, str) or (isinstance(row, list | tuple) and str in map(type, row)) for row in rows)


def _is_networkx(graph: object) -> bool:
    return type(graph).__module__.partition(".")[0] == "networkx"


def check_names(arms: Arms, found: ArmNames) -> None:
    """Raise GraphError unless a graph names as many arms as there are, in the same way."""
    if arms.arms is None:
        raise GraphError(f"the graph names its arms, {found!r}, but they have no names; expected Problem(arms=...)")
    if found is arms.arms or found == arms.arms:
        return
    place = next(i for i, (name, wanted) in enumerate(zip(found, arms.arms, strict=True)) if name != wanted)
    raise GraphError(
        f"the graph's arm {place} is {found[place]!r}; expected {arms.arms[place]!r}: the names of the arms, in their "
        "order"
    )
