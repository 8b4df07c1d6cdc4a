"""FeedbackGraph: every format in and out, immutability, and what it refuses."""

import copy
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphbandit.errors import GraphError, MissingExtraError, SettingError
from graphbandit.graphs import graph as graphs
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.graphs.sparse_rows import SparseRows
from tests.graphs.real_networks import social_graph

SIZES = st.integers(1, 8) | st.sampled_from([63, 64, 65, 130])
MATRICES = SIZES.flatmap(lambda k: hnp.arrays(np.bool_, (k, k)))


def build(matrix: np.ndarray) -> FeedbackGraph:
    return FeedbackGraph.from_dense(matrix, require_loops=False)


@pytest.fixture(params=["packed", "sparse"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small graphs in both ways of storing them."""
    if request.param == "sparse":
        monkeypatch.setattr(graphs, "PACKED_LIMIT", 0)
    return str(request.param)


@pytest.fixture
def matrix(storage: str) -> np.ndarray:
    return np.random.default_rng(5).random((70, 70)) < 0.2


@settings(deadline=None)
@given(MATRICES)
def test_round_trips(matrix: np.ndarray) -> None:
    graph = build(matrix)
    again = [
        FeedbackGraph.from_dense(graph.to_dense(), require_loops=False),
        FeedbackGraph.from_dense(matrix.astype(float), require_loops=False),
        FeedbackGraph.from_sparse(graph.to_sparse(), require_loops=False),
        FeedbackGraph.from_edges(graph.edges(), graph.n_arms, require_loops=False),
        FeedbackGraph.from_networkx(graph.to_networkx(), require_loops=False),
        graph.transpose().transpose(),
        pickle.loads(pickle.dumps(graph)),
    ]
    np.testing.assert_array_equal(graph.to_dense(), matrix)
    assert all(other == graph and hash(other) == hash(graph) for other in again)


@settings(deadline=None)
@given(MATRICES)
def test_words_hold_the_matrix_bit_by_bit(matrix: np.ndarray) -> None:
    words = build(matrix).words
    arms = np.arange(len(matrix))
    bits = words[:, arms // 64] >> (arms % 64).astype(np.uint64) & np.uint64(1)
    np.testing.assert_array_equal(bits.astype(bool), matrix)
    assert int(np.bitwise_count(words).sum()) == matrix.sum()


def test_queries_agree_with_the_matrix(matrix: np.ndarray, storage: str) -> None:
    graph = build(matrix)
    assert graph.is_packed == (storage == "packed")
    assert graph.n_arms == 70
    assert graph.n_edges == matrix.sum()
    assert graph.n_loops == np.trace(matrix)
    np.testing.assert_array_equal(graph.arms_without_loop, np.flatnonzero(~np.diag(matrix)))
    np.testing.assert_array_equal(graph.edges(), np.argwhere(matrix))
    np.testing.assert_array_equal(graph.transpose().to_dense(), matrix.T)
    np.testing.assert_array_equal(graph.with_loops().to_dense(), matrix | np.eye(70, dtype=bool))
    for arm in (0, 33, np.int64(69)):
        np.testing.assert_array_equal(graph.reveals(arm), np.flatnonzero(matrix[arm]))
        np.testing.assert_array_equal(graph.revealed_by(arm), np.flatnonzero(matrix[:, arm]))
        np.testing.assert_array_equal(graph.reveals_mask(arm), matrix[arm])
        assert [graph[arm, a] for a in range(70)] == matrix[arm].tolist()


def test_sparse_rows_are_those_of_scipy(matrix: np.ndarray) -> None:
    graph = build(matrix)
    for rows, expected in [(graph.csr(), matrix), (graph.in_csr(), matrix.T)]:
        reference = scipy.sparse.csr_array(expected)
        np.testing.assert_array_equal(rows.indptr, reference.indptr)
        np.testing.assert_array_equal(rows.indices, reference.indices)
        assert (rows.indptr.dtype, rows.indices.dtype) == (np.int64, np.int32)
    assert graph.csr() is graph.csr()


def test_is_undirected(matrix: np.ndarray) -> None:
    assert not build(matrix).is_undirected
    assert build(matrix | matrix.T).is_undirected


def test_nothing_can_be_changed(matrix: np.ndarray) -> None:
    source = matrix.copy()
    graph = build(source)
    source[:] = True
    np.testing.assert_array_equal(graph.to_dense(), matrix)
    graph.to_dense()[:] = True
    graph.edges()[:] = 0
    graph.to_sparse().indices[:] = 0
    np.testing.assert_array_equal(graph.to_dense(), matrix)
    for each in (graph, pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), graph.transpose()):
        rows = [each.rows] if isinstance(each.rows, np.ndarray) else each.rows
        for array in (*rows, *each.csr(), *each.in_csr(), each.arms_without_loop):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(AttributeError):
        graph.n_arms = 3  # type: ignore[misc]


def test_equality_and_hash(matrix: np.ndarray) -> None:
    graph = build(matrix)
    other = matrix.copy()
    other[3, 4] ^= True
    assert graph == build(matrix.copy())
    assert graph != build(other)
    assert graph != build(matrix[:69, :69])
    assert graph != "a graph"
    assert len({graph, build(matrix.copy()), build(other)}) == 2


def test_edges_any_iterable_repeats_and_both_directions(storage: str) -> None:
    wanted = FeedbackGraph.from_dense([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    for edges in ([(0, 1), (0, 1), (1, 0)], np.array([[1, 0]], dtype=np.uint8), {(0, 1)}, iter([(0, 1), (2, 2)])):
        assert FeedbackGraph.from_edges(edges, 3, directed=False, add_loops=True) == wanted
    assert FeedbackGraph.from_edges([], 3, require_loops=False).n_edges == 0


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_any_scipy_format(form: str, kind: type, matrix: np.ndarray) -> None:
    sparse = kind(matrix.astype(np.int8)).asformat(form)
    assert FeedbackGraph.from_sparse(sparse, require_loops=False) == build(matrix)


def test_sparse_explicit_zeros_and_duplicates(storage: str) -> None:
    places = (np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    twice = scipy.sparse.coo_array((np.array([True, False, True, True]), places), shape=(2, 2))
    assert FeedbackGraph.from_sparse(twice).edges().tolist() == [[0, 0], [1, 1]]
    assert twice.nnz == 4
    with pytest.raises(GraphError, match=r"entry \[1, 1\] is 2"):
        FeedbackGraph.from_sparse(twice.astype(int))


def test_networkx_undirected_named_nodes_and_multigraph() -> None:
    friends = nx.MultiGraph([("ann", "bob"), ("ann", "bob"), ("bob", "cat")])
    graph = FeedbackGraph.from_networkx(friends, arms=["cat", "bob", "ann"], add_loops=True)
    assert graph.to_dense().astype(int).tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    back = graph.to_networkx()
    assert list(back.nodes) == ["cat", "bob", "ann"]
    assert back.has_edge("cat", "bob")
    assert not back.has_edge("cat", "ann")
    assert FeedbackGraph.from_networkx(back) == graph
    assert FeedbackGraph.from_networkx(back).arms == graph.arms


def test_networkx_orientation() -> None:
    graph = FeedbackGraph.from_networkx(nx.DiGraph([("u", "v")]), add_loops=True)
    assert graph["u", "v"], "an edge u -> v says that playing u reveals v"
    assert not graph["v", "u"]


def test_arms_have_names() -> None:
    prices = ["7.99", "8.99", "9.99"]
    graph = FeedbackGraph.from_edges([("9.99", "8.99"), (1, "7.99")], arms=prices, add_loops=True)
    assert graph == FeedbackGraph.from_edges([(2, 1), (1, 0)], 3, add_loops=True)
    assert graph.arms is not None
    assert list(graph.arms) == prices
    assert graph.reveals("9.99").tolist() == graph.reveals(2).tolist() == [1, 2]
    assert graph.revealed_by("8.99").tolist() == [1, 2]
    assert graph["9.99", 1]
    assert not graph["7.99", "9.99"]
    assert graph.transpose().arms == graph.with_loops().arms == graph.arms
    assert graph.with_arms(None).arms is None
    assert graph.with_arms(["a", "b", "c"])["c", "b"]
    assert pickle.loads(pickle.dumps(graph)).arms == graph.arms
    assert FeedbackGraph.from_dense(graph.to_dense(), arms=prices)["9.99", "8.99"]
    assert FeedbackGraph.from_sparse(graph.to_sparse(), arms=prices)["9.99", "8.99"]


@pytest.mark.parametrize("n_arms", [3, graphs.PACKED_LIMIT + 1])
def test_loops_are_added_to_matrices(n_arms: int) -> None:
    edge = scipy.sparse.coo_array(([1], ([0], [1])), shape=(n_arms, n_arms))
    expected = FeedbackGraph.from_edges([(0, 1)], n_arms, add_loops=True)
    assert FeedbackGraph.from_sparse(edge, add_loops=True) == expected
    assert FeedbackGraph.from_dense(edge.toarray(), add_loops=True) == expected


def test_bad_names_are_refused() -> None:
    names = ["a", "b"]
    cases = [
        (
            lambda: FeedbackGraph.from_edges([("a", "c")], arms=names),
            "edge 0: no arm is called 'c'; expected one of 'a', 'b'",
        ),
        (
            lambda: FeedbackGraph.from_edges([("a", 2)], arms=names),
            r"edge 0: arm is 2; expected .* 0 \.\. 1, or a name",
        ),
        (lambda: FeedbackGraph.from_edges(["ab"], arms=names), r"edge 0 is 'ab'; expected a pair"),
        (lambda: FeedbackGraph.from_edges([("a", "b")], 3, arms=names), "arms has 2 names; expected n_arms = 3"),
        (lambda: FeedbackGraph.from_edges([("a", "b")]), "n_arms and arms are both None"),
        (lambda: FeedbackGraph.from_edges([("a", "b")], 2), "but the arms have no names"),
        (lambda: FeedbackGraph.from_dense(np.eye(3), arms=names), "arms has 2 names; expected one for each of 3 arms"),
        (lambda: FeedbackGraph.from_dense(np.eye(2)).reveals("a"), "arm is 'a', but the arms have no names"),
    ]
    for call, message in cases:
        with pytest.raises(GraphError, match=message):
            call()
    for arms, message in [
        (["a", "a"], "arms has 'a' twice; expected each name once"),
        (["a", 5], r"arms\[1\] is 5; expected a name"),
        ("ab", "arms is 'ab'; expected a list of names"),
        ([], "arms is empty"),
    ]:
        with pytest.raises(SettingError, match=message):
            FeedbackGraph.from_dense(np.eye(2), arms=arms)  # type: ignore[arg-type]


def test_networkx_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    graph = FeedbackGraph.from_dense([[1]])
    with pytest.raises(MissingExtraError, match=r"pip install 'graphbandit\[networkx\]'"):
        graph.to_networkx()
    with pytest.raises(MissingExtraError):
        FeedbackGraph.from_networkx(graph)


LOOPS = np.eye(3)
BAD_DENSE = [
    (np.ones((2, 3)), r"shape \(2, 3\); expected a square"),
    (np.ones(4), r"shape \(4,\)"),
    (np.ones((0, 0)), "at least 1 arm"),
    ([[1, 2], [0, 1]], r"entry \[0, 1\] is 2; expected a boolean, 0 or 1"),
    ([[1, 0], [np.nan, 1]], r"entry \[1, 0\] is nan"),
    ([[1, 0], [-1, 1]], r"entry \[1, 0\] is -1"),
    ([[1, 0], [1]], "rows have different lengths"),
    ([["x", "y"], ["y", "x"]], "values have type <U1"),
    (np.array([[1, None], [0, 1]]), "values have type object"),
    (np.ones((2, 2), dtype=complex), "values have type complex128"),
    (np.zeros((9, 9)), r"9 arm\(s\) lack a self-loop: 0, 1, 2, 3, 4, \.\.\."),
    (np.diag([1, 0, 1, 0]), r"2 arm\(s\) lack a self-loop: 1, 3\. .*require_loops=False.*with_loops"),
]
BAD_EDGES = [
    ([(0, 3)], 3, r"edge 0 is \(0, 3\); expected arms of 0 \.\. 2"),
    ([(0, 1), (-1, 2)], 3, r"edge 1 is \(-1, 2\)"),
    ([(0, 1, 2)], 3, r"edges have shape \(1, 3\)"),
    ([0, 1], 3, r"edges have shape \(2,\)"),
    ([(0.0, 1.0)], 3, "edges have type float64; expected whole numbers"),
    ([(True, False)], 3, "edges have type bool"),
    ([(0, 1), (1,)], 3, "rows have different lengths"),
    ([("a", "b")], 3, "edge 0 is .*, but the arms have no names"),
    (7, 3, "edges is 7; expected pairs"),
    ([], 0, "n_arms is 0; expected a whole number of at least 1"),
    ([], -2, "n_arms is -2"),
    ([], 2.0, r"n_arms is 2\.0"),
    ([], True, "n_arms is True"),
    ([(0, 1)], 2, r"2 arm\(s\) lack a self-loop: 0, 1\. "),
]


@pytest.mark.parametrize(("bad", "message"), BAD_DENSE)
def test_bad_matrices_are_refused(bad: object, message: str, storage: str) -> None:
    with pytest.raises(GraphError, match=message):
        FeedbackGraph.from_dense(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(("edges", "n_arms", "message"), BAD_EDGES)
def test_bad_edges_are_refused(edges: object, n_arms: int, message: str, storage: str) -> None:
    with pytest.raises(GraphError, match=message):
        FeedbackGraph.from_edges(edges, n_arms)  # type: ignore[arg-type]


def test_other_bad_input_is_refused() -> None:
    graph = FeedbackGraph.from_dense(LOOPS)
    cases = [
        (lambda: FeedbackGraph.from_sparse(LOOPS), "matrix is a ndarray; expected a SciPy sparse"),
        (lambda: FeedbackGraph.from_sparse(scipy.sparse.eye_array(2, 3)), r"shape \(2, 3\)"),
        (lambda: FeedbackGraph.from_sparse(2 * scipy.sparse.eye_array(2)), r"entry \[0, 0\] is 2"),
        (lambda: FeedbackGraph.from_networkx(LOOPS), "graph is a ndarray; expected a NetworkX graph"),
        (lambda: FeedbackGraph.from_networkx(nx.Graph([(4, 7)])), r"the node 4; expected nodes 0 .*arms="),
        (lambda: FeedbackGraph.from_networkx(nx.Graph([(0, 1)]), arms=[0, 1, 1]), "arms has 3 nodes, and the graph 2"),
        (lambda: graph.reveals(3), r"arm is 3; expected one of 0 \.\. 2"),
        (lambda: graph.revealed_by(-1), "arm is -1"),
        (lambda: graph.reveals_mask(1.5), r"arm is 1\.5"),  # type: ignore[arg-type]
        (lambda: graph[0, 3], "arm is 3"),
        (lambda: graph[0], "index is 0; expected two arms"),  # type: ignore[index]
    ]
    for call, message in cases:
        with pytest.raises(GraphError, match=message):
            call()


def test_beyond_the_packed_limit() -> None:
    n_arms = PACKED_LIMIT + 1
    ring = np.stack([np.arange(n_arms), np.roll(np.arange(n_arms), -1)], axis=1)
    graph = FeedbackGraph.from_edges(ring, n_arms, add_loops=True)
    assert not graph.is_packed
    assert graph.reveals(n_arms - 1).tolist() == [0, n_arms - 1]
    assert graph.revealed_by(0).tolist() == [0, n_arms - 1]
    assert repr(graph) == f"FeedbackGraph(n_arms={n_arms}, n_edges={2 * n_arms}, n_loops={n_arms})"
    with pytest.raises(GraphError, match=r"n_arms is 4097; packed words exist up to 4096: use csr\(\)"):
        _ = graph.words
    assert FeedbackGraph.from_edges([], PACKED_LIMIT, add_loops=True).is_packed


def test_a_million_arms() -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(10**6, size=(10**6, 2))
    graph = FeedbackGraph.from_edges(edges, 10**6, directed=False, add_loops=True)
    j, a = edges[123]
    assert graph[j, a]
    assert graph[a, j]
    assert a in graph.reveals(j)
    assert graph.is_undirected
    assert graph.has_all_loops


def test_a_social_graph() -> None:
    graph = social_graph("snap_ego_facebook")
    assert (graph.n_arms, graph.n_edges) == (4039, 2 * 88_234 + 4039)
    assert graph.is_undirected
    assert FeedbackGraph.from_sparse(graph.to_sparse()) == graph


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeedbackGraph(4000, np.zeros((1, 1), np.uint64)),
        lambda: FeedbackGraph(2, np.zeros((2, 1), np.int64)),
        lambda: FeedbackGraph(2, SparseRows(np.array([0, 1, 2]), np.array([0, 7], np.int32))),
        lambda: FeedbackGraph(2, SparseRows(np.array([0, 1]), np.array([0], np.int32))),
        lambda: FeedbackGraph(2, SparseRows(np.array([0, 2, 1]), np.array([0], np.int32))),
        lambda: FeedbackGraphs(2, np.zeros((1, 3, 1), np.uint64), np.zeros(1, np.int32)),
        lambda: FeedbackGraphs(2, np.zeros((1, 2, 1), np.uint64), np.array([1], np.int32)),
        lambda: FeedbackGraphs(2, np.zeros((1, 2, 1), np.uint64), np.zeros(1)),
        lambda: ProbabilisticGraphs(np.zeros((1, 2, 3)), np.zeros(1, np.int32)),
        lambda: ProbabilisticGraphs(np.zeros((1, 2, 2)), np.array([5], np.int32)),
    ],
)
def test_arrays_that_kernels_would_read_beyond_are_refused(make):
    with pytest.raises(GraphError, match="expected"):
        make()
