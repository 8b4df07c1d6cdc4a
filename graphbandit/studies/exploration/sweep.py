"""What the sweep of eta says, and whether the default keeps its promise.

A case is a function class on a kind of graph. In each case the regret of the default is compared with the lowest mean
regret among all eta, all forms of gamma, IDS.G, and greedy, which is eta = infinity. The best is picked after the fact,
so the ratio favours the best, never the default. The tables also have the ratio to the best eta of the same form, and
the ratios of IDS.G and greedy. Cases whose arms never change and reveal nothing about each other are shown but not
judged: there a learner needs to plan for information, which inverse gaps do not do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.printed_table import Cell, Table, number_cell
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError
from graphbandit.experiments.analysis.repeat_intervals import RepeatInterval, bootstrap_interval
from graphbandit.learners import AdaCBG
from graphbandit.studies.findings import Finding, Findings

FACTOR = 2.5
"""In every judged case the default may have at most this many times the regret of the best."""

OTHERS = ("IDS.G", "greedy")
"""The learners that the choices are compared with."""


@dataclass(frozen=True, order=True)
class Choice:
    """A form of gamma, eta, and the doubt, which only the natural gamma uses."""

    gamma: str
    eta: float
    doubt: float = 0.0

    def __str__(self) -> str:
        doubt = f", doubt={self.doubt:g}" if self.gamma == "natural" else ""
        return f'gamma="{self.gamma}", eta={self.eta:g}{doubt}'

    @classmethod
    def of(cls, learner: AdaCBG) -> Choice:
        """The choice of a learner."""
        rule = learner.gamma_rule
        return cls(rule, learner.exploitation, learner.doubt if rule == "natural" else 0.0)

    @classmethod
    def default(cls) -> Choice:
        """The default of `AdaCBG`."""
        return cls.of(AdaCBG())


@dataclass(frozen=True, kw_only=True, eq=False)
class EtaCase:
    """One function class on one kind of graph.

    - `title`: the class.
    - `graph`: the kind of graph.
    - `regrets`, `others`: final regrets by repeat, of each choice and of each other learner.
    - `judged`: whether the promise covers this case; True by default.
    """

    title: str
    graph: str
    regrets: Mapping[Choice, Float[np.ndarray, " repeats"]]
    others: Mapping[str, Float[np.ndarray, " repeats"]]
    judged: bool = True

    def best_choice(self, gamma: str) -> Choice:
        """The choice of that form with the lowest mean regret; the first on ties."""
        return min((choice for choice in self.regrets if choice.gamma == gamma), key=self.mean)

    @property
    def best(self) -> Choice | str:
        """The choice, or the other learner, with the lowest mean regret."""
        everyone: list[Choice | str] = [*self.regrets, *self.others]
        return min(everyone, key=self.mean)

    def sample(self, who: Choice | str) -> Float[np.ndarray, " repeats"]:
        """Final regrets of a choice, or of another learner."""
        return self.others[who] if isinstance(who, str) else self.regrets[who]

    def mean(self, who: Choice | str) -> float:
        """Mean regret."""
        return float(self.sample(who).mean())

    def ratio(self, who: Choice | str) -> float:
        """Mean regret over that of the best; 1 if both are 0."""
        return _over(self.mean(who), self.mean(self.best))

    def form_ratio(self, choice: Choice) -> float:
        """Mean regret over that of the best eta with the same form of gamma."""
        return _over(self.mean(choice), self.mean(self.best_choice(choice.gamma)))

    def interval(self, choice: Choice) -> RepeatInterval:
        """The ratio with its interval: repeats are resampled, the best stays. No interval if the best has no regret."""
        samples, best = np.stack([self.sample(choice), self.sample(self.best)]), self.mean(self.best)
        if best <= 0.0:
            return RepeatInterval(self.ratio(choice), math.nan, math.nan)
        least = 1e-3 * best  # keeps the ratio finite in resamples in which the best has no regret
        return bootstrap_interval(samples, lambda means: means[:, 0] / np.maximum(means[:, 1], least))


@dataclass(frozen=True, kw_only=True, eq=False)
class EtaSweep:
    """All cases, and the default that is judged."""

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
        """All choices that occur in any case."""
        return sorted({choice for case in self.cases for choice in case.regrets})

    @property
    def judged(self) -> tuple[EtaCase, ...]:
        """The cases that the promise covers."""
        return tuple(case for case in self.cases if case.judged)

    def having(self, who: Choice | str, *, judged: bool) -> list[EtaCase]:
        """The cases in which a choice, or another learner, was run: only the judged ones, or all."""
        cases = self.judged if judged else self.cases
        return [case for case in cases if who in case.regrets or who in case.others]

    def worst(self, who: Choice | str, *, judged: bool = True) -> EtaCase:
        """The case with the highest ratio to the best."""
        return max(self.having(who, judged=judged), key=lambda case: case.ratio(who))

    def mean_ratio(self, who: Choice | str, *, judged: bool = True) -> float:
        """The geometric mean of the ratios to the best."""
        ratios = [case.ratio(who) for case in self.having(who, judged=judged)]
        return float(np.exp(np.mean(np.log(ratios))))

    @property
    def best_choice(self) -> Choice:
        """The choice with the lowest worst ratio, among those that all cases have."""
        everywhere = [choice for choice in self.choices if len(self.having(choice, judged=False)) == len(self.cases)]
        return min(everywhere, key=lambda choice: self.worst(choice).ratio(choice))

    @property
    def broken(self) -> list[EtaCase]:
        """Judged cases in which the default breaks the promise."""
        return [case for case in self.judged if case.ratio(self.default) > FACTOR]

    @property
    def verdict(self) -> str:
        """The verdict in a sentence."""
        worst = self.worst(self.default)
        figure = f"{worst.ratio(self.default):.2f} times the best ({worst.title}, {worst.graph})"
        mean = f"the geometric mean is {self.mean_ratio(self.default):.2f}"
        if not self.broken:
            return f"The default, {self.default}, is at worst {figure}: within a factor of {FACTOR:g}; {mean}."
        n, of = len(self.broken), len(self.judged)
        return f"The default, {self.default}, breaks the factor {FACTOR:g} in {n} of {of} cases: {figure}; {mean}."


def sweep_of(findings: Findings) -> EtaSweep:
    """The sweep of all experiments that were run, judging the package's default."""
    titles = findings.plan.described.experiments
    cases = tuple(case for name, finding in findings.experiments.items() for case in _cases(titles[name], finding))
    return EtaSweep(cases=cases, default=Choice.default())


