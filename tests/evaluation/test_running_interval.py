"""The interval that grows with its data."""

import numpy as np
import pytest

from graphbandit.errors import InputError, SettingError
from graphbandit.evaluation.intervals import Groups, bernstein_lower
from graphbandit.evaluation.running_interval import RunningInterval


def test_it_holds_at_all_times_while_the_mean_drifts() -> None:
    """Heavy weights, a mean that rises, and somebody who looks after every tenth round: at most 5 % of runs miss."""
    missed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        running, means = RunningInterval(0.0, 1.0), 0.0
        bad = False
        for i in range(300):
            mean, q = 0.2 + 0.6 * i / 300, rng.choice([0.05, 0.5])
            seen, y = rng.random() < q, float(rng.random() < mean)
            running.add(seen * y / q, seen * y / q, 1.0 + seen * (y - 1.0) / q)
            means += mean
            if i % 10 == 9:
                found = running.interval()
                bad |= not found.low <= means / (i + 1) <= found.high
        missed += bad
    assert missed <= 10


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_what_looking_at_all_times_costs(n: int) -> None:
    """Little: the bound is about as wide as the one for a number of rounds that is known ahead."""
    values = (np.random.default_rng(0).random(n) < 0.3).astype(float)
    running = RunningInterval(0.0, 1.0)
    for value in values.tolist():
        running.add(value, value, value)
    low = bernstein_lower(Groups(values, np.ones(n, dtype=np.int64), np.zeros(n), 0.0, 1.0), 0.025)
    found = running.interval()
    assert found.value == pytest.approx(values.mean())
    assert 0.75 < (found.value - found.low) / (values.mean() - low) < 1.5


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(SettingError, match="the lower one first"):
        RunningInterval(1.0, 0.0)
    running = RunningInterval(0.0, 1.0)
    with pytest.raises(InputError, match="at least 0"):
        running.add(0.5, -0.5, 0.5)
    assert running.n == 0
    assert (running.interval().low, running.interval().high) == (0.0, 1.0)
    with pytest.raises(SettingError, match="level"):
        running.interval(1.0)
