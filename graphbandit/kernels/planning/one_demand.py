"""The sampling program where one arm alone is demanded: its answer is at hand.

That is the most common program once two arms are left that may be best. If the best arm reveals the demanded one, it is
played alone. Else the cheapest arm that reveals it is played as often as demanded, and best takes the rest: any other
way costs at least as much for every unit of coverage, which the dual c(j) of the demand proves.
"""

import math

import numpy as np

from graphbandit.base.array_types import PerArm
from graphbandit.base.program_constants import CERTIFIED, SMALLEST_OBJECTIVE
from graphbandit.kernels.graphs.adjacency import revealers
from graphbandit.kernels.jit import inner
from graphbandit.kernels.planning.certificate import Program
from graphbandit.kernels.planning.simplex import SHRINK
from graphbandit.kernels.planning.simplex_pivot import TIE, ZERO_RATIO


@inner()
def meet_one_demand(program: Program, arm: int, probabilities: PerArm, duals: PerArm) -> tuple[bool, float, float]:
    """Answer a program that demands `arm` alone; return (whether that is certified, objective, gap).

    `probabilities` and `duals` are 0 and are filled with the same bits as the simplex gives: units, ties and roundings
    are its own. If the answer is not certified, they are 0 again.
    """
    demand, gaps, best = program.demand[arm], program.gaps, program.best
    arms = np.empty(gaps.shape[0] + 1, np.int32)
    count = revealers(program.graph, arm, program.available, arms)
    if count == 0 or not demand <= 1.0:
        return False, np.nan, np.nan
    largest = 0.0
    for k in range(count):
        if arms[k] == best:
            probabilities[best] = 1.0
            return True, 0.0, 0.0
        largest = max(largest, gaps[arms[k]])
    unit, total = math.ldexp(1.0, math.frexp(largest)[1]), math.ldexp(1.0, -math.frexp(demand)[1])
    cheapest = np.inf
    for k in range(count):
        cheapest = min(cheapest, gaps[arms[k]] / unit)
    chosen, limit = -1, cheapest * (1.0 + TIE) + ZERO_RATIO
    for k in range(count):
        if chosen < 0 and gaps[arms[k]] / unit < limit:
            chosen = arms[k]
    often = demand * total
    rest = total - often
    probabilities[chosen], probabilities[best] = often / (rest + often), rest / (rest + often)
    duals[arm] = gaps[chosen] * SHRINK

    objective, bound, dual_of_sum = gaps[chosen] * probabilities[chosen], demand * duals[arm], 0.0
    for k in range(count):
        dual_of_sum = min(dual_of_sum, gaps[arms[k]] - duals[arm])
    gap = abs(objective - (bound + dual_of_sum))
    if gap > 0.0:
        gap /= max(objective, SMALLEST_OBJECTIVE * largest)
    mass = probabilities[best] + probabilities[chosen]
    infeasibility = max(abs(mass - 1.0), demand - probabilities[chosen])
    if infeasibility <= CERTIFIED and gap <= CERTIFIED:
        return True, objective, gap
    probabilities[chosen], probabilities[best], duals[arm] = 0.0, 0.0, 0.0
    return False, np.nan, np.nan
