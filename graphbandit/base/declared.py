"""One declaration and one check for every array and number that a saved value holds.

A savable dataclass declares its fields by their annotations: ``Float[np.ndarray, "blocks d"]`` says type and axes, and
axes of the same name must agree within one value. `limits` adds a range. `check_declared` checks a value against
all of it; kernels trust what has passed.
"""

import operator
import types
from dataclasses import fields
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np

from graphbandit.base.checks import all_finite, first_not_finite
from graphbandit.base.shapes import array_shape
from graphbandit.errors import InputError

_TYPES = {
    "Bool": np.bool_,
    "Float": np.float64,
    "Int": np.int64,
    "Int32": np.int32,
    "Int64": np.int64,
    "UInt8": np.uint8,
    "UInt64": np.uint64,
}


def limits(
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    finite: bool = True,
    diagonal_above: float | None = None,
) -> dict[str, Any]:
    """The metadata of a field with a range: ``count: int = field(metadata=limits(at_least=0))``.

    - `at_least`: the least number allowed.
    - `above`: all numbers are larger than this.
    - `at_most`: the largest number allowed.
    - `finite`: whether arrays must be finite; numbers that are not arrays may be infinite, never NaN.
    - `diagonal_above`: the diagonal of the last two axes is larger than this, as that of a Cholesky factor.
    """
    return {
        "at_least": at_least,
        "above": above,
        "at_most": at_most,
        "finite": finite,
        "diagonal_above": diagonal_above,
    }


def check_declared(value: Any) -> None:
    """Raise InputError unless every field of this dataclass is what its annotation and its limits say.

    The axis "arms" has the length `n_arms` of the value, or of its `problem`, if it has one. An axis "x_or_one" has
    the length of the axis "x", or 1; "x_or_none" that length, or 0.
    """
    sizes: dict[str, int] = {}
    n_arms = getattr(value, "n_arms", getattr(getattr(value, "problem", None), "n_arms", None))
    if isinstance(n_arms, int):
        sizes["arms"] = n_arms
    arrays, found = [], []
    cls: Any = type(value)
    for declared in _declarations(cls):
        one = getattr(value, declared.name)
        found.append((declared, one))
        if declared.array is None or (one is None and declared.may_be_none):
            _check_value(declared, one)
        else:
            _check_kind(declared.title, one, declared.array[0])
            arrays.append((declared.title, one.shape, declared.array[1]))
    for alternatives in (False, True):
        for title, lengths, axes in arrays:
            _check_axes(title, lengths, axes, sizes, alternatives=alternatives)
    for declared, one in found:
        _check_limits(declared, one)


class Declared:
    """A savable value whose fields are checked against their annotations and limits when it is made."""

    def __post_init__(self) -> None:
        check_declared(self)


class _Declaration(NamedTuple):
    """What a field may be."""

    name: str
    title: str
    """how messages call it"""
    array: tuple[str, tuple[str, ...]] | None
    """kind and axes, of an array"""
    may_be_none: bool
    kinds: tuple[Any, ...] | None
    limits: dict[str, Any]


@cache
def _declarations(cls: type) -> list[_Declaration]:
    """The declarations of all fields that the constructor takes."""
    found = []
    for f in fields(cls):
        if f.init and not isinstance(f.type, str):
            options = get_args(f.type) if get_origin(f.type) in (Union, types.UnionType) else (f.type,)
            array = next((shape for shape in map(array_shape, options) if shape is not None), None)
            kind_and_axes = array and (array[0], tuple(array[1].split()))
            title, within = f"{cls.__name__}.{f.name}", dict(f.metadata) or limits()
            found.append(_Declaration(f.name, title, kind_and_axes, type(None) in options, _kinds(f.type), within))
    return found


def _check_kind(title: str, found: object, kind: str) -> None:
    if not isinstance(found, np.ndarray):
        raise InputError(f"{title} is a {type(found).__name__}; expected an array")
    expected = _TYPES.get(kind)
    if expected is not None and found.dtype != expected:
        raise InputError(f"{title} has type {found.dtype}; expected {np.dtype(expected)}")
    if expected is None and found.dtype.kind not in "biuf":
        raise InputError(f"{title} has type {found.dtype}; expected numbers")


