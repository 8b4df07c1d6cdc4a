"""Draw a feedback graph: the layout of its arms, circles, edges and labels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.plots.axes import figure_of
from graphbandit.plots.style import BLUE, GREY, PALE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARM_LIMIT = 60
"""The largest graph that still makes a readable picture."""

ROW_LIMIT = 12
"""Up to this many arms have labels of several lines beside the circles; with more, one line along the radius."""

NUMBERED = 24
"""With more arms than this, circles are too small for values and show the arms' numbers."""

RADIUS = 0.3
"""The radius of a circle; neighbouring circles are 1 apart."""

DOTTED = (0, (1.0, 1.6))
"""The outline of an arm that is not a candidate."""

RING = 0.07
"""The distance between the best arm's circle and its ring."""


def feedback_graph(graph: object) -> FeedbackGraph:
    """The graph to draw: a `FeedbackGraph`, a square array of 0 and 1, or a NetworkX graph."""
    if isinstance(graph, FeedbackGraph):
        return graph
    if isinstance(graph, np.ndarray | list | tuple):
        return FeedbackGraph.from_dense(graph, require_loops=False)
    if type(graph).__module__.partition(".")[0] == "networkx":
        return FeedbackGraph.from_networkx(graph, require_loops=False)
    raise GraphError(
        f"graph is a {type(graph).__name__}; expected a FeedbackGraph, an array of 0 and 1, or a NetworkX graph"
    )


def check_size(n: int) -> None:
    """Refuse graphs that are too large for a picture."""
    if n > ARM_LIMIT:
        raise InputError(f"graph has {n} arms; expected at most {ARM_LIMIT}, more cannot be read in a picture")


