"""The paper's five claims, and two checks of our own, answered from results.

Every answer is computed: it comes with the intervals it rests on, and with other results it is another one. An interval
that decides nothing makes an answer "undecided", and what was not run makes it "not tested".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from graphbandit.experiments.experiment import Point
from graphbandit.experiments.figure_parts import short_number
from graphbandit.experiments.intervals import Interval, bootstrap_interval, slope_interval, student_interval
from graphbandit.experiments.paper.findings import Findings, Study
from graphbandit.experiments.paper.plans import BASELINES, FORMS, MAIN, READINGS
from graphbandit.experiments.paper.printed import PRINTED, PRINTED_REPEATS, PRINTED_ROUNDS
from graphbandit.graph_sources import SOURCES
from graphbandit.shapes import Float

Answer = Literal["yes", "no", "undecided", "not tested"]

BARELY = 0.05
"""Two mean regrets that differ by less than this share of the larger depend barely on what tells them apart."""

SLOW = 0.25
"""Regret that grows more slowly than K to this power, half the power of a learner without graph, is said not to grow."""

HALF = 0.5
"""A part that alone gives more than this share of a gain makes it."""


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
    """The answer in one reading of the rewards, for one form of AdaCB.G (empty: for neither), and how far it holds."""

    reading: str
    form: str
    answer: Answer
    how_far: str
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement, what counts as yes, and its answers."""

    name: str
    statement: str
    judged: str
    checks: tuple[Check, ...]

    @property
    def answer(self) -> str:
        """Over all checks."""
        answers = {check.answer for check in self.checks}
        return answers.pop() if len(answers) == 1 else "in part"


def all_claims(findings: Findings) -> list[Claim]:
    """All of them, in order."""
    return [
        lower_regret(findings),
        largest_on_k_trees(findings),
        program_makes_it(findings),
        falcon_ignores_graphs(findings),
        arms_do_not_matter(findings),
        no_graph_parameter(findings),
        printed_table(findings),
        ours_is_lowest(findings),
    ]


def lower_regret(findings: Findings) -> Claim:
    """Claim 1."""

    def check(reading: str, form: str) -> Check:
        details, ratios = [], []
        for kind, (study, point) in _kinds(findings, reading).items():
            own = study.by_repeat(point, FORMS[form])
            for other in BASELINES:
                theirs = study.by_repeat(point, other)
                details.append(Detail(f"minus {other}, {kind}", _paired(own, theirs)))
                ratios.append((_mean(theirs) / _mean(own) if _mean(own) > 0 else math.inf, f"{other} on {kind}"))
        far = ""
        if ratios:
            (least, where), (most, _) = min(ratios), max(ratios)
            far = f"{_times(least)} to {_times(most)} times lower, least against {where}"
        return Check(reading=reading, form=form, answer=_all_below(details), how_far=far, details=tuple(details))

    return Claim(
        name="1",
        statement="AdaCB.G has lower regret than RegCB.G and FALCON on each of the four kinds of graph",
        judged="yes if every paired 95 % interval of its regret minus the other's lies below 0",
        checks=tuple(check(reading, form) for reading in READINGS for form in FORMS),
    )


def largest_on_k_trees(findings: Findings) -> Claim:
    """Claim 2, first half."""

    def check(reading: str, form: str) -> Check:
        kinds = _kinds(findings, reading)
        saved = {
            kind: np.stack([study.by_repeat(point, FORMS[form]), study.by_repeat(point, "RegCB.G")])
            for kind, (study, point) in kinds.items()
        }
        if "k-tree" not in saved or len(saved) < 2:
            return Check(reading=reading, form=form, answer="not tested", how_far="")
        details = [
            Detail(f"k-tree minus {kind}", _of_four(saved["k-tree"], other), share=True)
            for kind, other in saved.items()
            if kind != "k-tree"
        ]
        far = ", ".join(f"{kind} {1 - _mean(own) / _mean(theirs):.1%}" for kind, (own, theirs) in saved.items())
        return Check(
            reading=reading,
            form=form,
            answer=_all_above(details),
            how_far=f"of RegCB.G's regret it saves: {far}",
            details=tuple(details),
        )

    return Claim(
        name="2a",
        statement="the gain over RegCB.G is largest on k-trees",
        judged="the gain is 1 - mean regret / mean regret of RegCB.G; yes if the bootstrap 95 % interval of the gain on "
        "k-trees minus that on each other kind lies above 0",
        checks=tuple(check(reading, form) for reading in READINGS for form in FORMS),
    )


