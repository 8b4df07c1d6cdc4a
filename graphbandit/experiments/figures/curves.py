"""The regret of an experiment over its rounds, and against the time it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import InputError
from graphbandit.experiments.analysis.statistics import FinalRegrets, mean_seconds
from graphbandit.plots.axes import (
    figure_of,
    new_axes,
    plain_log_ticks,
    vertical_grid,
    write_key,
    write_labels,
    write_titles,
)
from graphbandit.plots.learner_looks import SHOWN, looks, name_lines
from graphbandit.plots.regret import draw_band, finish_curves, mean_and_std

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from graphbandit.experiments.results.reading import Results

AxisScale = Literal["linear", "log"]
Band = Literal["standard error", "std"]
BANDS: dict[Band, str] = {"standard error": "one standard error", "std": "one standard deviation"}


def plot_curves(
    results: Results,
    *,
    environment: str | None = None,
    learners: Sequence[str] | None = None,
    band: Band = "standard error",
    axis_scale: AxisScale = "linear",
    title: str | None = None,
) -> Figure:
    """Mean cumulative regret of each learner over the rounds, with a band over the repeats.

    - `results`: the results of `run`.
    - `environment`: the environment to show; None (default): the only one there is.
    - `learners`: the learners to show; None (default): all, or the ten best if there are more.
    - `band`: the half-width of the band: "standard error" (default) of the mean, or "std", the standard deviation.
    - `axis_scale`: the scale of both axes, "linear" (default) or "log".
    - `title`: the title; None (default): the name of the environment.
    """
    setting_choice("band", band, get_args(Band))
    setting_choice("axis_scale", axis_scale, get_args(AxisScale))
    regrets = FinalRegrets.of(results)
    place = regrets.one_environment(environment)
    shown, remark = shown_learners(regrets, place, learners)
    curves = regret_curves(results, place, shown)
    look, axes = looks(regrets.learners), new_axes()
    axes.set(xscale=axis_scale, yscale=axis_scale)
    ends: dict[str, float] = {}
    for name, (rounds, values) in curves.items():
        mean, std = mean_and_std(values)
        spread = std / np.sqrt(len(values)) if band == "standard error" else std
        draw_band(axes, rounds, mean, spread, look[name], least=0.0 if axis_scale == "linear" else mean / 100)
        ends[name] = float(mean[-1])
    last = max(float(rounds[-1]) for rounds, _ in curves.values())
    if axis_scale == "linear":
        finish_curves(axes, last)
    else:
        axes.set_xlim(1.0, last)
        plain_log_ticks(axes.xaxis, axes.yaxis)
        write_labels(axes, "round", "cumulative regret")
    repeats = span([len(values) for _, values in curves.values()])
    what = f"mean and {BANDS[band]} over {repeats} repeats" if repeats != "1" else "one repeat"
    write_titles(axes, place if title is None else title, "\n".join(filter(None, (remark, what))))
    name_lines(axes, ends, look)
    return figure_of(axes)


def plot_regret_versus_time(results: Results, *, environment: str | None = None) -> Figure:
    """Mean final regret against mean seconds of a run, both on logarithmic axes; a point for each environment.

    Left and low is better. The seconds were measured on the machines that did the runs, which may differ.

    - `results`: the results of `run`.
    - `environment`: the environment to show; None (default): all.
    """
    regrets = FinalRegrets.of(results)
    wanted = regrets.wanted_environments(environment)
    seconds = mean_seconds(results)
    look, axes = looks(regrets.learners), new_axes(height=3.6)
    marks: dict[str, Any] = {}
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
    plain_log_ticks(*((axes.xaxis, axes.yaxis) if positive else (axes.xaxis,)))
    write_labels(axes, "seconds a run", "mean final regret")
    vertical_grid(axes)
    where = wanted[0] if len(wanted) == 1 else f"a point for each of {len(wanted)} environments"
    write_titles(axes, "", f"{where}; left and low is better")
    write_key(axes, marks)
    return figure_of(axes)


def shown_learners(regrets: FinalRegrets, environment: str, learners: Sequence[str] | None) -> tuple[list[str], str]:
    """The learners asked for, or the best ones in the environment, and a remark if some are left out."""
    if learners is not None:
        for name in learners:
            regrets.learner(name)
        return list(learners), ""
    ran = regrets.by_mean(environment)
    return ran[:SHOWN], f"the {SHOWN} best of {len(ran)} learners" if len(ran) > SHOWN else ""


def regret_curves(
    results: Results, environment: str, learners: Sequence[str]
) -> dict[str, tuple[Int[np.ndarray, " points"], Float[np.ndarray, "repeats points"]]]:
    """For each learner, the recorded rounds and the cumulative regret of each repeat."""
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
    recorded: dict[str, list[tuple[Int[np.ndarray, " points"], Float[np.ndarray, " points"]]]] = {}
    for start, end in zip(starts, np.r_[starts[1:], len(names)], strict=True):
        recorded.setdefault(owners[str(names[start])], []).append((rounds[start:end], values[start:end]))
    curves = {}
    for name in (name for name in learners if name in recorded):
        grid = np.unique(np.concatenate([x for x, _ in recorded[name]]))
        curves[name] = grid, np.stack([np.interp(grid, x, y) for x, y in recorded[name]])
    return curves


def span(counts: Sequence[int]) -> str:
    """The count if all are equal, or else the lowest and the highest."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
