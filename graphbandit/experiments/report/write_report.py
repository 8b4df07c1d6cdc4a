"""The report of an experiment.

The same results give the same bytes. The same experiment, run again elsewhere, gives a page that differs only in the
timings (and in the versions, if those differ).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from graphbandit.base.printed_table import counted
from graphbandit.experiments.report.sections.base import Reported
from graphbandit.plots.pages.page import page_html, write_text

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

SECTIONS = (
    "failures",
    "summary",
    "environments",
    "comparisons",
    "heat_maps",
    "ranks",
    "what_was_run",
    "reproduce",
    "timings",
)
"""The sections in the order of the page. Each is a file in `sections/` whose function `section` returns None if there
is nothing to report."""


def write_report(results: Results, path: str | Path) -> Path:
    """Write the report of finished runs to an HTML file, and return its path.

    - `results`: the results of `run`.
    - `path`: the path of the file.
    """
    return write_text(Path(path), report_html(results))


def report_html(results: Results) -> str:
    """The page as text."""
    reported = Reported.of(results)
    sections = [import_module(f"{__package__}.sections.{name}").section(reported) for name in SECTIONS]
    return page_html(results.experiment.name, _lead(reported), sections)


def _lead(reported: Reported) -> str:
    results, regrets, _ = reported
    told = results.experiment
    counts = [
        counted(len(regrets.environments), "environment"),
        counted(len(regrets.learners), "learner"),
        counted(told.repeats, "repeat"),
    ]
    missing = results.n_planned - results.runs.num_rows
    unfinished = f" {counted(missing, 'run')} not finished." if missing else ""
    return f"{', '.join(counts)} of {counted(told.rounds, 'round')}, seed {told.seed}.{unfinished}"
