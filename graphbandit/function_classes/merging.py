"""Data of a function class that was gathered in parts, as one: for classes that keep sums."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphbandit.errors import SettingError
from graphbandit.function_classes.finite_base import FiniteData
from graphbandit.function_classes.linear import LinearData


def keeps_sums(data: Any) -> bool:
    """Whether these are data of a class that keeps sums, whose size does not grow with what is added."""
    return isinstance(data, LinearData | FiniteData)


def merged(parts: Sequence[Any]) -> Any:
    """The data of several parts, equal to that of one pass up to rounding.

    Raises SettingError for data of a class that keeps no sums, or that forgets: there the order of rounds counts.
    """
    if len({type(part) for part in parts}) != 1 or not isinstance(parts[0], LinearData | FiniteData):
        kinds = ", ".join(sorted({type(part).__name__ for part in parts}))
        raise SettingError(
            f"data of {kinds} cannot be merged; expected that of a class that keeps sums, such as LinearClass, "
            "KernelClass or FiniteClass"
        )
    if any(part.half_life is not None for part in parts):
        raise SettingError("data with a half-life cannot be merged; expected data that forgets nothing")
    seen = [part for part in parts if part.count] or list(parts[:1])
    whole = seen[0]
    for part in seen[1:]:
        whole = _two(whole, part)
    return whole


def _two(one: Any, two: Any) -> Any:
    common = {
        "count": one.count + two.count,
        "weight": one.weight + two.weight,
        "lowest": min(one.lowest, two.lowest),
        "highest": max(one.highest, two.highest),
        "newest": max(one.newest, two.newest),
    }
    if isinstance(one, FiniteData):
        return replace(one, losses=one.losses + two.losses, **common)
    # rewards of the second part count from its own first reward: y - s1 = (y - s2) + (s2 - s1)
    shift = two.shift - one.shift
    squares = one.squares + two.squares + 2.0 * shift * two.total + shift**2 * two.weight
    return replace(
        one,
        matrices=one.matrices + two.matrices,
        moments=one.moments + two.moments + shift * two.sums,
        sums=one.sums + two.sums,
        total=one.total + two.total + shift * two.weight,
        squares=max(float(squares), 0.0),
        **common,
    )
