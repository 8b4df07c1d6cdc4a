"""The section that sums up which learner is best."""

from __future__ import annotations

import math

from graphbandit.base.printed_table import Cell, Table, number_cell, short_number
from graphbandit.experiments.analysis.ranks import Ranks
from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.plots.pages.page import Section


def section(reported: Reported) -> Section:
    """Mean regret of every learner in every environment, the best marked."""
    _, regrets, found = reported
    rank = dict(zip(found.learners, found.average, strict=True)) if found else {}
    means = regrets.by_mean(regrets.environments[0])
    order = found.learners if found else (*means, *(name for name in regrets.learners if name not in means))
    rows = []
    for name in order:
        cells = [_summary_cell(regrets, place, name) for place in regrets.environments]
        rows.append([name, *cells, *([number_cell(rank[name], f"{rank[name]:.2f}")] if found else [])])
    heads = ["learner", *regrets.environments, *(["average rank"] if found else [])]
    table = Table("Final regret: mean ± standard error", heads, rows, sorted_by=len(heads) - 1 if found else 1)
    name, rest = _in_short(regrets, found)
    return Section("summary", "Summary", texts().summary(name, rest, table))


def _summary_cell(regrets: FinalRegrets, environment: str, learner: str) -> Cell:
    summary = regrets.summary(environment, learner)
    if summary is None:
        return Cell("not run", math.nan)
    error = summary.standard_error
    spread = f"± {short_number(error)}" if math.isfinite(error) else ""
    return Cell(short_number(summary.mean), summary.mean, spread, regrets.mark(environment, learner))


def _in_short(regrets: FinalRegrets, found: Ranks | None) -> tuple[str, str]:
    """A one- or two-sentence summary for the top of the page: the best learner, and what is said of it."""
    firsts = [regrets.best(place) for place in regrets.environments]
    name = found.learners[0] if found else max(regrets.learners, key=firsts.count)
    if len(regrets.learners) == 1:
        return name, "is the only learner."
    wins, n = firsts.count(name), len(firsts)
    alone = sum(_stands_alone(regrets, place) for place in regrets.environments if regrets.best(place) == name)
    if n == 1:
        how = "significantly below all others" if alone else "but not significantly below all others"
        text = f"has the lowest mean regret, {how}." if wins else "ranks best."
    else:
        text = f"has the lowest mean regret in {wins} of {n} environments"
        text += f", in {alone} significantly below all others." if wins else "."
    return name, f"{text} Its average rank is {found.average[0]:.2f} of {len(found.learners)}." if found else text


def _stands_alone(regrets: FinalRegrets, environment: str) -> bool:
    best, *others = regrets.by_mean(environment)
    return all(paired_difference(regrets, environment, name, best).low > 0 for name in others)
