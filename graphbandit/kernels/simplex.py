"""Exact dual simplex for the covering LP on the probability simplex, and the certificate that it is exact.

    minimise    sum_j c_j p_j
    subject to  sum_{j covers i} p_j >= b_i     for rows i = 0 .. R-1          duals y_i >= 0
                sum_j p_j = 1,  p >= 0          over columns j = 0 .. C-1      dual  y_R of the sum, free

with costs c >= 0 and one column `best` of cost 0. In the sampling LP a column is an arm to play, a row an arm to be
observed, and "covers" means "reveals". Who covers what comes as two incidence lists that say the same thing:

    col_rows[col_ptr[j]:col_ptr[j+1]]   the rows that column j covers
    row_cols[row_ptr[i]:row_ptr[i+1]]   the columns that cover row i

**Why it is quick.** All mass on `best` is a basis, and because c >= 0 it is dual feasible: the dual simplex starts
there without a phase 1, and takes about as many pivots as rows bind at the optimum. Only the small kernel of the
basis is held (`graphbandit.kernels.simplex_basis`); slacks s and reduced costs d,

    s_i = sum_{j covers i} p_j - b_i           d_j = c_j - y_R - sum_{i covered by j} y_i,

are kept up to date by running over the incidence lists.

**One pivot.** The variable that leaves is the slack or basic column with the largest infeasibility^2 / weight
(dual steepest edge, with each row measured in units of its number of columns). Raising it to 0 needs an entering
variable with a positive coefficient in its row: alpha_j for a column, w_r for the slack of a binding row; of those,
the one whose dual ratio d_j / alpha_j or y_r / w_r is smallest keeps the duals feasible. There is no rule against
cycling but an iteration limit: the caller is told, and may ask another solver.

**Units.** Costs and demands are divided by powers of two near their maxima, which is exact, so every tolerance is
relative to the largest cost and demand; the sum row then reads sum_j p_j = `total`.
"""

import math

import numpy as np
from numba import njit

from graphbandit.kernels.simplex_basis import (
    COMPILED,
    INLINED,
    NEGLIGIBLE,
    eliminate,
    grow,
    refactorise,
    refine,
    replace_column,
    replace_row,
    shrink,
)

OPTIMAL = 0
"""Solved, and the certificate holds."""
ITERATION_LIMIT = 1
"""Stopped early: p is not to be used."""
INFEASIBLE = 2
"""Proven: no p meets the demands."""
NOT_CERTIFIED = 3
"""A point was found but its certificate is above `CERTIFIED`: p is not to be used without a second opinion."""

CERTIFIED = 1e-9
"""The most that each of the three parts of a certificate may be."""
SMALLEST_OBJECTIVE = 1e-6
"""The gap is relative to the objective, but to no less than this share of the largest cost."""

FEASIBLE = 1e-11
"""A slack or p_j above minus this counts as feasible while pivoting ..."""
STRICTLY_FEASIBLE = 1e-14
"""... and above minus this once values are refined."""
SMALLEST_PIVOT = 1e-8
TIE = 1e-12
"""Dual ratios this close, relatively, are equal, and so are all below `ZERO_RATIO`: then the larger pivot wins."""
ZERO_RATIO = 1e-17
LARGEST_RESIDUAL = 1e-11
"""A larger residual before refinement asks for a new inverse."""
MOST_REFINEMENTS = 6


