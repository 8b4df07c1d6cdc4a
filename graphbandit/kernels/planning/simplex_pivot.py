"""One pivot of the covering LP's dual simplex: what leaves, what enters, and all that changes.

In the notation of `graphbandit.kernels.planning.simplex` and `graphbandit.kernels.planning.simplex_basis` there are

    s_i = sum_{j covers i} p_j - b_i                 the slack of row i: infeasible while negative
    d_j = c_j - y_R - sum_{i covered by j} y_i       the reduced cost of column j: never negative
    p_j of basic columns                             infeasible while negative
    y_i of binding rows                              never negative, but for that of the sum row

1. **What leaves** (`choose_leaving`) is the slack or basic p_j with the largest infeasibility^2 / weight. This is dual
   steepest edge: a variable is a linear function of the demands, and its weight is the squared length of that
   function, with the demand of row i measured in units of its number of columns (`scale`), which saves up to five
   pivots in six.
2. **Its row** (`pivot_row`) says how it depends on all that is 0 now: on p_j by alpha_j, on the slack of i_r by w_r.
3. **What enters** (`choose_entering`) must have a positive coefficient, so that the leaving variable rises to 0. The
   smallest of the ratios d_j / alpha_j and y_r / w_r keeps every d and y from turning negative. When nothing can
   enter, the row shows that the leaving variable is negative whatever p is (`proves_infeasible`).
4. **The step** (`pivot`): d and y move by the ratio, p and s by the infeasibility over the pivot entry; weights follow
   by their recurrence, and the basis changes in one of its four ways.
"""

import numpy as np

from graphbandit.kernels.graphs.incidence import Incidence
from graphbandit.kernels.jit import inlined
from graphbandit.kernels.planning.float_keys import bits, key, number, place_mask
from graphbandit.kernels.planning.simplex_basis import NEGLIGIBLE, eliminate, grow, replace_column, replace_row, shrink
from graphbandit.kernels.planning.simplex_workspace import Floats, Workspace
from graphbandit.kernels.simd_lanes import eight, joined, pair, put

SMALLEST_PIVOT = 1e-8
TIE = 1e-12
"""Ratios that differ by less than this, relatively, are equal: then the larger pivot wins."""
ZERO_RATIO = 1e-17
"""Ratios below this are equal, too: they come from ties at 0."""
SMALLEST_WEIGHT = 1e-9


@inlined()
def choose_leaving(k: int, n_rows: int, tolerance: float, work: Workspace) -> tuple[int, int]:
    """Return (row, place): the row whose slack leaves, or the place of the column that leaves; -1 for the other.

    Both are -1 when nothing is infeasible by more than `tolerance`.
    """
    mask = place_mask(n_rows + k)
    best = 0
    for i in range(n_rows):
        x = work.slack[i]
        best = max(best, key(x * x / work.slack_weight[i] if x < -tolerance else 0.0, i, mask))
    for m in range(k):
        x = work.value[m]
        best = max(best, key(x * x / work.value_weight[m] if x < -tolerance else 0.0, n_rows + m, mask))
    if best <= mask:
        return -1, -1
    chosen = mask - (best & mask)
    return (chosen, -1) if chosen < n_rows else (-1, chosen - n_rows)