def program_makes_it(findings: Findings) -> Claim:
    """Claim 2, second half."""

    def check(reading: str, form: str) -> Check:
        study = findings.study("parts")
        points = study.points(name="k-tree", reward_scale=READINGS[reading]) if study else []
        if study is None or not points:
            return Check(reading=reading, form=form, answer="not tested", how_far="")
        names = (FORMS[form], f"{FORMS[form]}, no program", f"{FORMS[form]}, all arms candidates", "RegCB.G")
        whole, without, alone, baseline = (study.by_repeat(points[0], name) for name in names)
        removal = Detail("regret without the program, minus with it", _paired(without, whole))
        samples = np.stack([whole, without, alone, baseline])
        share = Detail(
            "share of the gain that the program gives alone",
            bootstrap_interval(samples, lambda m: (m[:, 3] - m[:, 2]) / (m[:, 3] - m[:, 0])),
            share=True,
        )
        kept = Detail(
            "share of the gain that is left without it",
            bootstrap_interval(samples, lambda m: (m[:, 3] - m[:, 1]) / (m[:, 3] - m[:, 0])),
            share=True,
        )
        yes = removal.found.low > 0 and share.found.low > HALF
        no = removal.found.high < 0 or share.found.high < HALF
        return Check(
            reading=reading,
            form=form,
            answer=_answer(yes, no),
            how_far=f"alone it gives {share.found.mean:.0%} of the gain; without it {kept.found.mean:.0%} is left",
            details=(removal, share, kept),
        )

    return Claim(
        name="2b",
        statement="on k-trees it is the linear program that makes the gain",
        judged="yes if leaving it out raises the regret (paired interval above 0), and the program alone, with all arms "
        "candidates, gives more than half of the gain over RegCB.G (bootstrap interval above 50 %)",
        checks=tuple(check(reading, form) for reading in READINGS for form in FORMS),
    )


def falcon_ignores_graphs(findings: Findings) -> Claim:
    """Claim 3."""

    def check(reading: str) -> Check:
        study = findings.study("ablation")
        points = study.points(reward_scale=READINGS[reading]) if study else []
        if study is None or len(points) < 2:
            return Check(reading=reading, form="", answer="not tested", how_far="")

        def differences(learner: str) -> list[Detail]:
            return [
                Detail(
                    f"{learner}: {a.name} against {b.name}",
                    bootstrap_interval(
                        np.stack([study.by_repeat(a, learner), study.by_repeat(b, learner)]),
                        lambda m: m[:, 0] / m[:, 1] - 1,
                    ),
                    share=True,
                )
                for a, b in combinations(points, 2)
            ]

        falcon, other = differences("FALCON"), differences("RegCB.G")
        far = f"differs by at most {_largest(falcon):.1%} between kinds of graph (RegCB.G: {_largest(other):.0%})"
        return Check(
            reading=reading,
            form="",
            answer=_answer(
                all(detail.found.inside(-BARELY, BARELY) for detail in falcon),
                any(detail.found.outside(-BARELY, BARELY) for detail in falcon),
            ),
            how_far=far,
            details=(*falcon, *other),
        )

    return Claim(
        name="3",
        statement="FALCON's regret barely depends on the kind of graph",
        judged="yes if between any two kinds with 50 arms it differs by less than 5 % (bootstrap intervals within)",
        checks=tuple(check(reading) for reading in READINGS),
    )


def arms_do_not_matter(findings: Findings) -> Claim:
    """Claim 4."""

    def check(reading: str, form: str) -> Check:
        study = findings.study("clique-table")
        points = study.points(reward_scale=READINGS[reading]) if study else []
        if study is None or len(points) < 2:
            return Check(reading=reading, form=form, answer="not tested", how_far="")
        samples = np.stack([study.by_repeat(point, FORMS[form]) for point in points])
        arms = [int(point.settings["n_arms"]) for point in points]
        change = Detail(f"regret at K = {arms[-1]} minus at K = {arms[0]}", _paired(samples[-1], samples[0]))
        slope = Detail("exponent of K", slope_interval(np.array(arms, dtype=np.float64), samples))
        first, last = _mean(samples[0]), _mean(samples[-1])
        trend = "falls" if change.found.high < 0 else "grows" if change.found.low > 0 else "neither falls nor grows"
        return Check(
            reading=reading,
            form=form,
            answer=_answer(
                change.found.low <= 0 and slope.found.high < SLOW, change.found.low > 0 or slope.found.low > SLOW
            ),
            how_far=f"{trend}: {short_number(first)} -> {short_number(last)} ({last / first - 1:+.0%}), "
            f"as K to the power {slope.found.mean:+.2f}",
            details=(change, slope),
        )

    return Claim(
        name="4",
        statement="at a fixed number of cliques the regret does not grow with the number of arms (printed: it falls by 16 %)",
        judged="no if it is higher at the most arms than at the fewest (paired interval above 0); yes if it is not and the "
        "exponent of K is below 1/4 (bootstrap interval)",
        checks=tuple(check(reading, form) for reading in READINGS for form in FORMS),
    )


