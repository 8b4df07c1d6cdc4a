"""Exact dual simplex for the covering LP on the probability simplex, and the certificate that it is exact.

    minimise    sum_j c_j p_j
    subject to  sum_{j covers i} p_j >= b_i     for rows i = 0 .. R-1          duals y_i >= 0
                sum_j p_j = 1,  p >= 0          over columns j = 0 .. C-1      dual y_R of the sum, free

with costs c >= 0, and cost 0 in one column `best`. In the sampling LP a column is an arm to play, a row an arm to be
observed, and "covers" means "reveals". Who covers what comes as two incidence lists that say the same thing:

    col_rows[col_ptr[j]:col_ptr[j+1]]   the rows that column j covers
    row_cols[row_ptr[i]:row_ptr[i+1]]   the columns that cover row i

All mass on `best` is a basis, and because c >= 0 it is dual feasible. So the dual simplex starts there without a
phase 1, and takes about as many pivots as rows bind at the optimum. A pivot is `graphbandit.kernels.simplex_pivot`,
the basis with its small dense inverse `graphbandit.kernels.simplex_basis`; here are the loop around them, the
workspace and the certificate.

**Units.** Costs and demands are divided by powers of two next to their maxima, which is exact, so all tolerances are
relative to the largest cost and the largest demand. The sum row then reads sum_j p_j = `total`.

**Trust.** The answer is refined against the original data, and again after every pivot that this calls for. What is
returned as `OPTIMAL` carries a certificate computed from the original data alone. There is no rule against cycling
but an iteration limit: the caller is told, and can ask another solver.
"""

import math

import numpy as np
from numba import njit

from graphbandit.kernels.simplex_basis import COMPILED, INLINED, enlarged, refactorise, refine
from graphbandit.kernels.simplex_pivot import choose_entering, choose_leaving, pivot, price_row, proves_infeasible

OPTIMAL = 0
"""Solved, and the certificate holds."""
ITERATION_LIMIT = 1
"""Stopped early: p is no solution."""
INFEASIBLE = 2
"""Proven: no p meets the demands."""
NOT_CERTIFIED = 3
"""A point was found but its certificate is worse than `CERTIFIED`: it needs a second opinion."""

CERTIFIED = 1e-9
"""The most that each of the three parts of a certificate may be."""
SMALLEST_OBJECTIVE = 1e-6
"""The gap is relative to the objective, but to no less than this share of the largest cost times demand."""

FEASIBLE = 1e-11
"""A slack or a p_j above minus this counts as feasible while pivoting ..."""
STRICTLY_FEASIBLE = 1e-14
"""... and above minus this once they are refined, ..."""
MOST_STRICT_REFINEMENTS = 5
"""... unless rounding keeps that from being reached so often."""
LARGEST_RESIDUAL = 1e-11
"""A larger residual before refinement asks for a new inverse."""


