"""The paper's five claims, answered from results.

Every answer is computed from the results and comes with the intervals that support it. It is "undecided" if the
intervals decide nothing, and "not tested" if the experiment was not run.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Collection, Iterator
from itertools import combinations

import numpy as np

from graphbandit.base.printed_table import counted, short_number
from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.repeat_intervals import RepeatInterval, bootstrap_interval, slope_interval
from graphbandit.experiments.describe.grids import Point
from graphbandit.graphs import parameters as graph_parameters
from graphbandit.graphs.sources import SOURCES
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.paper.answers import (
    Answer,
    Claim,
    Detail,
    Verdict,
    all_above,
    all_below,
    claim,
    decide,
    largest,
    mean,
    paired,
    points_of,
    times,
)
from graphbandit.studies.paper.names import BASELINES, FORMS, READINGS

KINDS = {"k-tree", "cliques", "random", "network"}
"""The kinds of graph that the paper compares on."""

BARELY = 0.05
"""Regret barely depends on the kind of graph if the means of any two kinds differ by less than this share."""

SLOW = 0.25
"""Regret does not grow with K if its exponent is below this, half the exponent of a learner without a graph."""

HALF = 0.5
"""A part makes the gain if it gives more than this share of it alone, and less is left without it."""


def paper_claims(findings: Findings) -> list[Claim]:
    """All claims, in order; the second has two halves."""
    return [
        lower_regret(findings),
        largest_on_k_trees(findings),
        program_makes_it(findings),
        falcon_ignores_graphs(findings),
        arms_do_not_matter(findings),
        no_graph_parameter(findings),
    ]


# Each claim is declared in the same way: its number, the paper's statement, how it is judged, and the judging function.


@claim(
    "1",
    "AdaCB.G has lower regret than RegCB.G and FALCON on each of the four kinds of graph",
    judged="yes if every paired 95 % interval of its regret minus the other's lies below 0",
)
def lower_regret(findings: Findings, reading: str, form: str) -> Answer:
    """Claim 1."""
    details, ratios = [], []
    for kind, (finding, point) in _kinds(findings, reading).items():
        own = finding.by_repeat(point, FORMS[form])
        for other in BASELINES:
            theirs = finding.by_repeat(point, other)
            details.append(Detail(f"minus {other}, {kind}", paired(own, theirs)))
            ratios.append((mean(theirs) / mean(own) if mean(own) > 0 else math.inf, f"{other} on {kind}"))
    far = ""
    if ratios:
        (least, where), (most, _) = min(ratios), max(ratios)
        far = f"{times(least)} to {times(most)} times lower, least against {where}"
    verdict, far = _on_all_kinds(all_below(details), far, _kinds(findings, reading))
    return Answer(verdict=verdict, how_far=far, details=tuple(details))


@claim(
    "2a",
    "the gain over RegCB.G is largest on k-trees",
    judged="the gain is 1 - mean regret / mean regret of RegCB.G; yes if the bootstrap 95 % interval of the gain "
    "on k-trees minus that on each other kind lies above 0",
)
def largest_on_k_trees(findings: Findings, reading: str, form: str) -> Answer:
    """Claim 2, first half."""
    kinds = _kinds(findings, reading)
    saved = {
        kind: np.stack([finding.by_repeat(point, FORMS[form]), finding.by_repeat(point, "RegCB.G")])
        for kind, (finding, point) in kinds.items()
    }
    if "k-tree" not in saved or len(saved) < 2:
        return Answer()
    details = [
        Detail(f"k-tree minus {kind}", _of_four(saved["k-tree"], other), share=True)
        for kind, other in saved.items()
        if kind != "k-tree"
    ]
    far = ", ".join(f"{kind} {1 - mean(own) / mean(theirs):.1%}" for kind, (own, theirs) in saved.items())
    verdict, far = _on_all_kinds(all_above(details), f"of RegCB.G's regret it saves: {far}", kinds)
    return Answer(verdict=verdict, how_far=far, details=tuple(details))


@claim(
    "2b",
    "on k-trees it is the linear program that makes the gain",
    judged="in part if leaving it out raises the regret (paired interval above 0), and the program alone, with all "
    "arms candidates, gives more than half of the gain over RegCB.G (bootstrap interval above 50 %); yes if, "
    "moreover, less than half of the gain is left without it",
)
def program_makes_it(findings: Findings, reading: str, form: str) -> Answer:
    """Claim 2, second half."""
    found = points_of(findings, "parts", reading, name="k-tree")
    if found is None:
        return Answer()
    finding, points = found
    names = (FORMS[form], f"{FORMS[form]}, no program", f"{FORMS[form]}, all arms candidates", "RegCB.G")
    whole, without, alone, baseline = (finding.by_repeat(points[0], name) for name in names)
    removal = Detail("regret without the program, minus with it", paired(without, whole))
    share, kept = (
        Detail(what, _share_of_gain(np.stack([whole, part, baseline])), share=True)
        for what, part in (
            ("share of the gain that the program gives alone", alone),
            ("share of the gain that is left without it", without),
        )
    )
    verdict: Verdict = "undecided"
    if removal.found.high < 0 or share.found.high < HALF:
        verdict = "no"
    elif removal.found.low > 0 and share.found.low > HALF:
        verdict = "yes" if kept.found.high < HALF else "in part"
    return Answer(
        verdict=verdict,
        how_far=f"alone it gives {share.found.mean:.0%} of the gain; without it {kept.found.mean:.0%} is left",
        details=(removal, share, kept),
    )


@claim(
    "3",
    "FALCON's regret barely depends on the kind of graph",
    judged="yes if between any two kinds with 50 arms it differs by less than 5 % (bootstrap intervals within)",
    forms=("",),
)
def falcon_ignores_graphs(findings: Findings, reading: str, form: str) -> Answer:
    """Claim 3."""
    found = points_of(findings, "ablation", reading, least=2)
    if found is None:
        return Answer()
    finding, points = found

    def differences(learner: str) -> list[Detail]:
        return [
            Detail(
                f"{learner}: {a.name} against {b.name}",
                bootstrap_interval(
                    np.stack([finding.by_repeat(a, learner), finding.by_repeat(b, learner)]),
                    lambda m: m[:, 0] / m[:, 1] - 1,
                ),
                share=True,
            )
            for a, b in combinations(points, 2)
        ]

    falcon, other = differences("FALCON"), differences("RegCB.G")
    far = f"differs by at most {largest(falcon):.1%} between kinds of graph (RegCB.G: {largest(other):.0%})"
    return Answer(
        verdict=decide(
            all(detail.found.inside(-BARELY, BARELY) for detail in falcon),
            any(detail.found.outside(-BARELY, BARELY) for detail in falcon),
        ),
        how_far=far,
        details=(*falcon, *other),
    )


@claim(
    "4",
    "at a fixed number of cliques the regret does not grow with the number of arms (in print: -16 %)",
    judged="no if it is higher at the most arms than at the fewest (paired interval above 0); yes if it is not and "
    "the exponent of K is below 1/4 (bootstrap interval)",
)
def arms_do_not_matter(findings: Findings, reading: str, form: str) -> Answer:
    """Claim 4."""
    found = points_of(findings, "clique-table", reading, least=2)
    if found is None:
        return Answer()
    finding, points = found
    samples = np.stack([finding.by_repeat(point, FORMS[form]) for point in points])
    arms = [int(point.settings["n_arms"]) for point in points]
    change = Detail(f"regret at K = {arms[-1]} minus at K = {arms[0]}", paired(samples[-1], samples[0]))
    slope = Detail("exponent of K", slope_interval(np.array(arms, dtype=np.float64), samples))
    first, last = mean(samples[0]), mean(samples[-1])
    trend = "falls" if change.found.high < 0 else "grows" if change.found.low > 0 else "neither falls nor grows"
    return Answer(
        verdict=decide(
            change.found.low <= 0 and slope.found.high < SLOW, change.found.low > 0 or slope.found.low > SLOW
        ),
        how_far=f"{trend}: {short_number(first)} -> {short_number(last)} ({last / first - 1:+.0%}), "
        f"as K to the power {slope.found.mean:+.2f}",
        details=(change, slope),
    )


@claim(
    "5",
    "no graph parameter is needed as input",
    judged="yes if the same settings, none of them a graph's, ran on all graphs, and the regret is lower at the least "
    "independence number than at the greatest (paired interval)",
)
def no_graph_parameter(findings: Findings, reading: str, form: str) -> Answer:
    """Claim 5."""
    told = {
        (json.dumps(settings, sort_keys=True), name)
        for finding in findings.experiments.values()
        for settings in _settings_of(finding, FORMS[form])
        for name in settings
    }
    settings, names = {text for text, _ in told}, {name for _, name in told}
    foreign = sorted(names & graph_parameter_names())
    found = points_of(findings, "independence", reading, least=2)
    if found is None:
        return Answer()
    finding, points = found
    ends = points[0], points[-1]
    low, high = (finding.by_repeat(point, FORMS[form]) for point in ends)
    numbers = [int(point.settings["n_cliques"]) for point in ends]
    follows = Detail(f"regret at alpha = {numbers[0]} minus at alpha = {numbers[1]}", paired(low, high))
    order = "lower" if follows.found.high < 0 else "higher" if follows.found.low > 0 else "not significantly other"
    far = (
        f"{counted(len(settings), 'setting')} for all graphs, and its regret at alpha = {numbers[0]} is {order} than "
        f"at {numbers[1]}: {short_number(mean(low))} against {short_number(mean(high))}"
    )
    if foreign:
        far = f"it is told {', '.join(foreign)}"
    return Answer(
        verdict=decide(
            not foreign and len(settings) == 1 and follows.found.high < 0,
            bool(foreign) or len(settings) != 1 or follows.found.low > 0,
        ),
        how_far=far,
        details=(follows,),
    )


def graph_parameter_names() -> set[str]:
    """Names of settings that would tell a learner about the graph: options of graph kinds, and graph parameters."""
    options = {name for build in SOURCES.values() for name in inspect.signature(build).parameters}
    numbers = {name for name, value in vars(graph_parameters).items() if inspect.isfunction(value)}
    return (options | numbers | {"alpha", "graph"}) - {"n_arms"}


def _settings_of(finding: Finding, learner: str) -> Iterator[dict[str, object]]:
    """The settings of a learner in every environment of an experiment, as recorded in the results."""
    runs = finding.results.runs.select(["learner", "settings"])
    texts = {text for name, text in zip(*(c.to_pylist() for c in runs.columns), strict=True) if name == learner}
    for text in texts:
        yield json.loads(text)["learner"]


def _kinds(findings: Findings, reading: str) -> dict[str, tuple[Finding, Point]]:
    """The environments of the paper's kinds of graph that were run, by kind."""
    found: dict[str, tuple[Finding, Point]] = {}
    for name in ("ablation", "flixster"):
        finding = findings.get(name)
        if finding is not None:
            found |= {point.name: (finding, point) for point in finding.points(reward_scale=READINGS[reading])}
    return found


def _on_all_kinds(verdict: Verdict, far: str, kinds: Collection[str]) -> tuple[Verdict, str]:
    """Turn a yes into undecided unless all four kinds of graph of the paper were run."""
    if verdict != "yes" or set(kinds) == KINDS:
        return verdict, far
    return "undecided", f"only {', '.join(kinds)} was run: {far}"


def _of_four(first: Float[np.ndarray, "2 n"], second: Float[np.ndarray, "2 n"]) -> RepeatInterval:
    """The share of regret saved in `first` minus that in `second`; the rows of each are AdaCB.G and RegCB.G."""
    n = min(first.shape[1], second.shape[1])
    samples = np.concatenate([first[:, :n], second[:, :n]])
    return bootstrap_interval(samples, lambda m: m[:, 2] / m[:, 3] - m[:, 0] / m[:, 1])


def _share_of_gain(samples: Float[np.ndarray, "3 n"]) -> RepeatInterval:
    """The share that a part has in the gain of the whole over the baseline; rows are whole, part and baseline."""
    return bootstrap_interval(samples, lambda m: (m[:, 2] - m[:, 1]) / (m[:, 2] - m[:, 0]))
