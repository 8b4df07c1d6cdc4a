"""From JSON to numbers: how a context, or the arms that come with a request, become an array."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError


class Columns:
    """Declared columns of numbers, booleans, categories and cycles, after a constant 1.

    An unknown category has zeros in all its features; a missing number is 0.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._plan: list[tuple[str, str, Any, int]] = []
        at = 1
        for name, kind in columns.items():
            if kind in ("number", "boolean"):
                self._plan.append((name, kind, None, at))
                at += 1
            elif isinstance(kind, list) and kind and all(isinstance(value, str) for value in kind):
                self._plan.append((name, "category", {value: at + i for i, value in enumerate(kind)}, at))
                at += len(kind)
            elif isinstance(kind, dict) and set(kind) == {"cyclic"} and float(kind["cyclic"]) > 0:
                self._plan.append((name, "cyclic", 2 * math.pi / float(kind["cyclic"]), at))
                at += 2
            else:
                raise SettingError(
                    f'{name} is {kind!r}; expected "number", "boolean", a list of texts or {{ cyclic = 24 }}'
                )
        self.size = at
        self.names = frozenset(columns)

    def encode(self, context: Any) -> Float[np.ndarray, " d"]:
        """One context as numbers."""
        if not isinstance(context, dict):
            raise InputError(f"the context is {type(context).__name__}; expected an object")
        row = [0.0] * self.size
        row[0] = 1.0
        for name, kind, detail, at in self._plan:
            value = context.get(name)
            if value is None:
                continue
            if kind == "category":
                place = detail.get(value) if isinstance(value, str) else None
                if place is not None:
                    row[place] = 1.0
                continue
            if (value is True or value is False) if kind != "boolean" else not isinstance(value, bool):
                raise InputError(f"{name} is {value!r}; expected a {kind}")
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
            if not abs(number) <= 1e12:
                raise InputError(f"{name} is {value!r}; expected a number up to 1e12 in size")
            if kind == "cyclic":
                row[at], row[at + 1] = math.sin(number * detail), math.cos(number * detail)
            else:
                row[at] = number
        unknown = context.keys() - self.names
        if unknown:
            raise InputError(
                f"the context has {min(unknown)!r}; expected only {', '.join(sorted(self.names)) or 'no'} columns"
            )
        return np.array(row)


class Hashed:
    """Arms with features of any name: each becomes one place of `size` numbers, and so does each pair with the context.

    Texts count as "name=value", numbers as their value at "name"; objects and lists are walked through. Pairs of one
    feature of the context and one of the arm are hashed too, as arms differ in nothing else. The numbers of an arm
    have length 1.
    """

    def __init__(self, size: int, slots: int) -> None:
        self.size, self._slots = size, slots

    def encode(self, context: Any, arms: Sequence[Any]) -> Float[np.ndarray, "slots d"]:
        """Row i is arm i; rows without an arm are 0."""
        shared = list(_flattened(context, "c"))
        rows = np.zeros((self._slots, self.size))
        for row, features in zip(rows, arms, strict=False):
            own = list(_flattened(features, "a")) or [("a", 1.0)]
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
        return rows


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
