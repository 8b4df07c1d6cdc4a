"""A stable sort of numbers: Numba would compile NumPy's for seconds."""

from typing import Any

import numpy as np

from graphbandit.base.arrays import ArmIndices, ArmMask, PerArm
from graphbandit.kernels.jit import inner
from graphbandit.kernels.planning.keys import bits

RUN = 24
"""So many are sorted by insertion; longer lists are merged from runs of this length."""
MANY = 1 << 11
"""From this many on, the bits of the keys are counted: merging would look for keys all over the memory."""
DIGIT = 11
"""Bits that are counted at a time; six times as many are those of a key, and more."""


@inner()
def sort_by(keys: PerArm, order: ArmIndices, other: ArmIndices, count: int) -> None:
    """Sort the first `count` arms of `order` by ascending key, equal ones as they were. `other` is scratch."""
    for start in range(0, count, RUN):
        for i in range(start + 1, min(start + RUN, count)):
            arm = order[i]
            k = i
            while k > start and keys[order[k - 1]] > keys[arm]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = arm
    width = RUN
    while width < count:
        for start in range(0, count, 2 * width):
            left, right = start, min(start + width, count)
            middle, end = right, min(start + 2 * width, count)
            for k in range(start, end):
                if left < middle and (right >= end or keys[order[left]] <= keys[order[right]]):
                    other[k] = order[left]
                    left += 1
                else:
                    other[k] = order[right]
                    right += 1
        for k in range(count):
            order[k] = other[k]
        width *= 2


@inner()
def sort_many_by(keys: PerArm, order: ArmIndices, other: ArmIndices, count: int) -> None:
    """`sort_by` for many arms: by the lowest digit of their keys' bits, then the next one, up to the highest."""
    n_digits = 1 << DIGIT
    ranks, moved = np.empty(count, np.int64), np.empty(count, np.int64)
    starts = np.empty(n_digits, np.int64)
    for i in range(count):
        ranks[i] = bits(keys[order[i]] + 0.0)  # -0 and 0 are equal
        if ranks[i] < 0:
            ranks[i] ^= np.int64(0x7FFFFFFFFFFFFFFF)  # of two negative numbers, that of the larger bits is the smaller
    for shift in range(0, 64, DIGIT):
        for digit in range(n_digits):
            starts[digit] = 0
        flip = n_digits >> 1 if shift + DIGIT > 64 else 0  # the highest digit has the sign
        for i in range(count):
            starts[((ranks[i] >> shift) & (n_digits - 1)) ^ flip] += 1
        place = 0
        for digit in range(n_digits):
            size = starts[digit]
            starts[digit] = place
            place += size
        for i in range(count):
            digit = ((ranks[i] >> shift) & (n_digits - 1)) ^ flip
            moved[starts[digit]] = ranks[i]
            other[starts[digit]] = order[i]
            starts[digit] += 1
        for i in range(count):
            ranks[i] = moved[i]
            order[i] = other[i]


@inner()
def sort_chosen(chosen: ArmMask, keys: PerArm, order: ArmIndices, other: ArmIndices) -> int:
    """Write the chosen arms to `order` by ascending key, equal ones by index. Returns how many they are."""
    count: Any = np.int64(0)  # not a literal: what it is handed to would be compiled for that, too
    for a in range(chosen.shape[0]):
        if chosen[a]:
            order[count] = a
            count += 1
    if count >= MANY:
        sort_many_by(keys, order, other, count)
    else:
        sort_by(keys, order, other, count)
    return int(count)
