"""Arms as people hand them to a `Bandit`, by name or number: those on offer, and those that were played."""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from graphbandit.bandit.given_graphs import Arms
from graphbandit.base.arm_names import known_arm, shown
from graphbandit.base.shapes import Bool, Int, Shaped
from graphbandit.errors import InputError
from graphbandit.features.context_input import is_series

ROWS = (list, tuple, set, frozenset, np.ndarray)
"""What may hold the arms of one round."""


def available_of(arms: Arms, available: object) -> Shaped[np.ndarray, "..."] | None:
    """The arms on offer as a mask: of one round, or of all, or a row a round.

    Each is a list of arms, by name or number, a mask over all arms, or a mapping or pandas Series from arms to
    booleans. Zeros and ones for every arm are refused, as they may be numbers or a mask.
    """
    if available is None:
        return None
    if is_series(available, "pandas") and all(isinstance(arm, str) for arm in available.index):  # type: ignore[attr-defined]
        values = available.to_dict()  # type: ignore[attr-defined]
        available = values if all(isinstance(value, bool) for value in values.values()) else list(values.values())
    if isinstance(available, Mapping):
        if not all(isinstance(value, bool | np.bool_) for value in available.values()):
            raise InputError(f"available is {reprlib.repr(available)}; expected true or false for each of its arms")
        offered = [arm for arm, value in available.items() if value]
        if not offered:
            raise InputError("available is true for no arm; expected at least one that is on offer")
        return _mask_of(arms, offered, "available")
    if isinstance(available, str):
        raise InputError(f"available is {available!r}; expected a list of arms, or a mask over all arms")
    if isinstance(available, np.ndarray) and (available.dtype == np.bool_ or not available.ndim):
        return np.array(available)  # a copy: whoever handed it in may change it
    if not isinstance(available, Iterable):
        return np.asarray(available)  # refused later
    listed = available.tolist() if isinstance(available, np.ndarray) else list(available)
    if not any(isinstance(row, ROWS) for row in listed):
        return _offered(arms, listed, "available")
    if not all(isinstance(row, ROWS) for row in listed):
        raise InputError("available has lists beside single values; expected one list of arms, or one a round")
    plain = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in listed]
    rows = [_offered(arms, row, f"available[{t}]") for t, row in enumerate(plain)]
    if len({len(row) for row in rows}) > 1:
        raise InputError("available has rows of different lengths; expected a mask over all arms, or arms, in each")
    return np.array(rows)


def _offered(arms: Arms, listed: list[Any], name: str) -> Bool[np.ndarray, " arms"]:
    """The arms on offer in one round, a list of arms or a mask, as a mask."""
    if not listed:
        raise InputError(f"{name} is empty; expected at least one arm")
    if all(isinstance(value, bool | np.bool_) for value in listed):
        return np.array(listed)
    if len(listed) == arms.n_arms and all(not isinstance(value, str) and value in (0, 1) for value in listed):
        raise InputError(
            f"{name} is {reprlib.repr(listed)}, which may be numbers of arms or a mask; expected names, or a mask of "
            "booleans (numpy.array(..., dtype=bool))"
        )
    return _mask_of(arms, listed, name)


def _mask_of(arms: Arms, listed: Iterable[Any], name: str) -> Bool[np.ndarray, " arms"]:
    """These arms, by name or number, as a mask."""
    mask: Bool[np.ndarray, " arms"] = np.zeros(arms.n_arms, dtype=np.bool_)
    for arm in listed:
        place = known_arm(name, arm, arms.n_arms, arms.arms)
        if mask[place]:
            raise InputError(f"{name} has {shown(arms.arms, place)} twice; expected each arm once")
        mask[place] = True
    return mask


def stacked_masks(masks: Sequence[Bool[np.ndarray, "..."] | None], n_arms: int) -> Bool[np.ndarray, "n arms"] | None:
    """The arms on offer in some rounds, one row a round; None if all are in every round."""
    if all(mask is None for mask in masks):
        return None
    everything = np.ones(n_arms, dtype=np.bool_)
    return np.vstack([everything if mask is None else mask for mask in masks])


def on_offer(available: Shaped[np.ndarray, "..."] | None, retired: Bool[np.ndarray, " arms"] | None) -> Any:
    """The mask without the retired arms; at least one other arm must be on offer."""
    if retired is None:
        return available
    if available is None:
        return ~retired
    if available.dtype != np.bool_ or available.shape[-1:] != retired.shape:
        return available  # refused later
    left = available & ~retired
    if (available.any(axis=-1) & ~left.any(axis=-1)).any():
        raise InputError("available lists only retired arms; expected at least one that is not retired")
    return left


def arms_of(problem: Arms, name: str, arms: object) -> Int[np.ndarray, " n"]:
    """Arms by number: an array or list of names or of numbers."""
    values = arms.to_list() if hasattr(arms, "to_list") else arms
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; expected one arm a round") from None
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; expected one arm a round")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        wrong = (array < 0) | (array >= problem.n_arms)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(f"{name}[{place}] is {array[place]}; expected one of 0 .. {problem.n_arms - 1}")
        return array.astype(np.int64)
    places = [known_arm(f"{name}[{i}]", arm, problem.n_arms, problem.arms) for i, arm in enumerate(array.tolist())]
    return np.array(places, dtype=np.int64)
