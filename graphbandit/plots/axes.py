"""Axes, panels, titles and legends, alike in every figure. Names are written as they are, never read as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.plots.style import GREY, PALE, literal, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


def new_axes(width: float = 4.8, height: float = 3.3) -> Axes:
    """Empty axes in a new figure of this size in inches."""
    from graphbandit.plots.notebook import NotebookFigure

    return NotebookFigure(figsize=(width, height), layout="constrained").add_subplot()


def panel_grid(rows: int, columns: int, *, width: float = 3.4, height: float = 2.7) -> tuple[Figure, list[list[Axes]]]:
    """A figure of equal panels."""
    from graphbandit.plots.notebook import NotebookFigure

    figure = NotebookFigure(figsize=(width * columns, height * rows + 0.35), layout="constrained")
    grid: Any = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(line) for line in grid]


def panels_for(n: int, *, width: float = 3.4, height: float = 2.7) -> tuple[Figure, list[Axes]]:
    """A figure with `n` panels in rows of at most three."""
    columns = min(3, n)
    figure, grid = panel_grid(-(-n // columns), columns, width=width, height=height)
    panels = [axes for line in grid for axes in line]
    for axes in panels[n:]:
        axes.set_visible(False)
    return figure, panels[:n]


def panel_title(axes: Axes, title: str, remark: str = "") -> None:
    """Write a bold title at the left of a panel and a grey remark at its right."""
    axes.set_title(literal(title), loc="left", size=11, weight="bold", color=INK)
    if remark:
        axes.set_title(literal(remark), loc="right", size=9.5, color=GREY)


def write_titles(axes: Axes, title: str, subtitle: str) -> None:
    """Write a bold title and, below it, a grey subtitle."""
    points: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "left", "va": "bottom"}
    axes.annotate(literal(subtitle), (0, 1), xytext=(0, 7), color=GREY, size=9, **points)
    if title:
        above = 10 + 13 * (1 + subtitle.count("\n"))
        axes.annotate(literal(title), (0, 1), xytext=(0, above), color=INK, size=11.5, weight="bold", **points)


def write_labels(axes: Axes, x: str, y: str) -> None:
    """Name the axes and make them plain."""
    plain_axes(axes)
    axes.set_xlabel(literal(x), color=INK)
    axes.set_ylabel(literal(y), color=INK)


def name_rows(axes: Axes, names: Sequence[str], **look: Any) -> None:
    """Write a name for each row at the left, the first on top, with a grid of vertical lines only."""
    axes.set_yticks(range(len(names)), [literal(name) for name in names], **look)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    vertical_grid(axes)


def vertical_grid(axes: Axes) -> None:
    """Faint vertical lines."""
    axes.grid(axis="x", color=PALE, alpha=0.35, linewidth=0.6)


def colour_bar(axes: Axes, mesh: Any, **place: Any) -> Any:
    """Add a bar that explains the colours, without an outline."""
    bar = figure_of(axes).colorbar(mesh, ax=axes, **place)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=PALE, labelcolor=INK, labelsize=9)
    return bar


def write_key(axes: Axes, marks: Mapping[str, Any]) -> None:
    """Write a legend below the axes, in as many columns as there is room for; the figure grows by its height."""
    columns = max(1, min(len(marks), 66 // (max(map(len, marks)) + 8)))
    figure = figure_of(axes)
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(marks) // columns))
    names = [literal(name) for name in marks]
    look = _key_look("outside lower left", columns, 9)
    figure.legend(list(marks.values()), names, handlelength=2.6, **look)


def write_legend(figure: Figure, lines: Mapping[str, Any], *, columns: int | None = None, **more: Any) -> None:
    """Write one legend for all panels, below them; by default in three columns if there are many lines."""
    columns = (3 if len(lines) > 5 else 5) if columns is None else columns
    names = [literal(name) for name in lines]
    figure.legend(list(lines.values()), names, **_key_look("outside lower center", columns, 9.5), **more)


def _key_look(place: str, columns: int, size: float) -> dict[str, Any]:
    return {"loc": place, "ncols": columns, "frameon": False, "fontsize": size, "labelcolor": INK}


def plain_log_ticks(*several: Axis) -> None:
    """Label logarithmic axes with 0.2, 1, 50, 1000 instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in several:
        low, high = sorted(axis.get_view_interval())
        decades = np.log10(high / low)
        axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if decades < 1 else (1, 2, 5) if decades < 2.2 else (1,)))
        axis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:g}" if 1e-4 <= value < 1e6 else f"{value:.0e}")
        )
        axis.set_minor_formatter(NullFormatter())


def figure_of(axes: Axes) -> Figure:
    """The figure that contains the axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure
