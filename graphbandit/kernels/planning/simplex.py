"""Exact dual simplex for the covering LP on the probability simplex, and the certificate that it is exact.

    minimise    sum_j c_j p_j
    subject to  sum_{j covers i} p_j >= b_i     for rows i = 0 .. R-1          duals y_i >= 0
                sum_j p_j = 1,  p >= 0          over columns j = 0 .. C-1      dual y_R of the sum, free

with costs c >= 0, and cost 0 in one column `best`. In the sampling LP a column is an arm to play, a row an arm to be
observed, and "covers" means "reveals". The incidence comes as two lists that say the same thing:

    col_rows[col_ptr[j]:col_ptr[j+1]]   the rows that column j covers, each once
    row_cols[row_ptr[i]:row_ptr[i+1]]   the columns that cover row i, each once

All mass on `best` is a basis, and because c >= 0 it is dual feasible. So the dual simplex starts there without a
phase 1, and takes about as many pivots as rows bind at the optimum. `simplex_basis` has the basis with its small dense
inverse, `simplex_pivot` has a pivot, and this module has the loop around them and the certificate.

**Units.** Costs and demands are divided by powers of two just above their maxima, which is exact, so all tolerances
are relative to the largest cost and the largest demand. The sum row then reads sum_j p_j = `total`.

**Trust.** When nothing is infeasible any more, values and duals are refined against the original data, which may call
for a few more pivots. An answer that is returned as `OPTIMAL` has a certificate made from the original data alone. The
only rule against cycling is an iteration limit, which is reported, so that the caller can ask another solver.

**Same bits.** Arithmetic is strict, in the order written, so the answer depends on the LP alone.
"""

import math
from typing import Any

import numpy as np
from numba import types

from graphbandit.base.program_constants import CERTIFIED, SMALLEST_OBJECTIVE
from graphbandit.kernels.graphs.incidence import INCIDENCE, Incidence
from graphbandit.kernels.jit import behind_pointer, inlined, inner, kernel
from graphbandit.kernels.planning.simplex_basis import enlarged, refactorise, refine
from graphbandit.kernels.planning.simplex_pivot import (
    choose_entering,
    choose_leaving,
    pivot,
    pivot_row,
    proves_infeasible,
)
from graphbandit.kernels.planning.simplex_workspace import (
    SCRATCH,
    Floats,
    Scratch,
    Workspace,
    workspace,
)
from graphbandit.kernels.simd_lanes import eight, put

OPTIMAL = 0
"""Solved, and the certificate holds."""
ITERATION_LIMIT = 1
"""Stopped early: p is not a solution."""
INFEASIBLE = 2
"""Proven: no p meets the demands."""
NOT_CERTIFIED = 3
"""A point was found but its certificate is worse than `CERTIFIED`: it needs a second opinion."""

SHRINK = 1.0 - 2.0**-48
"""Duals are returned times this, so that rounding does not push prices above costs, which would lower the bound."""

FEASIBLE = 1e-11
"""A slack or a p_j above minus this counts as feasible while pivoting ..."""
STRICTLY_FEASIBLE = 3e-16
"""... and above minus this once they are refined. It grows tenfold after each refinement that did not suffice, because
then the violation is rounding."""
LARGEST_RESIDUAL = 1e-11
"""A larger residual before refinement asks for a new inverse."""


