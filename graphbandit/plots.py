"""Pictures: one decision on its graph, the paper's star example, regret over time.

Every function returns a Matplotlib ``Figure`` of its own and neither shows nor saves it; `save_figure` writes one, with
the same bytes each time. Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphbandit import graph_generators
from graphbandit.errors import InputError, SavedFileError, SettingError
from graphbandit.exploration import arm_array, exploration_set, inverse_gap_baseline
from graphbandit.graphs import FeedbackGraph
from graphbandit.sampling_lp import SamplingSolution, solve_sampling_lp
from graphbandit.shapes import Bool, Float, Int
from graphbandit.simulate import SimulationResult
from graphbandit.types import Decision

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
BLUE, VERMILION = COLOURS[:2]
INK, GREY, PALE = "#222222", "#666666", "#B0B0B0"

ARM_LIMIT = 60
"""The largest graph that still makes a readable picture."""

ROW_LIMIT = 12
"""Up to so many arms, labels are written in lines beside the circles; beyond, in one line along the radius."""

NUMBERED = 24
"""Beyond so many arms, circles are too small for values and hold the arms' numbers."""

RADIUS = 0.3
"""Of a circle, where neighbouring circles are 1 apart."""

RING = 0.07
"""Between the best arm's circle and its ring."""


def plot_probabilities(
    graph: FeedbackGraph,
    *,
    values: npt.ArrayLike,
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    observed: npt.ArrayLike,
    best: int,
    explored: npt.ArrayLike = (),
    values_name: str = "estimated reward",
) -> Figure:
    """The graph with each arm's value in its circle, and beside it p~ (`before`) -> p (`after`) and q (`observed`).

    The best arm is ringed, the arms of `explored` (numbers, or a mask) have a bold outline, and the more often an
    arm is played, the darker it is: blue for the best arm, vermilion for all others. Lines are edges in both
    directions, arrows edges in one; self-loops are left out.
    """
    n = graph.n_arms
    _check_size(n)
    if not 0 <= best < n:
        raise InputError(f"best is {best}; expected an arm from 0 to {n - 1}")
    numbers = arm_array("values", values, n)
    p0, p1 = arm_array("before", before, n), arm_array("after", after, n)
    q = arm_array("observed", observed, n)
    places = _layout(graph)
    gap = "\n" if n <= ROW_LIMIT and _hub(_without_loops(graph)) is not None else " "  # a row has little width
    labels = []
    for a in range(n):
        first, last = _number(float(p0[a])), _number(float(p1[a]))
        p = first if first == last else f"{first}{gap}→ {last}"
        labels.append(_arm_label(a, n, p, _number(float(q[a])), float(numbers[a])))
    figure, (axes,) = _canvas(places, 1)
    _draw(axes, graph, places, numbers, p1, best, _arm_numbers(explored, n), labels)
    inside, beside = (f"circle: {values_name}", "") if n <= NUMBERED else ("circle: arm", f"{values_name}, then ")
    p_and_q = "p = probability (before → after the linear program), q = of being seen"
    _key(figure, f"{inside}    beside it: {beside}{p_and_q}")
    return figure


def plot_decision(decision: Decision, graph: FeedbackGraph, *, values: npt.ArrayLike | None = None) -> Figure:
    """`plot_probabilities` of one decision; without `values` the circles show the gaps to the best arm."""
    if len(decision.gaps) != graph.n_arms:
        raise InputError(f"graph has {graph.n_arms} arms; expected the decision's {len(decision.gaps)}")
    return plot_probabilities(
        graph,
        values=decision.gaps if values is None else values,
        before=decision.baseline,
        after=decision.probabilities,
        observed=decision.observation_probabilities,
        best=decision.best,
        explored=decision.exploration_set,
        values_name="estimated gap to the best arm" if values is None else "estimated reward",
    )


def _arm_label(arm: int, n: int, p: str, q: str, value: float) -> str:
    """What is written beside a circle; where room is scarce, p only of arms that are played."""
    if n <= ROW_LIMIT:
        return f"arm {arm}\np {p}\nq {q}"
    first = f"{arm}" if n <= NUMBERED else _trimmed(f"{value:.2f}")
    return f"{first}   q {q}" if p == "0" else f"{first}   p {p}   q {q}"


class StarExample(NamedTuple):
    """The star of the paper's figure, solved; `baseline` is p~, `before` its observation probabilities."""

    graph: FeedbackGraph
    values: Float[np.ndarray, " arms"]
    gaps: Float[np.ndarray, " arms"]
    explored: Int[np.ndarray, " size"]
    baseline: Float[np.ndarray, " arms"]
    before: Float[np.ndarray, " arms"]
    solution: SamplingSolution