@njit(**COMPILED)
def workspace(n_columns, n_rows):
    """Allocate what `solve_covering_lp` needs for LPs of up to `n_columns` columns and `n_rows` rows.

    A workspace belongs to one thread at a time. It serves any number of LPs, and no answer depends on what an earlier
    LP left in it.
    """
    most_basic = min(n_columns, n_rows + 1)
    capacity = min((most_basic + 7) // 8 * 8, 72)
    columns = (
        np.empty(n_columns),  # cost, in units of the largest
        np.empty(n_columns),  # reduced cost d
        np.empty(n_columns),  # alpha, the pivot row
    )
    rows = (
        np.empty(n_rows),  # demand, in units of the largest
        np.empty(n_rows),  # slack s
        np.empty(n_rows + 1),  # scale
        np.empty(n_rows),  # steepest-edge weight of the slack
        np.empty((n_rows, 2)),  # what a pivot changes: of the slack, of its weight
    )
    basis = (
        np.empty(most_basic, np.int32),  # binding
        np.empty(most_basic, np.int32),  # basic
        np.empty(n_rows + 1, np.int32),  # place_of_row
        np.empty(n_columns, np.int32),  # place_of_column
        np.empty(most_basic),  # value
        np.empty(most_basic),  # dual
        np.empty(most_basic),  # value_weight
    )
    vectors = (
        np.empty(most_basic),  # w
        np.empty(most_basic),  # scaled_w
        np.empty(most_basic),  # v
        np.empty(most_basic),  # tau
        np.empty(most_basic, np.int32),  # nonzero places of w
        np.empty(most_basic, np.int32),  # places of the entering column
    )
    return columns, rows, basis, vectors, np.empty((capacity, capacity))


@njit(**COMPILED)
def solve_covering_lp(col_ptr, col_rows, row_ptr, row_cols, c, b, best, p, y, work):
    """Solve the LP of this module; returns (status, objective, gap, pivots).

    Arguments: the incidence lists (int32; `col_ptr` of length C + 1 and `row_ptr` of length R + 1), costs `c` (C,) and
    demands `b` (R,) (float64, finite), the column `best`, and a `workspace` at least as large. Fills `p` (C,), which is
    non-negative and sums to 1, and the duals `y` (R + 1,), the last of which belongs to the sum. Both are to be used
    only if the status is `OPTIMAL`; `gap` is as in `certify`.
    """
    n_columns = col_ptr.size - 1
    n_rows = row_ptr.size - 1
    lists = (col_ptr, col_rows, row_ptr, row_cols)
    columns, rows, basis, vectors, inverse = work
    cost_unit, demand_unit = set_units(c, b, columns[0], rows[0], n_columns, n_rows)
    total = 1.0 / demand_unit
    start(lists, best, total, columns, rows, basis)
    k = 1
    pivots = 0
    refinements = 0
    tolerance = FEASIBLE
    refined = False
    status = ITERATION_LIMIT
    while pivots < 20 * (n_columns + n_rows) + 200:
        leaving_row, leaving_place = choose_leaving(rows, basis, k, n_rows, tolerance)
        if leaving_row < 0 and leaving_place < 0:
            if refined:
                status = OPTIMAL
                break
            refresh(inverse, k, lists, total, columns, rows, basis, p, y, vectors[0])
            refined = True
            refinements += 1
            tolerance = STRICTLY_FEASIBLE if refinements <= MOST_STRICT_REFINEMENTS else FEASIBLE
            continue
        norm, n_nonzero = price_row(inverse, k, leaving_row, leaving_place, lists, columns, rows, basis, vectors)
        entering_column, entering_place, alpha, ratio = choose_entering(k, n_columns, columns, basis, vectors)
        if entering_column < 0 and entering_place < 0:
            if refined:
                # Without a proof the violation may be mere rounding: then the certificate decides.
                proven = proves_infeasible(k, leaving_row, total, n_columns, columns, rows, basis, vectors, FEASIBLE)
                status = INFEASIBLE if proven else OPTIMAL
                break
            refresh(inverse, k, lists, total, columns, rows, basis, p, y, vectors[0])
            refined = True
            continue
        leaving = (leaving_row, leaving_place)
        entering = (entering_column, entering_place, alpha, ratio)
        if k == inverse.shape[0]:
            inverse = enlarged(inverse)
        k = pivot(inverse, k, leaving, entering, norm, n_nonzero, lists, columns, rows, basis, vectors)
        pivots += 1
        refined = False

    write_answer(k, basis, cost_unit, n_columns, n_rows, p, y)
    primal_infeasibility, dual_infeasibility, gap, objective = certify(
        col_ptr, col_rows, row_ptr, row_cols, c, b, p, y, rows[1], columns[1]
    )
    certified = primal_infeasibility <= CERTIFIED and dual_infeasibility <= CERTIFIED and gap <= CERTIFIED
    if status == OPTIMAL and not certified:
        status = NOT_CERTIFIED
    return status, objective, gap, pivots


@njit(**COMPILED)
def certify(col_ptr, col_rows, row_ptr, row_cols, c, b, p, y, coverage, price):
    """Measure how far p and y are from solving the LP; returns (primal, dual, gap, objective).

        primal  largest of  |sum_j p_j - 1|,  -p_j,  and (b_i - q_i) / demand
        dual    largest of  -y_i and price_j - c_j,  relative to the largest cost
        gap     |c.p - (b.y + y_R)| / max(c.p, `SMALLEST_OBJECTIVE` * largest cost * demand)

    with q_i = sum_{j covers i} p_j, price_j = y_R + sum_{i covered by j} y_i, and demand the largest b_i, or 1 if that
    is smaller. By weak duality p and y are optimal when all three are 0. Nothing but the LP itself, p and y enters;
    `coverage` (R,) and `price` (C,) are filled with q and the prices.
    """
    n_columns = col_ptr.size - 1
    n_rows = row_ptr.size - 1
    largest_cost = 0.0
    objective = 0.0
    mass = 0.0
    primal = 0.0
    for i in range(n_rows):
        coverage[i] = 0.0
    for j in range(n_columns):
        price[j] = y[n_rows]
        largest_cost = max(largest_cost, c[j])
        x = p[j]
        if x != 0.0:
            objective += c[j] * x
            mass += x
            primal = max(primal, -x)
            for t in range(col_ptr[j], col_ptr[j + 1]):
                coverage[np.uint32(col_rows[t])] += x
    primal = max(primal, abs(mass - 1.0))

    bound = y[n_rows]
    demand = 0.0
    shortfall = 0.0
    dual = 0.0
    for i in range(n_rows):
        demand = max(demand, b[i])
        shortfall = max(shortfall, b[i] - coverage[i])
        x = y[i]
        if x != 0.0:
            bound += b[i] * x
            dual = max(dual, -x)
            for t in range(row_ptr[i], row_ptr[i + 1]):
                price[np.uint32(row_cols[t])] += x
    for j in range(n_columns):
        dual = max(dual, price[j] - c[j])

    demand = min(demand, 1.0)
    if shortfall > 0.0:
        primal = max(primal, shortfall / demand)
    gap = abs(objective - bound)
    if gap > 0.0:
        gap /= max(objective, SMALLEST_OBJECTIVE * largest_cost * demand)
    if dual > 0.0:
        dual /= largest_cost
    return primal, dual, gap, objective


@njit(**INLINED)
def set_units(c, b, cost, demand, n_columns, n_rows):
    """Divide costs and demands by the powers of two just above their maxima; returns the two powers."""
    largest_cost = 0.0
    for j in range(n_columns):
        largest_cost = max(largest_cost, c[j])
    largest_demand = 0.0
    for i in range(n_rows):
        largest_demand = max(largest_demand, b[i])
    cost_unit = math.ldexp(1.0, math.frexp(largest_cost)[1])
    demand_unit = math.ldexp(1.0, math.frexp(largest_demand)[1])
    for j in range(n_columns):
        cost[j] = c[j] / cost_unit
    for i in range(n_rows):
        demand[i] = b[i] / demand_unit
    return cost_unit, demand_unit


@njit(**INLINED)
def start(lists, best, total, columns, rows, basis):
    """Put all mass on `best`, let only the sum row bind, and set weights to what they are in that basis."""
    col_ptr, col_rows, row_ptr, _ = lists
    cost, reduced_cost, _ = columns
    demand, slack, scale, weight, _ = rows
    binding, basic, place_of_row, place_of_column, value, dual, value_weight = basis
    n_rows = row_ptr.size - 1
    for j in range(col_ptr.size - 1):
        reduced_cost[j] = cost[j]
        place_of_column[j] = -1
    for i in range(n_rows):
        slack[i] = -demand[i]
        scale[i] = max(row_ptr[i + 1] - row_ptr[i], 1)
        weight[i] = scale[i]
        place_of_row[i] = -1
    scale[n_rows] = 1.0
    for t in range(col_ptr[best], col_ptr[best + 1]):
        slack[col_rows[t]] += total
        weight[col_rows[t]] += 1.0
    binding[0] = n_rows
    place_of_row[n_rows] = 0
    dual[0] = 0.0
    basic[0] = best
    place_of_column[best] = 0
    value[0] = total
    value_weight[0] = 1.0


@njit(**COMPILED)
def refresh(inverse, k, lists, total, columns, rows, basis, p, y, residual):
    """Refine values and duals, with a new inverse if the old one had led astray; then all slacks and reduced costs."""
    col_ptr, col_rows, row_ptr, row_cols = lists
    cost, reduced_cost, _ = columns
    demand, slack, _, _, _ = rows
    binding, basic, _, _, value, dual, _ = basis
    worst = refine(inverse, k, lists, cost, demand, total, basis, p, y, residual)
    if worst > LARGEST_RESIDUAL and refactorise(inverse, k, basis, col_ptr, col_rows):
        for _ in range(2):
            refine(inverse, k, lists, cost, demand, total, basis, p, y, residual)
    for i in range(row_ptr.size - 1):
        slack[i] = -demand[i]
    for l in range(k):
        x = value[l]
        j = basic[l]
        for t in range(col_ptr[j], col_ptr[j + 1]):
            slack[col_rows[t]] += x
    for r in range(1, k):
        slack[binding[r]] = 0.0
    for j in range(col_ptr.size - 1):
        reduced_cost[j] = cost[j] - dual[0]
    for r in range(1, k):
        x = dual[r]
        i = binding[r]
        for t in range(row_ptr[i], row_ptr[i + 1]):
            reduced_cost[row_cols[t]] -= x
    for l in range(k):
        reduced_cost[basic[l]] = 0.0


@njit(**INLINED)
def write_answer(k, basis, cost_unit, n_columns, n_rows, p, y):
    """Spread values and duals over all columns and rows, without the rounding below 0, in the caller's units."""
    binding, basic, _, _, value, dual, _ = basis
    for j in range(n_columns):
        p[j] = 0.0
    for i in range(n_rows):
        y[i] = 0.0
    mass = 0.0
    for l in range(k):
        mass += max(value[l], 0.0)
    for l in range(k):
        p[basic[l]] = max(value[l], 0.0) / mass
    for r in range(1, k):
        y[binding[r]] = max(dual[r], 0.0) * cost_unit
    y[n_rows] = dual[0] * cost_unit
