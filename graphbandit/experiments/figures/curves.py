"""Figures of an experiment: regret curves, paired differences, regret against time; heat maps and ranks from beside.

Every function takes `Results` and returns a Matplotlib ``Figure`` of its own; `graphbandit.plots.save_figure` writes
it as .png, .svg or .pdf with the same bytes each time.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.statistics import FinalRegrets, PairedDifference, paired_difference
from graphbandit.experiments.figures.heatmap import plot_heatmap
from graphbandit.experiments.figures.parts import (
    figure_of,
    looks,
    name_lines,
    new_axes,
    plain_log_ticks,
    shown_learners,
    write_key,
    write_labels,
    write_titles,
    zero_line,
)
from graphbandit.experiments.figures.ranks import plot_ranks
from graphbandit.plots.style import BLUE, GREY, INK, PALE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphbandit.experiments.results.results import Results

__all__ = ["plot_heatmap", "plot_paired", "plot_ranks", "plot_regret", "plot_regret_versus_time"]

BANDS = {"standard error": "one standard error", "std": "one standard deviation"}

PANELS = 12
"""So many environments at most stand in one picture of paired differences."""


def plot_regret(
    results: Results,
    *,
    environment: str | None = None,
    learners: Sequence[str] | None = None,
    band: str = "standard error",
    scale: str = "linear",
    title: str | None = None,
) -> Figure:
    """Mean cumulative regret over the rounds, for each learner, with a band over the repeats.

    `environment` may be left out if there is one; `learners` are all, or the best if they are many. The band is one
    ``"standard error"`` of the mean or one ``"std"`` to each side; `scale` is of both axes, ``"linear"`` or ``"log"``.
    `title` is the environment's name if left out.
    """
    setting_choice("band", band, list(BANDS))
    setting_choice("scale", scale, ["linear", "log"])
    regrets = FinalRegrets.of(results)
    place = one_environment(regrets, environment)
    shown, remark = shown_learners(regrets, place, learners)
    curves = regret_curves(results, place, shown)
    look, axes = looks(regrets.learners), new_axes()
    axes.set(xscale=scale, yscale=scale)
    ends: dict[str, float] = {}
    for name, (rounds, values) in curves.items():
        mean = values.mean(axis=0)
        std = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(len(rounds))
        spread = std / np.sqrt(len(values)) if band == "standard error" else std
        colour = look[name].colour
        axes.plot(rounds, mean, color=colour, linestyle=look[name].dash, linewidth=1.8)
        low = np.maximum(mean - spread, 0.0 if scale == "linear" else mean / 100)
        axes.fill_between(rounds, low, mean + spread, color=colour, alpha=0.16, linewidth=0)
        ends[name] = float(mean[-1])
    last = max(float(rounds[-1]) for rounds, _ in curves.values())
    axes.set_xlim((1.0 if scale == "log" else 0.0, last))
    if scale == "linear":
        axes.set_ylim(bottom=0.0)
    else:
        plain_log_ticks(axes.xaxis)
        plain_log_ticks(axes.yaxis)
    write_labels(axes, "round", "cumulative regret")
    repeats = _span([len(values) for _, values in curves.values()])
    what = f"mean and {BANDS[band]} over {repeats} repeats" if repeats != "1" else "one repeat"
    write_titles(axes, place if title is None else title, "\n".join(filter(None, (remark, what))))
    name_lines(axes, ends, look)
    return figure_of(axes)


def plot_paired(
    results: Results,
    *,
    baseline: str,
    environment: str | None = None,
    learners: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Final regret minus that of `baseline` in the same repeats: mean, 95 % interval, and a dot for each pair.

    One panel for each environment, or for the one given, with its name for a title unless another is given. Filled:
    the interval is on one side of 0.
    """
    from matplotlib.figure import Figure

    regrets = FinalRegrets.of(results)
    regrets.learner(baseline)
    wanted = regrets.environments if environment is None else (one_environment(regrets, environment),)
    panels: dict[str, list[PairedDifference]] = {}
    for place in wanted:
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
    figure = Figure(figsize=(4.8, 0.34 * sum(heights) + 0.55 * len(panels) + 0.3), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, (place, pairs) in zip(grid, panels.items(), strict=True):
        _draw_pairs(axes, pairs)
        count = _span([pair.pairs for pair in pairs])
        write_titles(
            axes,
            place if title is None else title,
            f"mean and 95 % interval over {count} pair{'' if count == '1' else 's'}",
        )
    grid[-1].set_xlabel(f"final regret minus that of {baseline}\n(left of 0: better)", color=INK)
    return figure


def plot_regret_versus_time(results: Results, *, environment: str | None = None) -> Figure:
    """Mean final regret against mean seconds of a run, both on logarithmic axes; a point for each environment.

    Left and low is better. Seconds are as measured where the runs were made, on machines that may differ.
    """
    regrets = FinalRegrets.of(results)
    wanted = regrets.environments if environment is None else (one_environment(regrets, environment),)
    seconds = mean_seconds(results)
    look, axes = looks(regrets.learners), new_axes(height=3.6)
    marks = {}
    for name in regrets.learners:
        points = [
            (seconds[place, name], regrets.sample(place, name).mean())
            for place in wanted
            if (place, name) in seconds and len(regrets.sample(place, name))
        ]
        if points:
            x, y = zip(*points, strict=True)
            style: dict[str, Any] = {"marker": look[name].marker, "markersize": 7, "linestyle": "none", "alpha": 0.9}
            (marks[name],) = axes.plot(x, y, color=look[name].colour, markeredgecolor="white", **style)
    if not marks:
        raise InputError("the results hold no timings; expected some for the runs shown")
    positive = all(np.min(mark.get_ydata()) > 0 for mark in marks.values())
    axes.set(xscale="log", yscale="log" if positive else "linear")
    for axis in (axes.xaxis, axes.yaxis) if positive else (axes.xaxis,):
        plain_log_ticks(axis)
    write_labels(axes, "seconds a run", "mean final regret")
    axes.grid(axis="x", color=PALE, alpha=0.35, linewidth=0.6)
    where = wanted[0] if len(wanted) == 1 else f"a point for each of {len(wanted)} environments"
    write_titles(axes, "", f"{where}; left and low is better")
    write_key(axes, marks)
    return figure_of(axes)


def one_environment(regrets: FinalRegrets, name: str | None) -> str:
    """That environment, or the only one."""
    if name is None:
        if len(regrets.environments) > 1:
            listed = ", ".join(map(repr, regrets.environments[:20]))
            raise SettingError(f"environment is left out of {len(regrets.environments)}; expected one of {listed}")
        return regrets.environments[0]
    return regrets.environments[regrets.environment(name)]


def _draw_pairs(axes: Axes, pairs: Sequence[PairedDifference]) -> None:
    zero_line(axes)
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
    axes.set_yticks(range(len(pairs)), [textwrap.fill(pair.first, 26, break_long_words=False) for pair in pairs])
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    write_labels(axes, "", "")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=PALE, alpha=0.35, linewidth=0.6)
    axes.tick_params(axis="y", length=0)