def no_graph_parameter(findings: Findings) -> Claim:
    """Claim 5."""

    def check(reading: str, form: str) -> Check:
        told = {
            (json.dumps(settings, sort_keys=True), name)
            for study in findings.studies.values()
            for settings in _settings_of(study, FORMS[form])
            for name in settings
        }
        settings, names = {text for text, _ in told}, {name for _, name in told}
        foreign = sorted(names & graph_parameter_names())
        study = findings.study("independence")
        points = study.points(reward_scale=READINGS[reading]) if study else []
        if study is None or len(points) < 2:
            return Check(reading=reading, form=form, answer="not tested", how_far="")
        fewest, most = points[0], points[-1]
        samples = {point.label: study.by_repeat(point, FORMS[form]) for point in (fewest, most)}
        low, high = samples[fewest.label], samples[most.label]
        numbers = [int(point.settings["n_cliques"]) for point in (fewest, most)]
        follows = Detail(f"regret at alpha = {numbers[0]} minus at alpha = {numbers[1]}", _paired(low, high))
        far = (
            f"{len(settings)} setting{'s' * (len(settings) != 1)} for all graphs; its regret follows alpha all the same: "
            f"{short_number(_mean(low))} at alpha = {numbers[0]}, {short_number(_mean(high))} at {numbers[1]}"
        )
        if foreign:
            far = f"it is told {', '.join(foreign)}"
        return Check(
            reading=reading,
            form=form,
            answer=_answer(
                not foreign and len(settings) == 1 and follows.found.high < 0,
                bool(foreign) or len(settings) != 1 or follows.found.low > 0,
            ),
            how_far=far,
            details=(follows,),
        )

    return Claim(
        name="5",
        statement="no graph parameter is needed as input",
        judged="yes if the same settings, none of them a graph's, ran on all graphs, and the regret is lower where the "
        "independence number is (paired interval)",
        checks=tuple(check(reading, form) for reading in READINGS for form in FORMS),
    )


def printed_table(findings: Findings) -> Claim:
    """Whether the printed means are ours."""

    def check(reading: str, learner: str) -> Check:
        study = findings.study("clique-table")
        points = study.points(reward_scale=READINGS[reading]) if study else []
        points = [point for point in points if point.settings["n_arms"] in PRINTED]
        form = {name: form for form, name in FORMS.items()}.get(learner, learner)
        if study is None or not points or study.experiment.rounds != PRINTED_ROUNDS:
            return Check(reading=reading, form=form, answer="not tested", how_far="")
        details, shares = [], []
        for point in points:
            arms = int(point.settings["n_arms"])
            mean, std = PRINTED[arms]
            values = study.by_repeat(point, learner)
            details.append(Detail(f"minus printed, K = {arms}", _welch(values, mean, std, PRINTED_REPEATS)))
            shares.append(_mean(values) / mean)
        return Check(
            reading=reading,
            form=form,
            answer=_answer(
                all(detail.found.low <= 0 <= detail.found.high for detail in details),
                any(detail.found.outside(0, 0) for detail in details),
            ),
            how_far=f"{min(shares):.2f} to {max(shares):.2f} times the printed means",
            details=tuple(details),
        )

    study = findings.study("clique-table")
    learners = [name for name in study.experiment.learners if name not in BASELINES] if study else list(FORMS.values())
    return Claim(
        name="table",
        statement="the table's printed means are reproduced",
        judged="yes if 0 lies within the 95 % interval of each mean minus the printed one (Welch, from the printed "
        "deviations)",
        checks=tuple(check(reading, learner) for reading in READINGS for learner in learners),
    )


def ours_is_lowest(findings: Findings) -> Claim:
    """Whether our form is the lowest of the four learners in every panel."""

    def check(reading: str) -> Check:
        details, margins = [], []
        for title, study, point in panels(findings, reading):
            own = study.by_repeat(point, FORMS["ours"])
            others = {name: study.by_repeat(point, name) for name in MAIN if name != FORMS["ours"]}
            next_best = min(others, key=lambda name: _mean(others[name]))
            details.append(Detail(f"{title}: minus {next_best}", _paired(own, others[next_best])))
            margins.append((_mean(others[next_best]) / _mean(own) if _mean(own) > 0 else math.inf, title))
        if not margins:
            return Check(reading=reading, form="ours", answer="not tested", how_far="")
        lowest = sum(detail.found.high < 0 for detail in details)
        (least, where), (most, _) = min(margins), max(margins)
        return Check(
            reading=reading,
            form="ours",
            answer=_all_below(details),
            how_far=f"lowest in {lowest} of {len(details)} panels; the next is {_times(least)} ({where}) to "
            f"{_times(most)} times higher",
            details=tuple(details),
        )

    return Claim(
        name="ours",
        statement="AdaCB.G in our form has the lowest mean regret of the four learners, in every panel",
        judged="yes if every paired 95 % interval of its regret minus that of the next best lies below 0",
        checks=tuple(check(reading) for reading in READINGS),
    )


