"""Ranks of all learners: Friedman's test, and the critical difference, which holds for all pairs of learners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphbandit.base.printed_table import counted
from graphbandit.errors import InputError
from graphbandit.experiments.analysis.repeat_intervals import LEVEL
from graphbandit.experiments.analysis.statistics import FinalRegrets


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Average ranks over blocks, 1 for the lowest regret (demsar2006statistical).

    A block is one repeat in one environment that all learners have run. Equal regrets share their ranks.

    - `learners`, `average`: the learners in the order of their average ranks, and these ranks.
    - `blocks`: the number of blocks, N.
    - `statistic`, `p_value`: Friedman's test that the learners do not differ; nan if there is too little to test.
    - `critical_difference`: q * sqrt(k (k + 1) / (6 N)) for k learners. Two average ranks that differ by less are not
      told apart at 95 % (Nemenyi).
    - `groups`: the largest sets of neighbours that are not told apart.
    """

    learners: tuple[str, ...]
    average: tuple[float, ...]
    blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]

    @property
    def note(self) -> str:
        """Why the ranks say little; empty if there is no such reason."""
        k, few = len(self.learners), counted(self.blocks, "block")
        if self.blocks < 2:
            return f"{few} that all learners have run: too few for any test."
        if k < 3:
            return "The Friedman test needs three learners; for two, read their paired differences."
        if self.blocks <= 10:
            return f"Only {few}: the Friedman test is an approximation for more than 10, so read it with care."
        return ""


def ranks(regrets: FinalRegrets) -> Ranks:
    """Rank all learners over the blocks that every one of them has run."""
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    k = len(regrets.learners)
    if k < 2:
        raise InputError(f"the results hold one learner, {regrets.learners[0]!r}; expected at least two to rank")
    table = regrets.values.transpose(0, 2, 1).reshape(-1, k)
    table = table[np.isfinite(table).all(axis=1)]
    n = len(table)
    if n == 0:
        raise InputError("no repeat of any environment was run by all learners; expected at least one to rank them")
    within = rankdata(table, axis=1)
    average = within.mean(axis=0)
    statistic, p_value, critical = math.nan, math.nan, math.nan
    if n > 1:
        critical = float(studentized_range.ppf(LEVEL, k, np.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
        if k > 2:
            all_tied = bool((within == within[0, 0]).all())
            statistic, p_value = (0.0, 1.0) if all_tied else map(float, friedmanchisquare(*table.T))
    order = np.argsort(average, kind="stable")
    names = tuple(regrets.learners[i] for i in order)
    return Ranks(
        learners=names,
        average=tuple(float(average[i]) for i in order),
        blocks=n,
        statistic=statistic,
        p_value=p_value,
        critical_difference=critical,
        groups=_groups(names, average[order].tolist(), critical),
    )


def _groups(names: Sequence[str], average: Sequence[float], critical: float) -> tuple[tuple[str, ...], ...]:
    """The largest runs of at least two neighbours whose ends are closer than `critical`."""
    found: list[tuple[str, ...]] = []
    last = 0
    for i in range(len(names)):
        end = max(j for j in range(i, len(names)) if j == i or average[j] - average[i] < critical)
        if end > i and end > last:
            found.append(tuple(names[i : end + 1]))
            last = end
    return tuple(found)