def regret_curves(
    results: Results, environment: str, learners: Sequence[str]
) -> dict[str, tuple[Int[np.ndarray, " points"], Float[np.ndarray, "repeats points"]]]:
    """By learner: the recorded rounds, and the cumulative regret of each repeat there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = results.runs.filter(pc.equal(results.runs.column("environment"), environment))
    owners = dict(zip(chosen.column("key").to_pylist(), chosen.column("learner").to_pylist(), strict=True))
    keys = [key for key, learner in owners.items() if learner in learners]
    wanted = results.curves.filter(pc.is_in(results.curves.column("key"), pa.array(keys)))
    wanted = wanted.sort_by([("key", "ascending"), ("round", "ascending")])
    if not wanted.num_rows:
        raise InputError(f"no curve was recorded for environment {environment!r}; expected one for each run")
    names = np.asarray(wanted.column("key").to_pylist())
    rounds, values = wanted.column("round").to_numpy(), wanted.column("regret").to_numpy()
    starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
    parts: dict[str, list[tuple[Int[np.ndarray, " points"], Float[np.ndarray, " points"]]]] = {}
    for start, end in zip(starts, np.r_[starts[1:], len(names)], strict=True):
        parts.setdefault(owners[str(names[start])], []).append((rounds[start:end], values[start:end]))
    curves = {}
    for name in (name for name in learners if name in parts):
        grid = np.unique(np.concatenate([x for x, _ in parts[name]]))
        curves[name] = grid, np.stack([np.interp(grid, x, y) for x, y in parts[name]])
    return curves


def mean_seconds(results: Results) -> dict[tuple[str, str], float]:
    """By environment and learner."""
    timings = dict(zip(*(results.timings.column(name).to_pylist() for name in ("key", "seconds")), strict=True))
    found: dict[tuple[str, str], list[float]] = {}
    runs = results.runs
    for key, place, name in zip(*(runs.column(x).to_pylist() for x in ("key", "environment", "learner")), strict=True):
        if key in timings:
            found.setdefault((place, name), []).append(timings[key])
    return {both: float(np.mean(values)) for both, values in found.items()}


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
