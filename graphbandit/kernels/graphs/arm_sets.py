"""Sets of arms as bits, 64 to a word, like the rows of packed graphs; for graphs of either form."""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from graphbandit.base.array_types import ArmMask, PerArm
from graphbandit.base.shapes import UInt64
from graphbandit.kernels.jit import inlined, inner
from graphbandit.kernels.simd_lanes import in_code

ArmSet = UInt64[np.ndarray, " words"]


@in_code(lambda word: types.int64(types.uint64))
def trailing_zeros(builder: Any, word: Any) -> Any:
    """The position of the lowest set bit of a non-zero uint64: one machine instruction."""
    return builder.cttz(word, ir.Constant(ir.IntType(1), 0))


@in_code(lambda word: types.int64(types.uint64))
def ones(builder: Any, word: Any) -> Any:
    """How many bits of a uint64 are set."""
    return builder.ctpop(word)


@inner()
def set_of(chosen: ArmMask | PerArm) -> ArmSet:
    """The arms of a mask, or those with a positive number."""
    words = np.empty(chosen.shape[0] + 63 >> 6, np.uint64)
    for w in range(words.shape[0]):
        word = np.uint64(0)
        for a in range(64 * w, min(64 * w + 64, chosen.shape[0])):
            word |= np.uint64(chosen[a] > 0) << np.uint64(a & 63)
        words[w] = word
    return words


@inlined()
def has(words: ArmSet, arm: int) -> bool:
    """Whether the arm is in the set."""
    bit = (words[arm >> 6] >> np.uint64(arm & 63)) & np.uint64(1)
    return bool(bit)
