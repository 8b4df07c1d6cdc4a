"""From JSON to numbers: how a context, or the arms that come with a request, become an array."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.features import NOTHING, Encoder, Features, Tally
from graphbandit.features.column_kinds import boolean, category, cyclic, number
from graphbandit.learners.problem import Problem

KINDS: dict[str, Callable[..., Any]] = {"number": number, "boolean": boolean, "category": category, "cyclic": cyclic}


def declared(columns: Mapping[str, Any]) -> Features:
    """The features that a configuration declares; columns that a context lacks count as missing.

    >>> declared({"age": "number", "hour": {"cyclic": 24}, "size": {"kind": "number", "scale": 10.0}}).column_names
    ('age', 'hour', 'size')
    """
    return Features({name: _column(name, kind) for name, kind in columns.items()}, absent="missing")


def _column(name: str, kind: Any) -> Any:
    if not isinstance(kind, dict):
        return kind
    if set(kind) == {"cyclic"}:
        return cyclic(kind["cyclic"])
    settings = dict(kind)
    make = KINDS.get(settings.pop("kind", ""))
    if make is None:
        raise SettingError(f"{name} is {kind!r}; expected {{ cyclic = 24 }}, or a kind of {', '.join(KINDS)}")
    try:
        return make(**settings)
    except TypeError as error:
        raise SettingError(f"{name} is {kind!r}: {error}") from None


class Hashed:
    """Arms with features of any name: each feature is hashed to one of `size` numbers.

    A text counts 1 at "name=value", a number counts its value at "name"; objects and lists are walked through. Pairs of
    one feature of the context and one of the arm are hashed too, because the context alone is the same for all arms.
    The numbers of an arm have length 1.
    """

    def __init__(self, size: int, slots: int) -> None:
        self.size, self._slots = size, slots

    def rows(self, arms: Sequence[Any]) -> tuple[list[list[tuple[str, float]]], Tally]:
        """The features of each arm, by name; they are hashed together with the context."""
        return [list(_flattened(features, "a")) or [("a", 1.0)] for features in arms], NOTHING

    def paired(
        self, context: Any, arms: Sequence[Sequence[tuple[str, float]]]
    ) -> tuple[Float[np.ndarray, "slots d"], Tally]:
        """Row i is arm i; rows without an arm are 0."""
        shared = list(_flattened(context, "c"))
        rows = np.zeros((self._slots, self.size))
        for row, own in zip(rows, arms, strict=False):
            for name, value in own:
                place, sign = _place(name, self.size)
                row[place] += sign * value
            for name, value in own:
                for other, worth in shared:
                    place, sign = _place(f"{name}\0{other}", self.size)
                    row[place] += sign * value * worth
            length = math.sqrt(float(row @ row))
            if length > 0:
                row /= length
        return rows, NOTHING


class Declared:
    """Arms with declared features, as a problem with a capacity takes them."""

    def __init__(self, problem: Problem, size: int) -> None:
        self._problem, self.size = problem, size

    def rows(self, arms: Sequence[Any]) -> tuple[Float[np.ndarray, "arms e"], Tally]:
        """The features of the arms, and what of them was unknown or missing."""
        assert isinstance(self._problem.arm_features, Encoder)  # a problem with a capacity has one
        return self._problem.arm_features.encode_counted(list(arms))

    def paired(self, context: Any, arms: Float[np.ndarray, "arms e"]) -> tuple[Float[np.ndarray, "slots d"], Tally]:
        """Rows, and the context's tally: row i is arm i with the context; rows without an arm are 0."""
        if not isinstance(context, dict):
            raise InputError(f"the context is {type(context).__name__}; expected an object")
        x, tally = self._problem.encode(context, many=False)
        places: Float[np.ndarray, "slots d"] = self._problem.with_arms(x, [arms])[0]
        return places, tally


def _flattened(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flattened(item, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flattened(item, name)
    elif isinstance(value, bool | str):
        yield f"{name}={value}", 1.0
    elif value is not None:
        number = float(value)
        if not abs(number) <= 1e12:
            raise InputError(f"{name} is {value!r}; expected a number up to 1e12 in size")
        yield name, number


@lru_cache(maxsize=65536)
def _place(name: str, size: int) -> tuple[int, float]:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % size, 1.0 if number & 1 else -1.0
