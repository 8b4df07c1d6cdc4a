"""Checks of what users hand in: each names the value that was wrong and what is expected."""

import math
import operator
import reprlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.shapes import Bool, Float, Shaped
from graphbandit.errors import GraphBanditError, InputError, SettingError

LARGEST = 1e100
"""Rewards and their estimates are refused beyond this size: sums of their squares must stay finite."""

LARGEST_FEATURE = 1e30
"""Contexts and features are refused beyond this size: their squares times rewards must stay finite, and many regressors
compute in single precision."""

LARGEST_SCALE = 1e25
"""Scales (of noise, a prior or a range of rewards) are refused beyond this size: their products must stay finite."""


FLOAT, BOOL, INTEGER = np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.int64)
"""Types of arrays; comparing with these, or making arrays of them, is faster than with NumPy's classes."""


def setting_integer(name: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """`value` as a whole number within the bounds given."""
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise SettingError(f"{name} is {reprlib.repr(value)}; expected a whole number") from None
    if isinstance(value, bool) or whole < at_least:
        raise SettingError(f"{name} is {value!r}; expected a whole number of at least {at_least}")
    if at_most is not None and whole > at_most:
        raise SettingError(f"{name} is {reprlib.repr(value)}; expected a whole number of at most {at_most}")
    return whole


def setting_boolean(name: str, value: object) -> None:
    """`value` is Python's own True or False, as it is saved."""
    if not isinstance(value, bool):
        raise SettingError(f"{name} is {reprlib.repr(value)}; expected True or False")


def setting_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """`value` as a finite number within the bounds given."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    fits = (above is None or number > above) and (at_least is None or number >= at_least)
    fits = fits and (below is None or number < below) and (at_most is None or number <= at_most)
    if fits and math.isfinite(number) and not isinstance(value, bool | str | bytes | np.ndarray):
        return number
    bounds = {"above": above, "of at least": at_least, "below": below, "of at most": at_most}
    expected = " and".join(f" {words} {bound:g}" for words, bound in bounds.items() if bound is not None)
    found = repr(value) if isinstance(value, int | float) else reprlib.repr(value)
    raise SettingError(f"{name} is {found}; expected a finite number{expected}")


def optional_number(name: str, value: object, **bounds: float) -> float | None:
    """`value` as a finite number within the bounds given, or None."""
    return None if value is None else setting_number(name, value, **bounds)


def setting_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """`value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise SettingError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")


def setting_array(name: str, value: npt.ArrayLike, shape: tuple[int | str, ...]) -> Float[np.ndarray, "..."]:
    """`value` as a read-only float array of finite numbers; names in `shape` stand for any positive size."""
    try:
        array = np.array(numbers(name, value), order="C")  # as kernels read it
    except InputError as error:
        raise SettingError(f"{name} is not an array of numbers: {error}") from None
    fits = array.ndim == len(shape) and all(
        size == wanted if isinstance(wanted, int) else size > 0 for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise SettingError(f"{name} has shape {array.shape}; expected ({', '.join(map(str, shape))})")
    if not np.isfinite(array).all():
        raise SettingError(f"{name} has {first_not_finite(array)}; expected finite numbers")
    array.flags.writeable = False
    return array


def numbers(name: str, value: npt.ArrayLike, *, has: str = "has") -> Float[np.ndarray, "..."]:
    """`value` as a float array, of any shape, finite or not; `has` is the verb for `name`."""
    if type(value) is np.ndarray and value.dtype == FLOAT:
        return value
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):  # importing numpy.ma takes long
        raise InputError(f"{name} {has} masked numbers; expected an array without a mask")
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} {has} rows of different lengths; expected an array of numbers") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} {has} type {array.dtype}; expected numbers")
    with np.errstate(over="ignore"):  # a number too large for float64 becomes infinite
        return array.astype(np.float64, copy=False)


def within(array: Shaped[np.ndarray, "..."], largest: float) -> bool:
    """Whether all numbers are finite and at most `largest` in size, which is at most 1e150.

    The sum of squares bounds them all and is one fast call; each number is looked at only if that sum is too large.
    """
    if array.dtype == FLOAT and (np.vdot(array, array) if array.size <= AT_A_TIME else _squares(array)) <= largest**2:
        return True
    return bool((np.abs(array) <= largest).all())


AT_A_TIME = 8192
"""Numbers to square in one call. Above 10,000 OpenBLAS wakes threads, which takes longer than the squares do."""


def _squares(array: Float[np.ndarray, "..."]) -> float:
    """The sum of the squares; vdot, unlike dot, never warns."""
    flat = array.ravel()
    parts = (flat[start : start + AT_A_TIME] for start in range(0, len(flat), AT_A_TIME))
    return sum(float(np.vdot(part, part)) for part in parts)


def all_finite(array: Shaped[np.ndarray, "..."]) -> bool:
    """Whether all numbers are finite."""
    return within(array, 1e150) or bool(np.isfinite(array).all())


def first_not_finite(array: Shaped[np.ndarray, "..."], *, largest: float = np.inf) -> str:
    """The first value that is not finite (or beyond `largest` in size), and its place."""
    place = tuple(int(i) for i in np.argwhere(~(np.isfinite(array) & (np.abs(array) <= largest)))[0])
    where = f"[{', '.join(map(str, place))}]" if place else "it"
    return f"{array[place]} at {where}"


def check_within(
    finds: str,
    array: Shaped[np.ndarray, "..."],
    largest: float = LARGEST,
    *,
    of: str = "numbers",
    error: type[GraphBanditError] = InputError,
) -> None:
    """Raise at the first number that is not finite or beyond `largest` in size.

    - `finds`: how the message starts, such as "contexts have".
    """
    if not within(array, largest):
        where = first_not_finite(array, largest=largest)
        raise error(f"{finds} {where}; expected finite {of} up to {largest:g} in size")


def check_features(contexts: Shaped[np.ndarray, "..."], *, largest: float = LARGEST_FEATURE) -> None:
    """Raise InputError at a context that is not finite or too large to be learnt from."""
    check_within("contexts have", contexts, largest)


def contexts_array(contexts: npt.ArrayLike) -> Shaped[np.ndarray, "n ..."]:
    """Contexts as an array with the round as its first axis, of finite numbers."""
    return finite_contexts(numbers("contexts", contexts, has="have"))


def finite_contexts(array: Float[np.ndarray, "..."]) -> Float[np.ndarray, "n ..."]:
    """The same array, if the round is its first axis and its numbers are finite."""
    if array.ndim == 0:
        raise InputError("contexts are a single number; expected an array with the round as its first axis")
    if array.size <= AT_A_TIME and np.vdot(array, array) <= 1e300:  # as in `within`: most contexts need no more
        return array
    if not all_finite(array):
        raise InputError(f"contexts have {first_not_finite(array)}; expected finite numbers")
    return array


def available_array(available: npt.ArrayLike | None, n: int, n_arms: int | None) -> Bool[np.ndarray, "n arms"] | None:
    """The mask of arms on offer, one row a round, at least one arm in each; None when all are.

    - `n_arms`: None: as many as the mask has.
    """
    if available is None:
        return None
    try:
        mask: np.ndarray[Any, np.dtype[Any]] = np.asarray(available)
    except ValueError:
        raise InputError("available has rows of different lengths; expected an array of booleans") from None
    if n_arms is None:
        if not mask.ndim:
            raise InputError("available is a single value; expected one row a round, or a mask over all arms")
        n_arms = mask.shape[-1]
    if mask.dtype != np.bool_:
        raise InputError(f"available has type {mask.dtype}; expected booleans")
    if mask.ndim == 1:
        mask = np.broadcast_to(mask, (n, mask.shape[0]))
    if mask.shape != (n, n_arms):
        raise InputError(f"available has shape {mask.shape}; expected ({n}, {n_arms}) or ({n_arms},)")
    empty = np.flatnonzero(~mask.any(axis=1))
    if len(empty):
        raise InputError(f"available offers no arm in round {empty[0]} of the batch; expected at least one")
    # a broadcast row is read-only, and Numba would compile the kernels again for a read-only array
    return np.require(mask, requirements=["C", "W"])


def as_in_kernels(array: Shaped[np.ndarray, "..."], kind: npt.DTypeLike = FLOAT) -> Shaped[np.ndarray, "..."]:
    """The array in the one form kernels are compiled for: contiguous and writable."""
    if array.dtype == kind and array.flags.carray:
        return array
    return np.require(array, dtype=kind, requirements=["C", "W"])


def in_one_piece(array: Shaped[np.ndarray, "..."]) -> bool:
    """Whether kernels can read the array where it is: contiguous, in C order, and aligned."""
    return array.flags.c_contiguous and array.flags.aligned


def kernel_numbers(name: str, value: npt.ArrayLike, *, has: str = "has") -> Float[np.ndarray, "..."]:
    """`numbers` in the one form kernels are compiled for."""
    if type(value) is np.ndarray and value.dtype == FLOAT and value.flags.carray:
        return value
    return as_in_kernels(numbers(name, value, has=has))


@lru_cache(maxsize=64)
def everyone(n_arms: int) -> Bool[np.ndarray, " arms"]:
    """The mask of all arms; not to be written to."""
    return np.ones(n_arms, dtype=np.bool_)


@lru_cache(maxsize=64)
def everyone_always(n_arms: int) -> Bool[np.ndarray, "1 arms"]:
    """The mask of all arms as one row for all rounds; not to be written to."""
    return everyone(n_arms)[None]


def kernel_mask(
    available: Bool[np.ndarray, "n arms"] | None, n: int, n_arms: int
) -> Bool[np.ndarray, "n arms"] | Bool[np.ndarray, "1 arms"]:
    """A mask as kernels take it: one row a round, or one row of all arms for None. Kernels trust its shape."""
    if available is None:
        return everyone_always(n_arms)
    if not isinstance(available, np.ndarray) or available.dtype != np.bool_ or available.shape != (n, n_arms):
        raise InputError(
            f"available is {reprlib.repr(available)} of shape {np.shape(available)}; "
            f"expected booleans of shape ({n}, {n_arms})"
        )
    return as_in_kernels(available, BOOL)
