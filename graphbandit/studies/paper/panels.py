"""Figures in the look of the paper: regret over time in panels, mean and a band of one standard deviation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.experiments.figures.curves import regret_curves
from graphbandit.experiments.figures.parts import DASHES, Look, looks, write_labels
from graphbandit.plots.curves import mean_and_std
from graphbandit.plots.style import COLOURS, GREY, INK
from graphbandit.studies.paper.findings import Study
from graphbandit.studies.paper.plans import FORMS, MAIN, READINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = looks(MAIN)
"""How the four learners look in every figure."""

Curves = Mapping[str, tuple[Int[np.ndarray, " points"], Float[np.ndarray, "repeats points"]]]


def plot_kinds(study: Study) -> Figure:
    """The four learners in a panel for each kind of graph and each reading; a row a reading if kinds are several."""
    panels = [(reading, study.points(reward_scale=scale)) for reading, scale in READINGS.items()]
    kinds = len(study.experiment.environments)
    figure, grid = panel_grid(len(panels), kinds) if kinds > 1 else panel_grid(1, len(panels), width=4.6, height=3.2)
    wanted = [(reading, point) for reading, points in panels for point in points]
    for axes, (reading, point) in zip((axes for line in grid for axes in line), wanted, strict=True):
        draw_bands(axes, regret_curves(study.results, point.label, MAIN), LOOKS)
        panel_title(axes, point.name, reading)
    write_legend(figure, LOOKS)
    return figure


def plot_clique_curves(study: Study) -> Figure:
    """One column for each form of AdaCB.G and each probe, one row for each reading, a curve for each number of arms."""
    learners = [name for name in study.experiment.learners if name in FORMS.values() or name.startswith("probe")]
    figure, grid = panel_grid(len(READINGS), len(learners), width=2.9)
    shown: dict[str, Look] = {}
    for line, (reading, scale) in zip(grid, READINGS.items(), strict=True):
        points = study.points(reward_scale=scale)
        for axes, learner in zip(line, learners, strict=True):
            curves, own = {}, {}
            for i, point in enumerate(points):
                name = f"K = {point.settings['n_arms']}"
                curves[name] = regret_curves(study.results, point.label, [learner])[learner]
                own[name] = Look(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], "o")
            draw_bands(axes, curves, own)
            panel_title(axes, learner, reading)
            shown = own
    write_legend(figure, shown)
    return figure


def panel_grid(rows: int, columns: int, *, width: float = 3.4, height: float = 2.7) -> tuple[Figure, list[list[Axes]]]:
    """A figure of equal panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows + 0.35), layout="constrained")
    grid: Any = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(line) for line in grid]


def panel_title(axes: Axes, title: str, reading: str) -> None:
    """What the panel shows, and in which reading."""
    axes.set_title(title, loc="left", size=11, weight="bold", color=INK)
    if reading:
        axes.set_title(reading, loc="right", size=9.5, color=GREY)


def draw_bands(axes: Axes, curves: Curves, look: Mapping[str, Look]) -> None:
    """Mean and one standard deviation over repeats."""
    for name, (rounds, values) in curves.items():
        mean, std = mean_and_std(values)
        axes.plot(rounds, mean, color=look[name].colour, linestyle=look[name].dash, linewidth=1.7)
        axes.fill_between(
            rounds, np.maximum(mean - std, 0.0), mean + std, color=look[name].colour, alpha=0.17, linewidth=0
        )
        axes.set_xlim(0.0, float(rounds[-1]))
    axes.set_ylim(bottom=0.0)
    write_labels(axes, "round", "cumulative regret")


def write_legend(figure: Figure, look: Mapping[str, Look], more: Sequence[Any] = ()) -> None:
    """One for all panels, below them; `more` are further lines with labels of their own."""
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=one.colour, linestyle=one.dash, linewidth=1.8, label=name) for name, one in look.items()
    ]
    figure.legend(
        handles=[*lines, *more],
        loc="outside lower center",
        ncols=3 if len(lines) + len(more) > 5 else 5,
        frameon=False,
        fontsize=9.5,
        labelcolor=INK,
        handlelength=2.8,
    )
