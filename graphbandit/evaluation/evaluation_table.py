"""The result of an evaluation: a value for each policy, as a table, a data frame or a figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from graphbandit.base.extras import imported
from graphbandit.base.fragments import fragment
from graphbandit.base.printed_table import Cell, Table
from graphbandit.errors import InputError
from graphbandit.evaluation.estimator import FULL, Estimator, OverTime
from graphbandit.evaluation.group_sums import Sums
from graphbandit.evaluation.intervals import Interval, Outside
from graphbandit.evaluation.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class PolicyValue:
    """What a policy would have earned per round, on average.

    The property `worth` says by what factor the side observations narrowed the interval.

    - `name`: the name of the policy.
    - `value`: the estimate.
    - `low`, `high`: its interval, at the level asked for.
    - `standard_error`: the standard error of the estimate.
    - `effective_sample_size`: the number of equally weighted rounds that would count as much.
    - `largest_weight`: the largest weight of a round.
    - `support`: the share of the policy's probability on arms that the log could reveal; nan if the log does not tell.
    - `rounds`: how many rounds were used.
    - `without_side_observations`: the same estimate from the rewards of the arms played alone; None (default): not
      asked for, or not possible.
    - `drifts`: whether the value seems to have changed within the log, so that the interval was widened to the
      "bernstein" interval of its average; False by default.
    - `outside`: why the value lies outside of its interval, as in `Interval`; None (default): it lies inside.
    """

    name: str
    value: float
    low: float
    high: float
    standard_error: float
    effective_sample_size: float
    largest_weight: float
    support: float
    rounds: int
    without_side_observations: Interval | None = None
    drifts: bool = False
    outside: Outside = None

    @property
    def worth(self) -> float:
        """The width of the interval without side observations divided by that with them; nan if not known."""
        if self.without_side_observations is None or not self.high > self.low:
            return math.nan
        return self.without_side_observations.width / (self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much better one policy is than another in the same rounds, with a paired interval.

    - `first`, `second`: the names of the policies.
    - `value`: the first one's value minus the second one's.
    - `low`, `high`, `level`: the interval, and the probability with which it holds.
    - `standard_error`: the standard error of the value.
    - `rounds`: how many rounds were used.
    - `notes`: what is not guaranteed, and what was assumed; none by default.
    - `comparable`: whether all arms of both policies could be revealed; True by default. If not, the values are those
      of different arms, and the numbers are nan.
    """

    first: str
    second: str
    value: float
    low: float
    high: float
    standard_error: float
    rounds: int
    level: float
    notes: tuple[str, ...] = ()
    comparable: bool = True

    @property
    def decided(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def verdict(self) -> str:
        """Which of the policies is better, if the interval decides it."""
        if not self.comparable:
            return "not comparable: different support"
        return f"{self.first if self.low > 0 else self.second} is better" if self.decided else "undecided"

    def __str__(self) -> str:
        if not self.comparable:
            return f"{self.first} - {self.second}: {self.verdict}"
        return (
            f"{self.first} - {self.second}: {self.value:.5g}  "
            f"[{self.low:.5g}, {self.high:.5g}] at {self.level:.0%}: {self.verdict}"
        )


@dataclass(frozen=True, kw_only=True)
class SegmentValue:
    """The value of a policy in one segment; the interval is asymptotic."""

    policy: str
    segment: str
    value: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationTable(Mapping[str, PolicyValue]):
    """The values of all policies, by name.

    - `values_by_name`: the value of each policy.
    - `settings`: those of `evaluate`.
    - `reward_range`, `range_given`: the range that intervals for any number of rounds rely on, and whether the caller
      stated it.
    - `dropped`: how many rounds were left out for missing rewards.
    - `by`, `segments`: the column that splits the log, and the values in each segment; None and empty without one.
    - `sums`: the sums that intervals are computed from.
    - `log`, `policies`, `model`: what `evaluate` was given; the model is None by default.
    """

    values_by_name: Mapping[str, PolicyValue]
    settings: Settings
    reward_range: tuple[float, float]
    range_given: bool
    dropped: int
    by: str | None
    segments: tuple[SegmentValue, ...]
    sums: Sums
    log: Any
    policies: Mapping[str, Any]
    model: Any = None

    def __getitem__(self, name: str) -> PolicyValue:
        try:
            return self.values_by_name[name]
        except KeyError:
            raise KeyError(f"no policy has the name {name!r}; there are {', '.join(self.values_by_name)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    @property
    def best(self) -> str:
        """The name of the policy with the highest value; among those with full support, if there are any."""
        full = [name for name in self if not self[name].support < FULL]
        return max(full or self, key=lambda name: self[name].value)

    def winner(self, differences: Sequence[Difference] = ()) -> str | None:
        """The policy that is better than every other one; None if there is none.

        - `differences`: paired differences that decide between their policies; by default there are none. Without one,
          a policy is better than another if its interval lies above the other's, and both have full support.
        """
        names, best = list(self), self[self.best]
        paired = {frozenset((one.first, one.second)): one for one in differences}

        def loses(other: PolicyValue) -> bool:
            found = paired.get(frozenset((best.name, other.name)))
            if found is not None:
                return found.decided and (found.low > 0) == (found.first == best.name)
            return best.low > other.high and not min(best.support, other.support) < FULL

        return best.name if len(names) > 1 and all(loses(self[n]) for n in names if n != best.name) else None

    def compare(self, first: str, second: str) -> Difference:
        """The paired difference of two of the policies, with the same settings.

        - `first`, `second`: the names of the policies.
        """
        from graphbandit.evaluation.evaluate import compare

        for name in (first, second):
            if name not in self:
                raise InputError(f"no policy has the name {name!r}; expected one of {', '.join(self)}")
        settings = {f.name: getattr(self.settings, f.name) for f in fields(self.settings) if f.name != "worth"}
        return compare(self.log, first, second, policies=self.policies, model=self.model, **settings)

    def over_time(self, name: str, looks: int = 60) -> OverTime:
        """The value of a policy after more and more rounds.

        The interval is time-uniform if that of the table holds at any number of rounds, otherwise pointwise.

        - `name`: the name of the policy.
        - `looks`: the largest number of points, 60 by default.
        """
        return self.estimator.over_time(self.sums.terms[self[name].name], looks)

    @property
    def estimator(self) -> Estimator:
        """The estimator that turns the sums into values."""
        return Estimator(settings=self.settings, reward_range=self.reward_range, counts=self.sums.counts)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each policy, for data frames and files."""
        found = []
        for value in self.values_by_name.values():
            plain = value.without_side_observations
            found.append(
                {
                    "policy": value.name,
                    "value": value.value,
                    "low": value.low,
                    "high": value.high,
                    "standard_error": value.standard_error,
                    "effective_sample_size": value.effective_sample_size,
                    "largest_weight": value.largest_weight,
                    "support": value.support,
                    "rounds": value.rounds,
                    "low_without_side_observations": math.nan if plain is None else plain.low,
                    "high_without_side_observations": math.nan if plain is None else plain.high,
                    "worth": value.worth,
                    "method": self.settings.method,
                    "interval": self.settings.interval,
                    "level": self.settings.level,
                }
            )
        return found

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame."""
        return imported("pandas", "pandas").DataFrame(self.rows()).set_index("policy")

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows())

    def figure(self) -> Figure:
        """A figure of the values with their intervals, and of the intervals without side observations."""
        from graphbandit.evaluation.figures import plot_values

        return plot_values(self)

    @property
    def notes(self) -> list[str]:
        """What a reader should know before relying on the table."""
        from graphbandit.evaluation.notes import notes_of

        return notes_of(self)

    def as_table(self, differences: Sequence[Difference] = ()) -> Table:
        """The values as a table for the console and the page; the `winner` is marked."""
        heads = ["policy", "value", "low", "high", "s.e.", "eff. rounds", "max weight", "support", "worth"]
        rows, winner = [], self.winner(differences)
        for v in self.values():
            cells = [
                Cell(f"{v.value:.5g}", v.value, mark="best" if v.name == winner else ""),
                Cell(f"{v.low:.5g}", v.low),
                Cell(f"{v.high:.5g}", v.high),
                Cell(f"{v.standard_error:.2g}", v.standard_error),
                Cell(f"{v.effective_sample_size:.0f}", v.effective_sample_size),
                Cell(f"{v.largest_weight:.3g}", v.largest_weight),
                Cell("unknown" if math.isnan(v.support) else f"{v.support:.1%}", v.support),
                Cell("" if math.isnan(v.worth) else f"{v.worth:.2f}x", v.worth),
            ]
            rows.append([v.name, *cells])
        return Table("Values a round, with their intervals", heads, rows)

    def _texts(self) -> tuple[Sequence[str], list[list[str]]]:
        table = self.as_table()
        return table.headings, [[cell.text for cell in row] for row in table.cells]

    def __str__(self) -> str:
        head, rows = self._texts()
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = [
            "  ".join(
                f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *rows]
        ]
        rounds = next(iter(self.values_by_name.values())).rounds
        title = (
            f"{self.settings.method}, {self.settings.interval} interval at {self.settings.level:.0%}, {rounds:,} rounds"
        )
        return "\n".join([title, *(line.rstrip() for line in lines), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads, rows = self._texts()
        return fragment("graphbandit.evaluation", "values.html", heads=heads, rows=rows, notes=self.notes)
