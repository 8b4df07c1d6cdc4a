"""Greedy answers about one graph, for learners that ask in every round: dominating and independent sets."""

from typing import Any

import numpy as np
from numba.core import types

from graphbandit.base.array_types import ArmIndices, ArmMask
from graphbandit.kernels.graphs.adjacency import GRAPH, Graph, reveals, reveals_all
from graphbandit.kernels.graphs.arm_sets import set_of
from graphbandit.kernels.jit import behind_pointer, inner, kernel


@inner()
def sink_root(heap: ArmIndices, count: int, keys: ArmIndices) -> None:
    """Restore the heap after the key of its root has fallen: the largest key on top, the lowest arm on ties."""
    arm, at = heap[0], 0
    while 2 * at + 1 < count:
        child = 2 * at + 1
        other = child + 1
        if other < count and (
            keys[heap[other]] > keys[heap[child]]
            or (keys[heap[other]] == keys[heap[child]] and heap[other] < heap[child])
        ):
            child = other
        below = heap[child]
        if keys[below] < keys[arm] or (keys[below] == keys[arm] and arm < below):
            break
        heap[at] = below
        at = child
    heap[at] = arm


@kernel()
def greedy_dominating_set(graph: Graph, wanted: ArmMask, available: ArmMask, chosen: ArmMask) -> int:
    """Choose arms on offer that together reveal all wanted arms; return how many, -1 if they cannot.

    Each step takes the arm that reveals most of those missing, lowest index on ties: in all at most 1 + log K times as
    many arms as needed (Chvatal 1979). What an arm would add only falls, so old counts are kept as bounds; a heap has
    the arm of the largest bound on top.
    """
    n_arms = wanted.shape[0]
    scratch = np.empty(n_arms, np.int32)
    missing = wanted.copy()
    adds = np.zeros(n_arms, np.int64)
    heap = np.empty(n_arms, np.int32)
    offered, left = 0, 0
    for a in range(n_arms):
        chosen[a] = False
        left += wanted[a]
        if available[a]:
            adds[a] = n_arms
            heap[offered] = a
            offered += 1
    size = 0
    while left > 0:
        if offered == 0 or adds[heap[0]] == 0:
            return -1
        arm: Any = np.int64(heap[0])  # of 64 bits, like the arms that others ask for: `reveals` is compiled once
        count = reveals(graph, arm, scratch)
        new = 0
        for k in range(count):
            new += missing[scratch[k]]
        if new == adds[arm]:  # its count is up to date, and no other can be larger
            for k in range(count):
                missing[scratch[k]] = False
            left -= new
            chosen[arm] = True
            size += 1
            new = 0
        adds[arm] = new
        sink_root(heap, offered, adds)
    return size


MASK = types.boolean[::1]

call_cover, cover_pointer = behind_pointer(greedy_dominating_set, types.int64(GRAPH, MASK, MASK, MASK))
"""Call `greedy_dominating_set` by its address, with a tuple of its arguments; and find the address."""


@kernel()
def size_with_cover(graph: Graph, candidates: ArmMask, available: ArmMask, size: int) -> int:
    """The size of a cover of the candidates by arms on offer if that is smaller than `size`; else `size`."""
    wanted = set_of(candidates)
    for j in range(available.shape[0]):
        if available[j] and reveals_all(graph, j, wanted):
            return min(size, 1)
    if size <= 2:
        return size
    covering = greedy_dominating_set(graph, candidates, available, np.empty(available.shape[0], np.bool_))
    return covering if 0 < covering < size else size


call_size_with_cover, size_with_cover_pointer = behind_pointer(
    size_with_cover, types.int64(GRAPH, MASK, MASK, types.int64)
)
"""Call `size_with_cover` by its address, with a tuple of its arguments; and find the address."""


@kernel()
def greedy_independent_set_size(graph: Graph, n_arms: int) -> int:
    """The size of a greedy set of arms, fewest neighbours first, of which none reveals another: at most alpha."""
    scratch = np.empty(n_arms, np.int32)
    degrees = np.zeros(n_arms, np.int64)
    for j in range(n_arms):
        count = reveals(graph, j, scratch)
        degrees[j] += count
        for k in range(count):
            degrees[scratch[k]] += 1
    order = np.argsort(degrees, kind="mergesort")
    blocked = np.zeros(n_arms, np.bool_)
    taken = np.zeros(n_arms, np.bool_)
    size = 0
    for j in order:
        if blocked[j]:
            continue
        count = reveals(graph, j, scratch)
        free = True
        for k in range(count):
            if taken[scratch[k]] and scratch[k] != j:
                free = False
                break
        if free:
            taken[j] = True
            size += 1
            for k in range(count):
                blocked[scratch[k]] = True
    return size


@kernel()
def weakly_observable(graph: Graph, available: ArmMask) -> ArmMask:
    """The arms on offer that neither reveal themselves nor are revealed by all others on offer."""
    n_arms = available.shape[0]
    scratch = np.empty(n_arms, np.int32)
    by_others = np.zeros(n_arms, np.int64)
    weak = available.copy()
    n_offered = 0
    for j in range(n_arms):
        if not available[j]:
            continue
        n_offered += 1
        count = reveals(graph, j, scratch)
        for k in range(count):
            if scratch[k] == j:
                weak[j] = False
            else:
                by_others[scratch[k]] += 1
    for a in range(n_arms):
        if by_others[a] == n_offered - 1 and n_offered > 1:
            weak[a] = False
    return weak
