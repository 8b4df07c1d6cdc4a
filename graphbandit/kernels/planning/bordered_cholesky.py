"""Cholesky factors of matrices that are singular but for rounding, as interior-point methods meet them."""

import numpy as np

from graphbandit.base.arrays import PerRound
from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.jit import inner

SMALLEST_PIVOT = 1e-15
"""A pivot below this share of its diagonal entry is rounding error."""


@inner()
def add_rows(
    target: PerRound,
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


@inner()
def factorise(matrix: Float[np.ndarray, "n n"]) -> None:
    """Turn the upper triangle of A into U with U'U = A, row by row.

    A pivot that is rounding error counts as SMALLEST_PIVOT of its diagonal entry: near an optimum the matrices are
    singular but for rounding, and the solver refines its steps.
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
