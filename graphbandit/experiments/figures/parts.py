"""What the figures of experiments share: how learners look, axes with titles, keys, which learners are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.plots.style import COLOURS, GREY, INK, PALE, name_ends, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SHOWN = 10
"""So many curves at most can be told apart in one picture."""

DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.6)), (0, (6, 1.4, 1.2, 1.4)), (0, (1.3, 1.3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


class Look(NamedTuple):
    """How a learner is drawn, the same in every picture; not by colour alone, so that it survives a grey printer."""

    colour: str
    dash: Any
    marker: str


def looks(learners: Sequence[str]) -> dict[str, Look]:
    """Of every learner, by its place: 28 different lines, 63 different points."""
    return {
        name: Look(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(learners)
    }


def shown_learners(regrets: FinalRegrets, environment: str, learners: Sequence[str] | None) -> tuple[list[str], str]:
    """Those asked for, or the best there, and a remark if some are left out."""
    if learners is not None:
        for name in learners:
            regrets.learner(name)
        return list(learners), ""
    ran = regrets.by_mean(environment)
    return ran[:SHOWN], f"the {SHOWN} best of {len(ran)} learners" if len(ran) > SHOWN else ""


def new_axes(width: float = 4.8, height: float = 3.3) -> Axes:
    """Empty axes in a figure of their own, in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def write_titles(axes: Axes, title: str, subtitle: str) -> None:
    """A bold title and, below it, what is shown in grey."""
    points: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "left", "va": "bottom"}
    axes.annotate(subtitle, (0, 1), xytext=(0, 7), color=GREY, size=9, **points)
    if title:
        axes.annotate(
            title,
            (0, 1),
            xytext=(0, 10 + 13 * (1 + subtitle.count("\n"))),
            color=INK,
            size=11.5,
            weight="bold",
            **points,
        )


def write_labels(axes: Axes, x: str, y: str) -> None:
    """Name the axes and make them plain."""
    plain_axes(axes)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)


def name_lines(axes: Axes, ends: Mapping[str, float], look: Mapping[str, Look]) -> None:
    """Names at the ends of the lines if they are few and short, otherwise a key below the axes."""
    if len(ends) <= SHOWN and max(map(len, ends)) <= 18:
        x = axes.get_xlim()[1]
        name_ends(axes, x, [(y, name, look[name].colour) for name, y in ends.items()], room=0.075)
        return
    lines = {name: _line(look[name]) for name in ends}
    write_key(axes, lines)


def write_key(axes: Axes, marks: Mapping[str, Any]) -> None:
    """A key below the axes, in as many columns as there is room for; the figure grows by its height."""
    columns = max(1, min(len(marks), 66 // (max(map(len, marks)) + 8)))
    figure = figure_of(axes)
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(marks) // columns))
    figure.legend(
        list(marks.values()),
        list(marks),
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handlelength=2.6,
    )


def plain_log_ticks(axis: Axis) -> None:
    """0.2, 1, 50, 1000 instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low)
    axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if decades < 1 else (1, 2, 5) if decades < 2.2 else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if 1e-4 <= value < 1e6 else f"{value:.0e}"))
    axis.set_minor_formatter(NullFormatter())


def figure_of(axes: Axes) -> Figure:
    """The figure the axes stand in."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def zero_line(axes: Axes) -> None:
    """A quiet vertical line at 0."""
    axes.axvline(0.0, color=PALE, linewidth=1.2, zorder=1)


def short_number(x: float) -> str:
    """Three digits or more: 0.0123, 1.23, 12.3, 123, 12345."""
    size = abs(x)
    if size >= 0.9995 or size == 0:
        return f"{x:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2}f}"
    return f"{x:.3g}"


def _line(look: Look) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=look.colour, linestyle=look.dash, linewidth=1.8)
