"""Claims and their answers: yes, no or undecided, with the intervals that support each answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.repeat_intervals import RepeatInterval, student_interval
from graphbandit.experiments.describe.grids import Point
from graphbandit.experiments.describe.kinds import Value
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.paper.names import FORMS, READINGS

Verdict = Literal["yes", "no", "in part", "undecided", "not tested"]


class Detail(NamedTuple):
    """One number that supports an answer; a `share` is written in per cent."""

    what: str
    found: RepeatInterval
    share: bool = False

    @property
    def text(self) -> str:
        """The number and its interval."""
        if self.share:
            return f"{self.found.mean:+.1%} ({self.found.low:+.1%} to {self.found.high:+.1%})"
        return self.found.bounds


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer in one reading of the rewards.

    - `reading`: "literal" or "rescaled".
    - `form`: the form of AdaCB.G; empty if the claim is about neither form.
    - `verdict`: one of `Verdict`.
    - `how_far`: how far the claim holds, in words.
    - `details`: the numbers that support the answer.
    - `probe`: whether the answer is about a probe, which does not count in the claim's verdict.
    """

    reading: str = ""
    form: str = ""
    verdict: Verdict = "not tested"
    how_far: str = ""
    details: tuple[Detail, ...] = ()
    probe: bool = False


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement, how it is judged, and its answers."""

    name: str
    statement: str
    judged: str
    answers: tuple[Answer, ...]

    @property
    def verdict(self) -> str:
        """The verdict of all answers if they agree; otherwise how many have it: yes, or the commonest without a yes."""
        verdicts = [answer.verdict for answer in self.answers if not answer.probe]
        common = "yes" if "yes" in verdicts else max(verdicts, key=verdicts.count)
        return common if len(set(verdicts)) == 1 else f"{common} in {verdicts.count(common)} of {len(verdicts)}"

    def answer(self, reading: str, form: str) -> Answer | None:
        """The answer in that reading for that form, or for both forms."""
        fitting = [each for each in self.answers if each.reading == reading and each.form in (form, "")]
        return fitting[0] if fitting else None


def claim(
    name: str,
    statement: str,
    *,
    judged: str,
    readings: Iterable[str] = tuple(READINGS),
    forms: Iterable[str] | Callable[[Findings], Iterable[str]] = tuple(FORMS),
) -> Callable[[Callable[[Findings, str, str], Answer]], Callable[[Findings], Claim]]:
    """Turn a function that answers a claim for one reading and one form into one that answers it for all of them.

    `forms` may be a function of the findings. An answer may name another form itself.
    """

    def decorate(answer: Callable[[Findings, str, str], Answer]) -> Callable[[Findings], Claim]:
        def judge(findings: Findings) -> Claim:
            answers = []
            for reading in readings:
                for form in forms(findings) if callable(forms) else forms:
                    found = answer(findings, reading, form)
                    answers.append(replace(found, reading=reading, form=found.form or form))
            return Claim(name=name, statement=statement, judged=judged, answers=tuple(answers))

        return judge

    return decorate


def points_of(
    findings: Findings, experiment: str, reading: str, *, least: int = 1, **settings: Value
) -> tuple[Finding, list[Point]] | None:
    """The environments of an experiment in one reading; None if fewer than `least` of them were run."""
    finding = findings.get(experiment)
    points = finding.points(reward_scale=READINGS[reading], **settings) if finding else []
    return (finding, points) if finding is not None and len(points) >= least else None


def paired(first: Float[np.ndarray, " n"], second: Float[np.ndarray, " n"]) -> RepeatInterval:
    """The mean of first - second over the repeats that both have, with its interval."""
    differences = first - second
    return student_interval(differences[np.isfinite(differences)])


def decide(yes: bool, no: bool) -> Verdict:
    """The verdict: no if `no` holds, else yes if `yes` holds, else undecided."""
    return "no" if no else "yes" if yes else "undecided"


def all_below(details: Sequence[Detail]) -> Verdict:
    """Whether all intervals lie below 0."""
    if not details:
        return "not tested"
    return decide(all(detail.found.high < 0 for detail in details), any(detail.found.low > 0 for detail in details))


def all_above(details: Sequence[Detail]) -> Verdict:
    """Whether all intervals lie above 0."""
    return decide(all(detail.found.low > 0 for detail in details), any(detail.found.high < 0 for detail in details))


def largest(details: Sequence[Detail]) -> float:
    """The largest absolute value of the estimates."""
    return max(abs(detail.found.mean) for detail in details)


def mean(values: Float[np.ndarray, " n"]) -> float:
    """The mean over the finished repeats."""
    return float(np.nanmean(values))


def times(ratio: float) -> str:
    """A ratio for readers: 1.2, 3.4, 57."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
