"""Regret over time, as curves with bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.plots.axes import figure_of, new_axes, panel_title, write_labels
from graphbandit.plots.learner_looks import Look, looks
from graphbandit.plots.style import name_ends
from graphbandit.simulate import SimulationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 500
"""The largest number of points that are drawn of a curve."""


def plot_regret(result: SimulationResult, *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """Mean cumulative regret over rounds for each learner, with a band of one standard deviation over repeats.

    - `result`: the result of `simulate`.
    - `title`: the title above the curves; None (default): none.
    - `ax`: the axes to draw on; None (default): those of a new figure.
    """
    axes = new_axes(7.0, 4.2) if ax is None else ax
    n = next(iter(result.regret.values())).shape[1]
    shown = np.unique(np.linspace(0, n - 1, POINTS).astype(np.int64))
    draw_curves(axes, shown + 1, {name: mean_and_std(regret[:, shown]) for name, regret in result.regret.items()})
    if title is not None:
        panel_title(axes, title)
    if result.regret and len(next(iter(result.regret.values()))) > 1:
        axes.set_ylabel("cumulative regret: mean ± one deviation")
    return figure_of(axes)


def draw_curves(
    axes: Axes,
    rounds: Int[np.ndarray, " points"],
    curves: Mapping[str, tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]],
) -> None:
    """Draw curves, given by name as (mean, standard deviation), each with its band and with its name at its end."""
    look = {name: one._replace(dash="solid") for name, one in looks(list(curves)).items()}
    for name, (mean, std) in curves.items():
        draw_band(axes, rounds, mean, std, look[name])
    finish_curves(axes, float(rounds[-1]))
    name_ends(
        axes, float(rounds[-1]), [(float(mean[-1]), name, look[name].colour) for name, (mean, _) in curves.items()]
    )


def mean_and_std(
    regret: Float[np.ndarray, "repeats rounds"],
) -> tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]:
    """Mean and standard deviation over repeats; the deviation of a single repeat is taken as 0."""
    repeats, n = regret.shape
    return regret.mean(axis=0), regret.std(axis=0, ddof=1) if repeats > 1 else np.zeros(n)


def draw_band(
    axes: Axes,
    rounds: Int[np.ndarray, " points"],
    mean: Float[np.ndarray, " points"],
    spread: Float[np.ndarray, " points"],
    look: Look,
    *,
    least: float | Float[np.ndarray, " points"] = 0.0,
) -> None:
    """Draw a curve with a band of `spread` to each side, which does not go below `least`."""
    axes.plot(rounds, mean, color=look.colour, linestyle=look.dash, linewidth=1.8)
    low = np.maximum(mean - spread, least)
    axes.fill_between(rounds, low, mean + spread, color=look.colour, alpha=0.16, linewidth=0)


def finish_curves(axes: Axes, last: float) -> None:
    """Label linear axes and let them start at 0 and end at the last round."""
    axes.set_xlim(0.0, last)
    axes.set_ylim(bottom=0.0)
    write_labels(axes, "round", "cumulative regret")