@inlined()
def pivot_row(
    inverse: Floats, k: int, row: int, place: int, incidence: Incidence, work: Workspace
) -> tuple[float, int]:
    """Write the row of the leaving variable: w on the binding rows, alpha on the columns.

        slack of row i:    w = inverse A[i, basic]     alpha_j = A[i, j] - w . A[binding, j]
        basic column j_m:  w = inverse[:, m]           alpha_j =         - w . A[binding, j]

    Returns the leaving variable's exact steepest-edge weight, and how many entries of w are not 0.
    """
    w = work.w
    alpha = work.alpha
    places = work.places
    row_ptr = incidence.row_ptr
    row_cols = incidence.row_cols
    for r in range(0, k, 8):
        put(w, r, eight(0.0))
    if row >= 0:
        norm = work.scale[row]
        n_places = 0
        for t in range(row_ptr[row], row_ptr[row + 1]):
            m = work.place_of_column[row_cols[t]]
            places[n_places] = m
            n_places += m >= 0
        for t in range(n_places):
            m = places[t]
            for r in range(k):
                w[r] += inverse[r, m]
    else:
        norm = 0.0
        for r in range(k):
            w[r] = inverse[r, place]
    n_nonzero = 0
    for r in range(k):
        x = w[r] if abs(w[r]) > NEGLIGIBLE else 0.0
        z = x * work.scale[work.binding[r]]
        norm += x * z
        w[r] = x
        work.scaled_w[r] = z
        work.nonzero[n_nonzero] = r
        n_nonzero += x != 0.0

    of_sum_row = w[0]
    for j in range(incidence.col_ptr.size - 1):
        alpha[j] = -of_sum_row
    if row >= 0:
        for t in range(row_ptr[row], row_ptr[row + 1]):
            alpha[np.uint32(row_cols[t])] += 1.0
    for s in range(n_nonzero):
        r = work.nonzero[s]
        if r > 0:
            x = w[r]
            i = work.binding[r]
            for t in range(row_ptr[i], row_ptr[i + 1]):
                alpha[np.uint32(row_cols[t])] -= x
    for m in range(k):
        alpha[work.basic[m]] = 0.0
    return norm, n_nonzero


@inlined()
def choose_entering(k: int, n_columns: int, work: Workspace) -> tuple[int, int, float, float]:
    """Take the ratio test; returns (column, place, pivot entry, ratio).

    Either a column enters, or the slack of the binding row in `place` (never the sum row, an equation); the other is
    -1, and both are -1 if nothing can enter. Among ratios that tie with the smallest, the largest entry is taken.
    """
    least = bits(np.inf)
    for j in range(n_columns):
        x = work.alpha[j]
        least = min(least, bits(max(work.reduced_cost[j], 0.0) / x if x > SMALLEST_PIVOT else np.inf))
    for r in range(1, k):
        x = work.w[r]
        least = min(least, bits(max(work.dual[r], 0.0) / x if x > SMALLEST_PIVOT else np.inf))
    ratio = abs(number(least))  # it may be -0.0
    limit = ratio * (1.0 + TIE) + ZERO_RATIO
    mask = place_mask(n_columns + k)
    best = 0
    for j in range(n_columns):
        x = work.alpha[j]
        ties = x > SMALLEST_PIVOT and work.reduced_cost[j] < limit * x
        best = max(best, key(x if ties else 0.0, j, mask))
    for r in range(1, k):
        x = work.w[r]
        ties = x > SMALLEST_PIVOT and work.dual[r] < limit * x
        best = max(best, key(x if ties else 0.0, n_columns + r, mask))
    if best <= mask:
        return -1, -1, 0.0, ratio
    chosen = mask - (best & mask)
    if chosen < n_columns:
        return chosen, -1, work.alpha[chosen], ratio
    return -1, chosen - n_columns, work.w[chosen - n_columns], ratio


@inlined()
def proves_infeasible(k: int, row: int, total: float, margin: float, n_columns: int, work: Workspace) -> bool:
    """Whether the row just written keeps the leaving variable below -margin for every p (Farkas).

    The leaving variable is  w . b[binding] - b_row + sum_j alpha_j p_j + sum_r w_r s_r  identically in p, with p_j and
    s_r non-negative, sum_j p_j = total and s_r <= total - b_r.
    """
    highest = work.w[0] * total
    if row >= 0:
        highest -= work.demand[row]
    for r in range(1, k):
        x = work.w[r]
        b_r = work.demand[work.binding[r]]
        highest += x * b_r + max(x, 0.0) * max(total - b_r, 0.0)
    largest = 0.0
    for j in range(n_columns):
        largest = max(largest, work.alpha[j])
    return bool(highest + largest * total < -margin)


