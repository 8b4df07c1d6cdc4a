"""Regret of AdaCB.G with each function class, beside its rivals.

An environment may be in two files; the second has fewer repeats and the classes that are slow to refit. A repeat has
the same draws in both files, so learners of both are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable

from graphbandit.base.printed_table import Cell, Table
from graphbandit.experiments.analysis.statistics import FinalRegrets, difference_to_best
from graphbandit.studies.findings import Findings

OURS = "AdaCB.G"
"""The names of the judged learners start with this."""


def verdict(findings: Findings, environment: str) -> str:
    """Say whether AdaCB.G with its best class is the best there and, if not, who is and by how much."""
    regrets = findings.regrets
    names = regrets.by_mean(environment)
    best, ours = names[0], next(name for name in names if name.startswith(OURS))
    if ours == best:
        figure = regrets.interval(environment, ours).text
        return f"{environment}: {ours} has the lowest mean, {figure}{_rival(regrets, environment)}."
    figures = " against ".join(regrets.interval(environment, name).text for name in (ours, best))
    if difference_to_best(regrets, environment, ours).better == best:
        return f"{environment}: {best} wins over {ours}, {figures}."
    return f"{environment}: {best} has the lowest mean and is not told apart from {ours}, {figures}."


def _rival(regrets: FinalRegrets, environment: str) -> str:
    """The best learner that is not AdaCB.G, and whether AdaCB.G is told apart from it."""
    others = [name for name in regrets.by_mean(environment) if not name.startswith(OURS)]
    if not others:
        return ""
    apart = difference_to_best(regrets, environment, others[0]).better is not None
    figure = regrets.interval(environment, others[0]).text
    return f", {'and beats' if apart else 'not told apart from'} {others[0]}, {figure}"


def regret_table(findings: Findings) -> Table:
    """Mean regrets with intervals; the best learner and those not told apart from it are marked."""
    caption = "Mean regret ± half its 95 % interval. The lowest is bold; ≈ is not told apart from it in pairs."
    heads = [f"{name}, T = {findings.rounds[name]}" for name in findings.regrets.environments]
    return _table(findings.regrets, caption, heads, findings.regrets.mean_cell)


def difference_table(findings: Findings) -> Table:
    """The paired difference to the best learner, with its interval."""
    regrets = findings.regrets

    def cell(environment: str, learner: str) -> Cell:
        found = difference_to_best(regrets, environment, learner)
        best = learner == regrets.best(environment)
        return Cell("best" if best else found.interval.bounds if found.pairs else "", found.mean)

    caption = "Regret above that of the best, over the repeats both have run, with its 95 % interval."
    return _table(regrets, caption, list(regrets.environments), cell)


def _table(regrets: FinalRegrets, caption: str, headings: list[str], cell: Callable[[str, str], Cell]) -> Table:
    """A table with a row for each learner and a column for each environment."""
    rows = [[learner, *(cell(place, learner) for place in regrets.environments)] for learner in regrets.learners]
    return Table(caption, ["learner", *headings], rows)
