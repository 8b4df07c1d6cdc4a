"""A sampling program, and the certificate of an answer, computed from the program, a p and any duals."""

from typing import NamedTuple

import numpy as np
from numba import types

from graphbandit.base.array_types import ArmMask, PerArm
from graphbandit.kernels.graphs.adjacency import GRAPH, Graph, observation_probabilities, subtract_prices
from graphbandit.kernels.jit import inner


class Program(NamedTuple):
    """min sum p c  s.t.  q(a) >= demand(a), p >= 0, sum p = 1, p = 0 outside `available`."""

    graph: Graph
    demand: PerArm
    gaps: PerArm
    """c, 0 for `best`"""
    best: int
    available: ArmMask


FLOATS = types.float64[::1]
PROGRAM = types.NamedTuple((GRAPH, FLOATS, FLOATS, types.int64, types.boolean[::1]), Program)
"""Its type, for signatures."""


@inner()
def certify_program(
    program: Program, probabilities: PerArm, duals: PerArm, observed: PerArm
) -> tuple[float, float, float, float]:
    """Return (largest violation, objective, lower bound on the optimum, largest gap); `observed` receives q.

    The bound is sum b y + min over available j of (c(j) - sum over a revealed by j of y(a)), negative y counting 0.
    """
    graph, demand, gaps, _, available = program
    observation_probabilities(graph, probabilities, observed)
    reduced = np.empty(gaps.shape[0])
    for a in range(gaps.shape[0]):
        reduced[a] = gaps[a]
    subtract_prices(graph, duals, reduced)
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
            lowest = min(lowest, reduced[a])
            largest = max(largest, gaps[a])
        else:
            violation = max(violation, abs(p))
    return max(violation, abs(total - 1.0)), objective, bound + lowest, largest
