"""The table of the normal distribution, against SciPy's."""

import numpy as np
import pytest
from scipy.special import log_ndtr

from graphbandit.kernels.jit import for_python
from graphbandit.kernels.learners import normal

Z = np.concatenate(
    [np.linspace(-37, 8.6, 20_011), normal.LOWEST + np.arange(1456) / 32, [np.nextafter(normal.HIGHEST, 0)]]
)


@pytest.fixture(scope="module")
def log_cdf():
    return np.vectorize(for_python(normal.log_cdf))


@pytest.fixture(scope="module")
def hazard():
    return np.vectorize(for_python(normal.hazard))


def test_log_cdf_is_that_of_scipy(log_cdf):
    expected, found = log_ndtr(Z), log_cdf(Z)
    np.testing.assert_allclose(found, expected, atol=1e-9, rtol=0)
    sizable = expected < -1e-15  # far to the right only the size of 1 - Phi matters, to a digit or two
    np.testing.assert_allclose(found[sizable], expected[sizable], rtol=1e-5)


def test_hazard_is_minus_the_mean_below(hazard):
    np.testing.assert_allclose(hazard(Z), np.exp(-Z * Z / 2 - log_ndtr(Z)) / np.sqrt(2 * np.pi), atol=1e-9, rtol=0)


def test_neither_turns_back_between_two_points(log_cdf, hazard):
    fine = np.linspace(-37, 9, 100_003)
    assert (np.diff(log_cdf(fine)) >= 0).all()
    assert (np.diff(hazard(fine)) <= 0).all()


def test_beyond_the_table(log_cdf, hazard):
    assert log_cdf([-1e9, -37.0001, 8.5, 1e9]).tolist() == [normal.NEVER, normal.NEVER, 0.0, 0.0]
    assert hazard([-1e9, -38.0, 8.5, 1e9]).tolist() == [1e9, 38.0, 0.0, 0.0]
