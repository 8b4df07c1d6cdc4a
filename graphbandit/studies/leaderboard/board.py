"""The leaderboard's numbers: regret relative to the best of each cell, worst cases, ranks, and whether ours are first.

A cell is one environment of the suite. All numbers are means over repeats. Two learners are told apart in a cell if the
paired 95 % interval of their difference does not contain 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from graphbandit.errors import InputError
from graphbandit.experiments.analysis.statistics import FinalRegrets, mean_seconds
from graphbandit.studies.findings import Findings

OURS = ("IDS.G", "AdaCB.G, ours")
"""The judged learners of this package, each with its defaults, which are the same in all cells."""


class Worst(NamedTuple):
    """The cell where a learner's regret is highest relative to the best, and that ratio."""

    ratio: float
    cell: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Board:
    """All learners in every cell.

    - `regrets`: nan where a learner was not run.
    - `rounds`: the number of rounds in every cell.
    - `groups`: the cells of each group by its title.
    - `adversarial`: cells that are shown but not judged.
    - `microseconds`: the time of a round, by cell and learner.
    """

    regrets: FinalRegrets
    rounds: Mapping[str, int]
    groups: Mapping[str, tuple[str, ...]]
    adversarial: frozenset[str]
    microseconds: Mapping[tuple[str, str], float]

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners of all groups."""
        return self.regrets.learners

    @property
    def ours(self) -> tuple[str, ...]:
        """The learners of `OURS` that were run."""
        return tuple(name for name in OURS if name in self.learners)

    @cached_property
    def stochastic(self) -> tuple[str, ...]:
        """The cells that are not adversarial."""
        return tuple(cell for cell in self.regrets.environments if cell not in self.adversarial)

    def ran(self, cell: str, learner: str) -> bool:
        """Whether the learner was run in that cell."""
        return len(self.regrets.sample(cell, learner)) > 0

    @cached_property
    def ratios(self) -> dict[tuple[str, str], float]:
        """Mean regret divided by that of the best, by cell and learner; 1 or infinity where the best has no regret."""
        found = {}
        for cell in self.regrets.environments:
            least = float(self.regrets.sample(cell, self.regrets.best(cell)).mean())
            for learner in self.regrets.by_mean(cell):
                mean = float(self.regrets.sample(cell, learner).mean())
                found[cell, learner] = mean / least if least > 0 else 1.0 if mean <= least else math.inf
        return found

    def mean_ratio(self, learner: str, cells: Iterable[str]) -> float:
        """The geometric mean of the learner's ratios over the cells in which it ran; nan if there are none."""
        values = [self.ratios[cell, learner] for cell in cells if (cell, learner) in self.ratios]
        return float(np.exp(np.mean(np.log(values)))) if values else math.nan

    def worst(self, learner: str, cells: Sequence[str] | None = None) -> Worst | None:
        """The learner's worst cell among the stochastic ones (or those given); None if it ran in none of them."""
        asked = self.stochastic if cells is None else cells
        ran = [Worst(self.ratios[cell, learner], cell) for cell in asked if (cell, learner) in self.ratios]
        return max(ran, key=lambda each: each.ratio) if ran else None

    @cached_property
    def worst_cases(self) -> dict[str, Worst]:
        """The worst cell of every learner that ran in a stochastic one, the lowest ratio first."""
        found = {name: worst for name in self.learners if (worst := self.worst(name)) is not None}
        return dict(sorted(found.items(), key=lambda item: item[1].ratio))

    @cached_property
    def general(self) -> tuple[str, ...]:
        """The learners that ran in every stochastic cell, the lowest worst case first."""
        return tuple(name for name in self.worst_cases if all((cell, name) in self.ratios for cell in self.stochastic))

    @cached_property
    def special(self) -> tuple[str, ...]:
        """The learners that ran in only some stochastic cells, the lowest worst case first."""
        return tuple(name for name in self.worst_cases if name not in self.general)

    def mean_rank(self, learner: str) -> float:
        """The learner's mean rank by mean regret, over the stochastic cells in which it ran; nan if there are none."""
        orders = [self.regrets.by_mean(cell) for cell in self.stochastic]
        places = [order.index(learner) + 1 for order in orders if learner in order]
        return float(np.mean(places)) if places else math.nan

    def usual_microseconds(self, learner: str) -> float:
        """Microseconds of a round: the median over all cells, because the first may include compilation."""
        found = [value for (_, name), value in self.microseconds.items() if name == learner]
        return float(np.median(found)) if found else math.nan

    def standing(self, cell: str) -> Literal["first", "within", "behind"]:
        """Whether the better of ours is first, within the paired interval of the first, or behind."""
        if self.regrets.best(cell) in self.ours:
            return "first"
        return "within" if any(name in self.ours for name in self.regrets.close[cell]) else "behind"

    def best_of_ours(self, cell: str) -> str:
        """The one of ours with the lower mean regret."""
        return next(name for name in self.regrets.by_mean(cell) if name in self.ours)

    @cached_property
    def behind(self) -> tuple[str, ...]:
        """The stochastic cells where neither of ours is within the interval of the first."""
        return tuple(cell for cell in self.stochastic if self.standing(cell) == "behind")

    def stronger_specialists(self) -> list[tuple[str, Worst, str, Worst]]:
        """Special learners whose worst case is lower than that of both of ours over the same cells.

        Each comes with its worst case, the better of ours, and the worst case of that one.
        """
        found = []
        for name in self.special:
            cells = [cell for cell in self.stochastic if (cell, name) in self.ratios]
            theirs = self.worst_cases[name]
            own = {ours: worst for ours in self.ours if (worst := self.worst(ours, cells)) is not None}
            nearest = min(own, key=lambda ours: own[ours].ratio)
            if theirs.ratio < own[nearest].ratio:
                found.append((name, theirs, nearest, own[nearest]))
        return found


def board_of(findings: Findings, adversarial: Collection[str]) -> Board:
    """The board of all groups that were run; each environment is one cell."""
    several = findings.experiments
    if not any(name not in adversarial for name in several):
        raise InputError("no group with stochastic rewards was run; expected at least one to judge")
    titles = findings.plan.described.experiments
    cells = {name: finding.regrets.environments for name, finding in several.items()}
    return Board(
        regrets=findings.regrets,
        rounds=findings.rounds,
        groups={titles[name]: cells[name] for name in several},
        adversarial=frozenset(cell for name in several if name in adversarial for cell in cells[name]),
        microseconds={
            both: 1e6 * seconds / finding.experiment.rounds
            for finding in several.values()
            for both, seconds in mean_seconds(finding.results).items()
        },
    )
