"""The section of paired comparisons: the best learners against the others."""

from __future__ import annotations

import math

from graphbandit.base.printed_table import Cell, Table, number_cell, short_number
from graphbandit.experiments.analysis.statistics import paired_difference
from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.plots.pages.page import Section


def section(reported: Reported) -> Section | None:
    """Compare the best learner of each environment with all others, in pairs."""
    regrets = reported.regrets
    rows = []
    for place in regrets.environments:
        best, *others = regrets.by_mean(place)
        for name in others:
            pair = paired_difference(regrets, place, best, name)
            bounds = f"{short_number(pair.low)} to {short_number(pair.high)}"
            wins = pair.wins / pair.pairs if pair.pairs else math.nan
            verdict = "lower regret" if pair.better == best else pair.verdict
            numbers = [
                number_cell(pair.mean),
                number_cell(pair.low, bounds),
                Cell(f"{pair.wins} of {pair.pairs}", wins),
            ]
            rows.append([place, best, name, *numbers, verdict])
    if not rows:
        return None
    heads = ["environment", "best", "other", "best minus other", "95 % interval", "best wins", "verdict"]
    table = Table("Best against others", heads, rows)
    return Section("comparisons", "Paired comparisons", texts().comparisons(table))
