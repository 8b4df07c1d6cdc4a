"""The diagram of average ranks and their critical difference (demsar2006statistical)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.base.printed_table import counted
from graphbandit.experiments.analysis.ranks import Ranks, ranks
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.plots.style import GREY, VERMILION, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphbandit.experiments.results.reading import Results

STEP = 0.27
"""Inches between two names."""

BAR = 0.14
"""Inches between two bars."""

WIDTH = 2.8
"""The width of the scale of ranks, in inches."""


def plot_ranks(results: Results) -> Figure:
    """Average ranks over environments and repeats, best at the left; a bar joins learners that are not told apart.

    Two learners are told apart if their average ranks differ by the critical difference (drawn above the scale) or
    more: Nemenyi's test at 95 %.

    - `results`: the results of `run`.
    """
    from graphbandit.plots.notebook import NotebookFigure

    found = ranks(FinalRegrets.of(results))
    k = len(found.learners)
    levels = _levels(found)
    first = 0.22 + BAR * (max(levels, default=-1) + 1)
    depth = first + STEP * ((k + 1) // 2 - 1) + 0.12
    figure = NotebookFigure(figsize=(WIDTH, 0.62 + depth))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0.0, WIDTH), ylim=(-depth, 0.62))
    axes.set_axis_off()
    _draw_scale(axes, found)
    for (a, b), level in zip(_ends(found), levels, strict=True):
        y = -0.13 - BAR * level
        axes.plot([a - 0.04, b + 0.04], [y, y], color=VERMILION, linewidth=4.0, solid_capstyle="butt", zorder=3)
    for i, (name, rank) in enumerate(zip(found.learners, found.average, strict=True)):
        left = i < (k + 1) // 2
        x, y = _place(rank, k), -first - STEP * (i if left else k - 1 - i)
        edge = -0.1 if left else WIDTH + 0.1
        axes.plot([x, x, edge], [0.0, y, y], color=INK, linewidth=0.9, clip_on=False, zorder=2)
        text = literal(f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}")
        side = "right" if left else "left"
        axes.text(edge + (-0.05 if left else 0.05), y, text, ha=side, va="center", size=9.5, color=INK)
    return figure


def _draw_scale(axes: Axes, found: Ranks) -> None:
    k = len(found.learners)
    axes.plot([0.0, WIDTH], [0.0, 0.0], color=INK, linewidth=1.0, clip_on=False)
    every = 1 if k <= 12 else 2 if k <= 24 else 5
    for rank in sorted({1, *range(every, k + 1, every)} if every > 1 else range(1, k + 1)):
        x = _place(rank, k)
        axes.plot([x, x], [0.0, 0.06], color=INK, linewidth=1.0, clip_on=False)
        axes.text(x, 0.09, str(rank), ha="center", va="bottom", size=9, color=INK)
    axes.text(
        -0.1, 0.0, f"average rank\nover {counted(found.blocks, 'block')}", ha="right", va="center", size=9, color=GREY
    )
    if not np.isfinite(found.critical_difference):
        return
    length = min(found.critical_difference, k - 1.0) / (k - 1) * WIDTH
    axes.plot([0.0, length], [0.42, 0.42], color=VERMILION, linewidth=2.2, solid_capstyle="butt", clip_on=False)
    for x in (0.0, length):
        axes.plot([x, x], [0.37, 0.47], color=VERMILION, linewidth=1.2, clip_on=False)
    beyond = ", longer than the scale" if found.critical_difference > k - 1 else ""
    text = f"critical difference {found.critical_difference:.2f}{beyond}"
    axes.text(0.0, 0.51, text, ha="left", va="bottom", size=9, color=INK)


def _place(rank: float, k: int) -> float:
    return (rank - 1) / (k - 1) * WIDTH


def _ends(found: Ranks) -> list[tuple[float, float]]:
    place = {name: _place(rank, len(found.learners)) for name, rank in zip(found.learners, found.average, strict=True)}
    return [(place[group[0]], place[group[-1]]) for group in found.groups]


def _levels(found: Ranks) -> list[int]:
    """For each bar, the first level at which it overlaps no other bar."""
    taken: list[float] = []
    levels = []
    for start, end in _ends(found):
        level = next((i for i, x in enumerate(taken) if x + 0.12 < start), len(taken))
        taken[level : level + 1] = [end]
        levels.append(level)
    return levels
