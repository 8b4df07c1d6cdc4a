"""Cholesky factors of small matrices, in a fixed order of operations: the same bits on every machine and batch."""

import numpy as np

from graphbandit.kernels.jit import kernel
from graphbandit.shapes import Float, Int

SMALLEST_PIVOT = 1e-15
"""A pivot below this share of its diagonal entry is rounding error."""

HUGE_PIVOT = 1e64


@kernel()
def add_rows(
    target: Float[np.ndarray, " n"],
    first: int,
    rows: Float[np.ndarray, "rows n"],
    chosen: Int[np.ndarray, " rows"],
    factors: Float[np.ndarray, " rows"],
    count: int,
) -> None:
    """target[first:] += sum over i < count of factors[i] * rows[chosen[i], first:], four rows at a time."""
    n = target.shape[0]
    i = 0
    while i + 4 <= count:
        f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        r0, r1, r2, r3 = rows[chosen[i]], rows[chosen[i + 1]], rows[chosen[i + 2]], rows[chosen[i + 3]]
        for k in range(first, n):
            target[k] += (f0 * r0[k] + f1 * r1[k]) + (f2 * r2[k] + f3 * r3[k])
        i += 4
    while i < count:
        f0, r0 = factors[i], rows[chosen[i]]
        for k in range(first, n):
            target[k] += f0 * r0[k]
        i += 1


@kernel()
def factorise(matrix: Float[np.ndarray, "n n"]) -> None:
    """Turn the upper triangle of A into U with U'U = A, row by row.

    Where a pivot is rounding error its unknown is fixed at about 0 by making the pivot huge, as interior-point methods
    do: near an optimum their matrices are singular but for rounding, and a direction in the others' space will do.
    """
    n = matrix.shape[0]
    row, factors, places = np.empty(n), np.empty(n), np.arange(n)
    for i in range(n):
        row[i:] = matrix[i, i:]
        diagonal = row[i]
        for k in range(i):
            factors[k] = -matrix[k, i]
        add_rows(row, i, matrix, places, factors, i)
        root = np.sqrt(max(row[i], SMALLEST_PIVOT * diagonal))
        matrix[i, i] = root
        for k in range(i + 1, n):
            matrix[i, k] = row[k] / root


@kernel()
def solve_factored(matrix: Float[np.ndarray, "n n"], x: Float[np.ndarray, " n"]) -> None:
    """Solve U'U x = b for the U of `factorise`; `x` holds b before and the solution afterwards."""
    n = matrix.shape[0]
    for k in range(n):
        x[k] /= matrix[k, k]
        for j in range(k + 1, n):
            x[j] -= x[k] * matrix[k, j]
    for k in range(n - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * x[j]
        x[k] = total / matrix[k, k]