def choice_table(sweep: EtaSweep) -> Table:
    """Worst ratios and geometric means of every choice, and of the other learners."""
    rows = []
    everyone: list[Choice | str] = [*sweep.choices, *OTHERS]
    for who in everyone:
        if not sweep.having(who, judged=True):
            continue
        case, anywhere = sweep.worst(who), sweep.worst(who, judged=False)
        rows.append(
            [
                f"{who}{' (default)' if who == sweep.default else ''}",
                number_cell(len(sweep.having(who, judged=True)), str(len(sweep.having(who, judged=True)))),
                _ratio(sweep.mean_ratio(who)),
                _ratio(case.ratio(who)),
                f"{case.title}, {case.graph}",
                _ratio(sweep.mean_ratio(who, judged=False)),
                _ratio(anywhere.ratio(who)),
            ]
        )
    heads = ["choice", "cases", "geometric mean", "worst", "where", "geometric mean of all", "worst of all"]
    return Table("Ratios to the best, of every choice", heads, rows)


def case_table(sweep: EtaSweep) -> Table:
    """The best choice and the default, in every case."""
    rows = []
    for case in sweep.cases:
        best, ratio = case.best, case.interval(sweep.default)
        rows.append(
            [
                case.title,
                case.graph if case.judged else f"{case.graph} (not judged)",
                best if isinstance(best, str) else _short(best),
                number_cell(case.mean(best)),
                number_cell(case.mean(sweep.default)),
                Cell(f"{case.ratio(sweep.default):.2f} ({ratio.low:.2f} to {ratio.high:.2f})", ratio.mean),
                _ratio(case.form_ratio(sweep.default)),
                *(_ratio(case.ratio(name)) for name in OTHERS),
            ]
        )
    heads = ["class", "graph", "best", "its regret", "the default's", "ratio", "same gamma"]
    return Table("The default in every case", [*heads, *(f"{name}'s ratio" for name in OTHERS)], rows)


def _cases(title: str, finding: Finding) -> Iterable[EtaCase]:
    points = [point for point in finding.experiment.learner_points() if point.kind == "AdaCBG"]
    for environment in finding.experiment.environment_points():
        label, settings = environment.label, environment.settings
        regrets = {_choice(point.settings): finding.regrets.sample(label, point.label) for point in points}
        still = environment.kind == "arms" or settings.get("diversity") == 0.0
        yield EtaCase(
            title=title,
            graph=label,
            regrets=regrets,
            others={name: finding.regrets.sample(label, name) for name in OTHERS},
            judged=not (still and settings.get("graph") == "bandit"),
        )


def _choice(settings: Mapping[str, Any]) -> Choice:
    return Choice.of(AdaCBG(**{name: settings[name] for name in ("gamma", "eta", "doubt") if name in settings}))


def _over(regret: float, best: float) -> float:
    if best <= 0:
        return 1.0 if regret <= 0 else float("inf")
    return regret / best


def _short(choice: Choice) -> str:
    return f"{choice.gamma}, {choice.eta:g}" + (f", doubt {choice.doubt:g}" if choice.gamma == "natural" else "")


def _ratio(x: float) -> Cell:
    return Cell(f"{x:.2f}", x)
