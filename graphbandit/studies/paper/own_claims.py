"""Claims of our own beside the paper's: that its table is reproduced, and that our form is the best of all."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.repeat_intervals import LEVEL, RepeatInterval
from graphbandit.experiments.describe.grids import Point
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.paper.answers import (
    Answer,
    Claim,
    Detail,
    all_below,
    claim,
    decide,
    mean,
    paired,
    points_of,
    times,
)
from graphbandit.studies.paper.names import BASELINES, FORMS, MAIN, READINGS
from graphbandit.studies.paper.printed import PRINTED, PRINTED_REPEATS, PRINTED_ROUNDS

OTHER_SCALES = "other scales"
"""Used in place of a reading for rewards divided by any other scale."""


def _table_learners(findings: Findings) -> list[str]:
    """The learners that are compared with the paper's clique-group table: both forms of AdaCB.G, and the probes."""
    finding = findings.get("clique-table")
    known = finding.experiment.learners if finding else FORMS.values()
    return [name for name in known if name not in BASELINES]


def own_claims(findings: Findings) -> list[Claim]:
    """All claims of our own, in order."""
    return [printed_table(findings), ours_is_lowest(findings)]


@claim(
    "table",
    "the table's printed means are reproduced",
    judged="yes if 0 lies within the 95 % interval of each mean minus the printed one (Welch, from the printed "
    "deviations); probes are not counted",
    forms=_table_learners,
)
def printed_table(findings: Findings, reading: str, learner: str) -> Answer:
    """Whether our means agree with the printed ones."""
    form = {name: form for form, name in FORMS.items()}.get(learner, learner)
    probe = form == learner
    found = points_of(findings, "clique-table", reading)
    points = [point for point in found[1] if point.settings["n_arms"] in PRINTED] if found else []
    if found is None or not points or found[0].experiment.rounds != PRINTED_ROUNDS:
        return Answer(form=form, probe=probe)
    details, shares = [], []
    for point in points:
        arms = int(point.settings["n_arms"])
        values = found[0].by_repeat(point, learner)
        details.append(Detail(f"minus printed, K = {arms}", _welch(values, *PRINTED[arms], PRINTED_REPEATS)))
        shares.append(mean(values) / PRINTED[arms][0])
    return Answer(
        form=form,
        verdict=decide(
            all(detail.found.low <= 0 <= detail.found.high for detail in details),
            any(detail.found.outside(0, 0) for detail in details),
        ),
        how_far=f"{min(shares):.2f} to {max(shares):.2f} times the printed means{', not counted' if probe else ''}",
        details=tuple(details),
        probe=probe,
    )


@claim(
    "ours",
    "AdaCB.G in our form has the lowest mean regret of the four learners, in every panel",
    judged="yes if every paired 95 % interval of its regret minus that of the next best lies below 0; panels where "
    "both forms do the same in every repeat are named and not judged",
    readings=(*READINGS, OTHER_SCALES),
    forms=("ours",),
)
def ours_is_lowest(findings: Findings, reading: str, form: str) -> Answer:
    """Whether our form is the lowest of the four learners in every panel."""
    details, margins, equal = [], [], []
    for title, finding, point in panels(findings, reading):
        own = finding.by_repeat(point, FORMS[form])
        others = {name: finding.by_repeat(point, name) for name in MAIN if name != FORMS[form]}
        next_best = min(others, key=lambda name: mean(others[name]))
        if np.array_equal(own, others[next_best], equal_nan=True):
            equal.append((title, next_best))
            continue
        details.append(Detail(f"{title}: minus {next_best}", paired(own, others[next_best])))
        margins.append((mean(others[next_best]) / mean(own) if mean(own) > 0 else math.inf, title))
    if not margins:
        return Answer()
    below = sum(detail.found.mean < 0 for detail in details)
    surely = sum(detail.found.high < 0 for detail in details)
    significantly = f"in all {surely}" if surely == below else f"in {surely}"
    (least, where), (most, _) = min(margins), max(margins)
    far = f"lowest in {below} of {len(details) + len(equal)} panels, significantly {significantly}; the next best has "
    far += f"{times(least)} ({where}) to {times(most)} times its regret"
    far += "".join(
        f"; {'the two forms tie' if other in FORMS.values() else f'it ties with {other}'} in one panel ({title})"
        for title, other in equal
    )
    return Answer(
        verdict=all_below(details),
        how_far=far,
        details=tuple(details),
    )


def panels(findings: Findings, reading: str) -> Iterator[tuple[str, Finding, Point]]:
    """Every environment on which all four learners ran, with a title; those that experiments share come once.

    The reading may be `OTHER_SCALES`, for the other scales of the experiment on the reward scale.
    """
    seen = set()
    for finding in findings.experiments.values():
        if not set(MAIN) <= set(finding.experiment.learners):
            continue
        for point in finding.points():
            scale = float(point.settings["reward_scale"])
            if scale != READINGS.get(reading) and (reading != OTHER_SCALES or scale in READINGS.values()):
                continue
            same = finding.experiment.rounds, point.name, tuple(sorted(point.settings.items()))
            if same not in seen:
                seen.add(same)
                yield _panel_title(point, finding.experiment.rounds), finding, point


def _panel_title(point: Point, rounds: int) -> str:
    number = point.settings.get("n_cliques")
    kind = point.name if number is None else f"{number} clique{'s' * (number != 1)}"
    words = [kind, f"K = {point.settings['n_arms']}"]
    words += [f"edges with probability {point.settings['probability']}"] if "probability" in point.settings else []
    scale = float(point.settings["reward_scale"])
    words += [] if scale in READINGS.values() else [f"scale {scale:g}"]
    return ", ".join([*words, f"T = {rounds}"])


def _welch(values: Float[np.ndarray, " n"], other: float, std: float, repeats: int) -> RepeatInterval:
    """Our mean minus a printed one, with Welch's interval from the printed deviation and number of repeats."""
    from scipy.stats import t

    values = values[np.isfinite(values)]
    difference = mean(values) - other
    if len(values) < 2:
        return RepeatInterval(difference, math.nan, math.nan)
    a, b = float(values.var(ddof=1)) / len(values), std**2 / repeats
    freedom = (a + b) ** 2 / (a**2 / (len(values) - 1) + b**2 / (repeats - 1))
    margin = float(t.ppf((1 + LEVEL) / 2, freedom)) * math.sqrt(a + b)
    return RepeatInterval(difference, difference - margin, difference + margin)
