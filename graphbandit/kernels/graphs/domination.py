"""Greedy answers about one graph, for learners that ask in every round: dominating and independent sets."""

from typing import Any

import numpy as np

from graphbandit.base.arrays import ArmMask
from graphbandit.kernels.graphs.adjacency import reveals
from graphbandit.kernels.jit import kernel


@kernel()
def greedy_dominating_set(graph: Any, wanted: ArmMask, available: ArmMask, chosen: ArmMask) -> int:
    """Arms on offer that reveal all wanted arms, most still missing first, lowest index on ties; how many, -1 if none
    can.

    At most 1 + log K times as many as are needed (Chvatal 1979). Old counts of what an arm would add are kept as
    bounds, as they only fall.
    """
    n_arms = wanted.shape[0]
    scratch = np.empty(n_arms, np.int32)
    missing = wanted.copy()
    adds = np.zeros(n_arms, np.int64)
    left = 0
    for a in range(n_arms):
        chosen[a] = False
        left += wanted[a]
        if available[a]:
            adds[a] = n_arms
    size = 0
    while left > 0:
        arm = -1
        while True:
            best = 0
            for a in range(1, n_arms):
                if adds[a] > adds[best]:
                    best = a
            if adds[best] == 0:
                return -1
            if best == arm:  # its count is of now, and no other can have more
                break
            arm = best
            count = reveals(graph, arm, scratch)
            new = 0
            for k in range(count):
                new += missing[scratch[k]]
            if new < adds[arm]:
                adds[arm] = new
                arm = -1
        count = reveals(graph, arm, scratch)
        for k in range(count):
            if missing[scratch[k]]:
                missing[scratch[k]] = False
                left -= 1
        chosen[arm] = True
        size += 1
    return size


@kernel()
def greedy_independent_set_size(graph: Any, n_arms: int) -> int:
    """How many arms a greedy walk, fewest neighbours first, finds of which none reveals another: at most alpha."""
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
def weakly_observable(graph: Any, available: ArmMask) -> ArmMask:
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
