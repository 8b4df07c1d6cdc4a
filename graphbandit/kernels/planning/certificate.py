"""The certificate of a sampling program, from its data, a p and any duals; whoever found them."""

from typing import Any

import numpy as np

from graphbandit.base.arrays import ArmIndices, ArmMask, PerArm
from graphbandit.kernels.graphs.adjacency import observation_probabilities, reveals
from graphbandit.kernels.jit import inner


@inner()
def certify_program(
    graph: Any,
    demand: PerArm,
    gaps: PerArm,
    available: ArmMask,
    probabilities: PerArm,
    duals: PerArm,
    scratch: ArmIndices,
    observed: PerArm,
) -> tuple[float, float, float, float]:
    """(largest violation, objective, lower bound on the optimum, largest gap); q is left in `observed`.

    The bound is sum b y + min over available j of (c(j) - sum over a revealed by j of y(a)), negative y counting 0.
    """
    observation_probabilities(graph, probabilities, scratch, observed)
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
            reduced = gaps[a]
            count = reveals(graph, a, scratch)
            for k in range(count):
                reduced -= max(duals[scratch[k]], 0.0)
            lowest = min(lowest, reduced)
            largest = max(largest, gaps[a])
        else:
            violation = max(violation, abs(p))
    return max(violation, abs(total - 1.0)), objective, bound + lowest, largest
