"""The figures of the studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphbandit.errors import SavedFileError
from graphbandit.experiments.figures.parts import Look, looks, plain_log_ticks, write_labels
from graphbandit.plots.style import BLUE, GREY, INK, PALE, save_figure
from graphbandit.studies.classes import OURS, Comparison
from graphbandit.studies.exploration import FACTOR, Cell, Choice, Sweep
from graphbandit.studies.paper.panels import panel_grid, panel_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
FORMS: dict[str, Any] = {"width": "solid", "paper": (0, (4, 1.6))}
"""How the curve of each form of gamma is drawn."""


def plot_sweep(sweep: Sweep) -> Figure:
    """A panel for each class: regret over that of the best choice against eta, a colour for each graph."""
    from matplotlib.lines import Line2D

    titles = list(dict.fromkeys(cell.title for cell in sweep.cells))
    columns = min(COLUMNS, len(titles))
    figure, grid = panel_grid(-(-len(titles) // columns), columns)
    look = looks(list(dict.fromkeys(cell.graph for cell in sweep.cells)))
    panels = [axes for line in grid for axes in line]
    for axes in panels[len(titles) :]:
        axes.set_visible(False)
    for axes, title in zip(panels, titles, strict=False):
        _draw_panel(axes, [cell for cell in sweep.cells if cell.title == title], look, sweep.default)
        panel_title(axes, title, "")
    graphs = [Line2D([], [], color=one.colour, linewidth=1.8, label=name) for name, one in look.items()]
    forms = [
        Line2D([], [], color=INK, linestyle=dash, linewidth=1.4, label=f'gamma="{form}"')
        for form, dash in FORMS.items()
    ]
    marks = [
        Line2D([], [], color=GREY, marker="o", linestyle="none", label="the default"),
        Line2D([], [], color=GREY, linestyle=":", label=f"{FACTOR:g} times the best"),
    ]
    figure.legend(
        handles=[*graphs, *forms, *marks],
        loc="outside lower center",
        ncols=5,
        frameon=False,
        fontsize=9.5,
        labelcolor=INK,
    )
    return figure


def plot_comparison(comparison: Comparison) -> Figure:
    """A panel for each environment: mean regret of every learner with its interval, AdaCB.G in blue."""
    regrets = comparison.regrets
    columns = min(COLUMNS, len(regrets.environments))
    rows = -(-len(regrets.environments) // columns)
    figure, grid = panel_grid(rows, columns, width=4.2, height=0.9 + 0.24 * len(regrets.learners))
    panels = [axes for line in grid for axes in line]
    for axes in panels[len(regrets.environments) :]:
        axes.set_visible(False)
    for axes, environment in zip(panels, regrets.environments, strict=False):
        names = regrets.by_mean(environment)[::-1]
        for y, name in enumerate(names):
            found = comparison.interval(environment, name)
            colour = BLUE if name.startswith(OURS) else GREY
            axes.plot([max(found.low, found.mean / 10), found.high], [y, y], color=colour, linewidth=1.8)
            axes.plot([found.mean], [y], color=colour, marker="o", markersize=4.5)
        axes.set_xscale("log")
        write_labels(axes, "regret", "")
        plain_log_ticks(axes.xaxis)
        axes.set_yticks(range(len(names)), names, size=8.5)
        panel_title(axes, environment, f"T = {comparison.rounds[environment]}")
    return figure


def write_figure(figure: Figure, directory: Path, name: str) -> None:
    """As .png and .svg."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SavedFileError(f"{directory} cannot be made: {error.strerror or error}") from None
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout is settled: not once more for each file
    for suffix in (".png", ".svg"):
        save_figure(figure, directory / f"{name}{suffix}")


def _draw_panel(axes: Axes, cells: list[Cell], look: dict[str, Look], default: Choice) -> None:
    for cell in cells:
        for form, dash in FORMS.items():
            etas = sorted(choice.eta for choice in cell.regrets if choice.gamma == form)
            ratios = [cell.ratio(Choice(form, eta)) for eta in etas]
            axes.plot(etas, ratios, color=look[cell.graph].colour, linestyle=dash, linewidth=1.4)
        axes.plot([default.eta], [cell.ratio(default)], color=look[cell.graph].colour, marker="o", markersize=5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhline(FACTOR, color=GREY, linestyle=":", linewidth=1.0)
    axes.axvline(default.eta, color=PALE, linewidth=0.8, zorder=1)
    write_labels(axes, "eta", "regret / best")
    plain_log_ticks(axes.yaxis)
