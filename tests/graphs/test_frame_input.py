"""Graphs that come as data frames: the names of rows and columns count, in whatever order they are."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraph, ProbabilisticGraphs

ARMS = ["a", "b", "c"]
VALUES = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
FRAME = pd.DataFrame(VALUES, index=["c", "b", "a"], columns=["c", "b", "a"])  # c reveals b
EXPECTED = [[0, 0], [1, 1], [2, 1], [2, 2]]
NAMED = {
    "pandas": FRAME,
    "other orders": FRAME[["b", "a", "c"]],
    "only columns": FRAME.reset_index(drop=True),
    "only rows": FRAME.set_axis(range(3), axis=1),
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME, preserve_index=False),
}
EDGES = pd.DataFrame({"played": ["c"], "revealed": ["b"]})


@pytest.mark.parametrize("frame", NAMED.values(), ids=NAMED)
def test_rows_and_columns_are_found_by_name(frame):
    graph = FeedbackGraph.from_dense(frame, arms=ARMS)
    assert list(graph.arms) == ARMS
    assert graph.edges().tolist() == EXPECTED
    own = FeedbackGraph.from_dense(frame)
    assert list(own.arms) == ["c", "b", "a"]
    assert own["c", "b"]
    assert not own["b", "c"]
    chances = ProbabilisticGraph(frame, arms=ARMS)
    assert chances.matrix.tolist() == graph.to_dense().tolist()
    assert ProbabilisticGraph.from_dense(frame).arms == own.arms


@pytest.mark.parametrize("frame", [pd.DataFrame(VALUES), pl.DataFrame(VALUES)], ids=["pandas", "polars"])
def test_a_frame_without_names_is_like_an_array(frame):
    assert FeedbackGraph.from_dense(frame).arms is None
    assert FeedbackGraph.from_dense(frame, arms=ARMS) == FeedbackGraph.from_dense(VALUES, arms=ARMS)
    assert FeedbackGraphs.from_dense([frame, frame])[1].edges().tolist() == np.argwhere(VALUES).tolist()


@pytest.mark.parametrize(
    ("frame", "arms", "message"),
    [
        (FRAME, ["a", "b", "x"], "the frame's rows lack 'x'; expected the same names as arms"),
        (FRAME, ["a", "b"], "the frame's rows have 'c'; expected the same names as arms"),
        (FRAME.rename(columns={"c": "z"}), None, "the frame's columns lack 'c'; expected the same names as the rows"),
        (FRAME.rename(columns={"c": "z"}), ARMS, "the frame's columns lack 'c'; expected the same names as arms"),
        (FRAME.rename(index={"c": "b"}), None, "the frame's rows have 'b' twice"),
        (FRAME.set_axis([2, 1, 0], axis=0), None, r"rows are called \[2, 1, 0\]; expected names of arms, or 0 \.\. 2"),
        (FRAME.iloc[:2], None, r"shape \(2, 3\); expected a square"),
    ],
)
def test_names_that_do_not_fit_are_refused(frame, arms, message):
    with pytest.raises(GraphError, match=message):
        FeedbackGraph.from_dense(frame, arms=arms)
    if arms is None and len(frame) == 3:
        with pytest.raises(GraphError, match=message):
            ProbabilisticGraph(frame)


def test_a_batch_refuses_names_it_would_lose():
    for build in (FeedbackGraphs.from_dense, ProbabilisticGraphs.from_dense):
        with pytest.raises(GraphError, match=r"matrices\[1\] is a DataFrame with names, which a batch does not keep"):
            build([VALUES, FRAME])


@pytest.mark.parametrize("edges", [EDGES, pl.from_pandas(EDGES), pa.Table.from_pandas(EDGES)])
def test_edges_come_as_a_frame_of_two_columns(edges):
    assert FeedbackGraph.from_edges(edges, arms=ARMS, add_loops=True).edges().tolist() == EXPECTED
    with pytest.raises(GraphError, match=r"edge 0 is \['c', 'b'\], but the arms have no names"):
        FeedbackGraph.from_edges(edges, 3)


def test_edges_come_as_a_frame_of_numbers():
    edges = pd.DataFrame({"played": [2], "revealed": [1]})
    assert FeedbackGraph.from_edges(edges, 3, add_loops=True).edges().tolist() == EXPECTED
    with pytest.raises(GraphError, match=r"the columns \['played', 'revealed', 'weight'\]; expected two"):
        FeedbackGraph.from_edges(edges.assign(weight=1.0), 3)


def test_a_bandit_takes_frames():
    problem = gb.Problem(arms=ARMS, noise=0.5)
    bandit = gb.Bandit(gb.learners.UCBN(), problem, graph=FRAME)
    assert bandit.graph.edges().tolist() == EXPECTED
    frames = list(NAMED.values())
    for one in (*(bandit.decide(graph=frame) for frame in frames), *bandit.decide_batch(graphs=frames)):
        assert one.revealed_arms == (["b", "c"] if one.arm == "c" else [one.arm])
    with pytest.raises(GraphError, match="DataFrame of pairs, which are edges"):
        bandit.decide(graph=EDGES)
    with pytest.raises(GraphError, match="the frame's rows lack 'c'"):
        bandit.decide(graph=FRAME.rename(index={"c": "x"}))
    with pytest.raises(GraphError, match="they have no names"):
        gb.Bandit(gb.learners.UCBN(), gb.Problem(n_arms=3, noise=0.5), graph=FRAME)


def test_a_graph_of_networkx_that_lacks_an_arm_says_which():
    bandit = gb.Bandit(gb.learners.UCBN(), gb.Problem(arms=ARMS, noise=0.5))
    with pytest.raises(GraphError, match="the graph lacks the arm 'c'"):
        bandit.decide(graph=nx.Graph([("a", "b")]))
    with pytest.raises(GraphError, match="the graph has the node 'd', which is no arm"):
        bandit.decide(graph=nx.Graph([("a", "b"), ("c", "d")]))
