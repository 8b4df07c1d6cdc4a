"""A stable sort of a few numbers: Numba would compile NumPy's for seconds."""

from typing import Any

import numpy as np

from graphbandit.base.arrays import ArmIndices, ArmMask, PerArm
from graphbandit.kernels.jit import inner

RUN = 24
"""So many are sorted by insertion; longer lists are merged from runs of this length."""


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
def sort_chosen(chosen: ArmMask, keys: PerArm, order: ArmIndices, other: ArmIndices) -> int:
    """Write the chosen arms to `order` by ascending key, equal ones by index. Returns how many they are."""
    count: Any = np.int64(0)  # not a literal: what it is handed to would be compiled for that, too
    for a in range(chosen.shape[0]):
        if chosen[a]:
            order[count] = a
            count += 1
    sort_by(keys, order, other, count)
    return int(count)
