"""What the sweep of eta says, and whether the default keeps its promise.

A case is a function class on a kind of graph. In each, the regret of the default is compared with the lowest mean
regret of all eta and all forms of gamma. That one is picked after the fact, so the ratio flatters the best, never the
default. Beside it stand the ratio to the best eta of the same form, and the ratio of greedy, which is eta = infinity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.base.tables import Cell, Table, number_cell
from graphbandit.errors import InputError
from graphbandit.experiments.analysis.intervals import Interval, bootstrap_interval
from graphbandit.learners import AdaCBG
from graphbandit.studies.findings import Finding, Findings

FACTOR = 3.0
"""In no case may the default be worse than the best of the sweep by more than this factor."""

GREEDY = "greedy"


@dataclass(frozen=True, order=True)
class Choice:
    """A form of gamma, and its strength."""

    gamma: str
    eta: float

    def __str__(self) -> str:
        return f'gamma="{self.gamma}", eta={self.eta:g}'

    @classmethod
    def default(cls) -> Choice:
        """The default of `AdaCBG`."""
        learner = AdaCBG()
        return cls(learner.gamma_rule, learner.exploitation)


@dataclass(frozen=True, kw_only=True, eq=False)
class EtaCase:
    """Final regrets by repeat of each choice, and of greedy, with one class on one kind of graph."""

    title: str
    graph: str
    regrets: Mapping[Choice, Float[np.ndarray, " repeats"]]
    greedy: Float[np.ndarray, " repeats"]

    def best(self, gamma: str | None = None) -> Choice:
        """The choice with the lowest mean regret, of one form or of all; of equal ones the first."""
        return min((choice for choice in self.regrets if gamma in (None, choice.gamma)), key=self.mean)

    def mean(self, choice: Choice) -> float:
        """Mean regret."""
        return float(self.regrets[choice].mean())

    def ratio(self, choice: Choice) -> float:
        """Mean regret over that of the best choice of the sweep; 1 if both are 0."""
        return _over(self.mean(choice), self.mean(self.best()))

    def form_ratio(self, choice: Choice) -> float:
        """Mean regret over that of the best eta with the same form of gamma."""
        return _over(self.mean(choice), self.mean(self.best(choice.gamma)))

    @property
    def greedy_ratio(self) -> float:
        """Greedy's mean regret over that of the best choice of the sweep."""
        return _over(float(self.greedy.mean()), self.mean(self.best()))

    def interval(self, choice: Choice) -> Interval:
        """The ratio with its interval: repeats are resampled, the best choice stays."""
        samples = np.stack([self.regrets[choice], self.regrets[self.best()]])
        return bootstrap_interval(samples, lambda means: means[:, 0] / means[:, 1])


@dataclass(frozen=True, kw_only=True, eq=False)
class EtaSweep:
    """All cases, and the default they judge."""

    cases: tuple[EtaCase, ...]
    default: Choice

    def __post_init__(self) -> None:
        for case in self.cases:
            if self.default not in case.regrets:
                raise InputError(
                    f"{case.title}, {case.graph} has no runs of {self.default}; expected the default there"
                )

    @property
    def choices(self) -> list[Choice]:
        """The choices that every case has."""
        return sorted(set.intersection(*(set(case.regrets) for case in self.cases)))

    def worst(self, choice: Choice) -> EtaCase:
        """The case in which a choice is worst beside the best."""
        return max(self.cases, key=lambda case: case.ratio(choice))

    def worst_of_form(self, choice: Choice) -> EtaCase:
        """The case in which a choice is worst beside the best eta of the same form."""
        return max(self.cases, key=lambda case: case.form_ratio(choice))

    @property
    def best_choice(self) -> Choice:
        """The choice whose worst ratio is lowest."""
        return min(self.choices, key=lambda choice: self.worst(choice).ratio(choice))

    @property
    def broken(self) -> list[EtaCase]:
        """Cells in which the default is worse than it may be."""
        return [case for case in self.cases if case.ratio(self.default) > FACTOR]

    @property
    def verdict(self) -> str:
        """In a sentence."""
        worst = self.worst(self.default)
        figure = f"{worst.ratio(self.default):.2f} times the best of the sweep ({worst.title}, {worst.graph})"
        if not self.broken:
            return f"The default, {self.default}, is at worst {figure}: within a factor of {FACTOR:g} everywhere."
        n = len(self.broken)
        return f"The default, {self.default}, breaks the factor {FACTOR:g} in {n} of {len(self.cases)} cases: {figure}."


def sweep_of(findings: Findings, default: Choice | None = None) -> EtaSweep:
    """The sweep of what was run, with the package's default unless another is given."""
    titles = findings.plan.described.experiments
    cases = tuple(case for name, finding in findings.experiments.items() for case in _cases(titles[name], finding))
    return EtaSweep(cases=cases, default=Choice.default() if default is None else default)


def choice_table(sweep: EtaSweep) -> Table:
    """The worst ratio of every choice, and where it is."""
    rows = []
    for choice in sweep.choices:
        case, beside = sweep.worst(choice), sweep.worst_of_form(choice)
        rows.append(
            [
                f"{choice}{' (default)' if choice == sweep.default else ''}",
                _ratio(case.ratio(choice)),
                f"{case.title}, {case.graph}",
                _ratio(beside.form_ratio(choice)),
                f"{beside.title}, {beside.graph}",
            ]
        )
    heads = ["choice", "worst ratio to the best", "where", "worst ratio to the best of the same gamma", "where"]
    return Table("The worst ratios of every choice", heads, rows)


def case_table(sweep: EtaSweep) -> Table:
    """The best choice and the default in every case."""
    rows = []
    for case in sweep.cases:
        best, ratio = case.best(), case.interval(sweep.default)
        rows.append(
            [
                case.title,
                case.graph,
                f"{best.gamma}, {best.eta:g}",
                number_cell(case.mean(best)),
                number_cell(case.mean(sweep.default)),
                Cell(f"{case.ratio(sweep.default):.2f} ({ratio.low:.2f} to {ratio.high:.2f})", ratio.mean),
                _ratio(case.form_ratio(sweep.default)),
                _ratio(case.greedy_ratio),
            ]
        )
    heads = ["class", "graph", "best", "its regret", "the default's", "ratio", "same gamma", "greedy's ratio"]
    return Table("The default in every case", heads, rows)


def _cases(title: str, finding: Finding) -> Iterable[EtaCase]:
    points = [point for point in finding.experiment.learner_points() if point.kind == "AdaCBG"]
    for environment in finding.experiment.environment_points():
        label = environment.label
        regrets = {
            Choice(str(point.settings["gamma"]), float(point.settings["eta"])): finding.regrets.sample(
                label, point.label
            )
            for point in points
        }
        yield EtaCase(title=title, graph=label, regrets=regrets, greedy=finding.regrets.sample(label, GREEDY))


def _over(regret: float, best: float) -> float:
    if best <= 0:
        return 1.0 if regret <= 0 else float("inf")
    return regret / best


def _ratio(x: float) -> Cell:
    return Cell(f"{x:.2f}", x)
