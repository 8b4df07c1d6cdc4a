"""The basis of the covering LP's dual simplex: its inverse, and the four ways in which a pivot changes it.

The LP (`graphbandit.kernels.simplex`) has R covering rows and, as row number R, the row ``sum_j p_j = total``.
A basis says which rows *bind* and which columns are *basic*, equally many of each:

    binding = [i_0, ..., i_{k-1}]     i_0 = R is the sum row, an equation: it never leaves
    basic   = [j_0, ..., j_{k-1}]     every other column has p_j = 0

All slacks of rows that do not bind are basic too, but they need no storage: with A the 0/1 incidence matrix
(A[i, j] = 1 when column j covers row i; the sum row is all ones) everything follows from the small *kernel*

    inverse = A[binding, basic]^-1          k x k, dense
    p[basic]   = inverse b[binding]         the values
    y[binding] = c[basic] inverse           the duals

A pivot makes one variable leave and one enter. Either can be a column or the slack of a row:

    leaves         enters         what becomes of the kernel
    slack of i     column q       grows by row i and column q                `grow`
    slack of i     slack of i_r   row i takes the place of row i_r           `replace_row`
    column j_l     column q       column q takes the place of column j_l     `replace_column`
    column j_l     slack of i_r   loses row i_r and column j_l               `shrink`

With w the pivot row on the binding rows, v = -(change of p[basic] per unit of the entering variable) and alpha
the pivot, all four start with the same rank-one step, inverse += v w' / alpha (`eliminate`), and then write one
row and column of the result. The arrays of a basis travel together as a tuple:

    basis = (binding, basic, place_of_row, place_of_column, value, dual, value_weight)

where ``place_of_row[i]`` is r when i = i_r and -1 when i does not bind, ``place_of_column`` likewise, and
``value_weight[l]`` is the steepest-edge weight of basic column j_l.
"""

import numpy as np
from numba import njit

