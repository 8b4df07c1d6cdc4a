"""The report of an experiment.

The same results give the same bytes. The same experiment, run again elsewhere, gives a page that differs only in the
timings (and in the versions, if those differ).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphbandit.base.tables import counted
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
from graphbandit.plots.pages.page import page_html, write_text

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results


def write_report(results: Results, path: str | Path) -> Path:
    """Write the report of finished runs to an HTML file, and return its path.

    - `results`: of `run`.
    - `path`: the file.
    """
    return write_text(Path(path), report_html(results))


def report_html(results: Results) -> str:
    """The page as text."""
    regrets = FinalRegrets.of(results)
    found = try_ranks(regrets)
    sections = [
        failures_section(results),
        summary_section(regrets, found),
        environments_section(results, regrets),
        comparisons_section(regrets),
        heat_maps_section(results, regrets, found),
        ranks_section(results, found),
        settings_section(results),
        reproduce_section(results),
        timings_section(results, regrets),
    ]
    return page_html(results.experiment.name, _lead(results, regrets), sections)


def _lead(results: Results, regrets: FinalRegrets) -> str:
    told = results.experiment
    counts = [
        counted(len(regrets.environments), "environment"),
        counted(len(regrets.learners), "learner"),
        counted(told.repeats, "repeat"),
    ]
    missing = results.n_planned - results.runs.num_rows
    unfinished = f" {counted(missing, 'run')} not finished." if missing else ""
    return f"{', '.join(counts)} of {counted(told.rounds, 'round')}, seed {told.seed}.{unfinished}"
