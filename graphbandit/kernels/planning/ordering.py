"""A stable sort of numbers: compiling NumPy's with Numba would take seconds."""

from typing import Any

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmMask, PerArm
from graphbandit.kernels.jit import inner
from graphbandit.kernels.planning.float_keys import bits

RUN = 24
"""Runs of this length are sorted by insertion, and then merged."""
MANY = 1 << 11
"""From this many on, a radix sort is used: merging would read keys from all over the memory."""
DIGIT = 11
"""Bits of a digit of the radix sort; six digits hold the 64 bits of a key."""


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
    """`sort_by` for many arms: a radix sort by the bits of their keys, from the lowest digit to the highest."""
    n_digits = 1 << DIGIT
    ranks, moved = np.empty(count, np.int64), np.empty(count, np.int64)
    starts = np.empty(n_digits, np.int64)
    for i in range(count):
        ranks[i] = bits(keys[order[i]] + 0.0)  # -0 and 0 are equal
        if ranks[i] < 0:
            ranks[i] ^= np.int64(0x7FFFFFFFFFFFFFFF)  # among negative numbers, larger bits are the smaller number
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
    count: Any = np.int64(0)  # not a literal: functions that receive it would be compiled once more for it
    for a in range(chosen.shape[0]):
        if chosen[a]:
            order[count] = a
            count += 1
    if count >= MANY:
        sort_many_by(keys, order, other, count)
    else:
        sort_by(keys, order, other, count)
    return int(count)
