"""Large sampling programs: a feasible p and a lower bound that close in on each other, to be stopped at any time.

The program is the covering LP of the module `simplex`, in the same incidence lists. Primal-dual hybrid
gradient steps with diagonal preconditioning (Pock & Chambolle 2011; restarts at the average as in PDLP, Applegate et
al. 2021) give points that are nearly feasible and nearly optimal. `polish` makes a feasible p of any such point,
`lower_bound` a valid bound of any duals, each in one walk over the incidences; both are kept only when they improve.
"""

import numpy as np

from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.simplex_workspace import Floats, Incidence, Indices


@kernel()
def first_order_steps(lists: Incidence, c: Floats, b: Floats, weight: float, steps: int, p: Floats, y: Floats) -> None:
    """Take `steps` steps from (p, y) and leave their average there; y[-1] is the dual of sum p = 1, free.

    p <- max(0, p - (t / weight) (c - A'y)),  y <- max(0, y + weight s (b - A(2p' - p))), where t and s are the inverse
    numbers of entries in a column and row, the sum row included.
    """
    n_columns, n_rows = c.shape[0], b.shape[0]
    ahead = np.empty(n_columns)
    mean_p, mean_y = np.zeros(n_columns), np.zeros(n_rows + 1)
    for _ in range(steps):
        total = 0.0
        for j in range(n_columns):
            reduced = c[j] - y[n_rows]
            for k in range(lists.col_ptr[j], lists.col_ptr[j + 1]):
                reduced -= y[lists.col_rows[k]]
            moved = max(p[j] - reduced / (weight * (1.0 + lists.col_ptr[j + 1] - lists.col_ptr[j])), 0.0)
            ahead[j] = 2.0 * moved - p[j]
            p[j] = moved
            total += ahead[j]
            mean_p[j] += moved
        for i in range(n_rows):
            short = b[i]
            for k in range(lists.row_ptr[i], lists.row_ptr[i + 1]):
                short -= ahead[lists.row_cols[k]]
            y[i] = max(y[i] + weight * short / (lists.row_ptr[i + 1] - lists.row_ptr[i]), 0.0)
            mean_y[i] += y[i]
        y[n_rows] += weight * (1.0 - total) / n_columns
        mean_y[n_rows] += y[n_rows]
    for j in range(n_columns):
        p[j] = mean_p[j] / steps
    for i in range(n_rows + 1):
        y[i] = mean_y[i] / steps


@kernel()
def cheapest_columns(lists: Incidence, c: Floats, cheapest: Indices) -> None:
    """For each row the column of the least cost that covers it."""
    for i in range(cheapest.shape[0]):
        cheapest[i] = lists.row_cols[lists.row_ptr[i]]
        for k in range(lists.row_ptr[i], lists.row_ptr[i + 1]):
            if c[lists.row_cols[k]] < c[cheapest[i]]:
                cheapest[i] = lists.row_cols[k]


@kernel()
def polish(
    lists: Incidence, b: Floats, best: int, cheapest: Indices, by_cost: Indices, p: Floats, covered: Floats
) -> bool:
    """Make p feasible and drop what it does not need; False if it asks for more than one unit of mass.

    Rows that fall short are filled through their cheapest column, mass in excess is taken from `best`, and then columns
    give up, from the dearest (`by_cost`) down, all that every row of theirs can spare; what they give goes to `best`.
    """
    n_columns, n_rows = p.shape[0], b.shape[0]
    for i in range(n_rows):
        covered[i] = 0.0
    total = 0.0
    for j in range(n_columns):
        total += p[j]
        if p[j] > 0.0:
            for k in range(lists.col_ptr[j], lists.col_ptr[j + 1]):
                covered[lists.col_rows[k]] += p[j]
    for _ in range(3):
        shift = max(1.0 - total, -p[best])
        p[best] += shift
        total += shift
        for k in range(lists.col_ptr[best], lists.col_ptr[best + 1]):
            covered[lists.col_rows[k]] += shift
        for i in range(n_rows):
            short = b[i] - covered[i]
            if short > 0.0:
                j = cheapest[i]
                p[j] += short
                total += short
                for k in range(lists.col_ptr[j], lists.col_ptr[j + 1]):
                    covered[lists.col_rows[k]] += short
        spared = 0.0
        for order in range(n_columns):
            j = by_cost[order]
            if p[j] > 0.0 and j != best:
                spare = p[j]
                for k in range(lists.col_ptr[j], lists.col_ptr[j + 1]):
                    spare = min(spare, covered[lists.col_rows[k]] - b[lists.col_rows[k]])
                if spare > 0.0:
                    p[j] -= spare
                    spared += spare
                    for k in range(lists.col_ptr[j], lists.col_ptr[j + 1]):
                        covered[lists.col_rows[k]] -= spare
        total -= spared
        if total <= 1.0:
            break
    if total > 1.0 + 1e-12:
        return False
    p[best] += 1.0 - total
    return True


@kernel()
def lower_bound(lists: Incidence, c: Floats, b: Floats, y: Floats, reduced: Floats) -> float:
    """sum b y + min_j d_j with d = c - A'y, after raising each y by all that the columns of its row can spare."""
    lowest = np.inf
    for j in range(c.shape[0]):
        reduced[j] = c[j]
        for k in range(lists.col_ptr[j], lists.col_ptr[j + 1]):
            reduced[j] -= y[lists.col_rows[k]]
        lowest = min(lowest, reduced[j])
    bound = lowest
    for i in range(b.shape[0]):
        spare = np.inf
        for k in range(lists.row_ptr[i], lists.row_ptr[i + 1]):
            spare = min(spare, reduced[lists.row_cols[k]] - lowest)
        if spare > 0.0:
            y[i] += spare
            for k in range(lists.row_ptr[i], lists.row_ptr[i + 1]):
                reduced[lists.row_cols[k]] -= spare
        bound += b[i] * y[i]
    return bound
