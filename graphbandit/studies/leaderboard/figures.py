"""Pictures of the leaderboard: regret relative to the best of every cell, and everybody's worst case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.plots.axes import colour_bar, figure_of, new_axes, plain_log_ticks, write_labels, write_titles
from graphbandit.plots.style import BLUE, GREY, PALE, literal
from graphbandit.studies.leaderboard.board import Board
from graphbandit.studies.leaderboard.tables import ranked
from graphbandit.studies.leaderboard.verdict import ratio_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DARKEST = 100.0
"""Ratios beyond this have the same colour."""


def plot_board(board: Board) -> Figure:
    """A heat map: a row for each learner, the lowest worst case on top, and a column for each cell.

    A dot marks learners that are not told apart from the best of the cell.
    """
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    learners, cells = ranked(board), [cell for group in board.groups.values() for cell in group]
    ratios = np.array([[board.ratios.get((cell, name), np.nan) for cell in cells] for name in learners])
    names = 0.08 * max(map(len, cells))  # inches below the axes
    axes = new_axes(2.6 + 0.17 * max(len(cells), 24), 0.8 + names + 0.2 * max(len(learners), 6))
    shown = np.ma.masked_invalid(np.clip(ratios, 1.0, DARKEST))
    edges = np.arange(len(cells) + 1) - 0.5, np.arange(len(learners) + 1) - 0.5
    mesh = axes.pcolormesh(*edges, shown, cmap=colormaps["cividis_r"], norm=LogNorm(1.0, DARKEST), edgecolors="none")
    for i, name in enumerate(learners):
        near = [j for j, cell in enumerate(cells) if name in board.regrets.close[cell]]
        axes.plot(near, [i] * len(near), linestyle="none", marker="o", markersize=3.0, color=INK)
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_xticks(range(len(cells)), [literal(cell) for cell in cells], rotation=90, size=7.5)
    axes.set_yticks(range(len(learners)), [literal(name) for name in learners], size=9)
    for label, name in zip(axes.get_yticklabels(), learners, strict=True):
        label.set(weight="bold" if name in board.ours else "normal")
    for start in np.cumsum([len(group) for group in board.groups.values()])[:-1]:
        axes.axvline(start - 0.5, color="white", linewidth=3.0)
    bar = colour_bar(axes, mesh, shrink=0.7, pad=0.01)
    bar.set_ticks([1, 2, 5, 10, 20, 50, 100], labels=["1", "2", "5", "10", "20", "50", "100+"])
    bar.minorticks_off()
    key = "• within the paired 95 % interval of the best; white: cannot play"
    write_titles(axes, "Regret relative to the best of the cell", key)
    return figure_of(axes)


def plot_worst(board: Board) -> Figure:
    """The worst stochastic cell of every learner as a bar; pale if it played only some of the cells."""
    learners = (*board.general, *board.special)
    axes, longest = new_axes(7.5, 1.2 + 0.24 * len(learners)), 1.5
    for y, name in enumerate(learners):
        worst = board.worst_cases[name]
        colour = BLUE if name in board.ours else GREY if name in board.general else PALE
        width = min(worst.ratio, 10 * DARKEST)
        axes.barh(y, width - 1.0, left=1.0, color=colour, height=0.7)
        told = f"  {ratio_text(worst.ratio)}  {worst.cell}"
        axes.text(width, y, literal(told), va="center", size=8, color=INK).set_in_layout(False)
        longest = max(longest, width)
    _log_from_one(axes, longest)
    axes.set_yticks(range(len(learners)), [literal(name) for name in learners], size=9)
    axes.invert_yaxis()
    write_titles(axes, "Worst stochastic cell", "blue: ours; pale: plays only some of the cells; bars end at 1000")
    return figure_of(axes)


def _log_from_one(axes: Axes, longest: float) -> None:
    """A logarithmic axis from 1 that leaves two fifths of its width for the text after the longest bar."""
    axes.set_xscale("log")
    axes.set_xlim(1.0, longest ** (5 / 3))
    write_labels(axes, "mean regret relative to the best of the cell", "")
    axes.grid(visible=False)
    plain_log_ticks(axes.xaxis)
