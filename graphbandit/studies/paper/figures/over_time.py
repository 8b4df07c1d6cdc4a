"""Figures in the style of the paper: panels of mean regret over time with a band of one standard deviation.

The axis of regret is logarithmic in all panels if the final means of a panel span more than a decade.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.experiments.figures.curves import regret_curves
from graphbandit.plots.axes import panel_grid, panel_title, plain_log_ticks, write_legend
from graphbandit.plots.learner_looks import Look, key_lines, looks
from graphbandit.plots.regret import draw_band, finish_curves, mean_and_std
from graphbandit.studies.findings import Finding
from graphbandit.studies.paper.names import FORMS, MAIN, READINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = looks(MAIN)
"""The looks of the four learners, the same in every figure."""

DECADE = 10.0

Curves = Mapping[str, tuple[Int[np.ndarray, " points"], Float[np.ndarray, "repeats points"]]]


def subscripted(name: str) -> str:
    """A learner's name for a figure, with the m of F_m below the line."""
    return name.replace("F_m", "Fₘ")


def plot_kinds(finding: Finding) -> Figure:
    """The four learners, in a panel for each kind of graph and each reading.

    If there are several kinds, each reading has its own row; otherwise all panels are in one row.
    """
    panels = [(reading, point) for reading, scale in READINGS.items() for point in finding.points(reward_scale=scale)]
    kinds = len(finding.experiment.environments)
    several = kinds > 1
    size = {} if several else {"width": 4.6, "height": 3.2}
    figure, grid = panel_grid(len(READINGS) if several else 1, kinds if several else len(READINGS), **size)
    curves = [regret_curves(finding.results, point.label, MAIN) for _, point in panels]
    log = any(map(_spans_a_decade, curves))
    for axes, (reading, point), shown in zip((axes for line in grid for axes in line), panels, curves, strict=True):
        _draw_panel(axes, shown, LOOKS, log=log)
        panel_title(axes, point.name, reading)
    write_legend(figure, key_lines(LOOKS), handlelength=2.8)
    return figure


def plot_clique_curves(finding: Finding) -> Figure:
    """A column for each form of AdaCB.G and each probe, a row for each reading, a curve for each number of arms."""
    learners = [name for name in finding.experiment.learners if name in FORMS.values() or name.startswith("probe")]
    figure, grid = panel_grid(len(READINGS), len(learners), width=3.2)
    shown: dict[str, Look] = {}
    for line, (reading, scale) in zip(grid, READINGS.items(), strict=True):
        labels = {f"K = {point.settings['n_arms']}": point.label for point in finding.points(reward_scale=scale)}
        shown = looks(list(labels))
        for axes, learner in zip(line, learners, strict=True):
            curves = {name: regret_curves(finding.results, label, [learner])[learner] for name, label in labels.items()}
            _draw_panel(axes, curves, shown)
            panel_title(axes, subscripted(learner), reading)
    write_legend(figure, key_lines(shown), handlelength=2.8)
    return figure


def _spans_a_decade(curves: Curves) -> bool:
    finals = _finals(curves)
    return max(finals) > DECADE * min(finals) > 0


def _finals(curves: Curves) -> list[float]:
    return [float(values[:, -1].mean()) for _, values in curves.values()]


def _draw_panel(axes: Axes, curves: Curves, look: Mapping[str, Look], *, log: bool = False) -> None:
    least = max(min(_finals(curves)) / DECADE, 1e-3) if log else 0.0
    for name, (rounds, values) in curves.items():
        draw_band(axes, rounds, *mean_and_std(values), look[name], least=least)
    finish_curves(axes, max(float(rounds[-1]) for rounds, _ in curves.values()))
    axes.set_ylabel("cumulative regret:\nmean ± one deviation")
    if log:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(bottom=least)
        plain_log_ticks(axes.yaxis)
