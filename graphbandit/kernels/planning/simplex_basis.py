"""The basis of the covering LP's dual simplex: its inverse, and the four ways in which a pivot changes it.

The LP of the module `simplex` has R covering rows and, as row number R, the row ``sum_j p_j = total``. A
basis says which rows *bind* and which columns are *basic*, equally many of each:

    binding = [i_0, ..., i_{k-1}]     i_0 = R is the sum row, an equation, which never leaves
    basic   = [j_0, ..., j_{k-1}]     every other column has p_j = 0

The slacks of all rows that do not bind are basic too, but need no storage. With A the 0/1 incidence matrix (A[i, j] = 1
when column j covers row i; the sum row is all ones) everything follows from one small matrix,

    inverse    = transpose of A[binding, basic]^-1      k x k, dense
    p[basic]   = b[binding] inverse                     the values
    y[binding] = inverse c[basic]                       the duals

so inverse[r, m] is what one more unit of demand in row i_r adds to the value of column j_m. It is held this way round
because then all long loops run along its rows, by octets (module `simd_lanes`). So each row is 0 from k up to a
multiple of eight: other numbers there, subnormal ones for instance, might cost time.

In a pivot one variable leaves the basis and one enters; either is a column or the slack of a row:

    leaves         enters         what becomes of the basis
    slack of i     column q       it grows by row i and column q                `grow`
    slack of i     slack of i_r   row i takes the place of row i_r              `replace_row`
    column j_m     column q       column q takes the place of column j_m        `replace_column`
    column j_m     slack of i_r   it loses row i_r and column j_m               `shrink`

Let w_r say how the leaving variable depends on the slack of i_r, v_m by how much column j_m falls per unit of the
entering variable, and `entry` (the pivot) by how much the leaving variable rises. All four begin with the same
rank-one step, inverse += w v' / entry (`eliminate`). Then what is new is written into place: -v / entry where a row
begins to bind, -w / entry where a column becomes basic, 1 / entry where they meet.
"""

import numpy as np

from graphbandit.kernels.graphs.incidence import Incidence
from graphbandit.kernels.jit import inlined, inner
from graphbandit.kernels.planning.simplex_workspace import Floats, Workspace
from graphbandit.kernels.simd_lanes import chopped, eight, octet, put, total_of

NEGLIGIBLE = 1e-13
"""Smaller entries of w and v are rounding and count as 0."""
SINGULAR = 1e-12
"""A matrix with a smaller pivot counts as singular."""


@inlined()
def eliminate(
    inverse: Floats, k: int, n_places: int, entering_place: int, n_nonzero: int, entry: float, work: Workspace
) -> None:
    """Write v and take the rank-one step of a pivot, inverse += w v' / entry, in one pass over the inverse.

    The entering column q has ones in the sum row and in the binding rows at `places`, so v = A[binding, q] inverse adds
    up those rows of the inverse; when the slack of i_r enters instead, v = -inverse[r], with r = `entering_place` (-1
    for a column). The same pass computes tau = scaled_w inverse, with the inverse before the step, for the
    steepest-edge weights. Rows where w is 0 are skipped. Eight columns are done at a time; their v and tau stay in
    registers.
    """
    size = inverse.shape[1]
    for r in range(0, k, 8):
        put(work.step, r, octet(work.w, r) / entry)
    for m in range(0, k, 8):
        if entering_place >= 0:
            v = -1.0 * octet(inverse, entering_place * size + m)
        else:
            v = octet(inverse, m)
            for t in range(n_places):
                v = v + octet(inverse, work.places[t] * size + m)
        v = chopped(v, NEGLIGIBLE)
        tau = eight(0.0)
        for t in range(n_nonzero):
            r = work.nonzero[t]
            x = octet(inverse, r * size + m)
            tau = tau + work.scaled_w[r] * x
            put(inverse, r * size + m, x + work.step[r] * v)
        put(work.v, m, v)
        put(work.tau, m, tau)


@inlined()
def grow(inverse: Floats, k: int, row: int, column: int, entry: float, work: Workspace) -> None:
    """Let `row` bind and make `column` basic, both in place k, for which the inverse has room."""
    size = inverse.shape[1]
    if k % 8 == 0:
        for r in range(k + 1):
            put(inverse, r * size + k, eight(0.0))
    for r in range(k):
        inverse[r, k] = -work.step[r]
    for m in range(0, k, 8):
        put(inverse, k * size + m, -1.0 * octet(work.v, m) / entry)
    inverse[k, k] = 1.0 / entry
    work.binding[k] = row
    work.place_of_row[row] = k
    work.basic[k] = column
    work.place_of_column[column] = k


@inlined()
def replace_row(inverse: Floats, k: int, place: int, row: int, entry: float, work: Workspace) -> None:
    """Let `row` bind in the place of binding[place], which binds no more."""
    for m in range(0, k, 8):
        put(inverse, place * inverse.shape[1] + m, -1.0 * octet(work.v, m) / entry)
    work.place_of_row[work.binding[place]] = -1
    work.binding[place] = row
    work.place_of_row[row] = place


