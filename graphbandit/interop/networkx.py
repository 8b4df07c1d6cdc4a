"""Graphs of NetworkX, in and out. An edge u -> v says that playing u reveals v; an undirected edge counts both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_boolean
from graphbandit.base.extras import imported
from graphbandit.base.public_names import listing
from graphbandit.errors import GraphError
from graphbandit.graphs import FeedbackGraph, ProbabilisticGraph
from graphbandit.graphs.checked_input import check_nodes

__all__ = ["from_networkx", "to_networkx"]


def from_networkx(
    graph: Any,
    *,
    arms: Sequence[Any] | None = None,
    probability_attribute: str | None = None,
    add_loops: bool = False,
    require_loops: bool = True,
) -> FeedbackGraph | ProbabilisticGraph:
    """A feedback graph, u -> v: playing u reveals v.

    - `graph`: a NetworkX graph; edges without a direction count in both.
    - `arms`: the nodes in the order of the arms; None (default): the graph's order. Texts stay as names.
    - `probability_attribute`: the attribute of edges that has their probability; None (default): every edge is sure.
    - `add_loops`: whether to add a self-loop to every arm; False by default.
    - `require_loops`: whether to refuse a graph in which an arm lacks a self-loop (sure graphs only); True by default.
    """
    package = imported("networkx", "networkx")
    setting_boolean("add_loops", add_loops)
    if not isinstance(graph, package.Graph):
        raise GraphError(f"graph is a {type(graph).__name__}; expected a NetworkX graph")
    if probability_attribute is None:
        return FeedbackGraph.from_networkx(graph, arms=arms, add_loops=add_loops, require_loops=require_loops)
    if graph.is_multigraph():
        raise GraphError("graph has parallel edges, whose probabilities are not one; expected a Graph or a DiGraph")
    order = list(graph.nodes) if arms is None else list(arms)
    check_nodes(graph, order, ordered=True)
    place = {node: arm for arm, node in enumerate(order)}
    matrix = np.eye(len(order)) if add_loops else np.zeros((len(order), len(order)))
    for u, v, value in graph.edges(data=probability_attribute, default=1.0):
        pairs = [(u, v)] if graph.is_directed() else [(u, v), (v, u)]
        for j, a in pairs:
            matrix[place[j], place[a]] = value
    names = order if all(isinstance(node, str) for node in order) else None
    return ProbabilisticGraph(matrix, arms=names)


def to_networkx(graph: FeedbackGraph | ProbabilisticGraph) -> Any:
    """A `networkx.DiGraph`, u -> v: playing u reveals v, self-loops included; nodes are names where arms have names.

    Edges that are there with a probability have it as the attribute `probability`.

    - `graph`: the feedback graph.
    """
    if isinstance(graph, FeedbackGraph):
        return graph.to_networkx()
    if not isinstance(graph, ProbabilisticGraph):
        raise GraphError(f"graph is a {type(graph).__name__}; expected a FeedbackGraph or a ProbabilisticGraph")
    made = imported("networkx", "networkx").DiGraph()
    names: list[Any] = list(range(graph.n_arms)) if graph.arms is None else list(graph.arms)
    made.add_nodes_from(names)
    for j, a in np.argwhere(graph.matrix > 0).tolist():
        made.add_edge(names[j], names[a], probability=float(graph.matrix[j, a]))
    return made


__dir__ = listing(globals())
