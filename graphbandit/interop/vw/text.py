"""Rounds of a file in the text format of `--cb_adf`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from graphbandit.interop.vw.dsjson import edge
from graphbandit.interop.vw.vw_round import FeatureValues, LineError, Skipped, VwRound, lines_of

PROBABILITIES = "p="
"""How the tag of a shared line begins if it has the probabilities of all arms."""


def rounds(path: Path) -> Iterator[VwRound | Skipped]:
    """The rounds of a file: groups of lines between empty ones."""
    group: list[tuple[int, str]] = []
    for number, line in enumerate(lines_of(path), start=1):
        if line.strip():
            group.append((number, line.strip()))
        elif group:
            yield _round(group)
            group = []
    if group:
        yield _round(group)


def _round(group: list[tuple[int, str]]) -> VwRound:
    first = group[0][0]
    shared: FeatureValues = {}
    entries: tuple[str, ...] | None = None
    tag = ""
    if group[0][1].split("|", 1)[0].split()[:1] == ["shared"]:
        head, shared = _parts(*group[0])
        words = head.split()[1:]
        if words and (words[-1].startswith("'") or not head[-1:].isspace()):
            tag = words.pop().lstrip("'")
        if words[:1] == ["graph"]:
            entries = tuple(words[1:])
        elif words:
            raise LineError(f"the shared line has {head!r} before its features; expected a graph, or nothing", first)
        group = group[1:]
    if not group:
        raise LineError("there are no arms; expected a line for each after the shared line", first)
    arms, labels, tags = [], {}, []
    for place, (number, line) in enumerate(group):
        head, features = _parts(number, line)
        arms.append(features)
        label, name = _label(head, number)
        tags.append(name)
        if label is not None:
            labels[place] = label
    action = _played(labels, entries is not None, first)
    return VwRound(
        line=first,
        shared=shared,
        arms=arms,
        action=action,
        probability=labels[action][2],
        probabilities=_probabilities(tag, len(arms), first) if tag.startswith(PROBABILITIES) else None,
        rewards={place: 0.0 - cost for place, (_, cost, _) in labels.items()},
        observation_probabilities={place: p for place, (_, _, p) in labels.items() if place != action},
        edges=None if entries is None else _edges(entries, len(arms), first),
        tags=tags if all(tags) else None,
        key=None if not tag or tag.startswith(PROBABILITIES) else tag,
    )


def _probabilities(tag: str, k: int, line: int) -> list[float]:
    """Those of all arms, which `write_text` puts into the tag of the shared line, where Vowpal Wabbit ignores them."""
    p = [_number(word, line) for word in tag.removeprefix(PROBABILITIES).split(",")]
    if len(p) != k:
        raise LineError(f"the tag has {len(p)} probabilities; expected {k}, one for each arm", line)
    return p


def _played(labels: dict[int, tuple[int, float, float]], graph: bool, line: int) -> int:
    """The arm that was played: the one with a label; of several, the one that all of them name."""
    if len(labels) == 1:
        return next(iter(labels))
    if not labels:
        raise LineError("no arm has a label; expected action:cost:probability at the arm that was played", line)
    if not graph:
        raise LineError(f"{len(labels)} arms have a label, and there is no graph; expected one label", line)
    named = {action for action, _, _ in labels.values()}
    if len(named) > 1 or not named <= set(labels):
        raise LineError(
            f"{len(labels)} arms have a label, of the actions {sorted(named)}; expected the place of the arm that was "
            "played, from 0, the same in all, and a label there",
            line,
        )
    return named.pop()


def _parts(number: int, line: str) -> tuple[str, FeatureValues]:
    """The text before the features of a line, and the features."""
    head, *spaces = line.split("|")
    found: FeatureValues = {}
    for space in spaces:
        words = space.split()
        name, scale = "", 1.0
        if words and not space[:1].isspace():
            name, _, weight = words.pop(0).partition(":")
            scale = _number(weight, number) if weight else 1.0
        for word in words:
            feature, _, value = word.partition(":")
            full = f"{name}.{feature}" if name else feature
            found[full] = scale * (_number(value, number) if value else 1.0)
    return head, found


def _label(head: str, number: int) -> tuple[tuple[int, float, float] | None, str]:
    """(action, cost, probability) of an arm, if it has one, and its tag."""
    words = head.split()
    tag = words.pop().lstrip("'") if words and (words[-1].startswith("'") or ":" not in words[-1]) else ""
    if not words:
        return None, tag
    values = words[0].split(":")
    if len(words) > 1 or len(values) != 3:
        raise LineError(f"the label is {head.strip()!r}; expected action:cost:probability", number)
    if not values[0].isdigit():
        raise LineError(f"the action of a label is {values[0]!r}; expected a whole number", number)
    return (int(values[0]), _number(values[1], number), _number(values[2], number)), tag


def _edges(entries: tuple[str, ...], k: int, line: int) -> list[tuple[int, int, float]]:
    try:
        return _known_edges(entries, k)
    except LineError as error:
        raise LineError(error.message, line) from None


@lru_cache(maxsize=1024)  # most rounds repeat the graph of another
def _known_edges(entries: tuple[str, ...], k: int) -> list[tuple[int, int, float]]:
    edges = []
    for word in entries:
        values = word.split(",")
        if len(values) != 3 or not (values[0].isdigit() and values[1].isdigit()):
            raise LineError(f"the graph has {word!r}; expected row,column,value", 0)
        edges.append(edge(int(values[0]), int(values[1]), _number(values[2], 0), k, 0))
    return edges


def _number(text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LineError(f"there is {text!r}; expected a finite number", line)
    return value