@kernel()
def solve_covering_lp(
    incidence: Incidence, c: Floats, b: Floats, best: int, p: Floats, y: Floats, scratch: Scratch
) -> tuple[int, float, float, int]:
    """Solve the LP of this module; returns (status, objective, gap, pivots).

    - `incidence`: who covers what.
    - `c` (C,), `b` (R,): costs and demands, float64 and finite.
    - `best`: the column of cost 0.
    - `p` (C,), `y` (R,): receive a distribution and the duals; `certify` computes the dual of the sum from them. Use
      both only if the status is `OPTIMAL`.
    - `scratch`: room for an LP of at least this size.

    `gap` is as in `certify`.
    """
    n_columns = incidence.col_ptr.size - 1
    n_rows = incidence.row_ptr.size - 1
    work = workspace(scratch, n_columns, n_rows)
    cost_unit, demand_unit = set_units(c, b, n_columns, n_rows, work)
    total = 1.0 / demand_unit
    start(best, total, incidence, work)
    inverse = scratch.inverse
    put(inverse, 0, eight(0.0))
    inverse[0, 0] = 1.0
    k: Any = np.int64(1)  # not a literal: functions that receive it would be compiled once more for it
    pivots = 0
    tolerance = FEASIBLE
    next_tolerance = STRICTLY_FEASIBLE
    refined = False
    status = ITERATION_LIMIT
    while pivots < 20 * (n_columns + n_rows) + 200:
        leaving_row, leaving_place = choose_leaving(k, n_rows, tolerance, work)
        done = leaving_row < 0 and leaving_place < 0
        norm, n_nonzero, entering_column, entering_place, entry, ratio = 0.0, 0, -1, -1, 0.0, 0.0
        if not done:
            norm, n_nonzero = pivot_row(inverse, k, leaving_row, leaving_place, incidence, work)
            entering_column, entering_place, entry, ratio = choose_entering(k, n_columns, work)
        if entering_column < 0 and entering_place < 0:
            if refined:
                # Without a proof the violation may be mere rounding: then the certificate decides.
                infeasible = not done and proves_infeasible(k, leaving_row, total, FEASIBLE, n_columns, work)
                status = INFEASIBLE if infeasible else OPTIMAL
                break
            refresh(inverse, k, total, incidence, p, y, work)
            refined = True
            if done:
                tolerance = next_tolerance
                next_tolerance = min(10.0 * tolerance, FEASIBLE)
            continue
        if k == inverse.shape[0]:
            inverse = enlarged(inverse)
        leaving = (leaving_row, leaving_place)
        entering = (entering_column, entering_place, entry, ratio)
        k = pivot(inverse, k, leaving, entering, norm, n_nonzero, incidence, work)
        pivots += 1
        refined = False

    write_answer(k, cost_unit, n_columns, n_rows, p, y, work)
    infeasibility, gap, objective, _ = certify(incidence, c, b, p, y, work.slack, work.reduced_cost)
    if status == OPTIMAL and not (infeasibility <= CERTIFIED and gap <= CERTIFIED):
        status = NOT_CERTIFIED
    return status, objective, gap, pivots


FLOATS = types.float64[::1]
SIGNATURE = types.Tuple((types.int64, types.float64, types.float64, types.int64))(
    INCIDENCE, FLOATS, FLOATS, types.int64, FLOATS, FLOATS, SCRATCH
)

call_simplex, simplex_pointer = behind_pointer(solve_covering_lp, SIGNATURE)
"""Call `solve_covering_lp` by its address, with a tuple of its arguments; and find the address."""


@kernel()
def certify(
    incidence: Incidence, c: Floats, b: Floats, p: Floats, y: Floats, coverage: Floats, price: Floats
) -> tuple[float, float, float, float]:
    """Measure how far p is from solving the LP, with y as witness; returns (infeasibility, gap, objective, y_R).

        infeasibility   the largest of  |sum_j p_j - 1|,  -p_j  and  b_i - q_i,    q_i = sum_{j covers i} p_j
        gap             (c.p - bound) / max(c.p, `SMALLEST_OBJECTIVE` * largest cost)
        bound           b.y + y_R,   y_R = min_j (c_j - price_j),                price_j = sum_{i covered by j} y_i

    For any y >= 0 (negative y_i count as 0) this y_R makes the duals feasible. So by weak duality no feasible p costs
    less than `bound`: there is no dual infeasibility left to measure, and the gap is that of a proof. Nothing but the
    LP itself, p and y enters. `coverage` (R,) and `price` (C,) are filled with q and the prices.
    """
    col_ptr, col_rows, row_ptr, row_cols = incidence
    n_columns = col_ptr.size - 1
    n_rows = row_ptr.size - 1
    largest_cost = 0.0
    objective = 0.0
    mass = 0.0
    infeasibility = 0.0
    for i in range(n_rows):
        coverage[i] = 0.0
    for j in range(n_columns):
        price[j] = 0.0
        largest_cost = max(largest_cost, c[j])
        x = p[j]
        if x != 0.0:
            objective += c[j] * x
            mass += x
            infeasibility = max(infeasibility, -x)
            for t in range(col_ptr[j], col_ptr[j + 1]):
                coverage[np.uint32(col_rows[t])] += x
    infeasibility = max(infeasibility, abs(mass - 1.0))
    bound = 0.0
    for i in range(n_rows):
        infeasibility = max(infeasibility, b[i] - coverage[i])
        x = y[i]
        if x > 0.0:
            bound += b[i] * x
            for t in range(row_ptr[i], row_ptr[i + 1]):
                price[np.uint32(row_cols[t])] += x
    dual_of_sum = np.inf
    for j in range(n_columns):
        dual_of_sum = min(dual_of_sum, c[j] - price[j])
    gap = abs(objective - (bound + dual_of_sum))
    if gap > 0.0:
        gap /= max(objective, SMALLEST_OBJECTIVE * largest_cost)
    return infeasibility, gap, objective, dual_of_sum


