"""The callers' own names for decisions: the same key again gives the same decision."""

import reprlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import numpy as np

from graphbandit.base.arm_names import ArmNames
from graphbandit.base.checks import setting_integer
from graphbandit.errors import InputError, SettingError, UnknownDecisionError
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import ARRAYS, Decisions


class Keys:
    """Decisions by key, in bounded memory: those that await rewards, and the `limit` that ended last.

    Each is kept whole, with the probabilities and gaps of every arm. Adding or ending one twice is like once.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._made: dict[str, Decision] = {}
        self._open: dict[int, str] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return key in self._made

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._made.values())

    def get(self, key: str) -> Decision | None:
        """A copy of the decision of this key; None if there is none, or it is no longer remembered."""
        found = self._made.get(key)
        return None if found is None else found.detached()

    def __getitem__(self, key: str) -> Decision:
        """A copy of the decision of this key, which is remembered."""
        return self._made[key].detached()

    def number(self, key: str) -> int:
        """The id of the decision of this key."""
        if key not in self._made:
            raise UnknownDecisionError(
                f"no decision has the key {key!r}; keys are kept while rewards are awaited, and of the last "
                f"{self.limit} decisions that await none"
            )
        return self._made[key].id

    def add(self, decision: Decision, *, awaits: bool) -> None:
        """Remember a decision that has a key."""
        assert decision.key is not None
        self._made[decision.key] = decision
        if awaits:
            self._open[decision.id] = decision.key
        else:
            self._end(decision.key)

    def end(self, number: int) -> None:
        """The decision of this id awaits no more rewards."""
        key = self._open.get(number)
        if key is not None:
            self._end(key)
            del self._open[number]

    def _end(self, key: str) -> None:
        self._ended[key] = None
        while len(self._ended) > self.limit:
            oldest = next(iter(self._ended))
            self._made.pop(oldest, None)
            del self._ended[oldest]

    def copied(self) -> "Keys":
        """The same keys, which change apart from these."""
        made = Keys(self.limit)
        made._made, made._open, made._ended = self._made.copy(), self._open.copy(), self._ended.copy()
        return made

    @property
    def ended(self) -> list[str]:
        """The keys of decisions that await no more rewards, in the order in which they ended."""
        return list(self._ended)


def check_keys(keys: object, n: int) -> list[Any]:
    """One key a round."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise SettingError(f"keys is {reprlib.repr(keys)}; expected a list of texts, one a round")
    given = list(keys)
    if len(given) != n:
        raise InputError(f"keys has {len(given)} keys for {n} rounds; expected one a round")
    return given


def check_key(key: object) -> str:
    """A caller's name of a decision: text that is not empty."""
    if not isinstance(key, str) or not key:
        raise SettingError(f"key is {reprlib.repr(key)}; expected text that names the decision, or None")
    return key


def keys_content(keys: Keys, *, own_arms: bool) -> dict[str, Any]:
    """Keys and their decisions as a file holds them; decisions of equally many arms are one batch.

    - `keys`: what is remembered.
    - `own_arms`: whether each decision has its own arms, whose names the file then holds, too.
    """
    groups = []
    for _, group in groupby(keys, key=lambda decision: decision.batch.probabilities.shape[1]):
        made = list(group)
        batch = Decisions.concatenate([one.batch for one in made])
        groups.append(
            {
                "keys": [one.key for one in made],
                "ids": np.array([one.id for one in made], dtype=np.int64),
                "seals": [one.seal for one in made],
                "revealed": [one.revealed for one in made],
                "decisions": {name: getattr(batch, name) for name in ARRAYS},
                "told": dict(batch.told),
                **({"arms": [None if one.arms is None else list(one.arms) for one in made]} if own_arms else {}),
            }
        )
    return {"max_keys": keys.limit, "keyed": groups, "ended_keys": keys.ended}


def keys_of(saved: dict[str, Any], identity: str, arms: ArmNames | None, opened: set[int]) -> Keys:
    """What `keys_content` made arrays of; `opened` are the decisions that await rewards."""
    keys, made = Keys(setting_integer("max_keys", saved["max_keys"], at_least=0)), {}
    for group in saved["keyed"]:
        batch = Decisions(**group["decisions"], told=group["told"])
        named = [arms] * len(group["keys"]) if "arms" not in group else list(map(_names, group["arms"]))
        if any(one is not None and len(one) < batch.probabilities.shape[1] for one in named):
            raise ValueError("its keys and their arms do not fit each other")
        columns = (group["keys"], group["ids"].tolist(), group["seals"], group["revealed"], batch.action)
        for row, (key, number, seal, revealed, action) in enumerate(zip(*columns, strict=True)):
            probability = float(batch.probability[row])
            decision = Decision(
                id=number,
                action=int(action),
                probability=probability,
                revealed=revealed,
                bandit=identity,
                batch=batch,
                row=row,
                arms=named[row],
                key=key,
                sealed=seal,
            ).detached()
            made[key] = decision
    ended = dict.fromkeys(saved["ended_keys"])
    if not set(ended) <= set(made) or any((one.id in opened) == (key in ended) for key, one in made.items()):
        raise ValueError("its keys and its open decisions do not fit each other")
    for key, decision in made.items():
        keys._made[key] = decision
        if key not in ended:
            keys._open[decision.id] = key
    for key in ended:
        keys._ended[key] = None
    return keys


def _names(names: Any) -> ArmNames | None:
    return None if names is None else ArmNames.of(names)
