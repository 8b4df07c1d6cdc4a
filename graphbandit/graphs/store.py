"""What batches of graphs share: each graph is stored once, and an index says which one each round has."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import in_one_piece
from graphbandit.base.shapes import Int32, UInt64
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.bits import n_words

Batch = TypeVar("Batch")


def checked_index(index: npt.ArrayLike, n_stored: int) -> Int32[np.ndarray, " n"]:
    """Which stored graph each round has; raises unless all of them are stored."""
    try:
        places = np.asarray(index)
    except ValueError:
        raise InputError("index has rows of different lengths; expected whole numbers, (n,)") from None
    if places.ndim != 1 or (places.size and places.dtype.kind not in "ui"):
        raise InputError(f"index has type {places.dtype} and shape {places.shape}; expected whole numbers, (n,)")
    if places.size and not 0 <= places.min() <= places.max() < n_stored:
        first = int(np.argmax((places < 0) | (places >= n_stored)))
        raise InputError(f"index[{first}] is {places[first]}; expected one of the graphs 0 .. {n_stored - 1}")
    return places.astype(np.int32)


def chosen_rounds(index: Int32[np.ndarray, " n"], rounds: Any) -> Any:
    """The part of an index that `rounds` (one, a slice, round numbers or a mask) asks for."""
    expected = f"expected rounds of 0 .. {len(index) - 1}, a slice or a mask"
    try:
        chosen = index[rounds]
    except IndexError:
        raise InputError(f"rounds is {rounds!r}; {expected}") from None
    if chosen.ndim > 1:
        raise InputError(f"rounds has {chosen.ndim} dimensions; {expected}")
    return np.ascontiguousarray(chosen) if chosen.ndim else chosen  # a slice may have a step; kernels read no gaps


def checked_batches(kind: type[Batch], batches: Sequence[Batch]) -> None:
    """Raise unless there is at least one batch, and all are of this kind and on the same number of arms."""
    if not batches:
        raise InputError("batches is empty; expected at least one, so that the number of arms is known")
    for i, batch in enumerate(batches):
        if not isinstance(batch, kind):
            raise GraphError(f"batch {i} is a {type(batch).__name__}; expected {kind.__name__}")
    n_arms = [getattr(batch, "n_arms", None) for batch in batches]
    for i, found in enumerate(n_arms):
        if found != n_arms[0]:
            raise GraphError(f"batch {i} has {found} arms; expected {n_arms[0]}, as batch 0 has")


def check_words(words: UInt64[np.ndarray, "... words"], shape: tuple[int, ...]) -> None:
    """Raise GraphError unless these are packed rows of this many arms; kernels trust them."""
    expected = (*shape, n_words(shape[-1]))
    if words.dtype != np.uint64 or words.shape != expected or not in_one_piece(words):
        found = f"type {words.dtype} and shape {words.shape}"
        raise GraphError(f"the packed rows have {found}; expected a contiguous array of uint64 of shape {expected}")


def check_places(index: Int32[np.ndarray, " n"], stored: int) -> None:
    """Raise GraphError unless every round has one of the stored graphs; kernels trust that."""
    if not in_one_piece(index):
        raise GraphError("index is a view with gaps; expected a contiguous array, as numpy.ascontiguousarray makes it")
    if index.dtype != np.int32 or index.ndim != 1 or (len(index) and not 0 <= index.min() <= index.max() < stored):
        raise GraphError(f"index is {reprlib.repr(index)}; expected whole numbers from 0 to {stored - 1}")
