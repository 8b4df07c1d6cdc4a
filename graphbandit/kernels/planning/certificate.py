"""The certificate of a sampling program, computed from its data, a p and any duals."""

import numpy as np

from graphbandit.base.array_types import ArmMask, PerArm
from graphbandit.base.shapes import UInt64
from graphbandit.kernels.graphs.adjacency import Graph, observation_probabilities, trailing_zeros
from graphbandit.kernels.jit import inlined, inner


@inner()
def positive_words(graph: Graph, duals: PerArm) -> UInt64[np.ndarray, " words"]:
    """The arms of positive dual as bits, like the graph's rows; empty if the graph is stored as lists."""
    words = np.empty(graph.words.shape[1], np.uint64)
    for w in range(words.shape[0]):
        word = np.uint64(0)
        for a in range(64 * w, min(64 * w + 64, duals.shape[0])):
            word |= np.uint64(duals[a] > 0.0) << np.uint64(a & 63)
        words[w] = word
    return words


@inlined()
def less_prices(graph: Graph, arm: int, duals: PerArm, priced: UInt64[np.ndarray, " words"], cost: float) -> float:
    """The cost, less the duals of what the arm reveals, from the first such arm to the last; negative ones count 0."""
    if priced.shape[0] == 0:
        for k in range(graph.pointers[arm], graph.pointers[arm + 1]):
            cost -= max(duals[graph.arms[k]], 0.0)
    for w in range(priced.shape[0]):
        word = graph.words[arm, w] & priced[w]
        while word != np.uint64(0):
            cost -= duals[64 * w + trailing_zeros(word)]
            word &= word - np.uint64(1)
    return cost


@inner()
def certify_program(
    graph: Graph,
    demand: PerArm,
    gaps: PerArm,
    available: ArmMask,
    probabilities: PerArm,
    duals: PerArm,
    observed: PerArm,
) -> tuple[float, float, float, float]:
    """Return (largest violation, objective, lower bound on the optimum, largest gap); `observed` receives q.

    The bound is sum b y + min over available j of (c(j) - sum over a revealed by j of y(a)), negative y counting 0.
    """
    observation_probabilities(graph, probabilities, observed)
    priced = positive_words(graph, duals)
    violation, total, objective = 0.0, 0.0, 0.0
    bound, lowest, largest = 0.0, np.inf, 0.0
    for a in range(gaps.shape[0]):
        p = probabilities[a]
        total += p
        objective += p * gaps[a]
        violation = max(violation, -p)
        if demand[a] > 0.0:
            violation = max(violation, demand[a] - observed[a])
            bound += demand[a] * max(duals[a], 0.0)
        if available[a]:
            lowest = min(lowest, less_prices(graph, a, duals, priced, gaps[a]))
            largest = max(largest, gaps[a])
        else:
            violation = max(violation, abs(p))
    return max(violation, abs(total - 1.0)), objective, bound + lowest, largest