@njit(**COMPILED)
def workspace(n_columns, n_rows):
    """Allocate what `solve_covering_lp` needs for LPs of up to this many columns and rows.

    One workspace per thread; it may be used again and again for LPs of any smaller size, and no solve depends on what
    an earlier one left in it.
    """
    n_basis = min(n_columns, n_rows + 1)
    capacity = min(n_basis + 7 & ~7, 72)
    columns = (
        np.empty(n_columns),  # scaled costs
        np.empty(n_columns),  # reduced costs d
        np.empty(n_columns),  # pivot row alpha
    )
    rows = (
        np.empty(n_rows + 1),  # scaled demands
        np.empty(n_rows + 1),  # slacks s
        np.empty(n_rows + 1),  # row scale: its number of columns
        np.empty(n_rows + 1),  # steepest-edge weights of the slacks
        np.empty((n_rows + 1, 2)),  # what a pivot does to a row: change of its slack, tau
    )
    basis = (
        np.empty(n_basis, np.int32),  # binding
        np.empty(n_basis, np.int32),  # basic
        np.empty(n_rows + 1, np.int32),  # place_of_row
        np.empty(n_columns, np.int32),  # place_of_column
        np.empty(n_basis),  # value
        np.empty(n_basis),  # dual
        np.empty(n_basis),  # value_weight
    )
    pivot_vectors = (
        np.empty(n_basis),  # w
        np.empty(n_basis),  # w times row scale
        np.empty(n_basis),  # v
        np.empty(n_basis),  # tau
        np.empty(n_rows + 1, np.int32),  # places of the entering column
        np.empty(n_basis, np.int32),
    )
    return columns, rows, basis, pivot_vectors, np.empty((capacity, capacity))


@njit(**COMPILED)
def power_of_two_above(x):
    """Return the smallest power of two that is larger than x > 0."""
    return math.ldexp(1.0, math.frexp(x)[1])


@njit(**INLINED)
def start(col_ptr, col_rows, row_ptr, best, total, columns, rows, basis, n_columns, n_rows):
    """Put all mass on `best`, with only the sum row binding; costs and demands are in place already."""
    cost, reduced_cost, _ = columns
    demand, slack, scale, weight, _ = rows
    binding, basic, place_of_row, place_of_column, value, dual, value_weight = basis
    for j in range(n_columns):
        reduced_cost[j] = cost[j]
        place_of_column[j] = -1
    for i in range(n_rows):
        slack[i] = -demand[i]
        scale[i] = row_ptr[i + 1] - row_ptr[i]
        weight[i] = max(scale[i], 1.0)
        place_of_row[i] = -1
    scale[n_rows] = 1.0
    for t in range(col_ptr[best], col_ptr[best + 1]):
        slack[col_rows[t]] += total
        weight[col_rows[t]] += 1.0
    binding[0] = n_rows
    basic[0] = best
    place_of_row[n_rows] = 0
    place_of_column[best] = 0
    value[0] = total
    dual[0] = 0.0
    value_weight[0] = 1.0


@njit(**INLINED)
def choose_leaving(rows, basis, k, n_rows, tolerance):
    """Return (row, place): the row whose slack leaves or the place of the column that leaves, -1 for the other.

    Both are -1 when nothing is infeasible by more than `tolerance`.
    """
    _, slack, _, weight, _ = rows
    _, _, _, _, value, _, value_weight = basis
    best_score = 0.0
    row = -1
    place = -1
    for i in range(n_rows):
        if slack[i] < -tolerance and slack[i] * slack[i] > best_score * weight[i]:
            best_score = slack[i] * slack[i] / weight[i]
            row = i
    for l in range(k):
        if value[l] < -tolerance and value[l] * value[l] > best_score * value_weight[l]:
            best_score = value[l] * value[l] / value_weight[l]
            row = -1
            place = l
    return row, place


