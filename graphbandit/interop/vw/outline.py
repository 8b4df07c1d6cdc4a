"""The first pass through a file: how many rounds and arms there are, and which features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphbandit.errors import LogError, SettingError
from graphbandit.interop.vw.vw_round import Skipped, VwRound


@dataclass
class Outline:
    """What a file holds.

    - `rounds`, `skipped`: how many lines are rounds, and how many are left out, by the reason.
    - `n_arms`, `tags`: the arms, by their tags if all have one.
    - `shared`, `arms`: the features of rounds and of arms, sorted.
    - `same_arms`: whether every arm has the same features in all rounds.
    - `graphs`, `probabilistic`, `probabilities`, `keys`, `times`: whether rounds have graphs, edges with a probability
      below 1, the probabilities of all arms, names, and times.
    - `all_arms`: whether all arms are on offer in every round.
    """

    rounds: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    n_arms: int = 0
    tags: dict[str, int] | None = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    arms: dict[str, int] = field(default_factory=dict)
    same_arms: bool = True
    graphs: bool = False
    probabilistic: bool = False
    probabilities: bool = True
    keys: bool = False
    times: bool = True
    all_arms: bool = True


def outline_of(rounds: Iterable[VwRound | Skipped], max_features: int, chosen: Sequence[str] | None) -> Outline:
    """Go through a file."""
    found = Outline()
    wanted = None if chosen is None else set(chosen)
    shared: set[str] = set()
    arms: set[str] = set()
    sizes: set[int] = set()
    by_tag: dict[str, dict[str, float]] = {}
    by_place: list[dict[str, float]] = []
    same_tags = same_places = True
    for one in rounds:
        if isinstance(one, Skipped):
            found.skipped[one.why] = found.skipped.get(one.why, 0) + 1
            continue
        found.rounds += 1
        sizes.add(len(one.arms))
        shared.update(one.shared)
        for place, features in enumerate(one.arms):
            arms.update(features)
            if place == len(by_place):
                by_place.append(features)
            same_places = same_places and by_place[place] == features
        if one.tags is None or len(set(one.tags)) < len(one.tags):
            found.tags = None
        elif found.tags is not None:
            for tag, features in zip(one.tags, one.arms, strict=True):
                found.tags.setdefault(tag, len(found.tags))
                same_tags = same_tags and by_tag.setdefault(tag, features) == features
        found.graphs |= one.edges is not None
        found.probabilistic |= one.edges is not None and any(0 < value < 1 for _, _, value in one.edges)
        found.probabilities &= one.probabilities is not None
        found.keys |= one.key is not None
        found.times &= one.time is not None
        if wanted is None and len(shared) + len(arms) > max_features:
            raise LogError(
                f"there are more than {max_features:,} different features; expected features=[...], those you want, "
                "or a larger max_features"
            )
    if not found.rounds:
        raise LogError("there are no decisions; expected at least one")
    if wanted is not None:
        unknown = [name for name in chosen or () if name not in shared and name not in arms]
        if unknown:
            raise SettingError(f"features has {unknown[0]!r}, which is not in the file; expected some of its features")
        shared, arms = shared & wanted, arms & wanted
    found.n_arms = max(sizes) if found.tags is None else len(found.tags)
    found.all_arms = sizes == {found.n_arms}
    found.same_arms = same_places if found.tags is None else same_tags
    found.shared = {name: place for place, name in enumerate(sorted(shared, key=_natural))}
    found.arms = {name: place for place, name in enumerate(sorted(arms, key=_natural))}
    return found


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts x.2 before x.10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]
