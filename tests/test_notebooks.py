"""What notebooks show of graphs and simulations, and the figures behind it."""

import numpy as np
import pytest
from scipy import stats

import graphbandit as gb
from graphbandit.errors import SettingError


@pytest.fixture(scope="module")
def runs():
    learners = {"FALCON": gb.Falcon(), "<greedy>": gb.Greedy()}
    return gb.simulate(learners, gb.environments.paper(n_arms=4, graph="star"), rounds=12, repeats=5)


def test_bands_are_students(runs):
    curves = runs.regret["FALCON"]
    mean, lower, upper = runs.bands(0.9)["FALCON"]
    expected = stats.t.interval(0.9, 4, loc=curves.mean(axis=0), scale=stats.sem(curves, axis=0))
    np.testing.assert_allclose([lower[1:], upper[1:]], [end[1:] for end in expected], rtol=1e-9)
    np.testing.assert_allclose(mean, curves.mean(axis=0))
    with pytest.raises(SettingError, match="level is 1"):
        runs.bands(1.0)


def test_a_frame_has_a_row_a_round(runs):
    frame = runs.to_pandas()
    assert list(frame.columns) == ["learner", "repeat", "round", "regret"]
    assert len(frame) == 2 * 5 * 12
    last = frame[frame["round"] == 12].groupby("learner")["regret"].mean()
    assert last["FALCON"] == pytest.approx(runs.summary()["FALCON"].mean)


def test_a_simulation_shows_its_table_and_curves(runs):
    page = runs._repr_html_()
    assert "&lt;greedy&gt;" in page
    assert page.count("<polyline") == page.count("<polygon") == 2
    alone = gb.simulate(gb.Greedy(), gb.environments.paper(n_arms=3, graph="star"), rounds=3)._repr_html_()
    assert "one repeat" in alone
    assert "<polygon" not in alone
    assert "nan" not in alone


def test_a_graph_shows_its_arrows_and_names():
    graph = gb.FeedbackGraph.from_edges([("a", "b"), ("b", "<c>")], arms=["a", "b", "<c>"], add_loops=True)
    picture = graph._repr_svg_()
    assert picture.count("<line") == 2
    assert picture.count('fill="none"') == 3
    assert "&lt;c&gt;" in picture
    assert gb.graphs.star(100)._repr_svg_() is None
