import math

import numpy as np
import pytest
from scipy import stats

from graphbandit.experiments.analysis.repeat_intervals import (
    RepeatInterval,
    bootstrap_interval,
    slope_interval,
    student_interval,
)


def test_students_interval_is_scipys() -> None:
    values = np.random.default_rng(0).normal(3, 2, 17)
    low, high = stats.t.interval(0.95, 16, loc=values.mean(), scale=stats.sem(values))
    found = student_interval(values)
    assert (found.mean, found.low, found.high) == pytest.approx((values.mean(), low, high))


def test_too_few_repeats_have_no_interval() -> None:
    assert math.isnan(student_interval(np.array([1.0])).low)
    assert math.isnan(student_interval(np.array([])).mean)
    assert math.isnan(bootstrap_interval(np.ones((2, 1)), lambda means: means[:, 0]).high)
    assert math.isnan(bootstrap_interval(np.full((2, 3), np.nan), lambda means: means[:, 0]).mean)


def test_the_bootstrap_of_a_mean_is_about_normal_and_always_the_same() -> None:
    values = np.random.default_rng(1).normal(0, 1, (1, 400))
    found = bootstrap_interval(values, lambda means: means[:, 0])
    error = values.std() / 20
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.25 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.25 * error)
    assert found == bootstrap_interval(values, lambda means: means[:, 0])


def test_repeats_are_resampled_together() -> None:
    shared = np.random.default_rng(2).uniform(1, 100, 50)
    ratio = bootstrap_interval(np.stack([3 * shared, shared]), lambda means: means[:, 0] / means[:, 1])
    assert (ratio.low, ratio.high) == pytest.approx((3.0, 3.0))


def test_repeats_that_one_series_lacks_are_left_out() -> None:
    samples = np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 50.0]])
    assert bootstrap_interval(samples, lambda means: means[:, 1]).mean == 1.5


def test_slopes_are_those_of_a_power() -> None:
    x = np.array([1.0, 2.0, 8.0, 20.0])
    samples = 3 * x[:, None] ** 0.7 * np.random.default_rng(3).uniform(0.9, 1.1, (1, 30))
    found = slope_interval(x, samples)
    assert (found.mean, found.low, found.high) == pytest.approx((0.7, 0.7, 0.7))
    assert math.isnan(slope_interval(x, np.zeros((4, 5))).mean)


def test_inside_and_outside() -> None:
    assert RepeatInterval(0.0, -1.0, 1.0).inside(-1, 1)
    assert not RepeatInterval(0.0, -1.0, 1.0).outside(-1, 1)
    assert RepeatInterval(3.0, 2.0, 4.0).outside(-1, 1)
    unknown = RepeatInterval(0.0, math.nan, math.nan)
    assert not unknown.inside(-1, 1)
    assert not unknown.outside(-1, 1)
