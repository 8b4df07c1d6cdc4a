"""What an answer to a claim is: yes, no or undecided, with the intervals it rests on and how far it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.intervals import Interval, student_interval
from graphbandit.experiments.figures.parts import short_number

Answer = Literal["yes", "no", "in part", "undecided", "not tested"]


class Detail(NamedTuple):
    """One figure an answer rests on; `share` is told in per cent."""

    what: str
    found: Interval
    share: bool = False

    @property
    def text(self) -> str:
        """The figure and its interval."""
        if self.share:
            return f"{self.found.mean:+.1%} ({self.found.low:+.1%} to {self.found.high:+.1%})"
        return f"{signed(self.found.mean)} ({signed(self.found.low)} to {signed(self.found.high)})"


@dataclass(frozen=True, kw_only=True)
class Check:
    """The answer in one reading of the rewards, for one form of AdaCB.G (empty: for neither), and how far it holds.

    A `probe` is no form of the paper's algorithm, and does not count in the answer to the claim.
    """

    reading: str
    form: str
    answer: Answer
    how_far: str
    details: tuple[Detail, ...] = ()
    probe: bool = False


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement, what counts as yes, and its answers."""

    name: str
    statement: str
    judged: str
    checks: tuple[Check, ...]

    @property
    def answer(self) -> str:
        """Over all checks: the one answer, or how often it is yes (without any yes, the commonest)."""
        answers = [check.answer for check in self.checks if not check.probe]
        common = "yes" if "yes" in answers else max(answers, key=answers.count)
        return common if len(set(answers)) == 1 else f"{common} in {answers.count(common)} of {len(answers)}"


def paired(first: Float[np.ndarray, " n"], second: Float[np.ndarray, " n"]) -> Interval:
    """The mean of first - second over the repeats both have."""
    differences = first - second
    return student_interval(differences[np.isfinite(differences)])


def decide(yes: bool, no: bool) -> Answer:
    """No goes before yes; neither is undecided."""
    return "no" if no else "yes" if yes else "undecided"


def all_below(details: Sequence[Detail]) -> Answer:
    """Whether all intervals lie below 0."""
    if not details:
        return "not tested"
    return decide(all(detail.found.high < 0 for detail in details), any(detail.found.low > 0 for detail in details))


def all_above(details: Sequence[Detail]) -> Answer:
    """Whether all intervals lie above 0."""
    return decide(all(detail.found.low > 0 for detail in details), any(detail.found.high < 0 for detail in details))


def largest(details: Sequence[Detail]) -> float:
    """The largest estimate, up to its sign."""
    return max(abs(detail.found.mean) for detail in details)


def mean(values: Float[np.ndarray, " n"]) -> float:
    """Over the repeats there are."""
    return float(np.nanmean(values))


def times(ratio: float) -> str:
    """A ratio for readers: 1.2, 3.4, 57."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def signed(x: float) -> str:
    """With its sign: +1.23, -45.6, 0.00."""
    return f"{'+' if x > 0 else ''}{short_number(x)}" if math.isfinite(x) else "?"
