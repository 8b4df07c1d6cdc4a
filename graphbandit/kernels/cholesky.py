"""Cholesky factors V = U'U, U upper triangular: the one form in which the package keeps and saves them.

All sums run in a fixed order, and along rows of U, which lie together in memory.
"""

import numpy as np

from graphbandit.base.array_types import Matrix, Vector
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import for_python, inner, kernel

ROUNDING = 1e-13
"""A pivot below this share of its diagonal entry is rounding error."""


@inner()
def factorise(matrix: Matrix, floor: float, factor: Matrix) -> None:
    """U of V; only the upper triangle of V is read.

    For V >= floor I only rounding makes a pivot smaller than `floor`, so such a pivot is raised to `floor`. A pivot
    below ROUNDING of its diagonal entry is raised to that. So collinear features cannot break the factor.
    """
    d = matrix.shape[0]
    for i in range(d):
        for k in range(d):
            factor[i, k] = matrix[i, k] if k >= i else 0.0
    for j in range(d):
        pivot = np.sqrt(max(max(factor[j, j], floor), ROUNDING * matrix[j, j]))  # of three is compiled by itself
        factor[j, j] = pivot
        for k in range(j + 1, d):
            factor[j, k] /= pivot
        for i in range(j + 1, d):
            weight = factor[j, i]
            if weight != 0.0:
                for k in range(i, d):
                    factor[i, k] -= weight * factor[j, k]


cholesky = for_python(factorise)
"""`factorise` for callers in Python."""


@inner()
def add_square(factor: Matrix, vector: Vector) -> float:
    """U of V + vv' in place of U of V, in O(d^2) rotations; `vector` is used up. Returns by how much log det V grows.

    For learners that learn after every round. To add many observations at a time, add them to V and call `factorise`
    once: that is cheaper, and the result does not depend on how the observations were portioned.
    """
    d = factor.shape[0]
    growth = 0.0
    for j in range(d):
        if vector[j] == 0.0:
            continue
        pivot = np.sqrt(factor[j, j] * factor[j, j] + vector[j] * vector[j])
        cosine, sine = pivot / factor[j, j], vector[j] / factor[j, j]
        growth += 2.0 * np.log(cosine)
        factor[j, j] = pivot
        for k in range(j + 1, d):
            factor[j, k] = (factor[j, k] + sine * vector[k]) / cosine
            vector[k] = cosine * vector[k] - sine * factor[j, k]
    return growth


@inner()
def solve_lower(factor: Matrix, vector: Vector) -> None:
    """U'^-1 v in place of v."""
    d = factor.shape[0]
    for j in range(d):
        vector[j] /= factor[j, j]
        value = vector[j]
        if value != 0.0:
            for k in range(j + 1, d):
                vector[k] -= factor[j, k] * value


@inner()
def squared_norm(factor: Matrix, vector: Vector) -> float:
    """v'V^-1 v, the squared length of U'^-1 v, which takes the place of v."""
    solve_lower(factor, vector)
    total = 0.0
    for i in range(vector.shape[0]):
        total += vector[i] * vector[i]
    return total


@inner()
def solve_upper(factor: Matrix, vector: Vector) -> None:
    """U^-1 v in place of v."""
    d = factor.shape[0]
    for j in range(d - 1, -1, -1):
        total = vector[j]
        for k in range(j + 1, d):
            total -= factor[j, k] * vector[k]
        vector[j] = total / factor[j, j]


@kernel()
def solve(factors: Float[np.ndarray, "blocks d d"], vectors: Float[np.ndarray, "blocks d"]) -> None:
    """V^-1 v in place of the v of every block."""
    for block in range(vectors.shape[0]):
        solve_lower(factors[block], vectors[block])
        solve_upper(factors[block], vectors[block])


@kernel()
def log_determinant(factor: Matrix) -> float:
    """log det V = 2 sum log U_jj."""
    total = 0.0
    for j in range(factor.shape[0]):
        total += np.log(factor[j, j])
    return 2.0 * total


@kernel()
def inverse_trace(factors: Float[np.ndarray, "blocks d d"]) -> float:
    """The traces of V^-1 of all blocks, added up."""
    blocks, d = factors.shape[0], factors.shape[1]
    vector, traces = np.empty(d), 0.0
    for block in range(blocks):
        trace = 0.0
        for j in range(d):
            for i in range(d):
                vector[i] = 1.0 if i == j else 0.0
            solve_lower(factors[block], vector)
            for i in range(d):
                trace += vector[i] * vector[i]
        traces += trace
    return traces
