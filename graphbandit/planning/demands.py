"""What the sampling program asks for: the right-hand sides b(a) of its constraints q(a) >= b(a).

The compiled pass over rounds has the tight demands and their limits once more (`kernels/planning/demands.py`). Those
here are for weakly observable graphs and for edge probabilities, whose rounds are planned in Python. They are not the
same code because NumPy sums in pairs, and kernels one after the other: the last bits of results would change.
`tests/planning/test_demands.py` compares them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMask, ArmsByArms, PerArm
from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.program_constants import COVER_ARMS, ROW_LIMIT
from graphbandit.base.shapes import Float
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.planning.exploration import checked_best, checked_candidates, gap_array


class Limits(NamedTuple):
    """Limits of the demands, from the probabilities P(a) that an arm is the best.

    - `least`: d P(a), with d the doubt.
    - `most`: u(a), see `ceilings_of`.
    """

    least: PerArm
    most: PerArm


def paper_demand(graph: FeedbackGraph, baseline: PerArm, best: int) -> PerArm:
    """b(a) = max of p~(j) over the arms j that reveal a, 0 for a = best: the right-hand side of (2).

    - `graph`: who reveals whom.
    - `baseline`: p~, checked already.
    - `best`: the arm of gap 0.
    """
    from graphbandit.kernels.planning import single_steps

    demand = np.empty(graph.n_arms)
    scratch = np.empty(graph.n_arms, dtype=np.int32)
    single_steps.paper_demand(kernel_graph(graph), baseline, best, scratch, demand)
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
    costs = gap_array(gaps)
    n_arms = len(costs)
    mask = checked_candidates(candidates, n_arms)
    arm = checked_best(best, n_arms)
    most = setting_integer("size", size, at_least=1)
    rate = setting_number("gamma", gamma, at_least=0.0)
    return demand_of_candidates(mask, costs, arm, most, rate, None)


def demand_of_candidates(
    candidates: ArmMask, gaps: PerArm, best: int, size: int, gamma: float, limits: Limits | None
) -> PerArm:
    """max(min(`tight_demand`, u(a)), min(d P(a), 1 / |S|)), for arrays that have been checked already."""
    least = 1.0 / (size + gamma * gaps)
    if limits is not None:
        least = np.maximum(np.minimum(least, limits.most), np.minimum(limits.least, 1.0 / size))
    demand = np.where(candidates, least, 0.0)
    demand[best] = 0.0
    return demand


def chances_of(
    candidates: ArmMask, gaps: PerArm, deviations: Float[np.ndarray, " known"], told: Float[np.ndarray, " told"]
) -> PerArm:
    """P(a), about the probability that a is the best arm; it sums to one over candidates and is 0 elsewhere.

    - `candidates`, `gaps`: as in `tight_demand`, checked already.
    - `deviations`: s(a), the standard deviation of c(a), for P(a) in proportion to erfc(c(a) / (sqrt(2) s(a))); of size
      0 if it is not to be used.
    - `told`: P(a) as the class computes it; of size 0 if it does not.

    P is 0 if both are empty, if there is one candidate, or if there are more than `ROW_LIMIT`.
    """
    from scipy.special import erfc

    chances = np.zeros(len(gaps))
    if 1 < np.count_nonzero(candidates) <= ROW_LIMIT:
        if len(told):
            chances[candidates] = told[candidates]
        elif len(deviations):
            known = candidates & (deviations > 0.0)
            chances[known] = erfc(gaps[known] / (np.sqrt(2.0) * deviations[known]))
            chances[candidates & (gaps <= 0.0)] = 1.0
        chances *= 1.0 / chances.sum() if chances.any() else 0.0
    return chances


def ceilings_of(graph: FeedbackGraph | ArmsByArms, available: ArmMask, gaps: PerArm, chances: PerArm) -> PerArm:
    """u(a) = max(P(a), max over j of P[j, a] min(1, W(j) / c(j))), W(j) = sum_b P[j, b] P(b) c(b).

    To play arm j with probability W(j) / c(j) costs as much as to play each arm b that it reveals with probability
    P(b), as Thompson sampling does. With more than `COVER_ARMS` arms, u(a) = 1.

    - `graph`: P[j, a], the probability that j reveals a: a matrix, or a graph for 0 and 1.
    - `available`: the arms on offer.
    - `gaps`, `chances`: c and P, 0 for arms that are not candidates.
    """
    reveals = graph.to_dense() if isinstance(graph, FeedbackGraph) else graph
    if len(gaps) > COVER_ARMS:
        return np.ones(len(gaps))
    worth = (reveals * (chances * np.where(chances > 0.0, gaps, 0.0))).sum(axis=1)
    often = np.ones(len(gaps))
    np.divide(worth, gaps, out=often, where=worth < gaps)
    ceilings: PerArm = np.maximum(chances, (reveals * np.where(available, often, 0.0)[:, None]).max(axis=0))
    return ceilings
