"""The section of environments: curves, paired differences and numbers."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from graphbandit.base.printed_table import Cell, Table, number_cell, short_number
from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
from graphbandit.experiments.figures.curves import plot_curves
from graphbandit.experiments.figures.paired import plot_paired
from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.plots.learner_looks import SHOWN
from graphbandit.plots.pages.page import Section
from graphbandit.plots.pages.svg import page_picture
from graphbandit.simulate import Summary

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

FIGURES = 12
"""The most environments with figures in a report."""


def section(reported: Reported) -> Section:
    """Curves, paired differences and all numbers of each environment."""
    results, regrets, _ = reported
    shown = [_environment(results, regrets, i, place) for i, place in enumerate(regrets.environments[:FIGURES])]
    n = len(regrets.environments)
    return Section("environments", "Environments" if n > 1 else "Regret", texts().environments(shown, n))


def _environment(results: Results, regrets: FinalRegrets, number: int, place: str) -> dict[str, Any]:
    ran = regrets.by_mean(place)[:SHOWN]
    ends = ", ".join(f"{name} {short_number(regrets.sample(place, name).mean())}" for name in ran)
    alt = f"Mean cumulative regret in {place}; at the end: {ends}."
    curves = plot_curves(results, environment=place, title="")
    pictures = [page_picture(curves, f"curves{number}", alt)]
    best = ran[0]
    if any(paired_difference(regrets, place, name, best).pairs for name in ran[1:]):
        pairs = plot_paired(results, baseline=best, environment=place, title="")
        alt = f"Paired differences of final regret to {best} in {place}, with 95 % intervals."
        caption = f"Difference to {best}, the lowest mean; ticks are repeats. Hollow: the interval holds 0."
        pictures.append(page_picture(pairs, f"pairs{number}", alt, caption))
    return {"name": place, "pictures": pictures, "table": _details_table(regrets, place)}


def _details_table(regrets: FinalRegrets, place: str) -> Table:
    names = [one.name for one in fields(Summary)]
    heads = [name.replace("standard_error", "s.e.").replace("_", " ") for name in names]
    rows = []
    for learner in regrets.by_mean(place):
        summary, count = regrets.summary(place, learner), len(regrets.sample(place, learner))
        rows.append([learner, *(number_cell(getattr(summary, name)) for name in names), Cell(str(count), count)])
    return Table(f"Final regret in {place}", ["learner", *heads, "runs"], rows, sorted_by=1)