@inlined()
def set_units(c: Floats, b: Floats, n_columns: int, n_rows: int, work: Workspace) -> tuple[float, float]:
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
        work.cost[j] = c[j] / cost_unit
    for i in range(n_rows):
        work.demand[i] = b[i] / demand_unit
    return cost_unit, demand_unit


@inlined()
def start(best: int, total: float, incidence: Incidence, work: Workspace) -> None:
    """Put all mass on `best`, let only the sum row bind, and set weights to what they are in that basis."""
    col_ptr, col_rows, row_ptr, _ = incidence
    n_rows = row_ptr.size - 1
    for j in range(col_ptr.size - 1):
        work.reduced_cost[j] = work.cost[j]
        work.place_of_column[j] = -1
    for i in range(n_rows):
        work.slack[i] = -work.demand[i]
        work.scale[i] = max(row_ptr[i + 1] - row_ptr[i], 1)
        work.slack_weight[i] = work.scale[i]
        work.place_of_row[i] = -1
    work.scale[n_rows] = 1.0
    for t in range(col_ptr[best], col_ptr[best + 1]):
        work.slack[col_rows[t]] += total
        work.slack_weight[col_rows[t]] += 1.0
    work.binding[0] = n_rows
    work.place_of_row[n_rows] = 0
    work.dual[0] = 0.0
    work.basic[0] = best
    work.place_of_column[best] = 0
    work.value[0] = total
    work.value_weight[0] = 1.0


@inner()
def refresh(inverse: Floats, k: int, total: float, incidence: Incidence, p: Floats, y: Floats, work: Workspace) -> None:
    """Refine values and duals, with a new inverse if the old one is inaccurate; recompute slacks and reduced costs."""
    col_ptr, col_rows, row_ptr, row_cols = incidence
    for step in range(3):
        worst = refine(inverse, k, incidence, total, p, y, work)
        if step == 0 and not (worst > LARGEST_RESIDUAL and refactorise(inverse, k, incidence, work)):
            break
    for i in range(row_ptr.size - 1):
        work.slack[i] = -work.demand[i]
    for m in range(k):
        x = work.value[m]
        j = work.basic[m]
        for t in range(col_ptr[j], col_ptr[j + 1]):
            work.slack[col_rows[t]] += x
    for r in range(1, k):
        work.slack[work.binding[r]] = 0.0
    for j in range(col_ptr.size - 1):
        work.reduced_cost[j] = work.cost[j] - work.dual[0]
    for r in range(1, k):
        x = work.dual[r]
        i = work.binding[r]
        for t in range(row_ptr[i], row_ptr[i + 1]):
            work.reduced_cost[row_cols[t]] -= x
    for m in range(k):
        work.reduced_cost[work.basic[m]] = 0.0


@inlined()
def write_answer(k: int, cost_unit: float, n_columns: int, n_rows: int, p: Floats, y: Floats, work: Workspace) -> None:
    """Write values and duals for all columns and rows, in the caller's units; negative rounding errors become 0."""
    for j in range(n_columns):
        p[j] = 0.0
    for i in range(n_rows):
        y[i] = 0.0
    mass = 0.0
    for m in range(k):
        mass += max(work.value[m], 0.0)
    for m in range(k):
        p[work.basic[m]] = max(work.value[m], 0.0) / mass
    for r in range(1, k):
        y[work.binding[r]] = max(work.dual[r], 0.0) * cost_unit * SHRINK
