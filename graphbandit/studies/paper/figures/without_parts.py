"""Figures of AdaCB.G without each of its parts, and of exploration sets on directed graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.plots.axes import name_rows, panel_grid, panel_title, plain_log_ticks, write_labels
from graphbandit.plots.style import GREY
from graphbandit.studies.findings import Finding
from graphbandit.studies.paper.figures.over_time import LOOKS
from graphbandit.studies.paper.names import FORMS, READINGS
from graphbandit.studies.paper.set_sizes import SetSizes, short_place
from graphbandit.studies.paper.variants import WHOLE, variants

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_parts(finding: Finding) -> Figure:
    """Mean regret with its 95 % interval, whole and without each part.

    There is a row of panels for each reading and a column for each kind of graph.
    """
    rows = {reading: finding.points(reward_scale=scale) for reading, scale in READINGS.items()}
    figure, grid = panel_grid(len(rows), max(map(len, rows.values())), width=4.0, height=3.0)
    for line, (reading, points) in zip(grid, rows.items(), strict=True):
        for column, (axes, point) in enumerate(zip(line, points, strict=True)):
            labels: list[str] = []
            for form, learner in FORMS.items():
                for changed, name in variants(finding, form).items():
                    found = finding.regrets.interval(point.label, name)
                    y = len(labels)
                    look: dict[str, Any] = {"color": LOOKS[learner].colour, "zorder": 3}
                    axes.plot([found.low, found.high], [y, y], linewidth=2.4, **look)
                    axes.plot([found.mean], [y], LOOKS[learner].marker, markersize=6, markeredgecolor="white", **look)
                    if changed == WHOLE:
                        axes.axvline(found.mean, color=LOOKS[learner].colour, linewidth=0.8, linestyle=":", zorder=1)
                    labels.append(f"{form}: {changed}")
            axes.set_xscale("log")
            write_labels(axes, "cumulative regret", "")
            name_rows(axes, labels if column == 0 else [""] * len(labels), size=9)
            plain_log_ticks(axes.xaxis)
            panel_title(axes, point.name, reading)
    return figure


def plot_set_sizes(sizes: SetSizes) -> Figure:
    """|S| against alpha(G), one panel for each kind of graph; the larger a dot, the more rounds it stands for."""
    figure, (line,) = panel_grid(1, len(sizes.sizes), width=2.9, height=2.9)
    for axes, (place, learners) in zip(line, sizes.sizes.items(), strict=True):
        alpha = sizes.independence[place]
        end = max(int(alpha.max()), *(int(size.max()) for size in learners.values())) + 1.5
        axes.plot([0, end], [0, end], color=GREY, linewidth=1.0, linestyle="--")
        size = learners["RegCB.G"]
        pairs, counts = np.unique(np.stack([alpha, size]), axis=1, return_counts=True)
        over = pairs[1] > pairs[0]
        for mask, colour in ((over, LOOKS["FALCON"].colour), (~over, LOOKS["RegCB.G"].colour)):
            axes.scatter(
                pairs[0, mask],
                pairs[1, mask],
                s=4 + 60 * counts[mask] / counts.max(),
                color=colour,
                alpha=0.8,
                linewidth=0,
            )
        rounds, most = sizes.excess(place, "RegCB.G")
        axes.set(xlim=(0, end), ylim=(0, end), aspect="equal")
        write_labels(axes, "independence number", "size of S (all arms)")
        panel_title(axes, short_place(place))
        said = f"|S| larger in {rounds} of {len(alpha)}\nrounds, by at most {most}" if rounds else "|S| never larger"
        axes.text(0.97, 0.04, said, transform=axes.transAxes, ha="right", va="bottom", size=9, color=INK)
    return figure
