"""The numbers of each experiment as tables, for the report, the command line and the documentation."""

from __future__ import annotations

import math

import numpy as np

from graphbandit.base.printed_table import Cell, Table, number_cell, short_number
from graphbandit.base.shapes import Float, Int
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.paper.answers import mean, paired
from graphbandit.studies.paper.names import FORMS, MAIN, READINGS
from graphbandit.studies.paper.printed import PRINTED
from graphbandit.studies.paper.set_sizes import SetSizes, short_place
from graphbandit.studies.paper.trends import AXES, trends
from graphbandit.studies.paper.variants import WHOLE, variants

EXPONENTS = ("independence", "arms", "horizon")
"""Experiments for which the theory has an exponent."""


def table_of(findings: Findings, name: str) -> Table:
    """The table of an experiment that was run."""
    if name in AXES:
        return _trend_table(findings, name)
    makers = {"clique-table": _clique_table, "parts": _parts_table}
    return makers.get(name, _kinds_table)(findings.experiments[name])


def set_size_table(sizes: SetSizes) -> Table:
    """The sizes of exploration sets and the independence numbers."""
    rows = []
    for place, learners in sizes.sizes.items():
        alpha = sizes.independence[place]
        for name, size in learners.items():
            count, most = sizes.excess(place, name)
            excess = [Cell(f"{count} of {len(size)}", count), Cell(str(most), most)]
            rows.append([short_place(place), name, _mean_and_range(alpha), _mean_and_range(size), *excess])
    heads = ["graphs", "learner", "independence number: mean (range)", "|S|: mean (range)", "rounds with |S| larger"]
    return Table("Exploration sets in the first rounds", [*heads, "by at most"], rows)


def _kinds_table(finding: Finding) -> Table:
    """A row for each reading and learner, a column for each kind of graph."""
    heads = ["learner", "reading", *finding.experiment.environments]
    return Table("Final regret: mean (standard deviation)", heads, _mean_rows(finding))


def _clique_table(finding: Finding) -> Table:
    """The printed numbers first, then a row for each reading and learner."""
    arms = list(dict.fromkeys(int(point.settings["n_arms"]) for point in finding.experiment.environment_points()))
    printed = [_mean_and_std(*PRINTED[k]) if k in PRINTED else Cell("", math.nan) for k in arms]
    heads = ["learner", "reading", *(f"K = {k}" for k in arms)]
    rows = [["printed in the paper", "", *printed], *_mean_rows(finding)]
    return Table("Final regret on 5 cliques: mean (standard deviation)", heads, rows)


def _mean_rows(finding: Finding) -> list[list[object]]:
    """A row for each reading and learner, with a cell for each environment."""
    rows: list[list[object]] = []
    for reading, scale in READINGS.items():
        points = finding.points(reward_scale=scale)
        for learner in finding.experiment.learners:
            samples = [finding.regrets.sample(point.label, learner) for point in points]
            rows.append([learner, reading, *(_mean_and_std(mean(each), _std(each)) for each in samples)])
    return rows


def _parts_table(finding: Finding) -> Table:
    """The regret of each form, and how it changes without each part."""
    rows = []
    for reading, scale in READINGS.items():
        points = finding.points(reward_scale=scale)
        for form, learner in FORMS.items():
            for changed, name in variants(finding, form).items():
                cells = []
                for point in points:
                    values = finding.by_repeat(point, name)
                    change = paired(values, finding.by_repeat(point, learner))
                    cells.append(number_cell(mean(values)) if changed == WHOLE else Cell(change.bounds, change.mean))
                rows.append([f"{form}: {changed}", reading, *cells])
    caption = "Mean final regret, and its change without one part (paired 95 % interval)"
    return Table(caption, ["AdaCB.G", "reading", *finding.experiment.environments], rows)


def _trend_table(findings: Findings, name: str) -> Table:
    """Mean regret at every value and, where the theory has one, the exponent."""
    panels = trends(findings, name)
    rows = []
    for trend in panels:
        for learner in MAIN:
            cells = [number_cell(mean(values)) for values in trend.regrets[learner]]
            if name in EXPONENTS:
                found = trend.slope(learner)
                cells.append(number_cell(found.mean, f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"))
            rows.append([learner, ", ".join(filter(None, (trend.title, trend.reading))), *cells])
    heads = [
        "learner",
        "on",
        *(f"{value:g}" for value in panels[0].values),
        *(["exponent"] if name in EXPONENTS else []),
    ]
    return Table(f"Mean final regret against {AXES[name].label}", heads, rows)


def _mean_and_std(mean: float, std: float) -> Cell:
    text = f"{short_number(mean)} ({short_number(std)})" if math.isfinite(std) else short_number(mean)
    return Cell(text, mean)


def _std(values: Float[np.ndarray, " repeats"]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def _mean_and_range(sizes: Int[np.ndarray, " rounds"]) -> Cell:
    mean = float(sizes.mean())
    return Cell(f"{short_number(mean)} ({sizes.min()} to {sizes.max()})", mean)
