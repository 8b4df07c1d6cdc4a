"""The section of average ranks."""

from __future__ import annotations

import math

from graphbandit.base.printed_table import counted, short_number
from graphbandit.experiments.figures.ranks import plot_ranks
from graphbandit.experiments.report.sections.base import Reported, figures_section
from graphbandit.plots.pages.page import Section
from graphbandit.plots.pages.svg import page_picture

NOTE = (
    "This test compares all learners at once and sees only their order, so it may join two learners that the paired "
    "intervals above tell apart. "
    "Repeats of one environment are blocks of their own, so this speaks of these environments, not of new ones. "
    "Method: J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)."
)


def section(reported: Reported) -> Section | None:
    """Average ranks, the test and the diagram."""
    results, _, found = reported
    if found is None:
        return None
    ordered = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(found.learners, found.average, strict=True))
    alt = f"Average ranks: {ordered}. Critical difference {short_number(found.critical_difference)}."
    caption = "Best at the left. A bar joins learners whose ranks differ by less than the critical difference."
    picture = page_picture(plot_ranks(results), "ranks-figure", alt, caption)
    blocks = f"{counted(found.blocks, 'block')} (an environment and a repeat)"
    text = f"Ranks of the final regret, 1 the lowest, averaged over {blocks}."
    if math.isfinite(found.p_value):
        p = "p below 0.0001" if found.p_value < 1e-4 else f"p = {found.p_value:.2g}"
        differ = "the learners differ" if found.p_value < 0.05 else "no difference between the learners is shown"
        text += f" Friedman's test: χ² = {found.statistic:.1f}, {p}: {differ}."
    return figures_section("ranks", "Ranks", [picture], text=text, note=f"{found.note} {NOTE}")
