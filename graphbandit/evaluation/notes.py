"""What a reader of an evaluation should know: which promises hold, and what was assumed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphbandit.evaluation.table import EvaluationTable

FEW = 100
"""Effective rounds below which an asymptotic interval is not to be trusted."""


def notes_of(table: EvaluationTable) -> list[str]:
    """One sentence a note."""
    settings, found = table.settings, []
    if settings.any_size and not table.range_given:
        low, high = table.reward_range
        found.append(
            f"the interval holds if rewards lie in [{low:g}, {high:g}]: the range was taken from the log; "
            "state it with reward_range=(lowest, highest)"
        )
    if not settings.any_size:
        few = [v.name for v in table.values_by_name.values() if v.effective_sample_size < FEW]
        if few:
            found.append(
                f"{', '.join(few)}: fewer than {FEW} effective rounds, so this interval is likely too short; "
                "interval='betting' holds at any number of rounds"
            )
    learning = [name for name, policy in table.policies.items() if getattr(policy, "in_order", False)]
    if learning and settings.interval in ("betting", "sequence"):
        found.append(
            f"{', '.join(learning)}: the policy changes as it learns, so this interval is approximate; "
            "interval='bernstein' holds for the average over the log"
        )
    drifting = [v.name for v in table.values_by_name.values() if v.drifts]
    if drifting:
        found.append(
            f"{', '.join(drifting)}: the value has changed within the log, which interval={settings.interval!r} "
            "does not allow; the interval is that of interval='bernstein', for the average over the log"
        )
    if settings.method == "direct":
        found.append(
            "the direct method is biased where its model is"
            + (
                "; the interval is that of graph-dr"
                if settings.any_size
                else ", and its interval does not include that"
            )
        )
    if settings.clip is not None or settings.shrink is not None:
        found.append("weights were clipped or shrunk, so the values are biased")
    part = [v.name for v in table.values_by_name.values() if v.support < 1 - 1e-9]
    if part:
        found.append(f"{', '.join(part)}: the value is that of the supported arms alone")
    unknown = [v.name for v in table.values_by_name.values() if math.isnan(v.support)]
    if unknown:
        found.append(f"{', '.join(unknown)}: the log does not tell whether all arms could be revealed")
    if table.dropped:
        found.append(f"{table.dropped:,} rounds were left out, as rewards that were revealed are missing")
    return found
