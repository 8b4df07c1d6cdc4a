"""Checks of numbers: few and many, contiguous or not."""

import numpy as np
import pytest

from graphbandit.base.checks import AT_A_TIME, all_finite, within


@pytest.mark.parametrize("n", [1, AT_A_TIME, AT_A_TIME + 1, 3 * AT_A_TIME + 5])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e160])
def test_one_bad_number_is_found_wherever_it_stands(n, bad):
    for place in {0, n // 2, n - 1}:
        array = np.linspace(-1.0, 1.0, n)
        assert within(array, 1.0)
        assert all_finite(array)
        array[place] = bad
        assert not within(array, 1e150)
        assert all_finite(array) == np.isfinite(bad)


def test_numbers_are_looked_at_one_by_one_where_their_squares_sum_to_more():
    array = np.full((300, 200), 0.9)
    assert within(array, 1.0)
    assert within(array.T[::2], 1.0)
    array[298, 199] = -1.1
    assert not within(array.T, 1.0)
    assert within(array[:298], 1.0)
