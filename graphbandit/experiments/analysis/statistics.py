"""The final regrets of an experiment, and how two learners differ.

Learners of one (environment, repeat) share all draws, so two learners are compared by their paired differences over the
repeats that both have run. Intervals are at 95 % and are not adjusted for the number of comparisons.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.printed_table import Cell, Mark, short_number
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.repeat_intervals import RepeatInterval, student_interval
from graphbandit.simulate import Summary

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

NAMES_LISTED = 20
"""The most names in an error message."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FinalRegrets:
    """The final regret of every run, nan where it is missing; names are in the order of the experiment."""

    environments: tuple[str, ...]
    learners: tuple[str, ...]
    values: Float[np.ndarray, "environments learners repeats"]

    @classmethod
    def of(cls, results: Results) -> FinalRegrets:
        """Collect the final regrets of all finished runs."""
        runs = results.runs
        if not runs.num_rows:
            raise InputError("the results hold no finished run; expected at least one")
        environments, rows = _numbered(runs.column("environment").to_pylist(), results.environments)
        learners, columns = _numbered(runs.column("learner").to_pylist(), results.learners)
        repeats = np.asarray(runs.column("repeat").to_numpy(), dtype=np.int64)
        shape = len(environments), len(learners), int(repeats.max()) + 1
        places = np.ravel_multi_index((rows, columns, repeats), shape)
        if len(np.unique(places)) < len(places):
            found, counts = np.unique(places, return_counts=True)
            e, a, r = np.unravel_index(found[np.argmax(counts)], shape)
            where = f"environment {environments[e]!r}, learner {learners[a]!r}, repeat {r}"
            raise InputError(f"{where} has {counts.max()} runs; expected one")
        values = np.full(shape, np.nan)
        values.ravel()[places] = runs.column("regret").to_numpy()
        return cls(environments=environments, learners=learners, values=values)

    @classmethod
    def joined(cls, several: Sequence[FinalRegrets]) -> FinalRegrets:
        """Join several experiments; a name stands for the same environment or learner in all of them."""
        environments = tuple(dict.fromkeys(name for one in several for name in one.environments))
        learners = tuple(dict.fromkeys(name for one in several for name in one.learners))
        repeats = max(one.values.shape[2] for one in several)
        values = np.full((len(environments), len(learners), repeats), np.nan)
        for one in several:
            rows = [environments.index(name) for name in one.environments]
            columns = [learners.index(name) for name in one.learners]
            values[np.ix_(rows, columns, range(one.values.shape[2]))] = one.values
        return cls(environments=environments, learners=learners, values=values)

    def environment(self, name: str) -> int:
        """The index of that environment."""
        return name_index("environment", name, self.environments)

    def learner(self, name: str) -> int:
        """The index of that learner."""
        return name_index("learner", name, self.learners)

    def one_environment(self, name: str | None) -> str:
        """That environment; without a name, the only one there is."""
        if name is None and len(self.environments) > 1:
            listed = ", ".join(map(repr, self.environments[:NAMES_LISTED]))
            raise SettingError(f"environment is left out of {len(self.environments)}; expected one of {listed}")
        return self.environments[0 if name is None else self.environment(name)]

    def wanted_environments(self, name: str | None) -> tuple[str, ...]:
        """That environment; without a name, all of them."""
        return self.environments if name is None else (self.one_environment(name),)

    def sample(self, environment: str, learner: str) -> Float[np.ndarray, " runs"]:
        """The final regrets of that learner there, one for each of its finished repeats."""
        row = self.by_repeat(environment, learner)
        return np.asarray(row[np.isfinite(row)])

    def by_repeat(self, environment: str, learner: str) -> Float[np.ndarray, " repeats"]:
        """The final regret of every repeat, nan where it was not run."""
        return np.asarray(self.values[self.environment(environment), self.learner(learner)])

    def interval(self, environment: str, learner: str) -> RepeatInterval:
        """The mean regret and its interval; nan without a finished run."""
        return student_interval(self.sample(environment, learner))

    def summary(self, environment: str, learner: str) -> Summary | None:
        """Mean, standard deviation, standard error and quantiles; None without a finished run."""
        sample = self.sample(environment, learner)
        return Summary.of(sample) if len(sample) else None

    def by_mean(self, environment: str) -> list[str]:
        """The learners that ran there, the lowest mean regret first."""
        means = {learner: self.sample(environment, learner) for learner in self.learners}
        return sorted((name for name, sample in means.items() if len(sample)), key=lambda name: means[name].mean())

    def best(self, environment: str) -> str:
        """The learner with the lowest mean regret there."""
        return self.by_mean(environment)[0]

    @cached_property
    def close(self) -> dict[str, tuple[str, ...]]:
        """`close_to_best` of every environment."""
        return {environment: close_to_best(self, environment) for environment in self.environments}

    def mark(self, environment: str, learner: str) -> Mark:
        """Mark the best learner of the environment, and those not significantly worse."""
        close = self.close[environment]
        return "best" if learner == close[0] else "near" if learner in close else ""

    def mean_cell(self, environment: str, learner: str, *, absent: str = "") -> Cell:
        """Mean regret ± half its interval, marked; `absent` where the learner was not run."""
        found = self.interval(environment, learner)
        if math.isnan(found.mean):
            return Cell(absent, math.nan)
        return Cell(short_number(found.mean), found.mean, found.spread, self.mark(environment, learner))


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """Final regret of `first` minus that of `second` in one environment, over the repeats both have run.

    `low` and `high` bound the mean difference at 95 %: mean ∓ t * standard_error, with t the quantile of Student's
    distribution with pairs - 1 degrees of freedom. They are nan for fewer than two pairs. `wins` counts the pairs in
    which `first` has the lower regret, `losses` those in which `second` has.
    """

    environment: str
    first: str
    second: str
    differences: tuple[float, ...]
    mean: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int

    @property
    def pairs(self) -> int:
        """How many repeats both have run."""
        return len(self.differences)

    @property
    def interval(self) -> RepeatInterval:
        """The mean difference and its bounds."""
        return RepeatInterval(self.mean, self.low, self.high)

    @property
    def better(self) -> str | None:
        """The learner with the lower regret if the whole interval lies on one side of 0; None otherwise."""
        if self.high < 0:
            return self.first
        return self.second if self.low > 0 else None

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        if self.pairs == 0:
            return "no repeat was run by both"
        if self.pairs == 1:
            return "one pair says nothing about the next: run more repeats"
        if all(x == 0 for x in self.differences):
            return "no difference in any pair"
        if self.better is not None:
            return f"{self.better} has lower regret"
        return "undecided: the interval holds 0"