# `replace_row` with rows and columns exchanged: other arrays, so no common function
@inlined()
def replace_column(inverse: Floats, k: int, place: int, column: int, entry: float, work: Workspace) -> None:
    """Make `column` basic in the place of basic[place], which leaves the basis."""
    for r in range(k):
        inverse[r, place] = -work.step[r]
    work.place_of_column[work.basic[place]] = -1
    work.basic[place] = column
    work.place_of_column[column] = place


@inlined()
def shrink(inverse: Floats, k: int, row_place: int, column_place: int, work: Workspace) -> None:
    """Drop binding[row_place] and basic[column_place]; the last row and column move into the gaps."""
    binding = work.binding
    basic = work.basic
    last = k - 1
    work.place_of_row[binding[row_place]] = -1
    work.place_of_column[basic[column_place]] = -1
    if row_place != last:
        binding[row_place] = binding[last]
        work.place_of_row[binding[last]] = row_place
        work.dual[row_place] = work.dual[last]
        for m in range(k):
            inverse[row_place, m] = inverse[last, m]
    if column_place != last:
        basic[column_place] = basic[last]
        work.place_of_column[basic[last]] = column_place
        work.value[column_place] = work.value[last]
        work.value_weight[column_place] = work.value_weight[last]
        for r in range(last):
            inverse[r, column_place] = inverse[r, last]
    for r in range(last):
        inverse[r, last] = 0.0


@inner()
def enlarged(inverse: Floats) -> Floats:
    """Return a copy of the inverse with room for about twice as many rows and columns."""
    size = inverse.shape[0]
    larger = np.empty((2 * size + 8, 2 * size + 8))
    for r in range(size):
        for m in range(size):
            larger[r, m] = inverse[r, m]
    return larger


@inner()
def refactorise(inverse: Floats, k: int, incidence: Incidence, work: Workspace) -> bool:
    """Compute the inverse anew from the incidence lists (Gauss-Jordan with row exchanges). False if it is singular."""
    W = np.empty((k, 2 * k))
    for m in range(k):
        for t in range(2 * k):
            W[m, t] = 0.0
        W[m, 0] = 1.0
        W[m, k + m] = 1.0
        j = work.basic[m]
        for t in range(incidence.col_ptr[j], incidence.col_ptr[j + 1]):
            r = work.place_of_row[incidence.col_rows[t]]
            if r >= 0:
                W[m, r] = 1.0
    for r in range(k):
        chosen = r
        for m in range(r + 1, k):
            if abs(W[m, r]) > abs(W[chosen, r]):
                chosen = m
        entry = W[chosen, r]
        if abs(entry) < SINGULAR:
            return False
        for t in range(r, 2 * k):
            x = W[chosen, t]
            W[chosen, t] = W[r, t]
            W[r, t] = x / entry
        for m in range(k):
            factor = W[m, r]
            if m != r and factor != 0.0:
                for t in range(r, 2 * k):
                    W[m, t] -= factor * W[r, t]
    for r in range(k):
        for m in range(k):
            inverse[r, m] = W[r, k + m]
    return True


@inner()
def refine(inverse: Floats, k: int, incidence: Incidence, total: float, p: Floats, y: Floats, work: Workspace) -> float:
    """Improve values and duals by one step of iterative refinement against the incidence lists.

        p[basic]   += (b[binding] - A[binding, basic] p[basic]) inverse
        y[binding] += inverse (c[basic] - y[binding] A[binding, basic])

    `p` and `y` are scratch. Returns the largest residual found, that of the sum row relative to `total`: how
    inaccurate the inverse was.
    """
    col_ptr, col_rows, row_ptr, row_cols = incidence
    residual = work.tau
    size = inverse.shape[1]
    for m in range(k, k + 7 & -8):
        residual[m] = 0.0
        work.value[m] = 0.0
    for j in range(col_ptr.size - 1):
        p[j] = 0.0
    lacking = total
    for m in range(k):
        p[work.basic[m]] = work.value[m]
        lacking -= work.value[m]
    residual[0] = lacking
    worst = abs(lacking) / total
    for r in range(1, k):
        i = work.binding[r]
        x = work.demand[i]
        for t in range(row_ptr[i], row_ptr[i + 1]):
            x -= p[row_cols[t]]
        residual[r] = x
        worst = max(worst, abs(x))
    for r in range(k):
        x = residual[r]
        if x != 0.0:
            for m in range(0, k, 8):
                put(work.value, m, octet(work.value, m) + x * octet(inverse, r * size + m))

    for i in range(row_ptr.size - 1):
        y[i] = 0.0
    for r in range(1, k):
        y[work.binding[r]] = work.dual[r]
    for m in range(k):
        j = work.basic[m]
        x = work.cost[j] - work.dual[0]
        for t in range(col_ptr[j], col_ptr[j + 1]):
            x -= y[col_rows[t]]
        residual[m] = x
        worst = max(worst, abs(x))
    for r in range(k):
        x = octet(inverse, r * size) * octet(residual, 0)
        for m in range(8, k, 8):
            x = x + octet(inverse, r * size + m) * octet(residual, m)
        work.dual[r] += total_of(x)
    return worst