@inlined()
def pivot(
    inverse: Floats,
    k: int,
    leaving: tuple[int, int],
    entering: tuple[int, int, float, float],
    norm: float,
    n_nonzero: int,
    incidence: Incidence,
    work: Workspace,
) -> int:
    """Exchange the leaving and the entering variable; returns the new k. The inverse has room to grow by one."""
    leaving_row, leaving_place = leaving
    entering_column, entering_place, entry, ratio = entering
    col_ptr = incidence.col_ptr
    for j in range(col_ptr.size - 1):
        work.reduced_cost[j] -= ratio * work.alpha[j]
    for r in range(k):
        work.dual[r] -= ratio * work.w[r]

    n_places = 0
    if entering_column >= 0:
        for t in range(col_ptr[entering_column], col_ptr[entering_column + 1]):
            r = work.place_of_row[incidence.col_rows[t]]
            work.places[n_places] = r
            n_places += r >= 0
    eliminate(inverse, k, n_places, entering_place, n_nonzero, entry, work)
    infeasibility = work.slack[leaving_row] if leaving_row >= 0 else work.value[leaving_place]
    step = -infeasibility / entry
    move_primal(k, entering_column, step, entry, norm, incidence, work)

    # The two variables have changed roles: the leaving one has a dual, the ratio; the entering one a value, the step.
    weight = norm / (entry * entry)
    if leaving_row >= 0:
        work.slack[leaving_row] = 0.0
    else:
        work.reduced_cost[work.basic[leaving_place]] = ratio
    if entering_column >= 0:
        work.reduced_cost[entering_column] = 0.0
    else:
        work.slack[work.binding[entering_place]] = step
        work.slack_weight[work.binding[entering_place]] = weight
    row_place = entering_place
    column_place = leaving_place
    if leaving_row >= 0 and entering_column >= 0:
        grow(inverse, k, leaving_row, entering_column, entry, work)
        row_place = k
        column_place = k
        k += 1
    elif leaving_row >= 0:
        replace_row(inverse, k, entering_place, leaving_row, entry, work)
    elif entering_column >= 0:
        replace_column(inverse, k, leaving_place, entering_column, entry, work)
    else:
        shrink(inverse, k, entering_place, leaving_place, work)
        k -= 1
    if leaving_row >= 0:
        work.dual[row_place] = ratio
    if entering_column >= 0:
        work.value[column_place] = step
        work.value_weight[column_place] = weight
    return k


@inlined()
def move_primal(
    k: int, entering_column: int, step: float, entry: float, norm: float, incidence: Incidence, work: Workspace
) -> None:
    """Move slacks and values by `step` of the entering variable, and carry their steepest-edge weights along.

    With x the change per unit of step, norm the weight of the leaving variable, and tau the inner product of the two
    linear functions of the demands that the weights are the squared lengths of,

        weight <- weight - 2 (x / entry) tau + (x / entry)^2 norm.

    A slack depends on its own row's demand by -1, so its weight is at least that row's scale.
    """
    col_ptr = incidence.col_ptr
    col_rows = incidence.col_rows
    change = work.change
    n_rows = incidence.row_ptr.size - 1
    for i in range(2 * n_rows):
        change[i] = 0.0
    for m in range(k):
        x = work.v[m]
        z = work.tau[m]
        if x != 0.0 or z != 0.0:
            j = work.basic[m]
            both = joined(-x, z)
            for t in range(col_ptr[j], col_ptr[j + 1]):
                at = 2 * col_rows[t]
                put(change, at, pair(change, at) + both)
    if entering_column >= 0:
        for t in range(col_ptr[entering_column], col_ptr[entering_column + 1]):
            change[2 * col_rows[t]] += 1.0
    for r in range(1, k):
        change[2 * work.binding[r]] = 0.0
    per_entry = 1.0 / entry
    for i in range(n_rows):
        x = change[2 * i]
        work.slack[i] += step * x
        x *= per_entry
        weight = work.slack_weight[i] - 2.0 * x * change[2 * i + 1] + x * x * norm
        work.slack_weight[i] = max(weight, work.scale[i])
    for m in range(k):
        x = -work.v[m]
        work.value[m] += step * x
        x *= per_entry
        weight = work.value_weight[m] - 2.0 * x * work.tau[m] + x * x * norm
        work.value_weight[m] = max(weight, SMALLEST_WEIGHT)