COMPILED = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}
INLINED = {**COMPILED, "forceinline": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

NEGLIGIBLE = 1e-13
"""Smaller entries of a pivot row or column are rounding noise and are treated as zero."""


@njit(**INLINED)
def row_dot(matrix, l, x, n):
    """Return sum_{r<n} matrix[l, r] x_r, in four fixed partial sums: a fast order, and always the same one."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    quads = n & ~3
    for r in range(0, quads, 4):
        s0 += matrix[l, r] * x[r]
        s1 += matrix[l, r + 1] * x[r + 1]
        s2 += matrix[l, r + 2] * x[r + 2]
        s3 += matrix[l, r + 3] * x[r + 3]
    for r in range(quads, n):
        s0 += matrix[l, r] * x[r]
    return (s0 + s1) + (s2 + s3)


@njit(**INLINED)
def eliminate(inverse, k, entering_places, n_places, entering_slack, w, scaled_w, nonzero, n_nonzero, pivot, v, tau):
    """Take the rank-one step of a pivot, inverse += v w' / pivot, in one pass over the rows of the inverse.

    The entering column has ones in the binding rows at `entering_places`, so v = inverse A[binding, q] sums those
    entries of a row; when the slack of i_r enters instead, v = -inverse[:, r] with r = `entering_slack` (-1 when a
    column enters). Before a row changes, tau[l] = inverse[l] . scaled_w, which the steepest-edge weights need.
    """
    sparse = 4 * n_nonzero < k
    for l in range(k):
        if entering_slack < 0:
            x = 0.0
            for t in range(n_places):
                x += inverse[l, np.uint32(entering_places[t])]
        else:
            x = -inverse[l, entering_slack]
        if sparse:
            z = 0.0
            for t in range(n_nonzero):
                r = np.uint32(nonzero[t])
                z += inverse[l, r] * scaled_w[r]
        else:
            z = row_dot(inverse, l, scaled_w, k)
        tau[l] = z
        if abs(x) > NEGLIGIBLE:
            v[l] = x
            step = x / pivot
            if sparse:
                for t in range(n_nonzero):
                    r = np.uint32(nonzero[t])
                    inverse[l, r] += step * w[r]
            else:
                for r in range(k):
                    inverse[l, r] += step * w[r]
        else:
            v[l] = 0.0


@njit(**COMPILED)
def enlarged(inverse):
    """Return a copy of the inverse with room for about twice as many rows and columns."""
    size = inverse.shape[0]
    larger = np.empty((2 * size + 8, 2 * size + 8))
    for l in range(size):
        for r in range(size):
            larger[l, r] = inverse[l, r]
    return larger


@njit(**INLINED)
def grow(inverse, k, basis, row, column, w, v, pivot, new_value, new_dual, new_weight):
    """Let `row` bind and make `column` basic, both in place k, for which the inverse has room."""
    binding, basic, place_of_row, place_of_column, value, dual, value_weight = basis
    for l in range(k):
        inverse[l, k] = -v[l] / pivot
        inverse[k, l] = -w[l] / pivot
    inverse[k, k] = 1.0 / pivot
    binding[k] = row
    place_of_row[row] = k
    dual[k] = new_dual
    basic[k] = column
    place_of_column[column] = k
    value[k] = new_value
    value_weight[k] = new_weight


@njit(**INLINED)
def replace_row(inverse, k, basis, place, row, v, pivot, new_dual):
    """Let `row` bind in the place of binding[place], which binds no more."""
    binding, _, place_of_row, _, _, dual, _ = basis
    for l in range(k):
        inverse[l, place] = -v[l] / pivot
    place_of_row[binding[place]] = -1
    binding[place] = row
    place_of_row[row] = place
    dual[place] = new_dual


@njit(**INLINED)
def replace_column(inverse, k, basis, place, column, w, pivot, new_value, new_weight):
    """Make `column` basic in the place of basic[place], which leaves the basis."""
    _, basic, _, place_of_column, value, _, value_weight = basis
    for r in range(k):
        inverse[place, r] = -w[r] / pivot
    place_of_column[basic[place]] = -1
    basic[place] = column
    place_of_column[column] = place
    value[place] = new_value
    value_weight[place] = new_weight


@njit(**INLINED)
def shrink(inverse, k, basis, row_place, column_place):
    """Drop binding[row_place] and basic[column_place]; the last row and column move into the gaps."""
    binding, basic, place_of_row, place_of_column, value, dual, value_weight = basis
    last = k - 1
    place_of_row[binding[row_place]] = -1
    place_of_column[basic[column_place]] = -1
    if column_place != last:
        basic[column_place] = basic[last]
        place_of_column[basic[last]] = column_place
        value[column_place] = value[last]
        value_weight[column_place] = value_weight[last]
        for r in range(k):
            inverse[column_place, r] = inverse[last, r]
    if row_place != last:
        binding[row_place] = binding[last]
        place_of_row[binding[last]] = row_place
        dual[row_place] = dual[last]
        for l in range(last):
            inverse[l, row_place] = inverse[l, last]


@njit(**COMPILED)
def refactorise(inverse, k, basis, col_ptr, col_rows):
    """Recompute the inverse from the incidence lists (Gauss-Jordan, partial pivoting). False if it is singular."""
    _, basic, place_of_row, _, _, _, _ = basis
    W = np.zeros((k, 2 * k))
    for l in range(k):
        W[0, l] = 1.0
        W[l, k + l] = 1.0
        j = basic[l]
        for t in range(col_ptr[j], col_ptr[j + 1]):
            r = place_of_row[col_rows[t]]
            if r >= 0:
                W[r, l] = 1.0
    for l in range(k):
        pivot_row = l
        for r in range(l + 1, k):
            if abs(W[r, l]) > abs(W[pivot_row, l]):
                pivot_row = r
        pivot = W[pivot_row, l]
        if abs(pivot) < 1e-12:
            return False
        for t in range(l, 2 * k):
            x = W[pivot_row, t]
            W[pivot_row, t] = W[l, t]
            W[l, t] = x / pivot
        for r in range(k):
            factor = W[r, l]
            if r != l and factor != 0.0:
                for t in range(l, 2 * k):
                    W[r, t] -= factor * W[l, t]
    for l in range(k):
        for r in range(k):
            inverse[l, r] = W[l, k + r]
    return True


@njit(**COMPILED)
def refine(inverse, k, lists, c, b, total, basis, p, y, residual):
    """Improve values and duals by one step of iterative refinement against the incidence lists.

        p[basic]   += inverse (b[binding] - A[binding, basic] p[basic])
        y[binding] += (c[basic] - y[binding] A[binding, basic]) inverse

    `p` and `y` are left holding the unrefined vectors (scratch here), `residual` is scratch of length k. Returns the
    largest residual found, relative to total for the sum row: how far off the inverse had led.
    """
    col_ptr, col_rows, row_ptr, row_cols = lists
    binding, basic, _, _, value, dual, _ = basis
    for j in range(col_ptr.size - 1):
        p[j] = 0.0
    excess = -total
    for l in range(k):
        p[basic[l]] = value[l]
        excess += value[l]
    residual[0] = -excess
    worst = abs(excess) / total
    for r in range(1, k):
        i = binding[r]
        x = b[i]
        for t in range(row_ptr[i], row_ptr[i + 1]):
            x -= p[row_cols[t]]
        residual[r] = x
        worst = max(worst, abs(x))
    for l in range(k):
        value[l] += row_dot(inverse, l, residual, k)

    for i in range(row_ptr.size - 1):
        y[i] = 0.0
    for r in range(k):
        y[binding[r]] = dual[r]
    for l in range(k):
        j = basic[l]
        x = c[j] - dual[0]
        for t in range(col_ptr[j], col_ptr[j + 1]):
            x -= y[col_rows[t]]
        residual[l] = x
        worst = max(worst, abs(x))
    for l in range(k):
        x = residual[l]
        if x != 0.0:
            for r in range(k):
                dual[r] += x * inverse[l, r]
    return worst
