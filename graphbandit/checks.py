"""Checks of what users hand in: each names the value that was wrong and what is expected."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Bool, Float, Shaped

from graphbandit.errors import InputError, SettingError


def setting_integer(name: str, value: object, *, at_least: int) -> int:
    """`value` as a whole number that is not below `at_least`."""
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise SettingError(f"{name} is {value!r}; expected a whole number") from None
    if isinstance(value, bool) or whole < at_least:
        raise SettingError(f"{name} is {value!r}; expected a whole number of at least {at_least}")
    return whole


def setting_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
) -> float:
    """`value` as a finite number within the bounds given."""
    wanted = [f"above {above:g}"] if above is not None else []
    wanted += [f"at least {at_least:g}"] if at_least is not None else []
    wanted += [f"below {below:g}"] if below is not None else []
    expected = "expected a finite number" + (" " + " and ".join(wanted) if wanted else "")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise SettingError(f"{name} is {value!r}; {expected}") from None
    if (
        isinstance(value, bool | str)
        or not math.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (below is not None and number >= below)
    ):
        raise SettingError(f"{name} is {value!r}; {expected}")
    return number


def setting_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """`value` is one of `choices`."""
    if value not in choices:
        raise SettingError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")


def setting_array(name: str, value: npt.ArrayLike, shape: tuple[int | str, ...]) -> Float[np.ndarray, "..."]:
    """`value` as a read-only float array of finite numbers; names in `shape` stand for any positive size."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"{name} is not an array of numbers") from None
    fits = array.ndim == len(shape) and all(
        size == wanted if isinstance(wanted, int) else size > 0 for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise SettingError(f"{name} has shape {array.shape}; expected ({', '.join(map(str, shape))})")
    if not np.isfinite(array).all():
        raise SettingError(f"{name} has {first_not_finite(array)}; expected finite numbers")
    array.flags.writeable = False
    return array


def first_not_finite(array: Shaped[np.ndarray, "..."]) -> str:
    """The first value that is not finite and where it stands."""
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    where = f"[{', '.join(map(str, place))}]" if place else "it"
    return f"{array[place]} at {where}"


def contexts_array(contexts: npt.ArrayLike) -> Shaped[np.ndarray, "n ..."]:
    """Contexts as an array with the round as its first axis, of finite numbers."""
    array = np.asarray(contexts)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        raise InputError(f"contexts have type {array.dtype}; expected numbers")
    if array.ndim == 0:
        raise InputError("contexts are a single number; expected an array with the round as its first axis")
    if not np.isfinite(array).all():
        raise InputError(f"contexts have {first_not_finite(array)}; expected finite numbers")
    return array.astype(np.float64, copy=False)


def available_array(available: npt.ArrayLike | None, n: int, n_arms: int) -> Bool[np.ndarray, "n arms"] | None:
    """The mask of arms on offer, one row a round, at least one arm in each; None when all are."""
    if available is None:
        return None
    mask: np.ndarray[Any, np.dtype[Any]] = np.asarray(available)
    if mask.dtype != np.bool_:
        raise InputError(f"available has type {mask.dtype}; expected booleans")
    if mask.ndim == 1:
        mask = np.broadcast_to(mask, (n, mask.shape[0]))
    if mask.shape != (n, n_arms):
        raise InputError(f"available has shape {mask.shape}; expected ({n}, {n_arms}) or ({n_arms},)")
    empty = np.flatnonzero(~mask.any(axis=1))
    if len(empty):
        raise InputError(f"available offers no arm in round {empty[0]} of the batch; expected at least one")
    return mask
