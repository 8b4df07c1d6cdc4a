"""NetworkX: u -> v says that playing u reveals v."""

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, MissingExtraError
from graphbandit.interop.networkx import from_networkx, to_networkx


def test_orientation():
    graph = nx.DiGraph([("tea", "cake"), ("tea", "tea"), ("cake", "cake")])
    found = from_networkx(graph)
    assert found["tea", "cake"]
    assert not found["cake", "tea"]
    assert found.reveals("tea").tolist() == [0, 1]
    assert nx.utils.graphs_equal(to_networkx(found), graph)


def test_probabilities():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", chance=0.25)
    graph.add_edge("a", "a")
    found = from_networkx(graph, probability_attribute="chance", arms=["b", "a"], add_loops=True)
    assert found.matrix.tolist() == [[1.0, 0.0], [0.25, 1.0]]
    assert list(found.arms) == ["b", "a"]
    back = to_networkx(found)
    assert back.edges["a", "b"] == {"probability": 0.25}
    assert from_networkx(back, probability_attribute="probability", arms=["b", "a"]) == found
    undirected = nx.Graph()
    undirected.add_edge(0, 1, probability=0.5)
    matrix = from_networkx(undirected, probability_attribute="probability").matrix
    assert np.array_equal(matrix, [[0, 0.5], [0.5, 0]])


def test_bad_graphs_are_refused():
    with pytest.raises(GraphError, match="graph is a list"):
        from_networkx([[1]])
    with pytest.raises(GraphError, match="graph is a list"):
        to_networkx([[1]])
    with pytest.raises(GraphError, match="parallel edges"):
        from_networkx(nx.MultiDiGraph([(0, 0)]), probability_attribute="p")
    with pytest.raises(GraphError, match="the graph lacks the arm 1"):
        from_networkx(nx.DiGraph([(0, 0)]), probability_attribute="p", arms=[1])
    graph = nx.DiGraph()
    graph.add_edge(0, 0, p=1.5)
    with pytest.raises(GraphError, match=r"1\.5"):
        from_networkx(graph, probability_attribute="p")
    with pytest.raises(GraphError, match="self-loop"):
        from_networkx(nx.DiGraph([(0, 1)]))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"graphbandit\[networkx\]"):
        to_networkx(gb.ProbabilisticGraph(np.eye(2)))


def test_the_room_is_loaded_when_it_is_asked_for():
    code = (
        "import sys, graphbandit as gb; assert 'graphbandit.interop' not in sys.modules; gb.interop.vw; "
        "assert 'graphbandit.interop.gymnasium' not in sys.modules; "
        "assert not {'gymnasium', 'vowpalwabbit', 'pandas', 'polars', 'networkx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'ray'"):
        gb.interop.ray  # noqa: B018
