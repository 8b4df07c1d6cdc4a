"""Rounds of a dsjson file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphbandit.interop.vw.vw_round import FeatureValues, LineError, Skipped, VwRound, lines_of

ROUNDING = 1e-4
"""How far the probabilities of a round may be from a sum of one; they are scaled to it, as files hold few digits."""


def rounds(path: Path) -> Iterator[VwRound | Skipped]:
    """The rounds of a file, in its order."""
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except ValueError as error:
            raise LineError(f"not JSON: {error}", number) from None
        try:
            yield _round(content, number)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, LineError):
                raise
            raise LineError(f"not a decision in dsjson: {type(error).__name__}: {error}", number) from None


def _round(content: dict[str, Any], line: int) -> VwRound | Skipped:
    if not isinstance(content, dict):
        raise LineError(f"a {type(content).__name__}; expected an object", line)
    if "c" not in content and "RewardValue" in content:
        return Skipped("a reward without a decision")
    if content.get("_skipLearn") is True:
        return Skipped("an event that was not activated (_skipLearn)")
    context = content.get("c")
    if not isinstance(context, dict) or not isinstance(context.get("_multi"), list) or not context["_multi"]:
        raise LineError("c has no arms; expected them as c._multi", line)
    if "_slots" in context or "_outcomes" in content:
        raise LineError("several slots; expected one decision a line", line)
    arms: list[Any] = context["_multi"]
    k = len(arms)
    ranking = [_arm(arm, k, line, "a") for arm in content.get("a", ())]
    if "_label_Action" in content:
        action = _arm(content["_label_Action"], k, line, "_label_Action")
    elif ranking:
        action = ranking[0]
    else:
        raise LineError("no action; expected _label_Action, or a ranking a", line)
    p = None if content.get("p") is None else _probabilities(content["p"], ranking, k, line)
    told = content.get("_label_probability")
    if told is None and p is None:
        raise LineError("no probability; expected _label_probability, or p", line)
    probability = _number(p[action] if told is None and p is not None else told, "_label_probability", line)
    if p is not None:
        if abs(p[action] - probability) > ROUNDING:
            raise LineError(f"_label_probability is {probability}, but p has {p[action]} for the action", line)
        probability = p[action]
    found = VwRound(
        line=line,
        shared=_features({name: value for name, value in context.items() if name != "_multi"}),
        arms=[_features(arm) for arm in arms],
        action=action,
        probability=probability,
        probabilities=p,
        edges=_edges(context.get("_graph"), k, line),
        tags=[str(arm["_tag"]) for arm in arms] if all("_tag" in arm for arm in arms) else None,
        key=None if content.get("EventId") is None else str(content["EventId"]),
        time=content.get("Timestamp"),
    )
    if content.get("_label_cost") is not None:
        found.rewards[action] = 0.0 - _number(content["_label_cost"], "_label_cost", line)
    _add_outcomes(found, content.get("o"), k)
    return found


def _add_outcomes(found: VwRound, outcomes: Any, k: int) -> None:
    """Rewards of further arms, as `write_dsjson` has them; other outcomes are already part of `_label_cost`."""
    for outcome in outcomes if isinstance(outcomes, list) else ():
        if isinstance(outcome, dict) and "a" in outcome and "v" in outcome:
            arm = _arm(outcome["a"], k, found.line, "o.a")
            found.rewards[arm] = _number(outcome["v"], "o.v", found.line)
            if outcome.get("p") is not None:
                found.observation_probabilities[arm] = _number(outcome["p"], "o.p", found.line)


def _probabilities(values: Any, ranking: list[int], k: int, line: int) -> list[float]:
    if len(values) != len(ranking) or len(set(ranking)) != len(ranking):
        raise LineError(f"p has {len(values)} numbers and a {len(ranking)}; expected one of each for every arm", line)
    p = [0.0] * k
    for arm, value in zip(ranking, values, strict=True):
        p[arm] = _number(value, "p", line)
        if p[arm] < 0:
            raise LineError(f"p has {p[arm]}; expected numbers from 0 to 1", line)
    total = math.fsum(p)
    if abs(total - 1) > ROUNDING:
        raise LineError(f"p sums to {total}; expected 1", line)
    return [value / total for value in p]


def _edges(graph: Any, k: int, line: int) -> list[tuple[int, int, float]] | None:
    """Turned round: playing column reveals row."""
    if graph is None:
        return None
    return [edge(int(entry["row"]), int(entry["col"]), float(entry["val"]), k, line) for entry in graph]


def edge(row: int, column: int, value: float, k: int, line: int) -> tuple[int, int, float]:
    """An entry of a graph of Vowpal Wabbit, turned round and checked."""
    if not (0 <= row < k and 0 <= column < k and 0 <= value <= 1):
        raise LineError(f"the graph has {row},{column},{value:g}; expected places of 0 .. {k - 1} and 0 to 1", line)
    return column, row, value


def _arm(value: Any, k: int, line: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= k:
        raise LineError(f"{name} has {value!r}; expected an arm of 1 .. {k}", line)
    return value - 1


def _number(value: Any, name: str, line: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LineError(f"{name} has {value!r}; expected a finite number", line)
    return float(value)


def _features(value: Any, prefix: str = "") -> FeatureValues:
    """Numbers as they are, texts as name=text, true as 1; false, null and names that begin with _ are left out."""
    found: FeatureValues = {}
    items = value.items() if isinstance(value, dict) else ((str(i), each) for i, each in enumerate(value))
    for name, each in items:
        if isinstance(value, dict) and name.startswith("_"):
            continue
        full = f"{prefix}.{name}" if prefix else name
        if isinstance(each, bool):
            if each:
                found[full] = 1.0
        elif isinstance(each, int | float):
            found[full] = float(each)
        elif isinstance(each, str):
            found[f"{full}={each}"] = 1.0
        elif isinstance(each, list) and each and all(isinstance(one, dict) for one in each):
            for one in each:
                found |= _features(one, full)
        elif isinstance(each, dict | list):
            found |= _features(each, full)
    return found
