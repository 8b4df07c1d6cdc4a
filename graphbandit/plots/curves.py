"""Regret over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.plots.style import COLOURS, INK, name_ends, plain_axes
from graphbandit.simulate import SimulationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_regret(result: SimulationResult, *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """Mean cumulative regret over rounds for each learner, with a band of one standard deviation over repeats."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7.0, 4.2), layout="constrained").add_subplot() if ax is None else ax
    curves = {name: mean_and_std(regret) for name, regret in result.regret.items()}
    n = next(iter(result.regret.values())).shape[1]
    draw_curves(axes, np.arange(1, n + 1), curves)
    axes.set_xlabel("round")
    axes.set_ylabel("cumulative regret")
    if title is not None:
        axes.set_title(title, loc="left", weight="bold", color=INK)
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def mean_and_std(
    regret: Float[np.ndarray, "repeats rounds"],
) -> tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]:
    """Over repeats; the deviation of a single repeat is taken as 0."""
    repeats, n = regret.shape
    return regret.mean(axis=0), regret.std(axis=0, ddof=1) if repeats > 1 else np.zeros(n)


def draw_curves(
    axes: Axes,
    rounds: Int[np.ndarray, " points"],
    curves: Mapping[str, tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]],
    colours: Sequence[str] = COLOURS,
) -> None:
    """Curves by name as (mean, standard deviation), each with its band and its name at its end."""
    shown = np.unique(np.linspace(0, len(rounds) - 1, 500).astype(np.int64))
    ends = []
    for i, (name, (mean, std)) in enumerate(curves.items()):
        colour, x, y, s = colours[i % len(colours)], rounds[shown], mean[shown], std[shown]
        axes.plot(x, y, color=colour, linewidth=1.8)
        axes.fill_between(x, np.maximum(y - s, 0.0), y + s, color=colour, alpha=0.15, linewidth=0)
        ends.append((float(y[-1]), name, colour))
    axes.set_xlim(0, float(rounds[-1]))
    axes.set_ylim(bottom=0)
    plain_axes(axes)
    name_ends(axes, float(rounds[-1]), ends)
