"""One pivot of the covering LP's dual simplex: what leaves, what enters, and all that changes.

In the notation of `graphbandit.kernels.simplex` and `graphbandit.kernels.simplex_basis`, a dual feasible basis has

    s_i = sum_{j covers i} p_j - b_i                 the slack of row i: infeasible while negative
    d_j = c_j - y_R - sum_{i covered by j} y_i       the reduced cost of column j: never negative
    p_j, y_r                                         of basic columns (may be negative) and binding rows (never)

1. **Leaving** (`choose_leaving`): the slack or basic p_j with the largest infeasibility^2 / weight. This is dual
   steepest edge: the weight is the squared length of the variable's row of the inverse, row i being measured in units
   of its number of columns (`scale`), which was found to save up to 5 of 6 pivots.
2. **Its row** (`price_row`): how it depends on all that is 0 now, on p_j by alpha_j, on the slack of i_r by w_r.
3. **Entering** (`choose_entering`): raising it to 0 needs a variable with a positive coefficient. The smallest of the
   ratios d_j / alpha_j and y_r / w_r keeps every d and y from turning negative. If nothing can enter, the row shows
   that the leaving variable is negative whatever p is (`proves_infeasible`).
4. **The step** (`pivot`): d and y move by the ratio, p and s by the infeasibility over the pivot, the weights follow by
   their recurrence, and the basis changes in one of four ways.

The arrays travel in tuples, made by `graphbandit.kernels.simplex.workspace`:

    lists   = (col_ptr, col_rows, row_ptr, row_cols)
    columns = (cost, reduced_cost, alpha)
    rows    = (demand, slack, scale, weight, change)
    vectors = (w, scaled_w, v, tau, nonzero, places)
"""

import numpy as np
from numba import njit

from graphbandit.kernels.simplex_basis import (
    INLINED,
    NEGLIGIBLE,
    eliminate,
    grow,
    replace_column,
    replace_row,
    shrink,
)

SMALLEST_PIVOT = 1e-8
TIE = 1e-12
"""Ratios that differ by less than this, relatively, are equal: then the larger pivot wins."""
ZERO_RATIO = 1e-17
"""So are ratios below this, which come from ties at 0."""
SMALLEST_WEIGHT = 1e-9


@njit(**INLINED)
def choose_leaving(rows, basis, k, n_rows, tolerance):
    """Return (row, place): the row whose slack leaves, or the place of the column that leaves; -1 for the other.

    Both are -1 when nothing is infeasible by more than `tolerance`.
    """
    _, slack, _, weight, _ = rows
    _, _, _, _, value, _, value_weight = basis
    score = 0.0
    row = -1
    place = -1
    for i in range(n_rows):
        x = slack[i]
        if x < -tolerance and x * x > score * weight[i]:
            score = x * x / weight[i]
            row = i
    for l in range(k):
        x = value[l]
        if x < -tolerance and x * x > score * value_weight[l]:
            score = x * x / value_weight[l]
            row = -1
            place = l
    return row, place


@njit(**INLINED)
def price_row(inverse, k, row, place, lists, columns, rows, basis, vectors):
    """Write the row of the leaving variable: w on the binding rows, alpha on the columns.

        slack of row i:    w = A[i, basic] inverse     alpha_j = A[i, j] - w . A[binding, j]
        basic column j_l:  w = inverse[l]              alpha_j =         - w . A[binding, j]

    Returns its squared length, the exact steepest-edge weight, and how many entries of w are not 0.
    """
    col_ptr, _, row_ptr, row_cols = lists
    _, _, alpha = columns
    _, _, scale, _, _ = rows
    binding, basic, _, place_of_column, _, _, _ = basis
    w, scaled_w, _, _, nonzero, _ = vectors
    if row >= 0:
        norm = scale[row]
        for r in range(k):
            w[r] = 0.0
        for t in range(row_ptr[row], row_ptr[row + 1]):
            l = place_of_column[np.uint32(row_cols[t])]
            if l >= 0:
                for r in range(k):
                    w[r] += inverse[l, r]
    else:
        norm = 0.0
        for r in range(k):
            w[r] = inverse[place, r]
    n_nonzero = 0
    for r in range(k):
        if abs(w[r]) > NEGLIGIBLE:
            nonzero[n_nonzero] = r
            n_nonzero += 1
        else:
            w[r] = 0.0
        scaled_w[r] = w[r] * scale[binding[r]]
        norm += w[r] * scaled_w[r]

    sum_row = w[0]
    for j in range(col_ptr.size - 1):
        alpha[j] = -sum_row
    if row >= 0:
        for t in range(row_ptr[row], row_ptr[row + 1]):
            alpha[np.uint32(row_cols[t])] += 1.0
    for s in range(n_nonzero):
        r = nonzero[s]
        if r > 0:
            x = w[r]
            i = binding[r]
            for t in range(row_ptr[i], row_ptr[i + 1]):
                alpha[np.uint32(row_cols[t])] -= x
    for l in range(k):
        alpha[basic[l]] = 0.0
    return norm, n_nonzero