def paired_difference(regrets: FinalRegrets, environment: str, first: str, second: str) -> PairedDifference:
    """Compare two learners in one environment."""
    differences = regrets.by_repeat(environment, first) - regrets.by_repeat(environment, second)
    differences = differences[np.isfinite(differences)]
    found = student_interval(differences)
    return PairedDifference(
        environment=environment,
        first=first,
        second=second,
        differences=tuple(differences.tolist()),
        mean=found.mean,
        low=found.low,
        high=found.high,
        wins=int((differences < 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences > 0).sum()),
    )


def difference_to_best(regrets: FinalRegrets, environment: str, learner: str) -> PairedDifference:
    """Regret above that of the best learner, over the repeats both have run."""
    return paired_difference(regrets, environment, learner, regrets.best(environment))


def close_to_best(regrets: FinalRegrets, environment: str) -> tuple[str, ...]:
    """The learner with the lowest mean regret, then those that are not significantly worse by their paired intervals.

    A learner that shares fewer than two repeats with the best cannot be compared with it and is not listed.
    """
    best, *others = regrets.by_mean(environment)
    pairs = [paired_difference(regrets, environment, other, best) for other in others]
    return best, *(pair.first for pair in pairs if pair.pairs > 1 and not pair.low > 0)


def mean_seconds(results: Results) -> dict[tuple[str, str], float]:
    """Mean seconds of a run, by environment and learner."""
    timings = dict(zip(*(results.timings.column(name).to_pylist() for name in ("key", "seconds")), strict=True))
    found: dict[tuple[str, str], list[float]] = {}
    runs = results.runs
    for key, place, name in zip(*(runs.column(x).to_pylist() for x in ("key", "environment", "learner")), strict=True):
        if key in timings:
            found.setdefault((place, name), []).append(timings[key])
    return {both: float(np.mean(values)) for both, values in found.items()}


def name_index(kind: str, name: str, names: Sequence[str]) -> int:
    """The index of `name`; if it is unknown, the error lists similar names, or all of them."""
    if name in names:
        return names.index(name)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    near = near or [other for other in names if str(name).lower() in other.lower()][:3]
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    listed = ", ".join(map(repr, names[:NAMES_LISTED])) + (", ..." if len(names) > NAMES_LISTED else "")
    raise SettingError(f"{kind} is {name!r}; {hint}expected one of {listed}")


def _numbered(labels: Sequence[str], planned: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The planned names that occur among the labels, and the index of each label in them."""
    found = set(labels)
    names = tuple(name for name in planned if name in found)
    places = {name: i for i, name in enumerate(names)}
    return names, [places[label] for label in labels]