@njit(**INLINED)
def pivot_row(inverse, k, row, place, row_ptr, row_cols, columns, rows, basis, pivot_vectors, n_columns, n_rows):
    """Write the leaving variable's row: w on the binding rows, alpha on the columns.

    For the slack of row i, w = A[i, basic] inverse and alpha_j = A[i, j] - w . A[binding, j]; for basic column j_l,
    w = inverse[l] and alpha_j = -w . A[binding, j]. Returns the leaving variable's exact steepest-edge weight.
    """
    _, _, alpha = columns
    _, _, scale, _, _ = rows
    binding, basic, _, place_of_column, _, _, _ = basis
    w, weighted_w, _, _, _, active = pivot_vectors
    if row >= 0:
        w[:k] = 0.0
        for t in range(row_ptr[row], row_ptr[row + 1]):
            l = place_of_column[row_cols[t]]
            if l >= 0:
                for r in range(k):
                    w[r] += inverse[l, r]
        norm = scale[row]
    else:
        for r in range(k):
            w[r] = inverse[place, r]
        norm = 0.0
    n_active = 0
    for r in range(k):
        if abs(w[r]) <= NEGLIGIBLE:
            w[r] = 0.0
        else:
            active[n_active] = r
            n_active += 1
        weighted_w[r] = w[r] * scale[binding[r]]
        norm += w[r] * weighted_w[r]
    x = -w[0]
    for j in range(n_columns):
        alpha[j] = x
    if row >= 0:
        for t in range(row_ptr[row], row_ptr[row + 1]):
            alpha[np.uint32(row_cols[t])] += 1.0
    for s in range(n_active):
        r = active[s]
        if r > 0:
            x = w[r]
            i = binding[r]
            for t in range(row_ptr[i], row_ptr[i + 1]):
                alpha[np.uint32(row_cols[t])] -= x
    for l in range(k):
        alpha[basic[l]] = 0.0
    return norm, n_active


@njit(**INLINED)
def choose_entering(k, columns, basis, pivot_vectors, n_columns):
    """Take the dual ratio test. Returns (column, slack place, pivot, ratio); both indices are -1 if nothing enters."""
    _, reduced_cost, alpha = columns
    _, _, _, _, _, dual, _ = basis
    w, _, _, _, _, _ = pivot_vectors
    column = -1
    place = -1
    pivot = 0.0
    ratio = np.inf
    # d < (ratio + TIE) alpha is d / alpha < ratio + TIE without a division for the many that fail
    for j in range(n_columns):
        x = alpha[j]
        if x > SMALLEST_PIVOT and reduced_cost[j] < (ratio * (1.0 + TIE) + ZERO_RATIO) * x:
            z = max(reduced_cost[j], 0.0) / x
            if z < ratio * (1.0 - TIE) - ZERO_RATIO or x > pivot:
                column = j
                pivot = x
                ratio = min(z, ratio)
    for r in range(1, k):
        x = w[r]
        if x > SMALLEST_PIVOT and dual[r] < (ratio * (1.0 + TIE) + ZERO_RATIO) * x:
            z = max(dual[r], 0.0) / x
            if z < ratio * (1.0 - TIE) - ZERO_RATIO or x > pivot:
                column = -1
                place = r
                pivot = x
                ratio = min(z, ratio)
    return column, place, pivot, ratio


@njit(**INLINED)
def update_primal(k, column, step, pivot, norm, col_ptr, col_rows, rows, basis, pivot_vectors, n_rows):
    """Move slacks and values by `step` of the entering variable, and their steepest-edge weights with them.

    weight_i += -2 (x_i / pivot) tau_i + (x_i / pivot)^2 norm, with x_i the change per unit of step and tau_i the inner
    product of row i of the inverse with the pivot row.
    """
    _, slack, scale, weight, change = rows
    _, basic, place_of_row, _, value, _, value_weight = basis
    _, _, v, tau, _, _ = pivot_vectors
    for i in range(n_rows):
        change[i, 0] = 0.0
        change[i, 1] = 0.0
    for l in range(k):
        x = v[l]
        z = tau[l]
        if x != 0.0 or z != 0.0:
            j = basic[l]
            for t in range(col_ptr[j], col_ptr[j + 1]):
                i = np.uint32(col_rows[t])
                change[i, 0] -= x
                change[i, 1] += z
    if column >= 0:
        for t in range(col_ptr[column], col_ptr[column + 1]):
            change[np.uint32(col_rows[t]), 0] += 1.0
    for r in range(1, k):
        change[basis[0][r], 0] = 0.0
    inverse_pivot = 1.0 / pivot
    for i in range(n_rows):
        x = change[i, 0]
        slack[i] += step * x
        x *= inverse_pivot
        weight[i] = max(weight[i] - 2.0 * x * change[i, 1] + x * x * norm, scale[i])
    for l in range(k):
        x = -v[l]
        value[l] += step * x
        x *= inverse_pivot
        value_weight[l] = max(value_weight[l] - 2.0 * x * tau[l] + x * x * norm, 1e-9)


