"""What the sampling program asks for: the right-hand sides b(a) of its constraints q(a) >= b(a)."""

import numpy as np
import numpy.typing as npt

from graphbandit.base.arrays import ArmMask, PerArm
from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.planning.exploration import arm_mask, arm_number, gap_array


def paper_demand(graph: FeedbackGraph, baseline: PerArm, best: int) -> PerArm:
    """b(a) = max of p~(j) over the arms j that reveal a, 0 for a = best: the right-hand side of (2).

    - `graph`: who reveals whom.
    - `baseline`: p~, checked already.
    - `best`: the arm of gap 0.
    """
    from graphbandit.kernels.planning import parts

    demand = np.empty(graph.n_arms)
    scratch = np.empty(graph.n_arms, dtype=np.int32)
    parts.paper_demand(kernel_graph(graph), baseline, best, scratch, demand)
    return demand


def tight_demand(candidates: "npt.ArrayLike", gaps: "npt.ArrayLike", *, best: int, size: int, gamma: float) -> PerArm:
    """b(a) = 1 / (|S| + gamma c(a)) for candidates a != best and 0 elsewhere.

    It is all that the proofs need and less than the paper asks for; the baseline stays feasible.

    - `candidates`: the candidate arms, a boolean mask.
    - `gaps`: c, one number of at least 0 an arm.
    - `best`: the arm of gap 0.
    - `size`: |S|, the size of the exploration set.
    - `gamma`: the exploration parameter.

    >>> tight_demand([True, True, False], [0.0, 0.5, 1.0], best=0, size=2, gamma=4.0)
    array([0.  , 0.25, 0.  ])
    """
    costs = gap_array(gaps, max(np.size(gaps), 1))
    n_arms = len(costs)
    mask = arm_mask("candidates", candidates, n_arms)
    arm = arm_number("best", best, n_arms)
    most = setting_integer("size", size, at_least=1)
    return demand_of_candidates(mask, costs, arm, most, setting_number("gamma", gamma, at_least=0.0))


def demand_of_candidates(candidates: ArmMask, gaps: PerArm, best: int, size: int, gamma: float) -> PerArm:
    """`tight_demand` for arrays that have been checked already."""
    demand = np.where(candidates, 1.0 / (size + gamma * gaps), 0.0)
    demand[best] = 0.0
    return demand
