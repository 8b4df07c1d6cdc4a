"""The report of the reproduction: one HTML file with every claim, figure, table, setting and timing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from graphbandit.environments.synthetic import SyntheticEnvironment
from graphbandit.errors import SavedFileError
from graphbandit.experiments.describe.registry import build_environment
from graphbandit.experiments.report.facts import VERSIONS, points_table, seconds_text, versions_of
from graphbandit.experiments.report.html import Cell, plain_table, section, sortable_table, svg_html
from graphbandit.experiments.report.page import END_OF_TIMINGS, TIMINGS, page_html
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.studies.paper.checks import Check, Claim
from graphbandit.studies.paper.figures import STAR, Drawn
from graphbandit.studies.paper.findings import Findings, Study
from graphbandit.studies.paper.plans import FORM_NAMES, FORMS, READINGS, TITLES
from graphbandit.studies.paper.sweeps import AXES
from graphbandit.studies.paper.tables import Table, set_size_table, table_of
from graphbandit.studies.paper.variants import better_without
from graphbandit.studies.paper.words import ABOUT, CHOICES

TITLE = "Stochastic Graph Bandit Learning with Side-Observations, reproduced"


def write_paper_report(
    findings: Findings, claims: Sequence[Claim], drawn: Sequence[Drawn], path: Path, *, wall_seconds: float
) -> None:
    """Write the page; `wall_seconds` is what the reproduction took this time."""
    page = paper_report_html(findings, claims, drawn, wall_seconds=wall_seconds)
    try:
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise SavedFileError(f"{path} cannot be written: {error.strerror or error}") from None


def paper_report_html(
    findings: Findings, claims: Sequence[Claim], drawn: Sequence[Drawn], *, wall_seconds: float
) -> str:
    """The page as text; the same results give the same bytes, but for the section between the marks of timings."""
    asked = findings.asked
    repeats = sorted({study.experiment.repeats for study in findings.studies.values()})
    lead = (
        f"X. Gong and J. Zhang's experiments run again, {asked.preset} preset: {' or '.join(map(str, repeats))} "
        f"repeats, seed {asked.seed}. Learners of one repeat share all draws; intervals are at 95 %."
    )
    sections = [
        claims_section(claims),
        *(_experiment_section(findings, name, drawn) for name in TITLES if findings.family(name)),
        _star_section(drawn),
        _choices_section(),
        _run_section(findings),
        f"{TIMINGS}\n{_timings_section(findings, wall_seconds)}\n{END_OF_TIMINGS}",
    ]
    return page_html(TITLE, lead, sections)


def claims_section(claims: Sequence[Claim]) -> str:
    """Every claim with its answers, first all at a glance and then one by one."""
    columns = [(reading, form) for reading in READINGS for form in FORMS]
    rows = []
    for claim in claims:
        cells = [Cell(html=_badge(_answer_of(claim, *column)), kind="text") for column in columns]
        said = f'<span class="wrap"><strong>{escape(claim.name)}</strong> {escape(claim.statement)}</span>'
        rows.append([Cell(html=said), *cells])
    heads = ["claim", *(f"{reading}, {form}" for reading, form in columns)]
    text = (
        "<p>Literal: rewards as printed. Rescaled: rewards divided by 8, which is closer to the paper's figures. The "
        "paper's form is its Algorithm 1; ours has the sharp radius and the tight coverage, and the paper's "
        "eta. Every answer is computed from the results, and could have been another one.</p>"
    )
    return section("claims", "The claims", text, sortable_table("Answers", heads, rows), *map(_claim_html, claims))


def _answer_of(claim: Claim, reading: str, form: str) -> str:
    fitting = [check for check in claim.checks if check.reading == reading and check.form in (form, "")]
    return fitting[0].answer if fitting else ""


def _claim_html(claim: Claim) -> str:
    rows = [
        f'<tr><th scope="row">{escape(who(check))}</th><td class="text">{_badge(check.answer)}</td>'
        f'<td class="words">{escape(check.how_far)}</td></tr>'
        for check in claim.checks
    ]
    details = "".join(
        f"<h4>{escape(who(check))}</h4>{plain_table([(detail.what, detail.text) for detail in check.details])}"
        for check in claim.checks
        if check.details
    )
    more = f"<details><summary>All figures with their intervals</summary>{details}</details>"
    return (
        f"<h3>{escape(claim.name)}. {escape(claim.statement)}: {_badge(claim.answer)}</h3>\n"
        f'<p class="note">Judged so: {escape(claim.judged)}.</p>\n'
        f'<div class="scroll"><table><tbody>{"".join(rows)}</tbody></table></div>\n{more if details else ""}'
    )


def who(check: Check) -> str:
    """The reading and the form an answer is for."""
    return ", ".join(filter(None, (check.reading, FORM_NAMES.get(check.form, check.form))))


def _kind(answer: str) -> str:
    return answer if answer in ("yes", "no") else "open"


def _badge(answer: str) -> str:
    return f'<span class="answer {_kind(answer)}">{escape(answer)}</span>' if answer else ""


def _experiment_section(findings: Findings, name: str, drawn: Sequence[Drawn]) -> str:
    studies = findings.family(name)
    parts = [f"<p>{escape(' '.join(ABOUT[name].split()))}</p>"]
    if name == "flixster":
        parts.append(f"<p>{escape(network_words(studies[0]))}</p>")
    parts += _pictures(drawn, name)
    parts.append(_table_html(table_of(findings, name)))
    if name in AXES:
        parts.append(f'<p class="note">In theory: {escape(AXES[name].theory)}.</p>')
    if name == "parts":
        parts.append(_better_without(studies[0]))
    if name == "directed" and findings.set_sizes is not None:
        parts.append(_table_html(set_size_table(findings.set_sizes)))
    told = studies[0].experiment
    rounds = ", ".join(str(study.experiment.rounds) for study in studies)
    parts.append(f'<p class="note">{told.repeats} repeats of {rounds} rounds.</p>')
    parts += [points_table(studies[0].results, room) for room in ("environment", "learner")]
    return section(name, escape(TITLES[name]), *parts)


def _better_without(study: Study) -> str:
    found = better_without(study)
    if not found:
        return "<p>Nowhere is the regret surely lower without a part.</p>"
    items = "".join(f"<li>{escape(each)}</li>" for each in found)
    return (
        f"<p>Where the regret is surely lower with a part changed, so that the part does not help:</p><ul>{items}</ul>"
    )


def network_words(study: Study) -> str:
    """Which network stands for Flixster in these results."""
    point = study.points()[0]
    environment = build_environment(point.kind, point.settings)
    assert isinstance(environment, SyntheticEnvironment)
    source = environment.source
    assert isinstance(source, NetworkSource)
    remark = "; no file was given (--graph FILE), so this is not Flixster itself" if source.stand_in else ""
    return f"The graphs: {source.description}{remark}."


def _pictures(drawn: Sequence[Drawn], experiment: str) -> list[str]:
    own = [each for each in drawn if each.experiment == experiment]
    return [svg_html(each.svg, each.name, each.shows, each.shows) for each in own]


def _star_section(drawn: Sequence[Drawn]) -> str:
    text = (
        "<p>Why the linear program matters on k-trees: the hub reveals every arm, so playing it instead of the leaves "
        "explores them all at once.</p>"
    )
    return section("star", "The star", text, *_pictures(drawn, STAR))


def _choices_section() -> str:
    text = "<p>The paper does not say everything that is needed to run it again. What was chosen, and nothing else:</p>"
    return section(
        "choices", "Free choices", text, plain_table([(name, " ".join(text.split())) for name, text in CHOICES.items()])
    )


def _run_section(findings: Findings) -> str:
    results = [study.results for study in findings.studies.values()]
    versions = [
        (name, ", ".join(sorted({version for each in results for version in versions_of(each, name)})))
        for name in VERSIONS
    ]
    asked = findings.asked
    command = f"graphbandit reproduce --{asked.preset} --seed {asked.seed}"
    command += f" --graph {asked.network}" if asked.network is not None else ""
    command += "".join(f" --only {name}" for name in asked.only)
    command += f" --repeats {asked.repeats}" if asked.repeats is not None else ""
    command += f" --rounds {asked.rounds}" if asked.rounds is not None else ""
    runs = sum(each.runs.num_rows for each in results)
    rows = [("command", command), ("seed", str(asked.seed)), ("runs", f"{runs}"), *versions]
    text = "<p>The same seed gives the same figures and the same Parquet files, for any number of workers.</p>"
    return section("run", "What was run", text, plain_table(rows))


def _timings_section(findings: Findings, wall_seconds: float) -> str:
    rows = []
    for name, study in findings.studies.items():
        seconds = _computing(study)
        runs = study.results.runs.num_rows
        rows.append(
            [Cell.text(name), Cell.number(str(runs), runs), Cell.number(seconds_text(seconds), seconds)],
        )
    total = sum(map(_computing, findings.studies.values()))
    text = (
        f"<p>This time it took {escape(seconds_text(wall_seconds))} from start to report; the runs took "
        f"{escape(seconds_text(total))} of computing, some of it perhaps in earlier sittings. A run that two "
        "experiments share counts in both.</p>"
    )
    table = sortable_table("Computing of the learners", ["experiment", "runs", "processor seconds"], rows)
    return section("timings", "Timings", text, table)


def _computing(study: Study) -> float:
    return float(sum(study.results.timings.column("seconds").to_pylist()))


def _table_html(table: Table) -> str:
    def cell(text: str, value: float) -> Cell:
        return Cell.text(text) if math.isnan(value) else Cell.number(text, value)

    return sortable_table(table.caption, table.heads, [[cell(*each) for each in row] for row in table.rows])
