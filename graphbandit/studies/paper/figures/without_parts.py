"""Figures of AdaCB.G without each of its parts, and of exploration sets on directed graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.colours import INK
from graphbandit.base.printed_table import counted
from graphbandit.base.shapes import Float
from graphbandit.plots.axes import name_rows, panel_grid, panel_title, plain_log_ticks, write_labels, write_legend
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
            write_labels(axes, f"regret after {finding.experiment.rounds} rounds:\nmean, 95 % interval", "")
            name_rows(axes, labels if column == 0 else [""] * len(labels), size=9)
            plain_log_ticks(axes.xaxis)
            panel_title(axes, point.name, reading)
    return figure


def plot_set_sizes(sizes: SetSizes) -> Figure:
    """|S| against alpha(G), one panel for each kind of graph; the larger a dot, the more rounds it stands for."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    colours = {"|S| larger": LOOKS["FALCON"].colour, "|S| not larger": LOOKS["RegCB.G"].colour}
    figure, (line,) = panel_grid(1, len(sizes.sizes), width=2.9, height=2.9)
    for axes, (place, learners) in zip(line, sizes.sizes.items(), strict=True):
        alpha = sizes.independence[place]
        size = learners["RegCB.G"]
        low, high = min(int(alpha.min()), int(size.min())), max(int(alpha.max()), int(size.max()))
        start, end = low - 0.5 - 0.3 * (high - low), high + 1.5  # with room for words below the dots
        axes.plot([start, end], [start, end], color=GREY, linewidth=1.0, linestyle="--")
        pairs, counts = np.unique(np.stack([alpha, size]), axis=1, return_counts=True)
        over = pairs[1] > pairs[0]
        for mask, colour in zip((over, ~over), colours.values(), strict=True):
            axes.scatter(
                pairs[0, mask],
                pairs[1, mask],
                s=_area(counts[mask]),
                color=colour,
                alpha=0.8,
                linewidth=0,
            )
        rounds, most = sizes.excess(place, "RegCB.G")
        axes.set(xlim=(start, end), ylim=(start, end), aspect="equal")
        for ticks in (axes.xaxis, axes.yaxis):
            ticks.set_major_locator(MaxNLocator(5, integer=True))
        write_labels(axes, "independence number", "size of S (all arms)")
        panel_title(axes, short_place(place))
        said = f"|S| larger in {rounds} of {len(alpha)}\nrounds, by at most {most}" if rounds else "|S| never larger"
        axes.text(0.97, 0.04, said, transform=axes.transAxes, ha="right", va="bottom", size=9, color=INK)
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgewidth": 0}
    keys = {name: Line2D([], [], color=colour, markersize=5, **dot) for name, colour in colours.items()}
    for n in (1, 10, 30):
        keys[counted(n, "round")] = Line2D([], [], color=GREY, markersize=float(_area(n)) ** 0.5, **dot)
    write_legend(figure, {**keys, "|S| = independence number": Line2D([], [], color=GREY, linestyle="--")}, columns=6)
    return figure


def _area(rounds: npt.ArrayLike) -> Float[np.ndarray, "*shape"]:
    """The area of a dot for this many rounds, in square points."""
    return 4.0 + 2.0 * np.asarray(rounds, dtype=np.float64)
