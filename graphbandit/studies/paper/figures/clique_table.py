"""The clique-group table as a figure, beside the printed means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.colours import COLOURS, INK
from graphbandit.plots.axes import panel_grid, panel_title, plain_log_ticks, write_labels
from graphbandit.plots.learner_looks import MARKERS
from graphbandit.plots.regret import mean_and_std
from graphbandit.plots.style import name_ends
from graphbandit.studies.findings import Finding
from graphbandit.studies.paper.figures.over_time import subscripted
from graphbandit.studies.paper.names import READINGS
from graphbandit.studies.paper.printed import PRINTED, PRINTED_ROUNDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_clique_table(finding: Finding) -> Figure:
    """Mean regret and one standard deviation against the number of arms, one panel for each reading."""
    figure, (line,) = panel_grid(1, len(READINGS), width=4.9, height=3.5)
    for axes, (reading, scale) in zip(line, READINGS.items(), strict=True):
        points = finding.points(reward_scale=scale)
        arms = np.array([int(point.settings["n_arms"]) for point in points])
        series = {}
        for learner in finding.experiment.learners:
            kept = [finding.by_repeat(point, learner) for point in points]
            series[learner] = mean_and_std(np.stack(kept, axis=1))
        printed = [PRINTED[int(k)] for k in arms if int(k) in PRINTED]
        if len(printed) == len(arms) and finding.experiment.rounds == PRINTED_ROUNDS:
            series["printed"] = np.array([m for m, _ in printed]), np.array([s for _, s in printed])
        ends = []
        for i, (name, (mean, std)) in enumerate(series.items()):
            colour = INK if name == "printed" else COLOURS[i % len(COLOURS)]
            shift = 0.5 * (i - len(series) / 2)  # so that the bars do not overlap
            low = np.minimum(std, 0.95 * mean)
            axes.errorbar(
                arms + shift,
                np.maximum(mean, 1e-3),
                yerr=np.stack([low, std]),
                color=colour,
                marker=MARKERS[i % len(MARKERS)],
                markersize=5 if name == "printed" else 4,
                linewidth=2.4 if name == "printed" else 1.4,
                elinewidth=1.0,
            )
            ends.append((float(mean[-1]), subscripted(name), colour))
        axes.set_yscale("log")
        axes.set_xticks(arms)
        write_labels(axes, "number of arms, in 5 cliques", f"regret after {finding.experiment.rounds} rounds")
        plain_log_ticks(axes.yaxis)
        panel_title(axes, "mean ± one deviation", reading)
        name_ends(axes, float(arms[-1]), ends)
    figure.set_layout_engine("constrained", wspace=0.06)  # between the names and the next panel's label
    return figure
