"""When epochs end: also those that hardly grow, and those that grow at once beyond all rounds."""

import numpy as np
import pytest

import graphbandit as gb


@pytest.mark.parametrize("growth", [1.05, 1.3, 2.0, 3.7])
def test_epochs_are_split_within(growth):
    schedule = gb.learners.EpochSchedule(growth=growth)
    for m in range(1, 12):
        assert schedule.tau(m - 1) <= schedule.split(m) < schedule.tau(m)
        assert schedule.epochs(schedule.tau(m) + 1) == m + 1


def test_the_schedule_of_hardly_growing_epochs_is_the_plain_one():
    for growth in (1.0001, 1.01, 1.2, 1.5, 2.0, 2.5, 3.7):
        schedule, end = gb.learners.EpochSchedule(growth=growth), 0
        for m in range(1, 400):
            if end > 2**60:
                break
            end = max(end + 1, round(growth**m))
            assert schedule.tau(m) == end
            assert schedule.epochs(end) == m
    assert gb.learners.EpochSchedule(growth=1 + 1e-9).tau(10**8) == 10**8
    far = gb.learners.EpochSchedule()
    assert far.tau(10**12) > far.tau(10**12 - 1) >= 2**62
    assert gb.learners.EpochSchedule(growth=1e160).tau(1) >= 2**62


def test_an_epoch_costs_no_more_calls_than_one_before():
    """Powers of the growth that are worked out for a round do not grow in number."""
    schedule = gb.learners.EpochSchedule(growth=1.0001)
    counted = []

    class Growth(float):
        def __pow__(self, exponent):
            counted.append(exponent)
            return float(self) ** exponent

    object.__setattr__(schedule, "growth", Growth(1.0001))
    schedule.tau(10_000)
    assert len(counted) <= 1


def test_a_bandit_with_a_large_growth_decides():
    functions = gb.LinearClass(n_arms=3, dimension=2)
    one = gb.Bandit(gb.Falcon(epoch_growth=1e160), gb.Problem(n_arms=3, function_class=functions, noise=0.5))
    for _ in range(3):
        one.decide(np.zeros((3, 2)), gb.graphs.complete(3))
    assert one.rounds == 3
