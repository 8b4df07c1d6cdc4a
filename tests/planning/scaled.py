"""Programs whose demand may have to be scaled down, by HiGHS."""

import numpy as np
import pytest
from scipy.optimize import linprog


def check_optimum(decisions, t, matrix, demand, offered):
    """Round t has the largest factor up to 1 at which its demand can be met, at the smallest cost, and meets it."""
    rows = sorted(demand)
    cover = -np.array([[float(matrix[j, a]) for j in offered] for a in rows])
    costs, right = decisions.gaps[t, offered], np.array([demand[a] for a in rows])
    k, one = len(costs), np.ones((1, len(costs)))
    factor = linprog(
        [0.0] * k + [-1.0],
        A_ub=np.column_stack([cover, right]),
        b_ub=np.zeros(len(right)),
        A_eq=np.column_stack([one, [0.0]]),
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(0, 1)],
    ).x[-1]
    cost = linprog(costs, A_ub=cover, b_ub=-right * factor * (1 - 1e-9), A_eq=one, b_eq=[1.0]).fun
    assert decisions.coverage_factor[t] == pytest.approx(factor, rel=1e-7)
    assert decisions.objective[t] == pytest.approx(cost, rel=1e-6, abs=1e-9)
    for a, asked in demand.items():
        assert decisions.observation_probabilities[t, a] >= decisions.coverage_factor[t] * asked - 1e-9
