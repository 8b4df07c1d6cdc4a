"""Regret against one number: independence number, arms, rounds, reward scale, density of a directed graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.intervals import Interval, slope_interval, student_interval
from graphbandit.experiments.figures.parts import plain_log_ticks, write_labels
from graphbandit.plots.style import GREY, INK
from graphbandit.studies.paper.bounds import horizon_bounds, independence_bound
from graphbandit.studies.paper.findings import Findings
from graphbandit.studies.paper.panels import LOOKS, panel_grid, panel_title, write_legend
from graphbandit.studies.paper.plans import MAIN, READINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOUND_DASHES: dict[str, Any] = {"Theorem 3.2 (minimax), constant 1": "--", "Theorem 3.1 (gaps), constant 1": ":"}


class Sweep(NamedTuple):
    """One panel: `regrets[learner]` by value and repeat, and the theorems' bounds at the values."""

    title: str
    reading: str
    values: Float[np.ndarray, " values"]
    regrets: dict[str, Float[np.ndarray, "values repeats"]]
    bounds: dict[str, Float[np.ndarray, " values"]]

    def slope(self, learner: str) -> Interval:
        """The exponent of the number in the learner's mean regret."""
        return slope_interval(self.values, self.regrets[learner])


class Axis(NamedTuple):
    """What a sweep varies: the setting, its name for readers, and what the theory has to say about the exponent."""

    setting: str
    label: str
    theory: str


AXES = {
    "independence": Axis(
        "n_cliques", "independence number, at K = 50", "Theorem 3.2 has exponent 1/2 in the independence number"
    ),
    "arms": Axis("n_arms", "number of arms, in 5 cliques", "the theorems have exponent 0 in K, up to logarithms"),
    "horizon": Axis("rounds", "number of rounds", "Theorem 3.2 has exponent 1/2 in T, Theorem 3.1 a power of log T"),
    "reward-scale": Axis("reward_scale", "reward scale", "gaps fall as 1 / scale while the noise stays"),
    "directed": Axis("probability", "probability of an edge", "the theorems are for undirected graphs"),
}
"""The experiments that vary one number."""


def sweeps(findings: Findings, name: str) -> list[Sweep]:
    """The panels of one of `AXES`, none if it was not run."""
    if name == "horizon":
        return _horizon_sweeps(findings)
    study = findings.study(name)
    if study is None:
        return []
    axis, found = AXES[name], []
    readings = {"": None} if name == "reward-scale" else READINGS
    for kind in study.experiment.environments:
        for reading, scale in readings.items():
            points = study.points(name=kind) if scale is None else study.points(name=kind, reward_scale=scale)
            bounds = {}
            if name == "independence":
                drawn = [independence_bound(point, study.experiment.rounds) for point in points]
                bounds = {next(iter(BOUND_DASHES)): np.array(drawn)}
            found.append(
                Sweep(
                    title=kind,
                    reading=reading,
                    values=np.array([float(point.settings[axis.setting]) for point in points]),
                    regrets={name: np.stack([study.by_repeat(point, name) for point in points]) for name in MAIN},
                    bounds=bounds,
                )
            )
    return found


def _horizon_sweeps(findings: Findings) -> list[Sweep]:
    """Every number of rounds is a study of its own."""
    studies = findings.family("horizon")
    if not studies:
        return []
    horizons = np.array([float(study.experiment.rounds) for study in studies])
    found = []
    for reading, scale in READINGS.items():
        points = [study.points(reward_scale=scale)[0] for study in studies]
        regrets = {
            name: np.stack([study.by_repeat(point, name) for study, point in zip(studies, points, strict=True)])
            for name in MAIN
        }
        bounds = horizon_bounds(points[0], horizons, seed=findings.asked.seed)
        found.append(
            Sweep(
                title=points[0].name,
                reading=reading,
                values=horizons,
                regrets=regrets,
                bounds=dict(zip(BOUND_DASHES, bounds, strict=True)),
            )
        )
    return found


def plot_sweeps(panels: Sequence[Sweep], label: str) -> Figure:
    """Mean regret and its 95 % interval on logarithmic axes, one panel for each sweep."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FixedLocator, NullLocator

    figure, (line,) = panel_grid(1, len(panels), width=4.2 if len(panels) < 3 else 3.4, height=3.1)
    for axes, sweep in zip(line, panels, strict=True):
        for name, values in sweep.regrets.items():
            _draw_line(axes, sweep, name, values)
        for name, bound in sweep.bounds.items():
            axes.plot(sweep.values, bound, color=GREY, linestyle=BOUND_DASHES[name], linewidth=1.3)
        axes.set(xscale="log", yscale="log")
        write_labels(axes, label, "cumulative regret")
        plain_log_ticks(axes.xaxis)
        plain_log_ticks(axes.yaxis)
        axes.xaxis.set_major_locator(FixedLocator(sweep.values.tolist()))
        axes.xaxis.set_minor_locator(NullLocator())
        panel_title(axes, sweep.title, sweep.reading)
    shown = dict.fromkeys(name for sweep in panels for name in sweep.bounds)
    more = [Line2D([], [], color=GREY, linestyle=BOUND_DASHES[name], linewidth=1.3, label=name) for name in shown]
    write_legend(figure, LOOKS, more)
    return figure


def _draw_line(axes: Axes, sweep: Sweep, name: str, values: Float[np.ndarray, "values repeats"]) -> None:
    found = [student_interval(row[np.isfinite(row)]) for row in values]
    means = np.array([each.mean for each in found])
    floor = 1e-3  # the axis is logarithmic
    margins = np.nan_to_num(np.array([each.high - each.mean for each in found]))
    look = LOOKS[name]
    axes.errorbar(
        sweep.values,
        np.maximum(means, floor),
        yerr=np.stack([np.minimum(margins, 0.95 * np.maximum(means, floor)), margins]),
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markersize=4.5,
        linewidth=1.6,
        elinewidth=1.0,
        ecolor=look.colour,
        markeredgecolor=INK,
        markeredgewidth=0.4,
    )
