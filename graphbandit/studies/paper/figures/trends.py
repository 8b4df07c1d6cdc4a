"""Figures of regret against one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.repeat_intervals import student_interval
from graphbandit.plots.axes import panel_grid, panel_title, plain_log_ticks, write_labels, write_legend
from graphbandit.plots.learner_looks import key_lines
from graphbandit.plots.style import GREY
from graphbandit.studies.paper.figures.over_time import LOOKS
from graphbandit.studies.paper.trends import GAP_DEPENDENT, MINIMAX, Trend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOUND_DASHES: dict[str, Any] = {MINIMAX: "--", GAP_DEPENDENT: ":"}


def plot_trends(panels: Sequence[Trend], label: str) -> Figure:
    """Mean regret and its 95 % interval on logarithmic axes, one panel for each trend."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FixedLocator, NullLocator

    figure, (line,) = panel_grid(1, len(panels), width=4.2 if len(panels) < 3 else 3.4, height=3.1)
    for axes, trend in zip(line, panels, strict=True):
        for name, values in trend.regrets.items():
            _draw_line(axes, trend, name, values)
        for name, bound in trend.bounds.items():
            axes.plot(trend.values, bound, color=GREY, linestyle=BOUND_DASHES[name], linewidth=1.3)
        axes.set(xscale="log", yscale="log")
        after = f"regret after {trend.rounds} rounds" if trend.rounds else "regret after the last round"
        write_labels(axes, label, f"{after}:\nmean, 95 % interval")
        plain_log_ticks(axes.xaxis, axes.yaxis)
        axes.xaxis.set_major_locator(FixedLocator(trend.values.tolist()))
        axes.xaxis.set_minor_locator(NullLocator())
        panel_title(axes, trend.title, trend.reading)
    shown = dict.fromkeys(name for trend in panels for name in trend.bounds)
    bounds = {name: Line2D([], [], color=GREY, linestyle=BOUND_DASHES[name], linewidth=1.3) for name in shown}
    write_legend(figure, {**key_lines(LOOKS), **bounds}, handlelength=2.8)
    return figure


def _draw_line(axes: Axes, trend: Trend, name: str, values: Float[np.ndarray, "values repeats"]) -> None:
    found = [student_interval(row[np.isfinite(row)]) for row in values]
    means = np.array([each.mean for each in found])
    floor = 1e-3  # the axis is logarithmic
    margins = np.nan_to_num(np.array([each.high - each.mean for each in found]))
    look = LOOKS[name]
    axes.errorbar(
        trend.values,
        np.maximum(means, floor),
        yerr=np.stack([np.minimum(margins, 0.95 * np.maximum(means, floor)), margins]),
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markersize=4.5,
        linewidth=1.6,
        elinewidth=1.0,
        ecolor=look.colour,
        markeredgecolor=INK,
        markeredgewidth=0.4,
    )