def cut(name: str, longest: int) -> str:
    """A name, shortened to `longest` characters if it is longer."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def hub_of(others: Bool[np.ndarray, "arms arms"]) -> int | None:
    """The arm joined to all others in both directions, if there are no other edges; otherwise None."""
    degrees, n = others.sum(axis=1), len(others)
    hub = int(np.argmax(degrees))
    is_star = n > 2 and np.array_equal(others, others.T) and degrees[hub] == n - 1 and degrees.sum() == 2 * (n - 1)
    return hub if is_star else None


def without_loops(graph: FeedbackGraph) -> Bool[np.ndarray, "arms arms"]:
    """The matrix of the graph without self-loops."""
    dense = graph.to_dense()
    np.fill_diagonal(dense, False)
    return dense


class ArmPlaces(NamedTuple):
    """The centres of the circles, and the directions from them to their labels."""

    points: Float[np.ndarray, "arms 2"]
    outward: Float[np.ndarray, "arms 2"]


def layout(graph: FeedbackGraph) -> ArmPlaces:
    """Place the arms: a small star with its hub above a row of leaves, as in the paper; otherwise on a circle.

    The hub of a larger star is inside the circle.
    """
    from scipy.sparse.csgraph import connected_components

    n, hub = graph.n_arms, hub_of(without_loops(graph))
    rim = [a for a in range(n) if a != hub]
    points, outward = np.zeros((n, 2)), np.zeros((n, 2))
    outward[:, 1] = 1.0
    if hub is not None and n <= ROW_LIMIT:
        points[rim, 0] = np.arange(n - 1) - (n - 2) / 2
        points[hub, 1] = max(1.3, 0.2 * n)
        outward[rim, 1] = -1.0
        return ArmPlaces(points, outward)
    _, parts = connected_components(graph.to_sparse().astype(np.int32), directed=False)
    rim.sort(key=lambda a: (parts[a], a))  # connected arms are neighbours
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(rim)) / len(rim)
    outward[rim] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    apart = 1.5 if n <= ROW_LIMIT else 1.0
    points[rim] = (max(apart * len(rim) / (2 * np.pi), 0.8) if n > 1 else 0.0) * outward[rim]
    if hub is not None:
        outward[hub] = np.cos(np.pi / 2 - np.pi / len(rim)), np.sin(np.pi / 2 - np.pi / len(rim))
    return ArmPlaces(points, outward)


def canvas(places: ArmPlaces, panels: int) -> tuple[Figure, list[Axes]]:
    """A figure of that many equal panels, each with room for the circles and their labels."""
    from graphbandit.plots.notebook import NotebookFigure

    low, high = places.points.min(axis=0) - RADIUS - RING, places.points.max(axis=0) + RADIUS + RING
    wide, tall = high - low
    inch = min(1.0, 9.0 / (panels * wide), 8.0 / tall)
    labels = [1.9, 1.9] if len(places.points) > ROW_LIMIT else [0.35, 0.55] if panels > 1 else [1.3, 1.0]
    room = np.array(labels) / inch
    low, high = low - room, high + room
    wide, tall = high - low
    figure = NotebookFigure(figsize=(panels * wide * inch, tall * inch))
    axes = [figure.add_axes((i / panels, 0.0, 1 / panels, 1.0)) for i in range(panels)]
    for panel in axes:
        panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        panel.set_axis_off()
    return figure, axes


def draw(
    axes: Axes,
    graph: FeedbackGraph,
    places: ArmPlaces,
    values: Float[np.ndarray, " arms"],
    played: Float[np.ndarray, " arms"],
    best: int,
    explored: Collection[int],
    labels: Sequence[str],
    arrows_from: Collection[int] = (),
    candidates: Collection[int] | None = None,
) -> None:
    """Draw the edges, circles, values and labels of one panel; edges of `arrows_from` are drawn as bold arrows."""
    from matplotlib.patches import Circle

    inch = figure_of(axes).get_figwidth() * axes.get_position().width / (axes.get_xlim()[1] - axes.get_xlim()[0])
    texts = [str(a) if len(values) > NUMBERED else trimmed(f"{v:.2f}") for a, v in enumerate(values)]
    size = min(13.0, 72 * RADIUS * inch * 2 / max(3, *map(len, texts)))
    _edges(axes, without_loops(graph), places.points, best, arrows_from)
    for a, (x, y) in enumerate(places.points):
        fill, dark = _shade(float(played[a]), best=a == best)
        out = candidates is not None and a not in candidates
        line: dict[str, Any] = {"linewidth": 2.2 if a in explored else 0.8, "linestyle": DOTTED if out else "solid"}
        axes.add_patch(Circle((x, y), RADIUS, facecolor=fill, edgecolor=INK, zorder=3, **line))
        if a == best:
            axes.add_patch(Circle((x, y), RADIUS + RING, fill=False, edgecolor=BLUE, linewidth=1.8, zorder=3))
        shown: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": "white" if dark else INK}
        axes.text(x, y, texts[a], size=size, zorder=4, **shown)
        _label(axes, (x, y), places.outward[a], labels[a], len(values), quiet=played[a] <= 0)


def _label(
    axes: Axes,
    point: tuple[float, float],
    outward: Float[np.ndarray, " 2"],
    text: str,
    n: int,
    *,
    quiet: bool,
) -> None:
    x, y = (float(u + (RADIUS + 0.14) * v) for u, v in zip(point, outward, strict=True))
    common: dict[str, Any] = {"color": GREY if quiet else INK, "linespacing": 1.35, "zorder": 4}
    if n > ROW_LIMIT:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0} if not np.any(point) else None
        axes.text(x, y, text, bbox=box, **along(outward, 10.0 if n <= NUMBERED else 8.0), **common)
        return
    ha = "center" if abs(outward[0]) < 0.3 else ("left" if outward[0] > 0 else "right")
    va = "center" if abs(outward[1]) < 0.3 else ("bottom" if outward[1] > 0 else "top")
    axes.text(x, y, text, ha=ha, va=va, size=10.5, **common)


def along(away: Float[np.ndarray, " 2"], size: float) -> dict[str, Any]:
    """The look of a text along the radius, if there are many arms."""
    left = away[0] < -1e-9
    return {
        "rotation": np.degrees(np.arctan2(away[1], away[0])) + (180 if left else 0),
        "rotation_mode": "anchor",
        "ha": "right" if left else "left",
        "va": "center_baseline",
        "size": size,
    }


def _edges(
    axes: Axes,
    others: Bool[np.ndarray, "arms arms"],
    points: Float[np.ndarray, "arms 2"],
    best: int,
    arrows_from: Collection[int],
) -> None:
    from matplotlib.collections import LineCollection

    both = others & others.T
    lines = [(points[j], points[a]) for j, a in np.argwhere(np.triu(both))]
    axes.add_collection(LineCollection(lines, colors=PALE, linewidths=1.0 if len(lines) < 200 else 0.4, zorder=1))
    bold = [(int(j), int(a), VERMILION, 2.0) for j in arrows_from for a in np.flatnonzero(others[j])]
    for j, a, colour, width in [(int(j), int(a), PALE, 0.9) for j, a in np.argwhere(others & ~both)] + bold:
        along = (points[a] - points[j]) / np.linalg.norm(points[a] - points[j])
        axes.annotate(
            "",
            xy=tuple(points[a] - (RADIUS + (RING + 0.02 if a == best else 0.02)) * along),
            xytext=tuple(points[j] + (RADIUS + 0.02) * along),
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0},
            zorder=2,
        )


def _shade(p: float, *, best: bool) -> tuple[tuple[float, ...], bool]:
    """The fill for a probability (white for 0), and whether it needs white text."""
    from matplotlib.colors import to_rgb

    strength = 0.0 if p < 5e-10 else 0.25 + 0.75 * np.sqrt(p)
    colour = to_rgb(BLUE if best else VERMILION)
    return tuple(1 - strength * (1 - c) for c in colour), strength > 0.7


def key(figure: Figure, text: str, *, dotted: bool = False) -> None:
    """Explain the marks below the picture; `dotted` says that some arms are not candidates."""
    from matplotlib.collections import CircleCollection
    from matplotlib.lines import Line2D

    def dot(size: float, fill: str, edge: str, width: float) -> Line2D:
        look: dict[str, Any] = {"markerfacecolor": fill, "markeredgecolor": edge, "markeredgewidth": width}
        return Line2D([], [], linestyle="none", marker="o", markersize=size, **look)

    ringed: Any = (dot(12, "none", BLUE, 1.5), dot(8, BLUE, INK, 0.8))  # drawn one over the other
    marks: dict[str, Any] = {
        "best arm": ringed,
        "other arm, darker: played more": dot(9, VERMILION, INK, 0.8),
        "bold: exploration set": dot(9, "white", INK, 2.2),
        "white: never played": dot(9, "white", INK, 0.8),
    }
    if dotted:
        marks["dotted: no candidate"] = CircleCollection(
            [70.0], facecolors="white", edgecolors=INK, linestyles=[DOTTED], linewidths=[1.0]
        )
    figure.legend(
        list(marks.values()),
        list(marks),
        title=text,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=len(marks),
        frameon=False,
        fontsize=9.5,
        title_fontsize=9.5,
        columnspacing=1.6,
        handletextpad=0.4,
    )


def number(x: float) -> str:
    """A probability in few characters: 0.067, 0.93, 1, 0."""
    if 5e-10 < x < 5e-4:
        return "<.001"
    return trimmed(f"{x:.4f}" if 0 < x < 0.01 else f"{x:.3f}")


def trimmed(text: str) -> str:
    """A decimal number without trailing zeros."""
    short = text.rstrip("0").rstrip(".")
    return "0" if short == "-0" else short
