"""Rows of booleans packed into 64-bit words: column a is bit ``a % 64`` of word ``a // 64``."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from graphbandit.base.shapes import Bool, Int64, UInt64

WORD = 64
LITTLE_ENDIAN = np.dtype("<u8")


def n_words(n_columns: int) -> int:
    """Words needed for a row, ``ceil(n_columns / 64)``.

    >>> n_words(64), n_words(65)
    (1, 2)
    """
    return -(-n_columns // WORD)


def pack_rows(rows: Bool[np.ndarray, "*rows columns"]) -> UInt64[np.ndarray, "*rows words"]:
    """Pack the last axis. Bits beyond the last column are zero.

    >>> pack_rows(np.array([[True, False, True], [False, True, False]]))
    array([[5],
           [2]], dtype=uint64)
    """
    packed = np.packbits(rows, axis=-1, bitorder="little")
    # packbits pads to whole bytes; a word needs eight of them
    padded = np.zeros((*rows.shape[:-1], 8 * n_words(rows.shape[-1])), dtype=np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(LITTLE_ENDIAN).astype(np.uint64, copy=False)


def unpack_rows(words: UInt64[np.ndarray, "*rows words"], n_columns: int) -> Bool[np.ndarray, "*rows columns"]:
    """Undo `pack_rows`.

    >>> unpack_rows(np.array([[5], [2]], dtype=np.uint64), 3)
    array([[ True, False,  True],
           [False,  True, False]])
    """
    plain = words.dtype == LITTLE_ENDIAN and words.flags.c_contiguous
    octets = (words if plain else np.ascontiguousarray(words, dtype=LITTLE_ENDIAN)).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n_columns, bitorder="little").view(np.bool_)


def diagonal(words: UInt64[np.ndarray, "*graphs arms words"]) -> Bool[np.ndarray, "*graphs arms"]:
    """The diagonal of packed square matrices: which arms have a self-loop.

    >>> diagonal(np.array([[1], [0], [7]], dtype=np.uint64))
    array([ True, False,  True])
    """
    arms, word, bit = _places(words.shape[-2])
    has_loop: Bool[np.ndarray, "*graphs arms"] = (words[..., arms, word] & bit) != 0
    return has_loop


@lru_cache(maxsize=8)
def _places(n_arms: int) -> tuple[Int64[np.ndarray, " arms"], Int64[np.ndarray, " arms"], UInt64[np.ndarray, " arms"]]:
    """Each arm, the word it is in, and its bit there."""
    arms = np.arange(n_arms)
    return arms, arms // WORD, np.uint64(1) << (arms % WORD).astype(np.uint64)


def column(words: UInt64[np.ndarray, "rows words"], index: int) -> Bool[np.ndarray, " rows"]:
    """One column of packed rows.

    >>> column(np.array([[5], [2]], dtype=np.uint64), 2)
    array([ True, False])
    """
    return (words[:, index // WORD] >> np.uint64(index % WORD) & np.uint64(1)).astype(np.bool_)
