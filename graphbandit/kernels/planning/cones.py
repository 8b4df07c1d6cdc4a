"""Symmetric 2 x 2 matrices, many at once: row i of a (n, 3) array is (a, b, d), standing for [[a, d], [d, b]].

They are positive semidefinite when a b >= d^2, so d^2 / a <= b is a cone. This module has the operations that an
interior-point method needs.
"""

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import inlined

Cones = Float[np.ndarray, "n 3"]


@inlined()
def invert(matrices: Cones, inverses: Cones) -> None:
    """The inverse of each."""
    for i in range(matrices.shape[0]):
        a, b, d = matrices[i, 0], matrices[i, 1], matrices[i, 2]
        determinant = a * b - d * d
        inverses[i, 0], inverses[i, 1], inverses[i, 2] = b / determinant, a / determinant, -d / determinant


@inlined()
def inner_product(left: Cones, right: Cones) -> float:
    """The sum of the traces of the products."""
    total = 0.0
    for i in range(left.shape[0]):
        total += left[i, 0] * right[i, 0] + left[i, 1] * right[i, 1] + 2.0 * left[i, 2] * right[i, 2]
    return total


@inlined()
def sandwich(left: Cones, middle: Cones, right: Cones, out: Cones) -> None:
    """The symmetric part of left * middle * right."""
    for i in range(left.shape[0]):
        a, b, d = left[i, 0], left[i, 1], left[i, 2]
        e, f, g = middle[i, 0], middle[i, 1], middle[i, 2]
        h, k, m = right[i, 0], right[i, 1], right[i, 2]
        p11, p12, p21, p22 = a * e + d * g, a * g + d * f, d * e + b * g, d * g + b * f
        out[i, 0] = p11 * h + p12 * m
        out[i, 1] = p21 * m + p22 * k
        out[i, 2] = 0.5 * (p11 * m + p12 * k + p21 * h + p22 * m)


@inlined()
def longest_step(matrices: Cones, steps: Cones) -> float:
    """The largest t at which all of matrices + t steps are positive semidefinite; infinite if there is none."""
    lowest = 0.0
    for i in range(matrices.shape[0]):
        a, b, d = matrices[i, 0], matrices[i, 1], matrices[i, 2]
        e, f, g = steps[i, 0], steps[i, 1], steps[i, 2]
        # the smaller root of det(steps - x matrices)
        square, cross, constant = a * b - d * d, 0.5 * (a * f + b * e) - d * g, e * f - g * g
        root = (cross - np.sqrt(max(cross * cross - square * constant, 0.0))) / square
        lowest = min(lowest, root)
    return -1.0 / lowest if lowest < 0.0 else np.inf


@inlined()
def clear(matrices: Cones) -> None:
    """Set all of them to 0."""
    for i in range(matrices.shape[0]):
        for k in range(3):
            matrices[i, k] = 0.0


@inlined()
def move(matrices: Cones, length: float, steps: Cones) -> None:
    """matrices + length * steps, in place."""
    for i in range(matrices.shape[0]):
        for k in range(3):
            matrices[i, k] += length * steps[i, k]