@njit(**COMPILED)
def solve_covering_lp(col_ptr, col_rows, row_ptr, row_cols, c, b, best, p, y, work):
    n_columns = c.size
    n_rows = b.size
    columns, rows, basis, pivot_vectors, inverse = work
    cost, reduced_cost, alpha = columns
    demand, slack, _, weight, _ = rows
    binding, basic, place_of_row, _, value, dual, _ = basis
    w, weighted_w, v, tau, places, active = pivot_vectors

    largest_cost = 0.0
    for j in range(n_columns):
        largest_cost = max(largest_cost, c[j])
    largest_demand = 0.0
    for i in range(n_rows):
        largest_demand = max(largest_demand, b[i])
    cost_unit = power_of_two_above(largest_cost) if largest_cost > 0.0 else 1.0
    unit = power_of_two_above(largest_demand) if largest_demand > 0.0 else 1.0
    for j in range(n_columns):
        cost[j] = c[j] / cost_unit
    for i in range(n_rows):
        demand[i] = b[i] / unit
    total = 1.0 / unit

    start(col_ptr, col_rows, row_ptr, best, total, columns, rows, basis, n_columns, n_rows)
    k = 1
    pivots = 0
    refinements = 0
    tolerance = FEASIBLE
    fresh = False
    status = ITERATION_LIMIT
    limit = 20 * (n_columns + n_rows) + 200
    while pivots < limit:
        row, place = choose_leaving(rows, basis, k, n_rows, tolerance)
        if row < 0 and place < 0:
            if fresh or refinements == MOST_REFINEMENTS:
                status = OPTIMAL
                break
            refresh(
                inverse,
                k,
                basis,
                col_ptr,
                col_rows,
                row_ptr,
                row_cols,
                columns,
                rows,
                total,
                p,
                y,
                w,
                n_columns,
                n_rows,
            )
            fresh = True
            refinements += 1
            tolerance = STRICTLY_FEASIBLE
            continue
        norm, n_active = pivot_row(
            inverse, k, row, place, row_ptr, row_cols, columns, rows, basis, pivot_vectors, n_columns, n_rows
        )
        column, slack_place, pivot, ratio = choose_entering(k, columns, basis, pivot_vectors, n_columns)
        infeasibility = slack[row] if row >= 0 else value[place]
        if column < 0 and slack_place < 0:
            if fresh:
                status = OPTIMAL
                if infeasibility < -FEASIBLE:
                    status = INFEASIBLE
                break
            refresh(
                inverse,
                k,
                basis,
                col_ptr,
                col_rows,
                row_ptr,
                row_cols,
                columns,
                rows,
                total,
                p,
                y,
                w,
                n_columns,
                n_rows,
            )
            fresh = True
            continue
        pivots += 1
        fresh = False

        for j in range(n_columns):
            reduced_cost[j] -= ratio * alpha[j]
        for r in range(k):
            dual[r] -= ratio * w[r]

        n_places = 0
        if column >= 0:
            places[0] = 0
            n_places = 1
            for t in range(col_ptr[column], col_ptr[column + 1]):
                r = place_of_row[np.uint32(col_rows[t])]
                if r >= 0:
                    places[n_places] = r
                    n_places += 1
        eliminate(inverse, k, places, n_places, slack_place, w, weighted_w, active, n_active, pivot, v, tau)
        step = -infeasibility / pivot
        update_primal(k, column, step, pivot, norm, col_ptr, col_rows, rows, basis, pivot_vectors, n_rows)

        entering_weight = norm / (pivot * pivot)
        if slack_place >= 0:
            slack[binding[slack_place]] = step
            weight[binding[slack_place]] = entering_weight
        if column >= 0:
            reduced_cost[column] = 0.0
        if row >= 0:
            slack[row] = 0.0
        else:
            reduced_cost[basic[place]] = ratio

        if row >= 0 and column >= 0:
            inverse = grow(inverse, k, basis, row, column, w, v, pivot, step, ratio, entering_weight)
            k += 1
        elif row >= 0:
            replace_row(inverse, k, basis, slack_place, row, v, pivot, ratio)
        elif column >= 0:
            replace_column(inverse, k, basis, place, column, w, pivot, step, entering_weight)
        else:
            shrink(inverse, k, basis, slack_place, place)
            k -= 1

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

    primal, dual_, gap, objective = certify(col_ptr, col_rows, row_ptr, row_cols, c, b, p, y, slack, reduced_cost)
    if status == OPTIMAL and not (primal <= CERTIFIED and dual_ <= CERTIFIED and gap <= CERTIFIED):
        status = NOT_CERTIFIED
    return status, objective, gap, pivots


