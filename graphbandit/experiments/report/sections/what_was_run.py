"""The section on what was run."""

from __future__ import annotations

from graphbandit.experiments.report.facts import point_settings, version_rows
from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.plots.pages.page import Section


def section(reported: Reported) -> Section:
    """The experiment, the versions, and the settings of every environment and learner."""
    results = reported.results
    told, finished, planned = results.experiment, results.runs.num_rows, results.n_planned
    rows = [
        ("experiment", told.name),
        ("rounds", f"{told.rounds}"),
        ("repeats", f"{told.repeats}"),
        ("seed", f"{told.seed}"),
        ("runs", f"{finished} of {planned} finished" if finished < planned else f"{finished}, all finished"),
        *version_rows([results]),
    ]
    return Section("run", "What was run", texts().run(rows, point_settings(results)))
