"""What each function class is worth: regret of AdaCB.G with each of them beside its rivals, as tables.

An environment may be in several files, the second with classes that are slow to refit and fewer repeats. A repeat has
the same draws in both, so learners of both are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graphbandit.experiments.analysis.intervals import Interval, student_interval
from graphbandit.experiments.analysis.statistics import FinalRegrets, PairedDifference, paired_difference
from graphbandit.experiments.figures.parts import short_number
from graphbandit.studies.paper.tables import Table, to_markdown
from graphbandit.studies.plans import Finding

OURS = "AdaCB.G"
"""How the names of the learners that are judged begin."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """All learners in every environment; nan for repeats that were not run."""

    regrets: FinalRegrets
    rounds: Mapping[str, int]

    def interval(self, environment: str, learner: str) -> Interval:
        """Mean regret."""
        return student_interval(self.regrets.sample(environment, learner))

    def best(self, environment: str, *, ours: bool = False) -> str:
        """The learner of the lowest mean regret, or the form of AdaCB.G that has it."""
        names = [name for name in self.regrets.by_mean(environment) if not ours or name.startswith(OURS)]
        return names[0]

    def to_best(self, environment: str, learner: str) -> PairedDifference:
        """Regret above that of the best learner, over the repeats that both have run."""
        return paired_difference(self.regrets, environment, learner, self.best(environment))

    def verdict(self, environment: str) -> str:
        """Whether AdaCB.G, with the class that suits it best there, is the best; and if not, who is, by how much."""
        ours, best = self.best(environment, ours=True), self.best(environment)
        if ours == best:
            figure = _mean(self.interval(environment, ours))
            return f"{environment}: {ours} has the lowest mean, {figure}{self._rival(environment)}."
        found = self.to_best(environment, ours)
        figures = f"{_mean(self.interval(environment, ours))} against {_mean(self.interval(environment, best))}"
        if found.better == best:
            return f"{environment}: {best} wins over {ours}, {figures}."
        return f"{environment}: {best} has the lowest mean and is not told apart from {ours}, {figures}."

    def _rival(self, environment: str) -> str:
        """The best of the others, and whether it is told apart from the best."""
        others = [name for name in self.regrets.by_mean(environment) if not name.startswith(OURS)]
        if not others:
            return ""
        apart = self.to_best(environment, others[0]).better is not None
        figure = _mean(self.interval(environment, others[0]))
        return f", {'and beats' if apart else 'not told apart from'} {others[0]}, {figure}"


def comparison_of(findings: Mapping[str, Finding]) -> Comparison:
    """Of all files; learners and environments in the order of the files."""
    parts = [finding.regrets for finding in findings.values()]
    environments = tuple(dict.fromkeys(name for part in parts for name in part.environments))
    learners = tuple(dict.fromkeys(name for part in parts for name in part.learners))
    values = np.full((len(environments), len(learners), max(part.values.shape[2] for part in parts)), np.nan)
    for part in parts:
        rows = [environments.index(name) for name in part.environments]
        columns = [learners.index(name) for name in part.learners]
        values[np.ix_(rows, columns, range(part.values.shape[2]))] = part.values
    rounds = {
        point.label: finding.experiment.rounds
        for finding in findings.values()
        for point in finding.experiment.environment_points()
    }
    regrets = FinalRegrets(environments=environments, learners=learners, values=values)
    return Comparison(regrets=regrets, rounds=rounds)


def comparison_markdown(comparison: Comparison) -> str:
    """Mean regrets, differences to the best, and the verdicts."""
    regrets, differences = regret_table(comparison), difference_table(comparison)
    verdicts = "\n".join(f"- {comparison.verdict(name)}" for name in comparison.regrets.environments)
    parts = [regrets.caption, to_markdown(regrets), differences.caption, to_markdown(differences), verdicts]
    return "\n\n".join(parts) + "\n"


def regret_table(comparison: Comparison) -> Table:
    """Mean regret and interval; the best in bold, and * where a learner is not told apart from it."""
    rows = []
    for learner in comparison.regrets.learners:
        row = [(learner, float("nan"))]
        for environment in comparison.regrets.environments:
            found = comparison.interval(environment, learner)
            text = "" if np.isnan(found.mean) else _mean(found)
            if text and learner == comparison.best(environment):
                text = f"**{text}**"
            elif text and comparison.to_best(environment, learner).better is None:
                text += " \\*"
            row.append((text, found.mean))
        rows.append(row)
    return Table(
        "Mean regret ± half its 95 % interval. The lowest is bold; \\* is not told apart from it in pairs.",
        ["learner", *(f"{name}, T = {comparison.rounds[name]}" for name in comparison.regrets.environments)],
        rows,
    )


def difference_table(comparison: Comparison) -> Table:
    """Regret above that of the best, in pairs, with its interval."""
    rows = []
    for learner in comparison.regrets.learners:
        row = [(learner, float("nan"))]
        for environment in comparison.regrets.environments:
            found = comparison.to_best(environment, learner)
            text = "" if not found.pairs else f"{_signed(found.mean)} ({_signed(found.low)} to {_signed(found.high)})"
            row.append(("best" if learner == comparison.best(environment) else text, found.mean))
        rows.append(row)
    heads = ["learner", *comparison.regrets.environments]
    return Table("Regret above that of the best, over the repeats both have run, with its 95 % interval.", heads, rows)


def _mean(found: Interval) -> str:
    if np.isnan(found.low):
        return short_number(found.mean)
    return f"{short_number(found.mean)} ± {short_number(found.high - found.mean)}"


def _signed(x: float) -> str:
    return "?" if np.isnan(x) else f"{'+' if x >= 0 else ''}{short_number(x)}"
