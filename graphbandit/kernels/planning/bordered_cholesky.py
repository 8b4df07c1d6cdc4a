"""Cholesky factors of nearly singular matrices, as in interior-point methods.

All loops run along rows, eight numbers at a time (module `simd_lanes`), so rows and vectors have room for a multiple of
eight.
"""

import numpy as np

from graphbandit.base.array_types import PerRound
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import inlined, inner
from graphbandit.kernels.simd_lanes import eight, octet, put, total_of

SMALLEST_PIVOT = 1e-15
"""A pivot below this share of its diagonal entry is rounding error."""


@inner()
def roomy(size: int) -> Float[np.ndarray, " size"]:
    """An array of this size in memory for a multiple of eight numbers; the rest is 0."""
    room = size + 7 & -8
    array = np.empty(room)
    for i in range(size, room):
        array[i] = 0.0
    return array[:size]


@inlined()
def add_rows(
    target: PerRound,
    start: int,
    first: int,
    n: int,
    rows: Float[np.ndarray, "rows room"],
    factors: PerRound,
    count: int,
) -> None:
    """target[start + k] += sum over i < count of factors[i] * rows[i, k], k from `first` to n, four rows at a time."""
    room = rows.shape[1]
    for k in range(first, n, 8):
        x = octet(target, start + k)
        i = 0
        while i + 4 <= count:
            at = i * room + k
            x = x + (
                (factors[i] * octet(rows, at) + factors[i + 1] * octet(rows, at + room))
                + (factors[i + 2] * octet(rows, at + 2 * room) + factors[i + 3] * octet(rows, at + 3 * room))
            )
            i += 4
        while i < count:
            x = x + factors[i] * octet(rows, i * room + k)
            i += 1
        put(target, start + k, x)


@inner()
def factorise(matrix: Float[np.ndarray, "n room"]) -> None:
    """Turn the upper triangle of A into U with U'U = A, row by row; entries before the diagonal in its octet are 0.

    A pivot that is rounding error is replaced by SMALLEST_PIVOT times its diagonal entry: near an optimum the matrices
    are singular up to rounding, and the solver refines its steps.
    """
    n, room = matrix.shape
    factors = np.empty(n)
    for i in range(n):
        diagonal, first = matrix[i, i], i & -8
        for k in range(i):
            factors[k] = -matrix[k, i]
        add_rows(matrix, i * room, first, n, matrix, factors, i)
        root = np.sqrt(max(matrix[i, i], SMALLEST_PIVOT * diagonal))
        for k in range(first, n, 8):
            put(matrix, i * room + k, octet(matrix, i * room + k) / root)
        matrix[i, i] = root
        for k in range(first, i):
            matrix[i, k] = 0.0


@inlined()
def solve(factor: Float[np.ndarray, "n room"], vector: PerRound) -> None:
    """A^-1 v in place of v, by the factor of A."""
    n, room = factor.shape
    for j in range(n):
        x = vector[j] / factor[j, j]
        for k in range(j & -8, n, 8):
            put(vector, k, octet(vector, k) - octet(factor, j * room + k) * x)
        vector[j] = x
    for j in range(n - 1, -1, -1):
        x = vector[j]
        vector[j] = 0.0
        sums = eight(0.0)
        for k in range(j & -8, n, 8):
            sums = sums + octet(factor, j * room + k) * octet(vector, k)
        vector[j] = (x - total_of(sums)) / factor[j, j]
