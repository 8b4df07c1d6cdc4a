"""From candidates and gaps to what the sampling program asks for: exploration set, baseline, demands."""

import math

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmMask, PerArm
from graphbandit.base.program_constants import ROW_LIMIT
from graphbandit.base.shapes import Float, Int, UInt64
from graphbandit.kernels.graphs.adjacency import Graph, reveals, reveals_among
from graphbandit.kernels.jit import inner
from graphbandit.kernels.planning.ordering import sort_chosen

SQRT_2 = math.sqrt(2.0)


@inner()
def best_arm(values: PerArm, available: ArmMask) -> int:
    """The available arm of the highest value, lowest index on ties."""
    best, highest = -1, 0.0
    for a in range(values.shape[0]):
        if available[a] and (best < 0 or values[a] > highest):
            best, highest = a, values[a]
    return best


@inner()
def greedy_exploration_set(
    graph: Graph, candidates: ArmMask, gaps: PerArm, scratch: ArmIndices, order: ArmIndices
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
def write_bits(chosen: ArmMask, words: UInt64[np.ndarray, " words"]) -> None:
    """Write a mask of arms as packed graphs have their rows."""
    for w in range(words.shape[0]):
        words[w] = np.uint64(0)
    for a in range(chosen.shape[0]):
        if chosen[a]:
            words[a // 64] |= np.uint64(1) << np.uint64(a % 64)


@inner()
def one_reveals(graph: Graph, words: UInt64[np.ndarray, " words"], available: ArmMask) -> bool:
    """Whether some arm on offer reveals all arms of a mask, which has the form of a row. The graph must be packed."""
    n_words = words.shape[0]
    for j in range(available.shape[0]):
        if available[j]:
            missing = np.uint64(0)
            for w in range(n_words):
                missing |= words[w] & ~graph.words[j, w]
            if missing == 0:
                return True
    return False


@inner()
def set_ceilings(
    graph: Graph,
    among: UInt64[np.ndarray, " words"],
    available: ArmMask,
    gaps: PerArm,
    chances: PerArm,
    scratch: ArmIndices,
    ceilings: PerArm,
) -> None:
    """u(a) = max(P(a), max over j that reveal a of min(1, W(j) / c(j))), W(j) = sum over out(j) of P(b) c(b).

    To play arm j with probability W(j) / c(j) costs as much as to play each arm b that it reveals with probability
    P(b). Only candidates get a u, and P(b) is 0 elsewhere. The graph must be packed; `among` are the candidates.
    """
    n_arms = gaps.shape[0]
    for a in range(n_arms):
        ceilings[a] = chances[a]
    for j in range(n_arms):
        if available[j]:
            count = reveals_among(graph, j, among, scratch)
            worth = 0.0
            for k in range(count):
                worth += chances[scratch[k]] * gaps[scratch[k]]
            often = worth / gaps[j] if worth < gaps[j] else 1.0
            for k in range(count):
                if often > ceilings[scratch[k]]:
                    ceilings[scratch[k]] = often


@inner()
def set_baseline(
    explored: Int[np.ndarray, " size_or_more"],
    size: int,
    best: int,
    gamma: float,
    gaps: PerArm,
    chances: PerArm,
    doubt: float,
    baseline: PerArm,
) -> None:
    """p~(a) = max(1 / (|S| + gamma c(a)), min(d P(a), 1 / |S|)) for a in S but best, the rest on best, 0 elsewhere.

    S is the first `size` arms of `explored`, and d is the doubt.
    """
    for a in range(gaps.shape[0]):
        baseline[a] = 0.0
    rest = 1.0
    for i in range(size):
        arm = explored[i]
        if arm != best:
            baseline[arm] = max(1.0 / (size + gamma * gaps[arm]), min(doubt * chances[arm], 1.0 / size))
            rest -= baseline[arm]
    baseline[best] = rest if rest > 1e-15 * size else 0.0  # |S| times 1/|S| may fall short of 1 by rounding


# repeats the loop of `adjacency.observation_probabilities`, with the largest instead of the sum
@inner()
def paper_demand(graph: Graph, baseline: PerArm, best: int, scratch: ArmIndices, demand: PerArm) -> None:
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
def tight_demand(
    candidates: ArmMask,
    best: int,
    size: int,
    gamma: float,
    gaps: PerArm,
    chances: PerArm,
    doubt: float,
    ceilings: PerArm,
    demand: PerArm,
) -> None:
    """b(a) = max(min(1 / (|S| + gamma c(a)), u(a)), min(d P(a), 1 / |S|)) for candidates a != best, 0 elsewhere.

    1 / (|S| + gamma c(a)) is all that the proofs need.
    """
    for a in range(candidates.shape[0]):
        least = max(min(1.0 / (size + gamma * gaps[a]), ceilings[a]), min(doubt * chances[a], 1.0 / size))
        demand[a] = least if candidates[a] else 0.0
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
