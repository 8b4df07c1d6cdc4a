"""Facts about runs that pages tell: versions, settings and times, by hand."""

import math
from dataclasses import replace

import pyarrow as pa
import pytest

from graphbandit.experiments.report.facts import computing_seconds, point_settings, seconds_text, version_rows
from tests.helpers.experiment_results import made_up


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.25 s"), (119.0, "119 s"), (120.0, "2.0 min"), (7199.0, "120.0 min"), (7200.0, "2.0 h"), (math.nan, "")],
)
def test_times_are_in_units_that_readers_expect(seconds, text):
    assert seconds_text(seconds) == text


def test_versions_settings_and_times_are_those_of_the_runs():
    one = made_up({("star", "greedy"): [3.0, 4.0], ("star", "uniform"): [9.0, math.nan]}, seconds=2.0)
    other = replace(one, timings=one.timings.set_column(2, "graphbandit", pa.array(["1.3"] * 3)))
    assert one.timings.column_names[2] == "graphbandit"
    assert version_rows([other, one]) == [("graphbandit", "1.2, 1.3"), ("python", "3.11"), ("numpy", "2.0")]
    assert computing_seconds(one) == pytest.approx(2.0 * (1.0 + 1.01 + 2.0))
    assert point_settings(one) == [
        ("Environments", [("star", "paper: n_arms = 5")]),
        ("Learners", [("greedy", "greedy"), ("uniform", "uniform")]),
    ]
