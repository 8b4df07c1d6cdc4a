"""Programs whose demand may have to be scaled down, by HiGHS."""

import numpy as np
from scipy.optimize import linprog


def scaled_by_highs(costs, cover, right):
    """(s, objective): the largest factor up to 1 at which cover p <= -s right has a p, and the smallest cost at it."""
    k, one = len(costs), np.ones((1, len(costs)))
    factor = linprog(
        [0.0] * k + [-1.0],
        A_ub=np.column_stack([cover, right]),
        b_ub=np.zeros(len(right)),
        A_eq=np.column_stack([one, [0.0]]),
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(0, 1)],
    ).x[-1]
    cost = linprog(costs, A_ub=cover, b_ub=-right * factor * (1 - 1e-9), A_eq=one, b_eq=[1.0])
    return factor, cost.fun