@njit(**COMPILED)
def refresh(
    inverse,
    k,
    basis,
    col_ptr,
    col_rows,
    row_ptr,
    row_cols,
    columns,
    rows,
    total,
    p,
    y,
    residual,
    n_columns,
    n_rows,
):
    cost, reduced_cost, _ = columns
    demand, slack, _, _, _ = rows
    binding, basic, _, _, value, dual, _ = basis
    worst = refine(inverse, k, basis, col_ptr, col_rows, row_ptr, row_cols, cost, demand, total, p, y, residual)
    if worst > LARGEST_RESIDUAL:
        if refactorise(inverse, k, basis, col_ptr, col_rows):
            refine(inverse, k, basis, col_ptr, col_rows, row_ptr, row_cols, cost, demand, total, p, y, residual)
            refine(inverse, k, basis, col_ptr, col_rows, row_ptr, row_cols, cost, demand, total, p, y, residual)
    for i in range(n_rows):
        slack[i] = -demand[i]
    for l in range(k):
        x = value[l]
        j = basic[l]
        for t in range(col_ptr[j], col_ptr[j + 1]):
            slack[col_rows[t]] += x
    for r in range(1, k):
        slack[binding[r]] = 0.0
    for j in range(n_columns):
        reduced_cost[j] = cost[j] - dual[0]
    for r in range(1, k):
        x = dual[r]
        i = binding[r]
        for t in range(row_ptr[i], row_ptr[i + 1]):
            reduced_cost[row_cols[t]] -= x
    for l in range(k):
        reduced_cost[basic[l]] = 0.0


@njit(**COMPILED)
def certify(col_ptr, col_rows, row_ptr, row_cols, c, b, p, y, coverage, price):
    n_columns = c.size
    n_rows = b.size
    for i in range(n_rows):
        coverage[i] = 0.0
    largest_cost = 0.0
    objective = 0.0
    mass = 0.0
    primal = 0.0
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
    dual = 0.0
    for i in range(n_rows):
        primal = max(primal, b[i] - coverage[i])
        x = y[i]
        if x != 0.0:
            bound += b[i] * x
            dual = max(dual, -x)
            for t in range(row_ptr[i], row_ptr[i + 1]):
                price[np.uint32(row_cols[t])] += x
    for j in range(n_columns):
        dual = max(dual, price[j] - c[j])
    if largest_cost == 0.0:
        return primal, dual, abs(objective - bound), objective
    gap = abs(objective - bound) / max(objective, SMALLEST_OBJECTIVE * largest_cost)
    return primal, dual / largest_cost, gap, objective
