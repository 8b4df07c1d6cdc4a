"""Regret of AdaCB.G with each function class, beside its rivals.

An environment may be in two files; the second has fewer repeats and the classes that are slow to refit. A repeat has
the same draws in both files, so learners of both are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graphbandit.base.tables import Cell, Table
from graphbandit.experiments.analysis.statistics import FinalRegrets, difference_to_best
from graphbandit.studies.findings import Findings

OURS = "AdaCB.G"
"""The names of the judged learners start with this."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """The regrets of all learners in every environment; nan for repeats that were not run."""

    regrets: FinalRegrets
    rounds: Mapping[str, int]

    def verdict(self, environment: str) -> str:
        """Say whether AdaCB.G with its best class is the best there and, if not, who is and by how much."""
        names = self.regrets.by_mean(environment)
        best, ours = names[0], next(name for name in names if name.startswith(OURS))
        if ours == best:
            figure = self.regrets.interval(environment, ours).text
            return f"{environment}: {ours} has the lowest mean, {figure}{self._rival(environment)}."
        figures = " against ".join(self.regrets.interval(environment, name).text for name in (ours, best))
        if difference_to_best(self.regrets, environment, ours).better == best:
            return f"{environment}: {best} wins over {ours}, {figures}."
        return f"{environment}: {best} has the lowest mean and is not told apart from {ours}, {figures}."

    def _rival(self, environment: str) -> str:
        """The best learner that is not AdaCB.G, and whether AdaCB.G is told apart from it."""
        others = [name for name in self.regrets.by_mean(environment) if not name.startswith(OURS)]
        if not others:
            return ""
        apart = difference_to_best(self.regrets, environment, others[0]).better is not None
        figure = self.regrets.interval(environment, others[0]).text
        return f", {'and beats' if apart else 'not told apart from'} {others[0]}, {figure}"

    def table(self, caption: str, headings: list[str], cell: Callable[[str, str], Cell]) -> Table:
        """A table with a row for each learner and a column for each environment."""
        places = self.regrets.environments
        rows = [[learner, *(cell(place, learner) for place in places)] for learner in self.regrets.learners]
        return Table(caption, ["learner", *headings], rows)


def comparison_of(findings: Findings) -> Comparison:
    """Join the results of all files; learners and environments keep the order of the files."""
    several = list(findings.experiments.values())
    rounds = {
        point.label: finding.experiment.rounds
        for finding in several
        for point in finding.experiment.environment_points()
    }
    return Comparison(regrets=FinalRegrets.joined([finding.regrets for finding in several]), rounds=rounds)


def regret_table(comparison: Comparison) -> Table:
    """Mean regrets with intervals; the best learner and those not told apart from it are marked."""
    caption = "Mean regret ± half its 95 % interval. The lowest is bold; ≈ is not told apart from it in pairs."
    heads = [f"{name}, T = {comparison.rounds[name]}" for name in comparison.regrets.environments]
    return comparison.table(caption, heads, comparison.regrets.mean_cell)


def difference_table(comparison: Comparison) -> Table:
    """The paired difference to the best learner, with its interval."""

    def cell(environment: str, learner: str) -> Cell:
        found = difference_to_best(comparison.regrets, environment, learner)
        best = learner == comparison.regrets.best(environment)
        return Cell("best" if best else found.interval.bounds if found.pairs else "", found.mean)

    caption = "Regret above that of the best, over the repeats both have run, with its 95 % interval."
    return comparison.table(caption, list(comparison.regrets.environments), cell)
