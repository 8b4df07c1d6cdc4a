"""How much to explore: what the sweep of eta says, and whether the default keeps its promise.

A cell is a function class on a kind of graph. In each of them the regret of the default is compared with the lowest
mean regret of all eta and both forms of gamma, which is picked after the fact: the ratio flatters the best, never the
default. The ratio to the best eta of the same form stands beside it, and that of greedy, which is what eta = infinity
comes to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.errors import InputError
from graphbandit.experiments.analysis.intervals import Interval, bootstrap_interval
from graphbandit.experiments.describe.experiment import Point
from graphbandit.experiments.figures.parts import short_number
from graphbandit.learners import AdaCBG
from graphbandit.studies.paper.tables import Table, to_markdown
from graphbandit.studies.plans import EXPLORATION, Finding

FACTOR = 3.0
"""The default may be worse than the best of the sweep by this factor, and no more, in any cell."""

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
        """That of `AdaCBG`."""
        learner = AdaCBG()
        return cls(learner.gamma_rule, learner.exploitation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
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
class Sweep:
    """All cells, and the default they judge."""

    cells: tuple[Cell, ...]
    default: Choice

    def __post_init__(self) -> None:
        for cell in self.cells:
            if self.default not in cell.regrets:
                raise InputError(
                    f"{cell.title}, {cell.graph} has no runs of {self.default}; expected the default there"
                )

    @property
    def choices(self) -> list[Choice]:
        """Those that every cell has."""
        return sorted(set.intersection(*(set(cell.regrets) for cell in self.cells)))

    def worst(self, choice: Choice) -> Cell:
        """The cell in which a choice is worst beside the best."""
        return max(self.cells, key=lambda cell: cell.ratio(choice))

    def worst_of_form(self, choice: Choice) -> Cell:
        """The cell in which a choice is worst beside the best eta of the same form."""
        return max(self.cells, key=lambda cell: cell.form_ratio(choice))

    @property
    def best_choice(self) -> Choice:
        """The choice whose worst ratio is lowest."""
        return min(self.choices, key=lambda choice: self.worst(choice).ratio(choice))

    @property
    def broken(self) -> list[Cell]:
        """Cells in which the default is worse than it may be."""
        return [cell for cell in self.cells if cell.ratio(self.default) > FACTOR]

    @property
    def verdict(self) -> str:
        """In a sentence."""
        worst = self.worst(self.default)
        figure = f"{worst.ratio(self.default):.2f} times the best of the sweep ({worst.title}, {worst.graph})"
        if not self.broken:
            return f"The default, {self.default}, is at worst {figure}: within a factor of {FACTOR:g} everywhere."
        n = len(self.broken)
        return f"The default, {self.default}, breaks the factor {FACTOR:g} in {n} of {len(self.cells)} cells: {figure}."


def sweep_of(findings: Mapping[str, Finding], default: Choice | None = None) -> Sweep:
    """Of what was run, with the package's default unless another is given."""
    cells = tuple(cell for name, finding in findings.items() for cell in _cells(EXPLORATION[name], finding))
    return Sweep(cells=cells, default=Choice.default() if default is None else default)


def sweep_markdown(sweep: Sweep) -> str:
    """The verdict and both tables."""
    parts = [sweep.verdict, to_markdown(choice_table(sweep)), to_markdown(cell_table(sweep))]
    return "\n\n".join(parts) + "\n"


def choice_table(sweep: Sweep) -> Table:
    """The worst ratio of every choice, and where it is."""
    rows = []
    for choice in sweep.choices:
        cell, beside = sweep.worst(choice), sweep.worst_of_form(choice)
        rows.append(
            [
                _text(f"{choice}{' (default)' if choice == sweep.default else ''}"),
                _ratio(cell.ratio(choice)),
                _text(f"{cell.title}, {cell.graph}"),
                _ratio(beside.form_ratio(choice)),
                _text(f"{beside.title}, {beside.graph}"),
            ]
        )
    heads = ["choice", "worst ratio to the best", "where", "worst ratio to the best of the same gamma", "where"]
    return Table("The worst ratios of every choice", heads, rows)


def cell_table(sweep: Sweep) -> Table:
    """The best choice and the default in every cell."""
    rows = []
    for cell in sweep.cells:
        best, ratio = cell.best(), cell.interval(sweep.default)
        rows.append(
            [
                _text(cell.title),
                _text(cell.graph),
                _text(f"{best.gamma}, {best.eta:g}"),
                _regret(cell.mean(best)),
                _regret(cell.mean(sweep.default)),
                (f"{cell.ratio(sweep.default):.2f} ({ratio.low:.2f} to {ratio.high:.2f})", ratio.mean),
                _ratio(cell.form_ratio(sweep.default)),
                _ratio(cell.greedy_ratio),
            ]
        )
    heads = ["class", "graph", "best", "its regret", "the default's", "ratio", "same gamma", "greedy's ratio"]
    return Table("The default in every cell", heads, rows)


def _cells(title: str, finding: Finding) -> Iterable[Cell]:
    experiment, regrets = finding.experiment, finding.regrets
    points = [point for point in experiment.learner_points() if point.kind == "AdaCBG"]
    for environment in experiment.environment_points():

        def sample(learner: Point | str, label: str = environment.label) -> Float[np.ndarray, " repeats"]:
            return regrets.sample(label, learner if isinstance(learner, str) else learner.label)

        choices = {Choice(str(p.settings["gamma"]), float(p.settings["eta"])): sample(p) for p in points}
        yield Cell(title=title, graph=environment.label, regrets=choices, greedy=sample(GREEDY))


def _over(regret: float, best: float) -> float:
    if best <= 0:
        return 1.0 if regret <= 0 else float("inf")
    return regret / best


def _text(words: str) -> tuple[str, float]:
    return words, float("nan")


def _ratio(x: float) -> tuple[str, float]:
    return f"{x:.2f}", x


def _regret(x: float) -> tuple[str, float]:
    return short_number(x), x
