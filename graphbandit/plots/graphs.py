"""A feedback graph with the names of its arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.colours import INK
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.errors import InputError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.plots.graph_drawing import (
    RADIUS,
    ROW_LIMIT,
    along,
    check_size,
    cut,
    feedback_graph,
    hub_of,
    without_loops,
)
from graphbandit.plots.style import GREY, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSIDE = 3
"""Names of up to this many characters are written in the circles; if one is longer, beside them."""

SMALLEST, SMALLEST_REACH = 3.8, 1.7
"""The smallest size of a picture in inches, and its reach from the middle, so that few arms do not get huge circles."""

LETTER = 0.09
"""The width of a letter in inches."""

LONGEST = 32
"""Names are cut to this many characters."""


def plot_graph(graph: FeedbackGraph | npt.ArrayLike, *, arms: Sequence[str] | None = None) -> Figure:
    """Draw the arms on a circle, joined arms near each other, and the hub of a star in the middle.

    The arms keep their order if no other brings joined arms nearer.

    Lines are edges in both directions, arrows are edges in one direction; self-loops are not drawn.

    - `graph`: the graph; a square array of 0 and 1 or a NetworkX graph will do.
    - `arms`: the names of the arms, such as `arms` of a `KnownRewardsEnvironment`; None (default): those of the graph,
      or else their numbers.
    """
    from matplotlib.patches import Circle

    from graphbandit.plots.notebook import NotebookFigure

    graph = feedback_graph(graph)
    n = graph.n_arms
    check_size(n)
    if arms is not None and len(arms) != n:
        raise InputError(f"arms has {len(arms)} names; expected {n}, one for each arm")
    told = arms if arms is not None else graph.arms
    given = [str(a) for a in range(n)] if told is None else [cut(name, LONGEST) for name in told]
    inside = max(map(len, given)) <= INSIDE
    upright = not inside and n <= ROW_LIMIT
    others = without_loops(graph)
    # there is no room for a name beside an arm in the middle, and three arms need no middle
    hub = hub_of(others | others.T) if inside and n > 3 else None
    outward = _directions(around(graph), hub)
    apart = 1.4 if upright else 1.0
    points = (max(apart * n / (2 * np.pi), 0.8 if hub is None else 1.2) if n > 1 else 0.0) * outward
    radius = RADIUS if inside else 0.1
    longest = max(map(len, given))
    beside = 0.1 if inside else 0.25 + LETTER * longest if upright else 0.2 * longest
    reach = max(float(np.abs(points).max()) + radius + beside, SMALLEST_REACH)
    high = max(float(np.abs(points[:, 1]).max()) + radius + 0.4, 0.7 * SMALLEST_REACH) if upright else reach
    size = min(7.0, max(SMALLEST, 2.0 * reach if upright else 1.1 * reach))
    figure = NotebookFigure(figsize=(size, size * high / reach))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(-reach, reach), ylim=(-high, high), aspect="equal")
    axes.set_axis_off()
    _edges(axes, others, points, radius)
    letter = 72 * size / (2 * reach)  # points to one unit
    for (x, y), away, name in zip(points, outward, given, strict=True):
        axes.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=INK, zorder=2))
        if inside:
            look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "size": min(16.0, 0.3 * letter)}
        else:
            x, y = x + (radius + 0.12) * away[0], y + (radius + 0.12) * away[1]
            look = _upright(away) if upright else along(away, min(10.0, 0.5 * letter))
        axes.text(x, y, literal(name), color=INK, zorder=3, **look)
    return figure


def _upright(away: Float[np.ndarray, " 2"]) -> dict[str, Any]:
    """The look of a horizontal name."""
    side = "center" if abs(away[0]) < 0.3 else "left" if away[0] > 0 else "right"
    up = "center_baseline" if abs(away[1]) < 0.7 else "bottom" if away[1] > 0 else "top"
    return {"ha": side, "va": up, "size": 10.0}


def around(graph: FeedbackGraph) -> Int[np.ndarray, " arms"]:
    """An order of the arms in which neighbours are few steps apart: the optimal leaf order of a cluster tree.

    It is the order of their numbers if neighbours are no further apart in it.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.sparse.csgraph import shortest_path
    from scipy.spatial.distance import squareform

    n = graph.n_arms
    if n < 3:
        return np.arange(n)
    steps = shortest_path(graph.to_sparse().astype(np.int32), directed=False, unweighted=True)
    steps[np.isinf(steps)] = n
    tree = linkage(squareform(steps, checks=False), method="average", optimal_ordering=True)
    order: Int[np.ndarray, " arms"] = leaves_list(tree).astype(np.int64)
    own = np.arange(n)
    return own if steps[own, np.roll(own, 1)].sum() <= steps[order, np.roll(order, 1)].sum() else order


def _directions(order: Int[np.ndarray, " arms"], hub: int | None) -> Float[np.ndarray, "arms 2"]:
    """The directions from the middle to the arms, clockwise from the top; 0 for a hub, which is in the middle."""
    outer = order if hub is None else order[order != hub]
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(outer)) / len(outer)
    outward = np.zeros((len(order), 2))
    outward[outer] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return outward


def _edges(
    axes: Axes, others: Bool[np.ndarray, "arms arms"], points: Float[np.ndarray, "arms 2"], radius: float
) -> None:
    """Draw edges bent towards the middle, so that none passes behind an arm that it does not join."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    for j, a in np.argwhere(others):
        both = bool(others[a, j])
        if both and a < j:
            continue
        bend = 0.4 * (points[j] + points[a])
        towards = bend - points[a]
        tip = points[a] + radius * towards / max(float(np.hypot(*towards)), 1e-9)
        axes.add_patch(
            FancyArrowPatch(
                path=Path([points[j], bend, points[a] if both else tip], [Path.MOVETO, Path.CURVE3, Path.CURVE3]),
                arrowstyle="-" if both else "-|>",
                mutation_scale=10,
                color=GREY,
                linewidth=1.0,
                zorder=1,
            )
        )
