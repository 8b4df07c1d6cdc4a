"""What the sampling program asks for: the right-hand sides b(a) of its constraints q(a) >= b(a)."""

import numpy as np
import numpy.typing as npt

from graphbandit.base.arrays import ArmMask, PerArm
from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.programs import ROW_LIMIT
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
    rate = setting_number("gamma", gamma, at_least=0.0)
    return demand_of_candidates(mask, costs, arm, most, rate, np.zeros(n_arms))


def demand_of_candidates(
    candidates: ArmMask, gaps: PerArm, best: int, size: int, gamma: float, doubts: PerArm
) -> PerArm:
    """max(`tight_demand`, min(d(a), 1 / |S|)), for arrays that have been checked already."""
    least = np.maximum(1.0 / (size + gamma * gaps), np.minimum(doubts, 1.0 / size))
    demand = np.where(candidates, least, 0.0)
    demand[best] = 0.0
    return demand


def doubts_of(candidates: ArmMask, gaps: PerArm, deviations: PerArm, share: float) -> PerArm:
    """d(a) = share erfc(c(a) / (sqrt(2) s(a))) / sum over candidates: about a share of P(a is best), 0 elsewhere.

    - `candidates`, `gaps`: as in `tight_demand`, checked already.
    - `deviations`: s(a), the standard deviation of c(a); of size 0 where it does not count, and then d = 0. Also with
      one candidate, or more than `ROW_LIMIT`.
    - `share`: of the probability that a is the best arm.
    """
    from scipy.special import erfc

    doubts = np.zeros(len(gaps))
    if len(deviations) and 1 < np.count_nonzero(candidates) <= ROW_LIMIT:
        known = candidates & (deviations > 0.0)
        doubts[known] = erfc(gaps[known] / (np.sqrt(2.0) * deviations[known]))
        doubts[candidates & (gaps <= 0.0)] = 1.0
        doubts *= share / doubts.sum() if doubts.any() else 0.0
    return doubts
