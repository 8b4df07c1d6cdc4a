"""Graphs with probabilities on their edges: what they hold, what they draw, and what is refused."""

import pickle

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, SettingError


@pytest.fixture
def odds():
    return np.random.default_rng(0).random((4, 3, 3))


def test_rounds_slices_and_pools(odds):
    graphs = gb.ProbabilisticGraphs.from_dense(odds)
    assert len(graphs) == 4
    assert graphs.n_arms == 3
    np.testing.assert_array_equal(graphs[2].matrix, odds[2])
    np.testing.assert_array_equal([graph.matrix for graph in graphs[1:3]], odds[1:3])
    np.testing.assert_array_equal([graph.matrix for graph in graphs[[3, 0]]], odds[[3, 0]])
    np.testing.assert_array_equal(
        [graph.matrix for graph in graphs[np.array([True, False, False, True])]], odds[[0, 3]]
    )
    pool = gb.ProbabilisticGraphs.pool(odds, [1, 1, 0])
    np.testing.assert_array_equal([graph.matrix for graph in pool], odds[[1, 1, 0]])
    assert gb.ProbabilisticGraphs.concatenate([pool[:2], graphs[:1]]) == pool
    assert graphs != pool
    assert graphs[:0] == pool[:0]
    assert repr(gb.ProbabilisticGraphs.repeat(odds[0], 9)) == "ProbabilisticGraphs(9 rounds, n_arms=3, 1 stored)"


def test_they_are_values(odds):
    graphs = gb.ProbabilisticGraphs.from_dense(odds)
    kept = odds[0].copy()
    odds[0] = 0
    np.testing.assert_array_equal(graphs[0].matrix, kept)
    for batch in (graphs, pickle.loads(pickle.dumps(graphs))):
        assert batch == graphs
        with pytest.raises(ValueError, match="read-only"):
            batch[0].matrix[0, 0] = 1
    assert graphs != 3


def test_certain_graphs_there_and_back():
    rng = np.random.default_rng(1)
    graphs = gb.FeedbackGraphs.from_dense(rng.random((5, 4, 4)) < 0.5, require_loops=False)[[4, 1, 1]]
    odds = gb.ProbabilisticGraphs.from_graphs(graphs)
    np.testing.assert_array_equal([graph.matrix for graph in odds], [graph.to_dense() for graph in graphs])
    assert odds.sample(rng) == graphs
    assert not odds.has_all_loops
    assert gb.ProbabilisticGraphs.from_graphs(gb.FeedbackGraphs.repeat(gb.graphs.star(4, hub=0), 2)).has_all_loops


def test_edges_come_as_often_as_they_should_and_rounds_in_parts_are_the_same(odds):
    graphs = gb.ProbabilisticGraphs.pool(odds, np.arange(8000) % 4)
    drawn = graphs.sample(np.random.default_rng(2))
    dense = np.stack([graph.to_dense() for graph in drawn])
    for i in range(4):
        error = np.sqrt(odds[i] * (1 - odds[i]) / 2000)
        assert (np.abs(dense[i::4].mean(axis=0) - odds[i]) < 4.5 * error).all()
    rng = np.random.default_rng(2)
    parts = [graphs[start : start + 111].sample(rng) for start in range(0, 333, 111)]
    assert gb.FeedbackGraphs.concatenate(parts) == drawn[:333]
    assert len(graphs[:0].sample(rng)) == 0


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.ones((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (np.ones((2, 0, 0)), r"shape \(2, 0, 0\)"),
        (np.full((1, 2, 2), 1.5), r"0 reveals 0 in graph 0 is 1\.5; expected 0 to 1"),
        ([[[0.5, -0.1], [0, 1]]], r"0 reveals 1 in graph 0 is -0\.1"),
        (np.full((1, 2, 2), np.nan), r"nan at \[0, 0, 0\]"),
        ([[["a"]]], "expected numbers"),
        ([[[1.0, 2.0], [0.0]]], "different lengths"),
    ],
)
def test_bad_probabilities_are_named(matrices, message):
    with pytest.raises(GraphError, match=message):
        gb.ProbabilisticGraphs.from_dense(matrices)


def test_bad_batches_are_named(odds):
    graphs, two_arms = gb.ProbabilisticGraphs.from_dense(odds), gb.ProbabilisticGraphs.repeat(np.eye(2), 1)
    cases = [
        (lambda: gb.ProbabilisticGraphs.pool(odds, [0, 4]), InputError, r"index\[1\] is 4"),
        (lambda: graphs[9], InputError, "rounds is 9"),
        (lambda: graphs[np.zeros((1, 1), dtype=int)], InputError, "2 dimensions"),
        (lambda: gb.ProbabilisticGraphs.concatenate([]), InputError, "batches is empty"),
        (lambda: gb.ProbabilisticGraphs.concatenate([graphs, 3]), GraphError, "batch 1 is a int"),
        (lambda: gb.ProbabilisticGraphs.concatenate([graphs, two_arms]), GraphError, "batch 1 has 2 arms; expected 3"),
        (lambda: gb.ProbabilisticGraphs.from_graphs(odds), GraphError, "graphs is a ndarray"),
        (lambda: gb.ProbabilisticGraphs.repeat(odds[0], -1), SettingError, "n is -1"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_one_round_is_a_value_of_its_own(odds):
    graph = gb.ProbabilisticGraph(odds[0], arms=["a", "b", "c"])
    assert graph == gb.ProbabilisticGraphs.repeat(graph, 3)[1] == pickle.loads(pickle.dumps(graph))
    assert graph["a", "c"] == graph[0, 2] == odds[0, 0, 2]
    assert pickle.loads(pickle.dumps(graph)).arms == graph.arms
    assert graph != gb.ProbabilisticGraph(odds[1])
    assert graph != 3
    with pytest.raises(ValueError, match="read-only"):
        graph.matrix[0, 0] = 1
    drawn = [graph.sample(np.random.default_rng(i)).to_dense() for i in range(2000)]
    np.testing.assert_allclose(np.mean(drawn, axis=0), odds[0], atol=0.06)


def test_a_graph_with_one_probability_keeps_its_loops():
    graph = gb.ProbabilisticGraph.from_graph(gb.graphs.star(3, hub=0), 0.25)
    assert graph.has_all_loops
    assert graph.matrix.tolist() == [[1, 0.25, 0.25], [0.25, 1, 0], [0.25, 0, 1]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gb.ProbabilisticGraph([[1.2]]), "is 1.2; expected 0 to 1"),
        (lambda: gb.ProbabilisticGraph([1.0, 0.5]), "expected square matrices"),
        (lambda: gb.ProbabilisticGraph([[float("nan")]]), "nan at"),
        (lambda: gb.ProbabilisticGraph([[1.0]], arms=["a", "b"]), "arms has 2 names; expected one for each of 1 arms"),
        (lambda: gb.ProbabilisticGraph([[1.0]])[0], "index is 0; expected two arms"),
        (lambda: gb.ProbabilisticGraph([[1.0]])[0, 1], "arm is 1; expected one of 0 .. 0"),
        (lambda: gb.ProbabilisticGraph.from_graph([[1.0]]), "graph is a list; expected a FeedbackGraph"),
        (lambda: gb.ProbabilisticGraph.from_graph(gb.graphs.bandit(2), 1.5), "probability is 1.5; expected"),
    ],
)
def test_a_bad_round_is_refused(make, message):
    with pytest.raises((GraphError, SettingError), match=message):
        make()
