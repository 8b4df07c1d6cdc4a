"""What an experiment says: summaries, paired differences, ranks.

Learners of one (environment, repeat) share all draws, so two learners are compared within pairs: the differences over
the repeats both have run. Intervals and tests are at 95 % and are not adjusted for the number of comparisons, except
the critical difference of ranks, which covers all pairs of learners at once.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.intervals import LEVEL, student_interval
from graphbandit.simulate import Summary

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results

NAMES_LISTED = 20
"""So many names at most stand in an error message."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FinalRegrets:
    """The final regret of every run, nan where there is none; names are in the order of the experiment."""

    environments: tuple[str, ...]
    learners: tuple[str, ...]
    values: Float[np.ndarray, "environments learners repeats"]

    @classmethod
    def of(cls, results: Results) -> FinalRegrets:
        """Of all finished runs."""
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

    def environment(self, name: str) -> int:
        """The number of that environment."""
        return name_index("environment", name, self.environments)

    def learner(self, name: str) -> int:
        """The number of that learner."""
        return name_index("learner", name, self.learners)

    def sample(self, environment: str, learner: str) -> Float[np.ndarray, " runs"]:
        """The final regrets of that learner there, one for each of its finished repeats."""
        row = self.values[self.environment(environment), self.learner(learner)]
        return np.asarray(row[np.isfinite(row)])

    def summary(self, environment: str, learner: str) -> Summary | None:
        """Mean, standard deviation, standard error and quantiles; None without a finished run."""
        sample = self.sample(environment, learner)
        return Summary.of(sample) if len(sample) else None

    def by_mean(self, environment: str) -> list[str]:
        """The learners that ran there, the lowest mean regret first."""
        means = {learner: self.sample(environment, learner) for learner in self.learners}
        return sorted((name for name, sample in means.items() if len(sample)), key=lambda name: means[name].mean())


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
    standard_error: float
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
    def better(self) -> str | None:
        """Whose regret is lower with the whole interval on one side of 0; None if that cannot be said."""
        if self.high < 0:
            return self.first
        return self.second if self.low > 0 else None

    @property
    def verdict(self) -> str:
        """In words."""
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
    e, a, b = regrets.environment(environment), regrets.learner(first), regrets.learner(second)
    differences = regrets.values[e, a] - regrets.values[e, b]
    differences = differences[np.isfinite(differences)]
    n = len(differences)
    found = student_interval(differences)
    return PairedDifference(
        environment=environment,
        first=first,
        second=second,
        differences=tuple(differences.tolist()),
        mean=found.mean,
        standard_error=float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan,
        low=found.low,
        high=found.high,
        wins=int((differences < 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences > 0).sum()),
    )


def close_to_best(regrets: FinalRegrets, environment: str) -> tuple[str, ...]:
    """The learner with the lowest mean regret, then those that are not significantly worse, by their paired intervals.

    A learner that shares fewer than two repeats with the best cannot be told from it, and is not listed.
    """
    best, *others = regrets.by_mean(environment)
    pairs = [paired_difference(regrets, environment, other, best) for other in others]
    return best, *(pair.first for pair in pairs if pair.pairs > 1 and not pair.low > 0)


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Average ranks over blocks, 1 the lowest regret; learners are in the order of their ranks (demsar2006statistical).

    A block is one repeat in one environment that all learners have run; equal regrets share their ranks. `p_value`
    is the Friedman test's, for learners that do not differ (nan where it cannot be made). Two average ranks that
    differ by less than `critical_difference` are not told apart at 95 % (Nemenyi):
    q * sqrt(k (k + 1) / (6 N)) for k learners and N blocks. `groups` are the largest such sets of neighbours.
    """

    learners: tuple[str, ...]
    average: tuple[float, ...]
    blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]

    @property
    def note(self) -> str:
        """What limits the ranks' worth, or nothing."""
        k, few = len(self.learners), f"{self.blocks} block{'s' if self.blocks != 1 else ''}"
        if self.blocks < 2:
            return f"{few} that all learners have run: too few for any test."
        if k < 3:
            return "The Friedman test needs three learners; for two, read their paired differences."
        if self.blocks <= 10:
            return f"Only {few}: the Friedman test is an approximation for more than 10, so read it with care."
        return ""


def ranks(regrets: FinalRegrets) -> Ranks:
    """Rank all learners over all (environment, repeat) that every one of them has run."""
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    k = len(regrets.learners)
    if k < 2:
        raise InputError(f"the results hold one learner, {regrets.learners[0]!r}; expected at least two to rank")
    table = regrets.values.transpose(0, 2, 1).reshape(-1, k)
    table = table[np.isfinite(table).all(axis=1)]
    n = len(table)
    if n == 0:
        raise InputError("no repeat of any environment was run by all learners; expected at least one to rank them")
    within = rankdata(table, axis=1)
    average = within.mean(axis=0)
    statistic, p_value, critical = math.nan, math.nan, math.nan
    if n > 1:
        critical = float(studentized_range.ppf(LEVEL, k, np.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
        if k > 2:
            all_tied = bool((within == within[0, 0]).all())
            statistic, p_value = (0.0, 1.0) if all_tied else map(float, friedmanchisquare(*table.T))
    order = np.argsort(average, kind="stable")
    names = tuple(regrets.learners[i] for i in order)
    return Ranks(
        learners=names,
        average=tuple(float(average[i]) for i in order),
        blocks=n,
        statistic=statistic,
        p_value=p_value,
        critical_difference=critical,
        groups=_groups(names, average[order].tolist(), critical),
    )


def _groups(names: Sequence[str], average: Sequence[float], critical: float) -> tuple[tuple[str, ...], ...]:
    """The largest runs of at least two neighbours whose ends are closer than `critical`."""
    found: list[tuple[str, ...]] = []
    last = 0
    for i in range(len(names)):
        end = max(j for j in range(i, len(names)) if j == i or average[j] - average[i] < critical)
        if end > i and end > last:
            found.append(tuple(names[i : end + 1]))
            last = end
    return tuple(found)


def name_index(kind: str, name: str, names: Sequence[str]) -> int:
    """Where `name` stands; if nowhere, the error says which names are close, or which there are."""
    if name in names:
        return names.index(name)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    near = near or [other for other in names if str(name).lower() in other.lower()][:3]
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    listed = ", ".join(map(repr, names[:NAMES_LISTED])) + (", ..." if len(names) > NAMES_LISTED else "")
    raise SettingError(f"{kind} is {name!r}; {hint}expected one of {listed}")


def _numbered(labels: Sequence[str], planned: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The planned names that occur among the labels, and the number of each label."""
    found = set(labels)
    names = tuple(name for name in planned if name in found)
    places = {name: i for i, name in enumerate(names)}
    return names, [places[label] for label in labels]
