"""A heat map of mean regret over two settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.colours import INK
from graphbandit.base.printed_table import short_number
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.statistics import name_index
from graphbandit.plots.axes import colour_bar, figure_of, new_axes, write_titles
from graphbandit.plots.style import PALE, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphbandit.experiments.results.reading import Results

SETTINGS = ("environment.", "learner.")
"""Prefixes of the columns of settings that vary."""

ON_DARK = "#F8F8F8"
"""The colour of text on a dark cell; not pure white, which a page replaces by its own background."""


def plot_heatmap(
    results: Results, *, x: str, y: str, environment: str | None = None, learner: str | None = None
) -> Figure:
    """Mean final regret for every pair of values of two settings that vary.

    A cell is the mean over all runs with both values, over repeats and all other settings that vary, which the subtitle
    names. Cells without a run are crossed out. Numbers are written in the cells if they fit.

    - `results`: the results of `run`.
    - `x`, `y`: columns of ``results.runs``, such as "environment.n_arms", or "n_arms" for short.
    - `environment`: the environment to show, by its label or by the name that the points of a grid share; None
      (default): all.
    - `learner`: the learner to show, likewise; None (default): all.
    """
    rows = _rows(results, learner, environment)
    columns = [_column(results, name) for name in (x, y)]
    if columns[0] == columns[1]:
        raise SettingError(f"x and y are both {columns[0]!r}; expected two settings")
    rows = [row for row in rows if all(row[column] is not None for column in columns)]
    if not rows:
        raise InputError(f"no run has both {columns[0]!r} and {columns[1]!r}; expected settings that vary together")
    ticks = [sorted({row[column] for row in rows}, key=_order) for column in columns]
    cells: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        j, i = (values.index(row[column]) for values, column in zip(ticks, columns, strict=True))
        cells.setdefault((i, j), []).append(row["regret"])
    means = np.full((len(ticks[1]), len(ticks[0])), np.nan)
    for place, regrets in cells.items():
        means[place] = np.mean(regrets)
    wide, tall = (min(size, 8.0 / len(values)) for size, values in zip((0.62, 0.42), ticks, strict=True))
    axes = new_axes(1.9 + wide * max(len(ticks[0]), 4), 1.3 + tall * max(len(ticks[1]), 3))
    _draw_cells(axes, means, figures=wide >= 0.5 and tall >= 0.2)
    for axis, values, column in zip((axes.xaxis, axes.yaxis), ticks, columns, strict=True):
        every = -(-len(values) // 16)
        axis.set_ticks(range(0, len(values), every), [literal(str(value)) for value in values[::every]])
        if axis is axes.xaxis and max(len(str(value)) for value in values) > 8:
            for label in axes.get_xticklabels():
                label.set(rotation=30, ha="right", rotation_mode="anchor")
        axis.set_label_text(column.partition(".")[2].replace("_", " "), color=INK)
    write_titles(axes, learner or environment or "", _subtitle(rows, columns, cells))
    return figure_of(axes)


def _rows(results: Results, learner: str | None, environment: str | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results.runs.to_pylist()
    for kind, wanted in (("learner", learner), ("environment", environment)):
        if wanted is not None:
            kept = [row for row in rows if wanted in (row[kind], grid_name(row[kind]))]
            if not kept:
                labels = list(dict.fromkeys(label for row in rows for label in (grid_name(row[kind]), row[kind])))
                name_index(kind, wanted, labels)
            rows = kept
    return rows


def _column(results: Results, name: str) -> str:
    """The column of that name, or the column of the setting of that name."""
    settings: list[str] = [each for each in results.runs.column_names if each.startswith(SETTINGS)]
    if not settings:
        raise InputError("no setting varies in the results; expected two for a heat map")
    short = [column.partition(".")[2] for column in settings]
    known = {one: column for one, column in zip(short, settings, strict=True) if short.count(one) == 1}
    known |= {column: column for column in settings}
    return list(known.values())[name_index("setting", name, list(known))]


def _draw_cells(axes: Axes, means: Float[np.ndarray, "y x"], *, figures: bool) -> None:
    from matplotlib import colormaps

    colours, low, high = colormaps["cividis_r"], np.nanmin(means), np.nanmax(means)
    edges = [np.arange(size + 1) - 0.5 for size in reversed(means.shape)]
    mesh = axes.pcolormesh(
        *edges, np.ma.masked_invalid(means), cmap=colours, edgecolors="white", linewidth=1.2 if figures else 0.3
    )
    for (i, j), mean in np.ndenumerate(means):
        if not np.isfinite(mean):
            axes.plot([j - 0.2, j + 0.2], [i - 0.2, i + 0.2], color=PALE, linewidth=1.0)
            axes.plot([j - 0.2, j + 0.2], [i + 0.2, i - 0.2], color=PALE, linewidth=1.0)
        if not np.isfinite(mean) or not figures:
            continue
        shade = colours((mean - low) / (high - low) if high > low else 0.0)
        dark = 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.5
        axes.text(j, i, short_number(mean), ha="center", va="center", size=9, color=ON_DARK if dark else "black")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelcolor=INK)
    colour_bar(axes, mesh, shrink=0.9, pad=0.02).set_label("mean final regret", color=INK)


def _subtitle(rows: Sequence[dict[str, Any]], columns: Sequence[str], cells: dict[tuple[int, int], list[float]]) -> str:
    counts = sorted({len(regrets) for regrets in cells.values()})
    text = f"{counts[0]} runs a cell" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs a cell"
    other = [
        name
        for name in rows[0]
        if name.startswith(SETTINGS) and name not in columns and len({str(row[name]) for row in rows}) > 1
    ]
    return f"{text}, mean over {', '.join(name.partition('.')[2] for name in other)} too" if other else text


def grid_name(label: str) -> str:
    """A label without the settings that vary: 'ours' of 'ours eta=0.5 radius=sharp'."""
    return re.sub(r"( \w+=\S+)+$", "", label)


def _order(value: object) -> tuple[int, float, str]:
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value))
