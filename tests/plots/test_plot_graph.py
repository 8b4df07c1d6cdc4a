"""A graph by itself: every arm is named, every edge drawn once, and joined arms stand near each other."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

import graphbandit as gb
from graphbandit.errors import GraphError, InputError
from graphbandit.plots.graphs import around


def drawn(figure: Figure, kind):
    return [patch for patch in figure.axes[0].patches if isinstance(patch, kind)]


def test_every_arm_is_named_and_every_edge_drawn_once():
    graph = gb.FeedbackGraph.from_edges([(0, 1), (1, 0), (2, 3), (3, 0)], 5, add_loops=True)
    figure = gb.plots.plot_graph(graph, arms=["a", "b", "c", "d", "e"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["a", "b", "c", "d", "e"]
    assert len(drawn(figure, Circle)) == 5
    arrows = [type(edge.get_arrowstyle()).__name__ for edge in drawn(figure, FancyArrowPatch)]
    assert sorted(arrows) == ["Curve", "CurveFilledB", "CurveFilledB"]


def test_long_names_stand_beside_and_are_cut(tmp_path):
    names = ["short", "x" * 40, *map(str, range(8))]
    figure = gb.plots.plot_graph(gb.graphs.star(10), arms=names)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[:2] == ["short", "x" * 31 + "…"]
    for name in ("one.png", "two.png"):
        gb.plots.save_figure(figure, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_all_sizes(n):
    texts = gb.plots.plot_graph(gb.graphs.complete(n)).axes[0].texts
    assert [text.get_text() for text in texts] == [str(a) for a in range(n)]


def test_a_shuffled_ring_is_put_in_order():
    places = np.random.default_rng(1).permutation(14)
    ring = [(int(places[i]), int(places[(i + 1) % 14])) for i in range(14)]
    order = around(gb.FeedbackGraph.from_edges(ring, 14, directed=False, add_loops=True)).tolist()
    steps = sorted(min(d, 14 - d) for d in (abs(order.index(a) - order.index(b)) for a, b in ring))
    assert sum(step == 1 for step in steps) >= 9


def test_the_hub_of_a_star_is_in_the_middle():
    middle = [circle.center == (0.0, 0.0) for circle in drawn(gb.plots.plot_graph(gb.graphs.star(6, hub=2)), Circle)]
    assert middle == [False, False, True, False, False, False]
    for other in (gb.graphs.complete(6), gb.graphs.star(3), gb.graphs.clique_group(6, 2)):
        assert not any(circle.center == (0.0, 0.0) for circle in drawn(gb.plots.plot_graph(other), Circle))


@pytest.mark.parametrize("graph", [np.tri(6), gb.graphs.complete(6), gb.graphs.clique_group(6, 2)])
def test_arms_keep_their_order_if_no_other_is_better(graph):
    circles = drawn(gb.plots.plot_graph(graph), Circle)
    angles = [np.arctan2(circle.center[0], circle.center[1]) % (2 * np.pi) for circle in circles]
    np.testing.assert_allclose(angles, 2 * np.pi * np.arange(6) / 6, atol=1e-9)


def test_what_bandits_take_is_drawn():
    nx = pytest.importorskip("networkx")
    expected = len(drawn(gb.plots.plot_graph(gb.FeedbackGraph.from_dense(np.tri(4))), FancyArrowPatch))
    reveals = [(i, j) for i in range(4) for j in range(i + 1)]
    for graph in (np.tri(4), np.tri(4).tolist(), nx.DiGraph(reveals)):
        assert len(drawn(gb.plots.plot_graph(graph), FancyArrowPatch)) == expected == 6


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(GraphError, match="graph is a ProbabilisticGraph; expected a FeedbackGraph, an array of 0 and"):
        gb.plots.plot_graph(gb.ProbabilisticGraph.from_dense(np.tri(4)))
    with pytest.raises(GraphError, match="expected a square"):
        gb.plots.plot_graph(np.ones((2, 3)))
    with pytest.raises(InputError, match="graph has 61 arms; expected at most 60"):
        gb.plots.plot_graph(gb.graphs.bandit(61))
    with pytest.raises(InputError, match="arms has 1 names; expected 3"):
        gb.plots.plot_graph(gb.graphs.bandit(3), arms=["one"])
