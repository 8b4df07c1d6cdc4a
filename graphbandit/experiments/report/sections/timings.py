"""The section on how long the runs took."""

from __future__ import annotations

import math

from graphbandit.base.printed_table import Table, number_cell
from graphbandit.experiments.analysis.statistics import mean_seconds
from graphbandit.experiments.figures.curves import plot_regret_versus_time
from graphbandit.experiments.report.facts import computing_seconds, seconds_text
from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.plots.pages.page import Section
from graphbandit.plots.pages.svg import page_picture


def section(reported: Reported) -> Section | None:
    """The seconds of the runs; only this section differs when the same experiment is run again."""
    results, regrets, _ = reported
    if not results.timings.num_rows:
        return None
    seconds = mean_seconds(results)
    rows = []
    for name in regrets.learners:
        values = [seconds.get((place, name), math.nan) for place in regrets.environments]
        rows.append([name, *(number_cell(value, seconds_text(value)) for value in values)])
    table = Table("Mean seconds a run", ["learner", *regrets.environments], rows)
    picture = None
    if any(math.isfinite(value) and value > 0 for value in seconds.values()):
        alt = "Mean final regret against mean seconds a run, on logarithmic axes; the table above has the seconds."
        picture = page_picture(plot_regret_versus_time(results), "time", alt)
    body = texts().timings(seconds_text(computing_seconds(results)), table, picture)
    return Section("timings", "Timings", body, timings=True)
