"""The page of the reproduction: every claim, figure, table and choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphbandit.environments.synthetic import SyntheticEnvironment
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.report.facts import point_settings
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.plots.pages.page import Section, templates
from graphbandit.plots.pages.svg import PagePicture
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.outcome import Picture
from graphbandit.studies.paper.answers import Answer, Claim
from graphbandit.studies.paper.figures.pictures import STAR
from graphbandit.studies.paper.names import FORM_NAMES, FORMS, READINGS
from graphbandit.studies.paper.set_sizes import SetSizes
from graphbandit.studies.paper.tables import set_size_table, table_of
from graphbandit.studies.paper.trends import AXES
from graphbandit.studies.paper.variants import better_without
from graphbandit.studies.paper.words import ABOUT, CHOICES

ROOM = "graphbandit.studies.paper"


def page_sections(
    findings: Findings,
    claims: Sequence[Claim],
    sizes: SetSizes | None,
    pictures: Sequence[Picture],
    drawn: Mapping[str, PagePicture],
) -> list[Section]:
    """The sections of the page, for the experiments that were run."""
    of: dict[str, list[PagePicture]] = {}
    for picture in pictures:
        of.setdefault(picture.experiment, []).append(drawn[picture.name])
    columns = [(reading, form) for reading in READINGS for form in FORMS]
    titles = findings.plan.described.experiments
    return [
        Section("claims", "The claims", _texts().claims(claims, columns, who)),
        *(_experiment(findings, name, titles[name], of[name], sizes) for name in titles if findings.family(name)),
        Section("star", "The star", _texts().star(of[STAR])),
        Section("choices", "Free choices", _texts().choices([(name, _line(text)) for name, text in CHOICES.items()])),
    ]


def who(answer: Answer) -> str:
    """The reading and the form that an answer is about."""
    return ", ".join(filter(None, (answer.reading, FORM_NAMES.get(answer.form, answer.form))))


def network_words(finding: Finding) -> str:
    """A sentence on the network that these results used."""
    point = finding.points()[0]
    environment = build_environment(point.kind, point.settings)
    assert isinstance(environment, SyntheticEnvironment)
    source = environment.source
    assert isinstance(source, NetworkSource)
    remark = "; no file was given (--network FILE), so this is not Flixster itself" if source.stand_in else ""
    return f"The graphs: {source.description}{remark}."


def _experiment(
    findings: Findings, name: str, title: str, pictures: Sequence[PagePicture], sizes: SetSizes | None
) -> Section:
    several = findings.family(name)
    first = several[0]
    tables = [table_of(findings, name)]
    if name == "directed" and sizes is not None:
        tables.append(set_size_table(sizes))
    rounds = ", ".join(str(finding.experiment.rounds) for finding in several)
    body = _texts().experiment(
        about=[_line(ABOUT[name]), *([network_words(first)] if name == "flixster" else [])],
        pictures=pictures,
        tables=tables,
        theory=AXES[name].theory if name in AXES else "",
        better=better_without(first) if name == "parts" else None,
        sizes=f"{first.experiment.repeats} repeats of {rounds} rounds.",
        points=point_settings(first.results),
    )
    return Section(name, title, body)


def _line(text: str) -> str:
    return " ".join(text.split())


def _texts() -> Any:
    return templates(ROOM, "paper.html")
