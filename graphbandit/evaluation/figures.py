"""Figures of an evaluation: values with intervals, values over time, weights, segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.errors import InputError
from graphbandit.evaluation.groups import HISTOGRAM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphbandit.evaluation.table import EvaluationTable

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#999999", "#000000")
"""Okabe and Ito's, which colour-blind readers tell apart."""


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from graphbandit.plots.notebook import NotebookFigure

    figure = NotebookFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def plot_values(table: EvaluationTable) -> Figure:
    """Each policy's value with its interval; the thin lines are without side observations."""
    names = list(table)
    figure, axes = _figure(6.4, 0.9 + 0.55 * len(names))
    for i, name in enumerate(names):
        value, colour = table[name], COLOURS[i % len(COLOURS)]
        plain = value.without_side_observations
        if plain is not None:
            axes.plot([plain.low, plain.high], [i + 0.22] * 2, color=colour, linewidth=1.2, alpha=0.5)
        axes.plot([value.low, value.high], [i, i], color=colour, linewidth=3.5, solid_capstyle="butt")
        axes.plot([value.value], [i], "o", color=colour, markersize=7, markeredgecolor="white")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(f"value of a round ({table.settings.method}, {table.settings.level:.0%} {table.settings.interval})")
    return figure


def plot_over_time(table: EvaluationTable) -> Figure:
    """The value of each policy after more and more rounds."""
    figure, axes = _figure(6.4, 3.6)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    for i, name in enumerate(table):
        path, colour = table.over_time(name), COLOURS[i % len(COLOURS)]
        axes.fill_between(path.rounds, path.low, path.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(path.rounds, path.value, color=colour, label=name)
    axes.set_xscale("log")
    axes.set_xlabel("rounds of the log")
    axes.set_ylabel("value so far")
    axes.legend(frameon=False)
    return figure


def plot_weights(table: EvaluationTable) -> Figure:
    """How many rounds have which weight: few heavy ones mean that few rounds decide."""
    figure, axes = _figure(6.4, 3.2)
    widest = max(int(np.flatnonzero(table.sums.weights[name].histogram).max(initial=1)) for name in table)
    edges = np.append(HISTOGRAM, HISTOGRAM[-1] * 1.3)
    edges[0] = HISTOGRAM[1] / 1.5
    for i, name in enumerate(table):
        counts = table.sums.weights[name].histogram
        axes.stairs(
            counts[: widest + 2], edges[: widest + 3], color=COLOURS[i % len(COLOURS)], label=name, linewidth=1.6
        )
    axes.axvline(1.0, color="#888888", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=10)
    axes.set_xlabel("weight of a round (the leftmost bin holds weights of zero)")
    axes.set_ylabel("rounds")
    axes.legend(frameon=False)
    return figure


def plot_segments(table: EvaluationTable, most: int = 20) -> Figure:
    """The value of each policy in each segment, largest segments first."""
    if table.by is None:
        raise InputError("the table has no segments; expected evaluate(..., by=COLUMN)")
    sizes: dict[str, int] = {}
    for found in table.segments:
        sizes[found.segment] = max(sizes.get(found.segment, 0), found.rounds)
    labels = sorted(sizes, key=lambda label: (-sizes[label], label))[:most]
    names = list(table)
    figure, axes = _figure(6.4, 0.9 + 0.4 * len(labels) * max(1.0, 0.45 * len(names)))
    for i, name in enumerate(names):
        shift = (i - (len(names) - 1) / 2) * 0.7 / len(names)
        for found in table.segments:
            if found.policy == name and found.segment in labels:
                y = labels.index(found.segment) + shift
                axes.plot([found.low, found.high], [y, y], color=COLOURS[i % len(COLOURS)], linewidth=2)
                axes.plot([found.value], [y], "o", color=COLOURS[i % len(COLOURS)], markersize=5)
        axes.plot([], [], "o-", color=COLOURS[i % len(COLOURS)], label=name)
    axes.set_yticks(range(len(labels)), [f"{label} ({sizes[label]:,})" for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel(f"value of a round, by {table.by} (asymptotic intervals)")
    axes.legend(frameon=False)
    return figure