def star_example(gamma: float = 10.0) -> StarExample:
    """Hub 0 is worth 0.9, leaf 1 is worth 1 and four more leaves nothing; all arms are candidates.

    >>> example = star_example(gamma=10.0)
    >>> example.baseline.round(3), example.solution.probabilities.round(3)
    (array([0.   , 0.733, 0.067, 0.067, 0.067, 0.067]), array([0.067, 0.933, 0.   , 0.   , 0.   , 0.   ]))
    """
    graph = graph_generators.star(6, hub=0)
    values = np.array([0.9, 1.0, 0.0, 0.0, 0.0, 0.0])
    gaps = values.max() - values
    explored = exploration_set(graph, np.ones(6, dtype=np.bool_), gaps)
    baseline = inverse_gap_baseline(explored, gaps, gamma)
    before = baseline @ graph.to_dense()
    return StarExample(graph, values, gaps, explored, baseline, before, solve_sampling_lp(graph, baseline, gaps))


def plot_star_example(gamma: float = 10.0) -> Figure:
    """The paper's star before and after the sampling program, side by side.

    Exploring moves from four worthless leaves to the hub, which costs 0.1 and reveals every arm. Arrows go from
    the arms that explore to what they reveal.
    """
    example = star_example(gamma)
    p, q = example.solution.probabilities, example.solution.observation_probabilities
    costs = float(example.baseline @ example.gaps), example.solution.objective
    places = _layout(example.graph)
    figure, panels = _canvas(places, 2)
    best = int(np.argmax(example.values))
    stages = (
        (example.baseline, example.before, "Before the linear program", "exploring tries four worthless leaves", ""),
        (p, q, "After the linear program", "exploring tries the hub, which reveals them all", _times_less(*costs)),
    )
    for axes, cost, (played, seen, title, subtitle, remark) in zip(panels, costs, stages, strict=True):
        labels = [f"$p$ = {_number(a)}\n$q$ = {_number(b)}" for a, b in zip(played, seen, strict=True)]
        explorers = [int(a) for a in np.flatnonzero(played > 0) if a != best]
        _draw(axes, example.graph, places, example.values, played, best, [], labels, explorers)
        _write(axes, 1.20, title, size=15, weight="bold", color=INK)
        _write(axes, 1.09, subtitle, size=11.5, color=GREY)
        loss = f"expected regret a round: {_number(cost)}{remark}"
        _write(axes, -0.06, loss, size=12.5, weight="bold", color=VERMILION)
    note = "in a circle: estimated reward      $p$: probability of being played      $q$: of being seen"
    figure.text(0.5, -0.2, f"{note}      arrows: what exploring reveals", ha="center", size=10, color=GREY)
    return figure


def _write(axes: Axes, height: float, text: str, **look: Any) -> None:
    axes.text(0.5, height, text, transform=axes.transAxes, ha="center", va="center", **look)


def _times_less(before: float, after: float) -> str:
    return f", {before / after:.0f} times less" if after > 0 else ""