def panels(findings: Findings, reading: str) -> Iterator[tuple[str, Study, Point]]:
    """Every environment on which all four learners ran, with a title; one that several experiments share, once."""
    seen = set()
    for study in findings.studies.values():
        if not set(MAIN) <= set(study.experiment.learners):
            continue
        for point in study.points(reward_scale=READINGS[reading]):
            same = study.experiment.rounds, point.name, tuple(sorted(point.settings.items()))
            if same not in seen:
                seen.add(same)
                words = [point.name, *(f"{key} = {point.settings[key]}" for key in VARIED if key in point.settings)]
                yield f"{', '.join(words)}, T = {study.experiment.rounds}", study, point


VARIED = ("n_arms", "n_cliques", "probability")


def graph_parameter_names() -> set[str]:
    """What a learner would be told if it were told of the graph: options of graph kinds, and numbers of graphs."""
    import inspect

    from graphbandit import graph_parameters

    options = {name for build in SOURCES.values() for name in inspect.signature(build).parameters}
    numbers = {name for name, value in vars(graph_parameters).items() if inspect.isfunction(value)}
    return (options | numbers | {"alpha", "graph"}) - {"n_arms"}


def _settings_of(study: Study, learner: str) -> Iterator[dict[str, object]]:
    """The settings of a learner in every environment of a study, as its results tell them."""
    runs = study.results.runs.select(["learner", "settings"])
    texts = {text for name, text in zip(*(c.to_pylist() for c in runs.columns), strict=True) if name == learner}
    for text in texts:
        yield json.loads(text)["learner"]


def _kinds(findings: Findings, reading: str) -> dict[str, tuple[Study, Point]]:
    """The kinds of graph that the paper compares on, as far as they were run."""
    found = {}
    for name in ("ablation", "flixster"):
        study = findings.study(name)
        if study is not None:
            found |= {point.name: (study, point) for point in study.points(reward_scale=READINGS[reading])}
    return found


def _paired(first: Float[np.ndarray, " n"], second: Float[np.ndarray, " n"]) -> Interval:
    differences = first - second
    return student_interval(differences[np.isfinite(differences)])


def _of_four(first: Float[np.ndarray, "2 n"], second: Float[np.ndarray, "2 n"]) -> Interval:
    """The share that `first` saves minus the share that `second` saves."""
    n = min(first.shape[1], second.shape[1])
    samples = np.concatenate([first[:, :n], second[:, :n]])
    return bootstrap_interval(samples, lambda m: m[:, 2] / m[:, 3] - m[:, 0] / m[:, 1])


def _welch(values: Float[np.ndarray, " n"], mean: float, std: float, repeats: int) -> Interval:
    """The mean minus one of which only mean, deviation and number of repeats are known."""
    from scipy.stats import t

    values = values[np.isfinite(values)]
    difference = _mean(values) - mean
    if len(values) < 2:
        return Interval(difference, math.nan, math.nan)
    a, b = float(values.var(ddof=1)) / len(values), std**2 / repeats
    freedom = (a + b) ** 2 / (a**2 / (len(values) - 1) + b**2 / (repeats - 1))
    margin = float(t.ppf(0.975, freedom)) * math.sqrt(a + b)
    return Interval(difference, difference - margin, difference + margin)


def _answer(yes: bool, no: bool) -> Answer:
    return "no" if no else "yes" if yes else "undecided"


def _all_below(details: Sequence[Detail]) -> Answer:
    if not details:
        return "not tested"
    return _answer(all(detail.found.high < 0 for detail in details), any(detail.found.low > 0 for detail in details))


def _all_above(details: Sequence[Detail]) -> Answer:
    return _answer(all(detail.found.low > 0 for detail in details), any(detail.found.high < 0 for detail in details))


def _largest(details: Sequence[Detail]) -> float:
    return max(abs(detail.found.mean) for detail in details)


def _mean(values: Float[np.ndarray, " n"]) -> float:
    return float(np.nanmean(values))


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def signed(x: float) -> str:
    """With its sign: +1.23, -45.6, 0.00."""
    return f"{'+' if x > 0 else ''}{short_number(x)}" if math.isfinite(x) else "?"


