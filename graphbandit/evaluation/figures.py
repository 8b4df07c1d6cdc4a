"""Figures of an evaluation: values with intervals, values over time, weights, segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.errors import InputError
from graphbandit.evaluation.group_sums import HISTOGRAM
from graphbandit.plots.axes import (
    figure_of,
    name_rows,
    new_axes,
    plain_log_ticks,
    write_key,
    write_labels,
)
from graphbandit.plots.learner_looks import key_lines, looks, name_lines
from graphbandit.plots.style import GREY

MOST_SEGMENTS = 20
"""The largest number of segments that a figure shows."""

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from graphbandit.evaluation.evaluation_table import EvaluationTable


def plot_values(table: EvaluationTable) -> Figure:
    """The value of each policy with its interval; the thin lines are the intervals without side observations."""
    names, look = list(table), looks(list(table))
    axes = new_axes(4.8, 0.9 + 0.55 * len(names))
    for i, name in enumerate(names):
        value, colour = table[name], look[name].colour
        plain = value.without_side_observations
        if plain is not None:
            axes.plot([plain.low, plain.high], [i + 0.22] * 2, color=colour, linewidth=1.2, alpha=0.5)
        axes.plot([value.low, value.high], [i, i], color=colour, linewidth=3.5, solid_capstyle="butt")
        axes.plot([value.value], [i], "o", color=colour, markersize=7, markeredgecolor="#ffffff")
    how = f"{table.settings.method}, {table.settings.level:.0%} {table.settings.interval}"
    write_labels(axes, f"value of a round ({how})", "")
    name_rows(axes, names)
    return figure_of(axes)


def plot_over_time(table: EvaluationTable) -> Figure:
    """The value of each policy after more and more rounds.

    The axis shows what is known after a tenth of the rounds; earlier bands, which often fill the whole range of the
    rewards, may reach beyond it.
    """
    look = looks(list(table))
    axes = new_axes(4.8, 3.3)
    ends, known = {}, []
    for name in table:
        path, one = table.over_time(name), look[name]
        axes.fill_between(path.rounds, path.low, path.high, color=one.colour, alpha=0.15, linewidth=0)
        axes.plot(path.rounds, path.value, color=one.colour, linestyle=one.dash, linewidth=1.8)
        ends[name] = float(path.value[-1])
        late = path.rounds >= 0.1 * path.rounds[-1]
        known += [values[late] for values in (path.low, path.value, path.high)]
    shown = np.concatenate(known)
    shown = shown[np.isfinite(shown)]
    if shown.size and np.ptp(shown) > 0:
        axes.set_ylim(shown.min() - 0.08 * np.ptp(shown), shown.max() + 0.08 * np.ptp(shown))
    axes.set_xscale("log")
    axes.margins(x=0)
    plain_log_ticks(axes.xaxis)
    write_labels(axes, "rounds of the log", "value so far")
    name_lines(axes, ends, look)
    return figure_of(axes)


def plot_weights(table: EvaluationTable) -> Figure:
    """A histogram of the weights of rounds; if few rounds are heavy, these decide the value."""
    from matplotlib.ticker import NullLocator

    look = looks(list(table))
    axes = new_axes(4.8, 3.3)
    widest = max(int(np.flatnonzero(table.sums.weights[name].histogram).max(initial=1)) for name in table)
    edges = np.append(HISTOGRAM, HISTOGRAM[-1] * 1.3)
    edges[0] = HISTOGRAM[1] / 1.5
    for name, one in look.items():
        counts = table.sums.weights[name].histogram[: widest + 2]
        axes.stairs(counts, edges[: widest + 3], color=one.colour, linestyle=one.dash, linewidth=1.6)
    axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=10)
    axes.yaxis.set_minor_locator(NullLocator())
    plain_log_ticks(axes.xaxis)
    write_labels(axes, "weight of a round (the leftmost bin: 0)", "rounds")
    write_key(axes, key_lines(look))
    return figure_of(axes)


def plot_segments(table: EvaluationTable) -> Figure:
    """The value of each policy in each segment, largest segments first."""
    if table.by is None:
        raise InputError("the table has no segments; expected evaluate(..., by=COLUMN)")
    sizes: dict[str, int] = {}
    for found in table.segments:
        sizes[found.segment] = max(sizes.get(found.segment, 0), found.rounds)
    labels = sorted(sizes, key=lambda label: (-sizes[label], label))[:MOST_SEGMENTS]
    names, look = list(table), looks(list(table))
    axes = new_axes(4.8, 0.9 + 0.4 * len(labels) * max(1.0, 0.45 * len(names)))
    for i, name in enumerate(names):
        shift, one = (i - (len(names) - 1) / 2) * 0.7 / len(names), look[name]
        for found in table.segments:
            if found.policy == name and found.segment in labels:
                y = labels.index(found.segment) + shift
                axes.plot([found.low, found.high], [y, y], color=one.colour, linewidth=2)
                axes.plot([found.value], [y], one.marker, color=one.colour, markersize=5)
    write_labels(axes, f"value of a round, by {table.by}", "")
    name_rows(axes, [f"{label} ({sizes[label]:,})" for label in labels])
    write_key(axes, key_lines(look))
    return figure_of(axes)
