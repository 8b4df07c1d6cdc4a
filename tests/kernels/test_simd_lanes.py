"""Several floats at once, and keys: each against NumPy on the same numbers."""

from fractions import Fraction

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_array_equal

from graphbandit.kernels.planning.exploration import best_arm
from graphbandit.kernels.planning.float_keys import bits, key, number, place_mask
from graphbandit.kernels.planning.information import highest_arm, highest_from
from graphbandit.kernels.simd_lanes import at_least, chopped, eight, joined, octet, pair, plus_product, put, total_of


@njit
def worked(a, b, factor, out):
    for i in range(0, a.size, 8):
        x, z = octet(a, i), octet(b, i)
        put(out, i, factor * x + z)
        put(out, a.size + i, (x - z) / 3.0)
        put(out, 2 * a.size + i, chopped(x, 0.5) * eight(2.0))
    put(out, 3 * a.size, pair(a, 1) + joined(factor, 1.0))
    return total_of(octet(a, 8))


def test_lanes_round_as_single_numbers_do():
    a, b = np.random.default_rng(0).normal(size=(2, 16))
    out = np.empty(3 * 16 + 2)
    total = worked(a, b, 1.7, out)
    assert_array_equal(out[:16], 1.7 * a + b)
    assert_array_equal(out[16:32], (a - b) / 3.0)
    assert_array_equal(out[32:48], np.where(np.abs(a) <= 0.5, 0.0, a) * 2.0)
    assert_array_equal(out[48:], [a[1] + 1.7, a[2] + 1.0])
    halves = a[8:12] + a[12:]
    assert total == (halves[0] + halves[2]) + (halves[1] + halves[3])


@njit
def in_one(totals, a, x, out):
    put(out, 0, plus_product(octet(totals, 0), octet(a, 0), x))
    return at_least(octet(totals, 0), x)


def test_a_product_is_added_with_one_rounding():
    totals, a = np.random.default_rng(1).normal(size=(2, 8))
    out = np.empty(8)
    assert in_one(totals, a, 0.1, out) == sum(1 << k for k in range(8) if totals[k] >= 0.1)
    assert_array_equal(out, [float(Fraction(t) + Fraction(b) * Fraction(0.1)) for t, b in zip(totals, a, strict=True)])


@njit
def largest(numbers):
    mask, best = place_mask(numbers.size), 0
    for i in range(numbers.size):
        best = max(best, key(numbers[i], i, mask))
    return (mask - (best & mask) if best > mask else -1), number(bits(numbers[0]))


@pytest.mark.parametrize("n", [1, 2, 3, 64, 1000])
def test_keys_find_the_first_of_the_largest(n):
    numbers = np.random.default_rng(n).random(n)
    assert largest(numbers) == (numbers.argmax(), numbers[0])
    assert largest(np.ones(n))[0] == 0
    assert largest(np.zeros(n))[0] == -1


@njit
def highest(values, everyone):
    found, same = highest_arm(values), True
    for start in range(values.size if values.size <= 64 else 0):
        same = same and highest_from(values, start) == found
    return found, best_arm(values, everyone), same


@pytest.mark.parametrize("n", [8, 9, 16, 23, 64, 65])
def test_the_highest_arm_is_the_first_of_the_best_wherever_one_starts(n):
    rng = np.random.default_rng(n)
    cases = [*rng.normal(size=(50, n)), *rng.integers(-2, 3, size=(50, n)) * -0.5, np.zeros(n), np.full(n, -np.inf)]
    for values in cases:
        found = highest(values, np.ones(n, dtype=np.bool_))
        assert found == (values.argmax(), values.argmax(), True)
    first, _, same = highest(np.full(n, np.nan), np.ones(n, dtype=np.bool_))
    assert (first, same) == (0, True)  # it is refused elsewhere
