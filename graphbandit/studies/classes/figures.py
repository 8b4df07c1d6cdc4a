"""The figure of the comparison of function classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphbandit.plots.axes import panel_title, panels_for, plain_log_ticks, write_labels
from graphbandit.plots.style import BLUE, GREY, literal
from graphbandit.studies.classes.comparison import OURS
from graphbandit.studies.findings import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_comparison(findings: Findings) -> Figure:
    """A panel for each environment: mean regret of every learner with its interval, AdaCB.G in blue."""
    regrets = findings.regrets
    figure, panels = panels_for(len(regrets.environments), width=4.2, height=0.9 + 0.24 * len(regrets.learners))
    for axes, environment in zip(panels, regrets.environments, strict=True):
        names = regrets.by_mean(environment)[::-1]
        for y, name in enumerate(names):
            found = regrets.interval(environment, name)
            colour = BLUE if name.startswith(OURS) else GREY
            axes.plot([max(found.low, found.mean / 10), found.high], [y, y], color=colour, linewidth=1.8)
            axes.plot([found.mean], [y], color=colour, marker="o", markersize=4.5)
        axes.set_xscale("log")
        write_labels(axes, "regret", "")
        plain_log_ticks(axes.xaxis)
        axes.set_yticks(range(len(names)), [literal(name) for name in names], size=8.5)
        panel_title(axes, environment, f"T = {findings.rounds[environment]}")
    return figure
