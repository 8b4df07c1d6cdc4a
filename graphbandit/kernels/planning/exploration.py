"""What a round explores before the sampling program: the exploration set, the baseline; and the draw."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from graphbandit.base.array_types import ArmIndices, ArmMask, PerArm
from graphbandit.base.program_constants import ROW_LIMIT
from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.graphs.adjacency import GRAPH, Graph, reveals
from graphbandit.kernels.jit import behind_pointer, inner, kernel
from graphbandit.kernels.planning.ordering import sort_chosen

SQRT_2 = math.sqrt(2.0)


class Beliefs(NamedTuple):
    """What is believed of the arms of a round."""

    gaps: PerArm
    """c(a)"""
    chances: PerArm
    """P(a), about the probability that a is the best arm; 0 if that is not known"""
    known: bool
    """whether P is known"""
    doubt: float
    """d: each candidate is demanded with probability d P(a) at least"""


INDICES, FLOATS, MASK = types.int32[::1], types.float64[::1], types.boolean[::1]
BELIEFS = types.NamedTuple((FLOATS, FLOATS, types.boolean, types.float64), Beliefs)
"""Its type, for signatures."""


@inner()
def best_arm(values: PerArm, available: ArmMask) -> int:
    """The available arm of the highest value, lowest index on ties."""
    best, highest = -1, 0.0
    for a in range(values.shape[0]):
        if available[a] and (best < 0 or values[a] > highest):
            best, highest = a, values[a]
    return best


@kernel()
def greedy_exploration_set(
    graph: Graph, candidates: ArmMask, gaps: PerArm, scratch: ArmIndices, order: ArmIndices
) -> int:
    """Walk the candidates by ascending gap; take each that none taken before reveals. Returns |S|, S in `order`."""
    covered = np.zeros(candidates.shape[0], np.bool_)
    size = 0
    for i in range(sort_chosen(candidates, gaps, order, scratch)):
        arm: Any = np.int64(order[i])  # of 64 bits, like the arms that others ask for: `reveals` is compiled once
        if not covered[arm]:
            order[size] = arm
            size += 1
            revealed = reveals(graph, arm, scratch)
            for k in range(revealed):
                covered[scratch[k]] = True
    return size


call_exploration_set, exploration_set_pointer = behind_pointer(
    greedy_exploration_set, types.int64(GRAPH, MASK, FLOATS, INDICES, INDICES)
)
"""Call `greedy_exploration_set` by its address, with a tuple of its arguments; and find the address."""


@inner()
def set_chances(
    candidates: ArmMask,
    gaps: PerArm,
    deviations: Float[np.ndarray, " arms_or_none"],
    told: Float[np.ndarray, " arms_or_none"],
    chances: PerArm,
) -> bool:
    """P(a), about the probability that a is the best arm; it sums to one over candidates and is 0 elsewhere.

    P is `told`, or in proportion to erfc(c(a) / (sqrt(2) s(a))) with s(a) the standard deviation of c(a). Returns
    whether P is known. It is not, and P = 0, if both arrays are empty, with one candidate, and with more than
    `ROW_LIMIT`.
    """
    n_arms = gaps.shape[0]
    total, count = 0.0, 0
    for a in range(n_arms):
        chances[a] = 0.0
        if candidates[a]:
            count += 1
            if told.shape[0] > 0:
                chances[a] = told[a]
            elif deviations.shape[0] > 0:
                if gaps[a] <= 0.0:
                    chances[a] = 1.0
                elif deviations[a] > 0.0:
                    chances[a] = math.erfc(gaps[a] / (SQRT_2 * deviations[a]))
            total += chances[a]
    known = total > 0.0 and 1 < count <= ROW_LIMIT
    scale = 1.0 / total if known else 0.0
    for a in range(n_arms):
        chances[a] *= scale
    return known


@inner()
def set_baseline(
    explored: Int[np.ndarray, " size_or_more"],
    size: int,
    best: int,
    gamma: float,
    beliefs: Beliefs,
    baseline: PerArm,
) -> None:
    """p~(a) = max(1 / (|S| + gamma c(a)), min(d P(a), 1 / |S|)) for a in S but best, the rest on best, 0 elsewhere.

    S is the first `size` arms of `explored`.
    """
    gaps, chances, _, doubt = beliefs
    for a in range(gaps.shape[0]):
        baseline[a] = 0.0
    rest = 1.0
    for i in range(size):
        arm = explored[i]
        if arm != best:
            baseline[arm] = max(1.0 / (size + gamma * gaps[arm]), min(doubt * chances[arm], 1.0 / size))
            rest -= baseline[arm]
    baseline[best] = rest if rest > 1e-15 * size else 0.0  # |S| times 1/|S| may fall short of 1 by rounding


@inner()
def draw_arm(probabilities: PerArm, uniform: float) -> int:
    """The first arm at which the cumulative probability exceeds `uniform` times their sum."""
    total = 0.0
    for a in range(probabilities.shape[0]):
        total += probabilities[a]
    target = uniform * total
    reached = 0.0
    last = 0
    for a in range(probabilities.shape[0]):
        if probabilities[a] > 0.0:
            reached += probabilities[a]
            last = a
            if reached > target:
                break
    return last