@njit(**INLINED)
def choose_entering(k, n_columns, columns, basis, vectors):
    """Take the ratio test; returns (column, place, alpha, ratio).

    Either a column enters, or the slack of the binding row in `place` (never the sum row, an equation); the other is
    -1, and both are if nothing can enter.
    """
    _, reduced_cost, alpha = columns
    _, _, _, _, _, dual, _ = basis
    w, _, _, _, _, _ = vectors
    column = -1
    place = -1
    largest = 0.0
    ratio = np.inf
    # a / b < limit is asked as a < limit * b: most candidates fail, and need no division
    limit = np.inf
    for j in range(n_columns):
        x = alpha[j]
        if x > SMALLEST_PIVOT and reduced_cost[j] < limit * x:
            z = max(reduced_cost[j], 0.0) / x
            if x > largest or z < ratio * (1.0 - TIE) - ZERO_RATIO:
                column = j
                largest = x
                ratio = min(z, ratio)
                limit = ratio * (1.0 + TIE) + ZERO_RATIO
    for r in range(1, k):
        x = w[r]
        if x > SMALLEST_PIVOT and dual[r] < limit * x:
            z = max(dual[r], 0.0) / x
            if x > largest or z < ratio * (1.0 - TIE) - ZERO_RATIO:
                column = -1
                place = r
                largest = x
                ratio = min(z, ratio)
                limit = ratio * (1.0 + TIE) + ZERO_RATIO
    return column, place, largest, ratio


@njit(**INLINED)
def proves_infeasible(k, row, total, n_columns, columns, rows, basis, vectors, margin):
    """Whether the row just priced keeps the leaving variable negative for every p (Farkas).

    The leaving variable is  w . b[binding] - b_row + sum_j alpha_j p_j + sum_r w_r s_r  identically in p, with p_j and
    s_r non-negative, sum_j p_j = total and s_r <= total - b_r.
    """
    _, _, alpha = columns
    demand, _, _, _, _ = rows
    binding, _, _, _, _, _, _ = basis
    w, _, _, _, _, _ = vectors
    highest = w[0] * total
    if row >= 0:
        highest -= demand[row]
    for r in range(1, k):
        b_r = demand[binding[r]]
        highest += w[r] * b_r + max(w[r], 0.0) * max(total - b_r, 0.0)
    largest = 0.0
    for j in range(n_columns):
        largest = max(largest, alpha[j])
    return highest + largest * total < -margin


@njit(**INLINED)
def pivot(inverse, k, leaving, entering, norm, n_nonzero, lists, columns, rows, basis, vectors):
    """Exchange the leaving and the entering variable; returns the new size of the inverse, which has room to grow by one."""
    col_ptr, col_rows, _, _ = lists
    _, reduced_cost, alpha = columns
    _, slack, _, weight, _ = rows
    binding, basic, place_of_row, _, value, dual, _ = basis
    w, scaled_w, v, tau, nonzero, places = vectors
    leaving_row, leaving_place = leaving
    entering_column, entering_place, pivot_entry, ratio = entering

    for j in range(col_ptr.size - 1):
        reduced_cost[j] -= ratio * alpha[j]
    for r in range(k):
        dual[r] -= ratio * w[r]

    n_places = 0
    if entering_column >= 0:
        places[0] = 0
        n_places = 1
        for t in range(col_ptr[entering_column], col_ptr[entering_column + 1]):
            r = place_of_row[np.uint32(col_rows[t])]
            if r >= 0:
                places[n_places] = r
                n_places += 1
    eliminate(
        inverse, k, places, n_places, entering_place, w, scaled_w, nonzero, n_nonzero, pivot_entry, v, tau
    )
    infeasibility = slack[leaving_row] if leaving_row >= 0 else value[leaving_place]
    step = -infeasibility / pivot_entry
    move_primal(k, entering_column, step, pivot_entry, norm, lists, rows, basis, vectors)

    entering_weight = norm / (pivot_entry * pivot_entry)
    if leaving_row >= 0:
        slack[leaving_row] = 0.0
    else:
        reduced_cost[basic[leaving_place]] = ratio
    if entering_column >= 0:
        reduced_cost[entering_column] = 0.0
    else:
        slack[binding[entering_place]] = step
        weight[binding[entering_place]] = entering_weight

    if leaving_row >= 0 and entering_column >= 0:
        grow(
            inverse, k, basis, leaving_row, entering_column, w, v, pivot_entry, step, ratio, entering_weight
        )
        k += 1
    elif leaving_row >= 0:
        replace_row(inverse, k, basis, entering_place, leaving_row, v, pivot_entry, ratio)
    elif entering_column >= 0:
        replace_column(inverse, k, basis, leaving_place, entering_column, w, pivot_entry, step, entering_weight)
    else:
        shrink(inverse, k, basis, entering_place, leaving_place)
        k -= 1
    return k


@njit(**INLINED)
def move_primal(k, entering_column, step, pivot_entry, norm, lists, rows, basis, vectors):
    """Move slacks and values by `step` of the entering variable, and carry their steepest-edge weights along.

    With x the change per unit of step, and tau the inner product of the variable's row of the inverse with the pivot row,

        weight <- weight - 2 (x / pivot) tau + (x / pivot)^2 norm.

    The row of a slack has its own unit vector in it, so its weight is at least its scale.
    """
    col_ptr, col_rows, row_ptr, _ = lists
    _, slack, scale, weight, change = rows
    binding, basic, _, _, value, _, value_weight = basis
    _, _, v, tau, _, _ = vectors
    n_rows = row_ptr.size - 1
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
    if entering_column >= 0:
        for t in range(col_ptr[entering_column], col_ptr[entering_column + 1]):
            change[np.uint32(col_rows[t]), 0] += 1.0
    for r in range(1, k):
        change[binding[r], 0] = 0.0
    per_pivot = 1.0 / pivot_entry
    for i in range(n_rows):
        x = change[i, 0]
        slack[i] += step * x
        x *= per_pivot
        weight[i] = max(weight[i] - 2.0 * x * change[i, 1] + x * x * norm, scale[i])
    for l in range(k):
        x = -v[l]
        value[l] += step * x
        x *= per_pivot
        value_weight[l] = max(value_weight[l] - 2.0 * x * tau[l] + x * x * norm, SMALLEST_WEIGHT)