def _check_axes(
    title: str, lengths: tuple[int, ...], axes: tuple[str, ...], sizes: dict[str, int], *, alternatives: bool
) -> None:
    """Compare lengths with the names of axes; names with an alternative ("_or_one") are checked in a second pass."""
    names = axes
    if "..." in names:
        place = names.index("...")
        behind = len(names) - place - 1
        lengths = lengths[:place] + lengths[len(lengths) - behind :] if len(lengths) >= len(names) - 1 else ()
        names = names[:place] + names[place + 1 :]
    if len(lengths) != len(names):
        raise InputError(f"{title} has shape {lengths}; expected the axes ({', '.join(names)})")
    for length, name in zip(lengths, names, strict=True):
        base, _, other = name.partition("_or_")
        if other not in ("one", "none"):
            expected = int(name) if name.isdigit() else sizes.setdefault(name, length)
            fits = length == expected
        else:
            expected = sizes.get(base, length)
            fits = not alternatives or length in (expected, 1 if other == "one" else 0)
            fits = fits and sizes.setdefault(name, length) == length
        if not fits:
            raise InputError(f"{title} has shape {lengths}; expected {expected} along the axis {name}")


def _check_value(declared: _Declaration, found: object) -> None:
    kinds = declared.kinds
    if kinds is None:
        return
    if not any(_is_of(found, kind) for kind in kinds):
        names = " or ".join(repr(k) if isinstance(k, str) else getattr(k, "__name__", str(k)) for k in kinds)
        raise InputError(f"{declared.title} is {found!r}; expected {names}")
    if isinstance(found, float) and found != found:
        raise InputError(f"{declared.title} is nan; expected a number")


def _kinds(annotation: Any) -> tuple[Any, ...] | None:
    """The types, or the words of a Literal, that an annotation allows; None if it does not say in a simple way."""
    origin = get_origin(annotation)
    if annotation is Any:
        return None
    if origin in (Union, types.UnionType):
        options = [_kinds(option) for option in get_args(annotation)]
        return None if None in options else tuple(kind for option in options if option is not None for kind in option)
    if origin is Literal:
        return get_args(annotation)
    kind = origin if isinstance(origin, type) else annotation
    return (kind,) if isinstance(kind, type) and kind is not object else None


def _is_of(found: object, kind: Any) -> bool:
    if isinstance(kind, str):
        return found == kind
    if kind in (int, float):
        return isinstance(found, (int, np.integer) if kind is int else (int, float, np.number)) and not isinstance(
            found, bool
        )
    if kind in (tuple, list):
        return isinstance(found, tuple | list)  # a saved file does not tell them apart
    is_protocol = getattr(kind, "_is_protocol", False)  # with which isinstance does not work
    return is_protocol or isinstance(found, kind)


def _check_limits(declared: _Declaration, found: Any) -> None:
    title, within = declared.title, declared.limits
    if isinstance(found, np.ndarray):
        if within["finite"] and found.dtype.kind == "f" and not all_finite(found):
            raise InputError(f"{title} has {first_not_finite(found)}; expected finite numbers")
    elif not isinstance(found, float | int):
        return
    if within["diagonal_above"] is not None:
        diagonal = np.diagonal(found, axis1=-2, axis2=-1) if np.ndim(found) >= 2 else np.asarray(found)
        if not (diagonal > within["diagonal_above"]).all():
            raise InputError(f"{title} has {diagonal.min()} on a diagonal; expected above {within['diagonal_above']:g}")
    for word, fits in _COMPARISONS:
        limit = within[word]
        if limit is not None and not np.all(fits(found, limit)):
            worst = found[~fits(found, limit)].flat[0] if np.ndim(found) else found
            raise InputError(f"{title} has {worst}; expected {word.replace('_', ' ')} {limit:g}")


_COMPARISONS = (("at_least", operator.ge), ("above", operator.gt), ("at_most", operator.le))
