"""The matrices of interior-point methods, against NumPy: Cholesky factors with a border, and 2 x 2 matrices."""

import numpy as np
import pytest
from numba import njit

from graphbandit.kernels.planning import cones
from graphbandit.kernels.planning.bordered_cholesky import SMALLEST_PIVOT, factorise, roomy, solve


@njit
def solved(matrix, vector):
    """A^-1 v, and the factor of A, which takes the place of A."""
    factorise(matrix)
    x = roomy(vector.size)
    x[:] = vector
    solve(matrix, x)
    return x


def in_rows_of_eight(matrix):
    """The matrix with room for a multiple of eight numbers in a row."""
    n = len(matrix)
    roomy_one = np.zeros((n, n + 7 & -8))
    roomy_one[:, :n] = matrix
    return roomy_one


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 21])
def test_positive_definite_systems_are_solved(n):
    rng = np.random.default_rng(n)
    half, vector = rng.normal(size=(n, n + 3)), rng.normal(size=n)
    matrix = half @ half.T
    factor = in_rows_of_eight(matrix)
    np.testing.assert_allclose(solved(factor, vector), np.linalg.solve(matrix, vector), rtol=1e-8)
    upper = np.triu(factor[:, :n])
    np.testing.assert_allclose(upper.T @ upper, matrix, atol=1e-10)


def test_a_pivot_of_rounding_error_is_replaced():
    factor = in_rows_of_eight(np.ones((2, 2)))
    solved(factor, np.ones(2))
    assert factor[1, 1] == SMALLEST_PIVOT**0.5


@njit
def worked(left, middle, right, inverses, product):
    cones.invert(left, inverses)
    cones.sandwich(left, middle, right, product)
    return cones.inner_product(left, middle), cones.longest_step(left, middle)


def as_matrices(rows):
    """Rows (a, b, d) as [[a, d], [d, b]]."""
    a, b, d = rows.T
    return np.array([[a, d], [d, b]]).transpose(2, 0, 1)


def test_two_by_two_matrices_are_those_of_numpy():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 6, 2, 2))
    whole = roots @ roots.transpose(0, 1, 3, 2)  # positive definite
    rows = np.stack([whole[..., 0, 0], whole[..., 1, 1], whole[..., 0, 1]], axis=-1)
    left, middle, right = rows
    inverses, product = np.empty((6, 3)), np.empty((6, 3))
    inner, step = worked(left, -middle, right, inverses, product)
    np.testing.assert_allclose(as_matrices(inverses), np.linalg.inv(whole[0]), rtol=1e-9)
    literal = whole[0] @ -whole[1] @ whole[2]
    np.testing.assert_allclose(as_matrices(product), (literal + literal.transpose(0, 2, 1)) / 2, rtol=1e-9)
    assert inner == pytest.approx(-np.trace(whole[0] @ whole[1], axis1=1, axis2=2).sum())
    lowest = np.linalg.eigvalsh(whole[0] - step * whole[1])[:, 0]
    assert lowest.min() == pytest.approx(0.0, abs=1e-9)
    assert worked(left, middle, right, inverses, product)[1] == np.inf
