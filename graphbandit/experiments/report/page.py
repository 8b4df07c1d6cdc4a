"""The report of an experiment: one HTML file that needs no network, light or dark, on a desk, a phone or paper.

The same results give the same bytes. Run again elsewhere, the same experiment gives a page that differs only between
the comments `TIMINGS` and `END_OF_TIMINGS`, where the seconds stand (and in the versions, if those differ).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import graphbandit
from graphbandit.errors import SavedFileError
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.experiments.report.facts import (
    failures_section,
    reproduce_section,
    settings_section,
    timings_section,
)
from graphbandit.experiments.report.sections import (
    comparisons_section,
    environments_section,
    heat_maps_section,
    ranks_section,
    summary_section,
    try_ranks,
)

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results

TIMINGS, END_OF_TIMINGS = "<!-- timings: these differ from run to run -->", "<!-- end of timings -->"


def write_report(results: Results, path: str | Path) -> Path:
    """Write the report of finished runs to an HTML file; `path` is returned."""
    page = report_html(results)
    try:
        Path(path).write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise SavedFileError(f"{path} cannot be written: {error.strerror or error}") from None
    return Path(path)


def report_html(results: Results) -> str:
    """The page as text."""
    regrets = FinalRegrets.of(results)
    found = try_ranks(regrets)
    timings = timings_section(results, regrets)
    sections = [
        failures_section(results),
        summary_section(regrets, found),
        environments_section(results, regrets),
        comparisons_section(regrets),
        heat_maps_section(results, regrets, found),
        ranks_section(results, found),
        settings_section(results),
        reproduce_section(results),
        f"{TIMINGS}\n{timings}\n{END_OF_TIMINGS}" if timings else "",
    ]
    return page_html(results.experiment.name, _lead(results, regrets), sections)


def page_html(title: str, lead: str, sections: Sequence[str]) -> str:
    """A page of sections, with links to them; empty ones are left out."""
    body = "\n".join(part for part in sections if part)
    return Template(_resource("page.html")).substitute(
        title=escape(title),
        lead=escape(lead),
        style=_resource("style.css").strip(),
        script=_resource("script.js").strip(),
        contents=_contents(body),
        sections=body,
        version=escape(graphbandit.__version__),
    )


def _lead(results: Results, regrets: FinalRegrets) -> str:
    told = results.experiment
    counts = [
        _count(len(regrets.environments), "environment"),
        _count(len(regrets.learners), "learner"),
        _count(told.repeats, "repeat"),
    ]
    missing = results.n_planned - results.runs.num_rows
    unfinished = f" {_count(missing, 'run')} not finished." if missing else ""
    return f"{', '.join(counts)} of {_count(told.rounds, 'round')}, seed {told.seed}.{unfinished}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _contents(body: str) -> str:
    links = re.findall(r'<h2 id="([\w-]+)-title">(.*?)</h2>', body)
    items = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in links)
    return f"<ul>{items}</ul>"


def _resource(name: str) -> str:
    return resources.files("graphbandit.experiments.report").joinpath("page_parts", name).read_text(encoding="utf-8")
