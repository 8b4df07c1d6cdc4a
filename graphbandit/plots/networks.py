"""A social network in two panels: its degrees, and one connected subgraph of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import GraphError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.networks.network import Network
from graphbandit.plots.graph_drawing import without_loops
from graphbandit.plots.style import BLUE, PALE, literal, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUBGRAPH_LIMIT = 1000
"""The largest subgraph that is drawn."""

_STEPS = 200  # of the layout


def plot_network(network: Network, subgraph: FeedbackGraph, *, title: str | None = None) -> Figure:
    """Draw the share of nodes with at least d neighbours, on logarithmic axes, and beside it one subgraph.

    - `network`: the network.
    - `subgraph`: one of its subgraphs, as `sample_subgraphs` draws them.
    - `title`: the title above both panels; None (default): none.
    """
    from matplotlib.collections import LineCollection

    from graphbandit.plots.notebook import NotebookFigure

    if subgraph.n_arms > SUBGRAPH_LIMIT:
        raise GraphError(f"the subgraph has {subgraph.n_arms} nodes; expected at most {SUBGRAPH_LIMIT} for a picture")
    if not network.n_edges:
        raise GraphError(f"network is {network!r}; expected one with edges for a picture")
    figure = NotebookFigure(figsize=(10.0, 4.6), layout="constrained")
    degrees, drawing = figure.subplots(1, 2)
    counts = np.bincount(network.degrees)
    shares = counts[::-1].cumsum()[::-1] / network.n_nodes
    present = np.flatnonzero(counts[1:]) + 1
    degrees.loglog(present, shares[present], color=BLUE, linewidth=1.8)
    degrees.set_xlabel("degree d")
    degrees.set_ylabel("share of nodes of degree d or more")
    plain_axes(degrees)
    edges = without_loops(subgraph)
    points = stress_layout(edges)
    lines = [(points[i], points[j]) for i, j in np.argwhere(np.triu(edges | edges.T))]
    drawing.add_collection(LineCollection(lines, colors=PALE, linewidths=0.7, zorder=1))
    drawing.scatter(*points.T, s=10 + 6 * edges.sum(axis=1), color=BLUE, edgecolor="white", linewidth=0.5, zorder=2)
    drawing.set_aspect("equal")
    drawing.set_axis_off()
    drawing.set_title(f"{subgraph.n_arms} nodes, {len(lines)} edges", size=10, color=INK)
    if title is not None:
        figure.suptitle(literal(title), weight="bold", color=INK)
    return figure


def stress_layout(edges: Bool[np.ndarray, "nodes nodes"]) -> Float[np.ndarray, "nodes 2"]:
    """Points whose distances are close to the lengths d of shortest paths: they minimise sum (distance / d - 1)².

    The method is majorisation (Gansner, Koren & North 2004): each step solves a linear system with the same matrix, and
    the sum never increases. It starts from a spiral, so the picture is always the same.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = len(edges)
    lengths = shortest_path(csr_array(edges), directed=False, unweighted=True)
    lengths[~np.isfinite(lengths)] = n
    np.fill_diagonal(lengths, np.inf)
    weights = lengths**-2
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / n)
    turns = 2.4 * np.arange(n)
    points: Float[np.ndarray, "nodes 2"] = np.sqrt(np.arange(n))[:, None] * np.stack([np.cos(turns), np.sin(turns)], 1)
    for _ in range(_STEPS):
        apart = points[:, None] - points[None]
        distances = np.maximum(np.sqrt((apart**2).sum(axis=-1)), 1e-9)
        points = inverse @ ((1 / lengths / distances)[..., None] * apart).sum(axis=1)
    return points