def plot_regret(result: SimulationResult, *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """Mean cumulative regret over rounds for each learner, with a band of one standard deviation over repeats."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7.0, 4.2), layout="constrained").add_subplot() if ax is None else ax
    curves = {name: mean_and_std(regret) for name, regret in result.regret.items()}
    n = next(iter(result.regret.values())).shape[1]
    draw_curves(axes, np.arange(1, n + 1), curves)
    axes.set_xlabel("round")
    axes.set_ylabel("cumulative regret")
    if title is not None:
        axes.set_title(title, loc="left", weight="bold", color=INK)
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def mean_and_std(
    regret: Float[np.ndarray, "repeats rounds"],
) -> tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]:
    """Over repeats; the deviation of a single repeat is taken as 0."""
    repeats, n = regret.shape
    return regret.mean(axis=0), regret.std(axis=0, ddof=1) if repeats > 1 else np.zeros(n)


def draw_curves(
    axes: Axes,
    rounds: Int[np.ndarray, " points"],
    curves: Mapping[str, tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]],
    colours: Sequence[str] = COLOURS,
) -> None:
    """Curves by name as (mean, standard deviation), each with its band and its name at its end."""
    shown = np.unique(np.linspace(0, len(rounds) - 1, 500).astype(np.int64))
    ends = []
    for i, (name, (mean, std)) in enumerate(curves.items()):
        colour, x, y, s = colours[i % len(colours)], rounds[shown], mean[shown], std[shown]
        axes.plot(x, y, color=colour, linewidth=1.8)
        axes.fill_between(x, np.maximum(y - s, 0.0), y + s, color=colour, alpha=0.15, linewidth=0)
        ends.append((float(y[-1]), name, colour))
    axes.set_xlim(0, float(rounds[-1]))
    axes.set_ylim(bottom=0)
    plain_axes(axes)
    name_ends(axes, float(rounds[-1]), ends)


def plain_axes(axes: Axes) -> None:
    """Two spines, outward ticks, a faint horizontal grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(color=PALE, labelcolor=INK)
    axes.grid(axis="y", color=PALE, alpha=0.35, linewidth=0.6)
    axes.set_axisbelow(True)


def name_ends(axes: Axes, x: float, ends: Sequence[tuple[float, str, str]], *, room: float = 0.065) -> None:
    """Write (height, name, colour) to the right of `x`, pushed apart to `room` of the axes' height each."""
    axes.get_ylim()  # settles the scale
    to_axes = axes.transData + axes.transAxes.inverted()
    rows = sorted((float(to_axes.transform((x, y))[1]), name, colour) for y, name, colour in ends)
    heights: list[float] = []
    for height, _, _ in rows:
        heights.append(max(height, heights[-1] + room) if heights else height)
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], 1.0 - room * (len(heights) - 1 - i))
    for (_, name, colour), height in zip(rows, heights, strict=True):
        axes.text(1.02, height, name, transform=axes.transAxes, va="center", color=colour, size=9.5)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as .png, .svg or .pdf; the same figure gives the same bytes, with no date in them."""
    import matplotlib as mpl

    metadata: dict[str, dict[str, Any]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None, "Creator": None},
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    suffix = path.suffix.lower()
    if suffix not in metadata:
        raise SettingError(f"the picture's file is {path.name!r}; expected a name that ends in {', '.join(metadata)}")
    with mpl.rc_context({"svg.hashsalt": "graphbandit", "svg.fonttype": "path", "pdf.fonttype": 42}):
        try:
            figure.savefig(path, dpi=200, metadata=metadata[suffix], facecolor="white", bbox_inches="tight")
        except OSError as error:
            raise SavedFileError(f"{path} cannot be written: {error.strerror or error}") from None


def _check_size(n: int) -> None:
    if n > ARM_LIMIT:
        raise InputError(f"graph has {n} arms; expected at most {ARM_LIMIT}, more cannot be read in a picture")


def _arm_numbers(arms: npt.ArrayLike, n: int) -> list[int]:
    array = np.asarray(arms)
    numbers = np.flatnonzero(array) if array.dtype == np.bool_ else array.astype(np.int64).ravel()
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n):
        raise InputError(f"explored is {numbers.tolist()}; expected arm numbers from 0 to {n - 1}")
    return [int(a) for a in numbers]


def _number(x: float) -> str:
    """A probability in few characters: 0.067, 0.93, 1, 0."""
    if 5e-10 < x < 5e-4:
        return "<.001"
    return _trimmed(f"{x:.4f}" if 0 < x < 0.01 else f"{x:.3f}")


def _trimmed(text: str) -> str:
    short = text.rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def _hub(others: Bool[np.ndarray, "arms arms"]) -> int | None:
    """The hub if the graph (without loops) is a star."""
    degrees, n = others.sum(axis=1), len(others)
    hub = int(np.argmax(degrees))
    is_star = n > 2 and np.array_equal(others, others.T) and degrees[hub] == n - 1 and degrees.sum() == 2 * (n - 1)
    return hub if is_star else None


def _without_loops(graph: FeedbackGraph) -> Bool[np.ndarray, "arms arms"]:
    dense = graph.to_dense()
    np.fill_diagonal(dense, False)
    return dense


class _Layout(NamedTuple):
    """Where the circles are, and in which direction from them their labels."""

    points: Float[np.ndarray, "arms 2"]
    outward: Float[np.ndarray, "arms 2"]


def _layout(graph: FeedbackGraph) -> _Layout:
    """A small star: hub on top, leaves in a row, as in the paper. Otherwise a circle, the hub of a star inside."""
    from scipy.sparse.csgraph import connected_components

    n, hub = graph.n_arms, _hub(_without_loops(graph))
    rim = [a for a in range(n) if a != hub]
    points, outward = np.zeros((n, 2)), np.zeros((n, 2))
    outward[:, 1] = 1.0
    if hub is not None and n <= ROW_LIMIT:
        points[rim, 0] = np.arange(n - 1) - (n - 2) / 2
        points[hub, 1] = max(1.3, 0.2 * n)
        outward[rim, 1] = -1.0
        return _Layout(points, outward)
    _, parts = connected_components(graph.to_sparse().astype(np.int32), directed=False)
    rim.sort(key=lambda a: (parts[a], a))  # what belongs together stands together
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(rim)) / len(rim)
    outward[rim] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    apart = 1.5 if n <= ROW_LIMIT else 1.0
    points[rim] = (max(apart * len(rim) / (2 * np.pi), 0.8) if n > 1 else 0.0) * outward[rim]
    if hub is not None:
        outward[hub] = np.cos(np.pi / 2 - np.pi / len(rim)), np.sin(np.pi / 2 - np.pi / len(rim))
    return _Layout(points, outward)


def _canvas(places: _Layout, panels: int) -> tuple[Figure, list[Axes]]:
    """A figure of that many equal panels around the circles, with room for labels."""
    from matplotlib.figure import Figure

    low, high = places.points.min(axis=0) - RADIUS - RING, places.points.max(axis=0) + RADIUS + RING
    wide, tall = high - low
    inch = min(1.0, 9.0 / (panels * wide), 8.0 / tall)
    labels = [1.9, 1.9] if len(places.points) > ROW_LIMIT else [0.35, 0.55] if panels > 1 else [1.3, 1.0]
    room = np.array(labels) / inch
    low, high = low - room, high + room
    wide, tall = high - low
    figure = Figure(figsize=(panels * wide * inch, tall * inch))
    axes = [figure.add_axes((i / panels, 0.0, 1 / panels, 1.0)) for i in range(panels)]
    for panel in axes:
        panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        panel.set_axis_off()
    return figure, axes


def _draw(
    axes: Axes,
    graph: FeedbackGraph,
    places: _Layout,
    values: Float[np.ndarray, " arms"],
    played: Float[np.ndarray, " arms"],
    best: int,
    explored: Collection[int],
    labels: Sequence[str],
    arrows_from: Collection[int] = (),
) -> None:
    """Edges, circles, values and labels of one panel; `arrows_from` are arms whose edges are drawn as bold arrows."""
    from matplotlib.patches import Circle

    figure = axes.get_figure(root=True)
    assert figure is not None
    inch = figure.get_figwidth() * axes.get_position().width / (axes.get_xlim()[1] - axes.get_xlim()[0])
    texts = [str(a) if len(values) > NUMBERED else _trimmed(f"{v:.2f}") for a, v in enumerate(values)]
    size = min(13.0, 72 * RADIUS * inch * 2 / max(3, *map(len, texts)))
    _edges(axes, _without_loops(graph), places.points, best, arrows_from)
    for a, (x, y) in enumerate(places.points):
        fill, dark = _shade(float(played[a]), best=a == best)
        bold = a in explored
        axes.add_patch(Circle((x, y), RADIUS, facecolor=fill, edgecolor=INK, linewidth=2.2 if bold else 0.8, zorder=3))
        if a == best:
            axes.add_patch(Circle((x, y), RADIUS + RING, fill=False, edgecolor=BLUE, linewidth=1.8, zorder=3))
        axes.text(
            x,
            y,
            texts[a],
            ha="center",
            va="center_baseline",
            size=size,
            color="white" if dark else INK,
            zorder=4,
        )
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
        left = outward[0] < -1e-9
        turn = np.degrees(np.arctan2(outward[1], outward[0])) + (180 if left else 0)
        axes.text(
            x,
            y,
            text,
            rotation=turn,
            rotation_mode="anchor",
            ha="right" if left else "left",
            va="center_baseline",
            size=10.0 if n <= NUMBERED else 8.0,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0} if not np.any(point) else None,
            **common,
        )
        return
    ha = "center" if abs(outward[0]) < 0.3 else ("left" if outward[0] > 0 else "right")
    va = "center" if abs(outward[1]) < 0.3 else ("bottom" if outward[1] > 0 else "top")
    axes.text(x, y, text, ha=ha, va=va, size=10.5, **common)


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
    """The fill for a probability, white if 0, and whether white text is needed on it."""
    from matplotlib.colors import to_rgb

    strength = 0.0 if p < 5e-10 else 0.25 + 0.75 * np.sqrt(p)
    colour = to_rgb(BLUE if best else VERMILION)
    return tuple(1 - strength * (1 - c) for c in colour), strength > 0.7


def _key(figure: Figure, text: str) -> None:
    """What the marks mean, below the picture."""
    from matplotlib.lines import Line2D

    def dot(size: float, fill: str, edge: str, width: float) -> Line2D:
        look: dict[str, Any] = {"markerfacecolor": fill, "markeredgecolor": edge, "markeredgewidth": width}
        return Line2D([], [], linestyle="none", marker="o", markersize=size, **look)

    ringed: Any = (dot(12, "none", BLUE, 1.5), dot(8, BLUE, INK, 0.8))  # drawn one over the other
    figure.legend(
        [ringed, dot(9, VERMILION, INK, 0.8), dot(9, "white", INK, 2.2), dot(9, "white", INK, 0.8)],
        ["best arm", "other arm, darker: played more", "bold: exploration set", "white: never played"],
        title=text,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=4,
        frameon=False,
        fontsize=9.5,
        title_fontsize=9.5,
        columnspacing=1.6,
        handletextpad=0.4,
    )
