"""Notes for the reader of an evaluation: what is not guaranteed, and what was assumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphbandit.evaluation.settings import WITH_MODEL, Settings
from graphbandit.function_classes.base import FunctionClass

if TYPE_CHECKING:
    from graphbandit.evaluation.evaluation_table import Difference, EvaluationTable
    from graphbandit.evaluation.intervals import Outside

PART_NOTE = "values of policies with different support are those of different arms, so they are not compared"
"""The note on policies of which a part has no support."""

FEW = 100
"""With fewer effective rounds than this, an asymptotic interval is not trustworthy."""


def notes_of(table: EvaluationTable) -> list[str]:
    """The notes on a table, one sentence each."""
    settings = table.settings
    found = general_notes(settings, table.reward_range, table.model)
    if not settings.any_size:
        few = [v.name for v in table.values_by_name.values() if v.effective_sample_size < FEW]
        if few:
            found.append(
                f"{', '.join(few)}: fewer than {FEW} effective rounds, so this interval is likely too short; "
                "interval='betting' holds at any number of rounds"
            )
    learning = [name for name, policy in table.policies.items() if getattr(policy, "in_order", False)]
    if learning and settings.interval in ("betting", "sequence"):
        found.append(learning_note(learning))
    drifting = [v.name for v in table.values_by_name.values() if v.drifts]
    if drifting:
        found.append(drift_note(", ".join(drifting), settings))
    outside: Outside
    for outside in ("terms", "part"):
        names = [v.name for v in table.values_by_name.values() if v.outside == outside]
        if names:
            found.append(outside_note(names, outside, settings))
    if settings.method == "direct":
        found.append(
            "the direct method is biased where its model is"
            + (
                "; the interval is that of graph-dr"
                if settings.any_size
                else ", and its interval does not include that"
            )
        )
    part = [v.name for v in table.values_by_name.values() if v.support < 1 - 1e-9]
    if part:
        found.append(f"{', '.join(part)}: the value is that of the supported arms alone")
        if len(table) > 1:
            found.append(PART_NOTE)
    unknown = [v.name for v in table.values_by_name.values() if math.isnan(v.support)]
    if unknown:
        found.append(f"{', '.join(unknown)}: the log does not tell whether all arms could be revealed")
    if table.dropped:
        found.append(f"{table.dropped:,} rounds were left out, as rewards that were revealed are missing")
    return found


def all_notes(table: EvaluationTable, differences: Sequence[Difference]) -> list[str]:
    """The notes of a table and of differences, each once."""
    return list(dict.fromkeys([*table.notes, *(note for difference in differences for note in difference.notes)]))


def general_notes(settings: Settings, reward_range: tuple[float, float], model: Any) -> list[str]:
    """The notes that apply to every policy and every difference evaluated with these settings."""
    found = []
    if settings.any_size and settings.reward_range is None:
        low, high = reward_range
        found.append(
            f"the interval holds if rewards lie in [{low:g}, {high:g}]: the range was taken from the log; "
            "state it with reward_range=(lowest, highest)"
        )
    if settings.any_size and settings.method in WITH_MODEL:
        if model is not None and not isinstance(model, FunctionClass):
            found.append("the interval holds if the predictions of the model come from other data than this log")
        elif settings.fitting == "cross":
            found.append(
                f"interval={settings.interval!r} is not guaranteed with fit='cross', as the models have seen rounds "
                "that come later; fit='past' keeps the guarantee"
            )
    if not settings.any_size:
        found.append(
            f"interval={settings.interval!r} holds for many independent rounds; it is only approximate where the "
            "log's probabilities depend on its past, as those of a learner do, and interval='betting' holds there"
        )
    if settings.largest_weight is not None or settings.shrink is not None:
        found.append("weights were clipped or shrunk, so the values are biased")
    return found


def drift_note(names: str, settings: Settings) -> str:
    """The note that a value has changed, so that another interval is used."""
    return (
        f"{names}: the value seems to have changed within the log, which interval={settings.interval!r} "
        "does not allow; the interval is widened to that of interval='bernstein', for the average over the log"
    )


def outside_note(names: Sequence[str], outside: Outside, settings: Settings) -> str:
    """The note that values lie outside of their intervals, and why."""
    beyond = f"{', '.join(names)}: the value lies outside of its interval"
    if settings.method == "direct":
        return f"{beyond}, which is that of graph-dr, so the model is wrong"
    if outside == "terms":
        return (
            f"{beyond}, which is built on other terms than the value: the reward range bounds them, so heavy weights "
            "and the model move the value further; rely on the interval"
        )
    return (
        f"{beyond}, as a part of the log rules it out if the value stays the same; it probably changed within the log, "
        f"which interval={settings.interval!r} does not allow, and interval='bernstein' does"
    )


def learning_note(names: Sequence[str]) -> str:
    """The note that a policy which learns has no single value."""
    return (
        f"{', '.join(names)}: the policy changes as it learns, so this interval is approximate; "
        "interval='bernstein' holds for the average over the log"
    )
