"""From candidates and gaps to what the sampling program asks for: exploration set, baseline, demands."""

from typing import Any

import numpy as np

from graphbandit.base.arrays import ArmIndices, ArmMask, PerArm
from graphbandit.base.shapes import Int
from graphbandit.kernels.graphs.adjacency import reveals
from graphbandit.kernels.jit import inner
from graphbandit.kernels.planning.ordering import sort_chosen


@inner()
def best_arm(values: PerArm, available: ArmMask) -> int:
    """The available arm of the highest value, lowest index on ties."""
    best = -1
    for a in range(values.shape[0]):
        if available[a] and (best < 0 or values[a] > values[best]):
            best = a
    return best


@inner()
def greedy_exploration_set(
    graph: Any, candidates: ArmMask, gaps: PerArm, scratch: ArmIndices, order: ArmIndices
) -> int:
    """Walk the candidates by ascending gap; take each that none taken before reveals. Returns |S|, S in `order`."""
    covered = np.zeros(candidates.shape[0], np.bool_)
    size = 0
    for i in range(sort_chosen(candidates, gaps, order, scratch)):
        arm = order[i]
        if not covered[arm]:
            order[size] = arm
            size += 1
            revealed = reveals(graph, arm, scratch)
            for k in range(revealed):
                covered[scratch[k]] = True
    return size


@inner()
def set_baseline(
    explored: Int[np.ndarray, " size_or_more"], size: int, best: int, gamma: float, gaps: PerArm, baseline: PerArm
) -> None:
    """p~(a) = 1 / (|S| + gamma c(a)) for a in S other than best, the rest on best, 0 elsewhere.

    S are the first `size` arms of `explored`.
    """
    for a in range(gaps.shape[0]):
        baseline[a] = 0.0
    rest = 1.0
    for i in range(size):
        arm = explored[i]
        if arm != best:
            baseline[arm] = 1.0 / (size + gamma * gaps[arm])
            rest -= baseline[arm]
    baseline[best] = rest if rest > 1e-15 * size else 0.0  # |S| times 1/|S| may fall short of 1 by rounding


# the walk of `adjacency.observation_probabilities`, with the largest instead of the sum
@inner()
def paper_demand(graph: Any, baseline: PerArm, best: int, scratch: ArmIndices, demand: PerArm) -> None:
    """b(a) = max of p~(j) over the arms j that reveal a, for a != best: the right-hand side of program (2)."""
    for a in range(demand.shape[0]):
        demand[a] = 0.0
    for j in range(baseline.shape[0]):
        if baseline[j] > 0.0:
            count = reveals(graph, j, scratch)
            for k in range(count):
                if baseline[j] > demand[scratch[k]]:
                    demand[scratch[k]] = baseline[j]
    demand[best] = 0.0


@inner()
def tight_demand(candidates: ArmMask, best: int, size: int, gamma: float, gaps: PerArm, demand: PerArm) -> None:
    """b(a) = 1 / (|S| + gamma c(a)) for candidates a != best, 0 elsewhere: all that the proofs need."""
    for a in range(candidates.shape[0]):
        demand[a] = 1.0 / (size + gamma * gaps[a]) if candidates[a] else 0.0
    demand[best] = 0.0


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
