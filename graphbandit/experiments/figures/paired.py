"""Differences between learners within repeats."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.statistics import FinalRegrets, PairedDifference, paired_difference
from graphbandit.experiments.figures.curves import shown_learners, span
from graphbandit.plots.axes import name_rows, write_labels, write_titles
from graphbandit.plots.style import BLUE, GREY, PALE, VERMILION, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphbandit.experiments.results.reading import Results

PANELS = 12
"""The largest number of environments in one figure."""


def plot_paired(
    results: Results,
    *,
    baseline: str,
    environment: str | None = None,
    learners: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Final regret minus that of a baseline in the same repeats: mean, 95 % interval, and a tick for each pair.

    The dot of the mean is filled if the interval lies on one side of 0.

    - `results`: the results of `run`.
    - `baseline`: the learner that the others are compared with.
    - `environment`: the environment to show; None (default): all, in a panel each.
    - `learners`: the learners to show; None (default): all, or the ten best if there are more.
    - `title`: the title; None (default): the name of the environment.
    """
    from graphbandit.plots.notebook import NotebookFigure

    regrets = FinalRegrets.of(results)
    regrets.learner(baseline)
    panels: dict[str, list[PairedDifference]] = {}
    for place in regrets.wanted_environments(environment):
        shown, _ = shown_learners(regrets, place, learners)
        pairs = [paired_difference(regrets, place, name, baseline) for name in shown if name != baseline]
        kept = sorted((pair for pair in pairs if pair.pairs), key=lambda pair: pair.mean)
        if kept:
            panels[place] = kept
    if not panels:
        raise InputError(f"no other learner shares a repeat with the baseline {baseline!r}; expected at least one")
    if len(panels) > PANELS:
        raise SettingError(f"the results have {len(panels)} environments; expected at most {PANELS}, or environment=")
    heights = [len(pairs) + 1.0 for pairs in panels.values()]
    figure = NotebookFigure(figsize=(4.8, 0.34 * sum(heights) + 0.55 * len(panels) + 0.3), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, (place, pairs) in zip(grid, panels.items(), strict=True):
        _draw_pairs(axes, pairs)
        count = span([pair.pairs for pair in pairs])
        said = f"mean and 95 % interval over {count} pair{'' if count == '1' else 's'}"
        write_titles(axes, place if title is None else title, said)
    grid[-1].set_xlabel(literal(f"final regret minus that of {baseline}\n(left of 0: better)"), color=INK)
    return figure


def _draw_pairs(axes: Axes, pairs: Sequence[PairedDifference]) -> None:
    axes.axvline(0.0, color=PALE, linewidth=1.2, zorder=1)
    for row, pair in enumerate(pairs):
        colour = GREY if pair.better is None else BLUE if pair.better == pair.first else VERMILION
        dots = pair.differences[:200]
        axes.plot(dots, np.full(len(dots), row + 0.0), "|", color=colour, alpha=0.3, markersize=7, zorder=2)
        if np.isfinite(pair.low):
            axes.plot([pair.low, pair.high], [row, row], color=colour, linewidth=2.6, solid_capstyle="butt", zorder=3)
        fill = "white" if pair.better is None else colour
        axes.plot(
            [pair.mean], [row], "o", color=colour, markerfacecolor=fill, markeredgewidth=1.5, markersize=6.5, zorder=4
        )
    write_labels(axes, "", "")
    name_rows(axes, [textwrap.fill(pair.first, 26, break_long_words=False) for pair in pairs])
    axes.tick_params(axis="y", length=0)
