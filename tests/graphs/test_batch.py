"""FeedbackGraphs: one meaning however the graphs are stored, nothing copied, and what is refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphbandit.errors import GraphError, InputError, SettingError
from graphbandit.graphs import bandit, complete, star
from graphbandit.graphs import batch as graph_batches
from graphbandit.graphs import graph as graphs
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import FixedSource, PoolSource

STACKS = st.tuples(st.integers(0, 5), st.sampled_from([1, 3, 64, 65])).flatmap(
    lambda size: hnp.arrays(np.bool_, (size[0], size[1], size[1]))
)


@pytest.fixture(params=["packed", "sparse"])
def matrices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Six graphs on 70 arms, of which two are equal, for both ways of storing them."""
    if request.param == "sparse":
        monkeypatch.setattr(graphs, "PACKED_LIMIT", 0)
        monkeypatch.setattr(graph_batches, "PACKED_LIMIT", 0)
    drawn = np.random.default_rng(2).random((6, 70, 70)) < 0.1
    drawn[5] = drawn[1]
    return drawn


def batch_of(matrices: np.ndarray) -> FeedbackGraphs:
    return FeedbackGraphs.from_dense(matrices, require_loops=False)


@settings(deadline=None)
@given(STACKS, st.data())
def test_batch_is_its_graphs(matrices: np.ndarray, data: st.DataObject) -> None:
    batch = batch_of(matrices)
    n, n_arms = matrices.shape[:2]
    assert (len(batch), batch.n_arms) == (n, n_arms)
    np.testing.assert_array_equal(np.array([graph.to_dense() for graph in batch]).reshape(matrices.shape), matrices)
    actions = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_arms - 1)))
    np.testing.assert_array_equal(batch.revealed(actions), matrices[np.arange(n), actions])
    assert batch.has_all_loops == all(graph.has_all_loops for graph in batch)
    assert pickle.loads(pickle.dumps(batch)) == batch


def test_all_ways_to_build_the_same_batch(matrices: np.ndarray) -> None:
    batch = batch_of(matrices)
    singles = [FeedbackGraph.from_dense(matrix, require_loops=False) for matrix in matrices]
    stacked = FeedbackGraphs.stack(singles)
    assert len(stacked.stored) == 5  # equal graphs once
    assert stacked == batch
    assert FeedbackGraphs.pool(singles, range(6)) == batch
    assert FeedbackGraphs.pool(singles[:5], np.array([0, 1, 2, 3, 4, 1], dtype=np.uint8)) == batch
    assert FeedbackGraphs.concatenate([batch[:2], stacked[2:4], batch[[-2, -1]]]) == batch
    assert FeedbackGraphs.repeat(singles[1], 2) == batch[[1, 5]]
    assert batch != batch[::-1]
    assert batch != batch[:5]
    assert batch != FeedbackGraphs.pool(singles[:5], range(5))


def test_choosing_rounds_copies_no_graph(matrices: np.ndarray) -> None:
    batch = batch_of(matrices)
    mask = np.array([True, False, True, False, False, True])
    for chosen, rounds in [(batch[1:4], [1, 2, 3]), (batch[np.array([4, 0])], [4, 0]), (batch[mask], [0, 2, 5])]:
        assert chosen.stored is batch.stored
        np.testing.assert_array_equal([graph.to_dense() for graph in chosen], matrices[rounds])
    assert batch[-1] == batch[np.int64(1)]
    assert len(batch[[]]) == 0
    if batch.is_packed:
        assert np.shares_memory(batch[3].words, batch.words)
        assert np.shares_memory(FeedbackGraphs.repeat(batch[3], 9).words, batch.words)
    joined = FeedbackGraphs.concatenate([batch[3:], batch[:2]])
    assert joined.stored is batch.stored


def test_concatenate_keeps_a_shared_store_once(matrices: np.ndarray) -> None:
    batch, other = batch_of(matrices), batch_of(matrices[:2])
    joined = FeedbackGraphs.concatenate([batch[3:], other, batch[:2]])
    assert len(joined.stored) == len(batch.stored) + len(other.stored)
    np.testing.assert_array_equal([g.to_dense() for g in joined], matrices[[3, 4, 5, 0, 1, 0, 1]])


def test_nothing_can_be_changed(matrices: np.ndarray) -> None:
    for batch in (batch_of(matrices), pickle.loads(pickle.dumps(batch_of(matrices))), batch_of(matrices)[[1, 2]]):
        arrays = [batch.index, batch.words] if batch.is_packed else [batch.index]
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)


def test_from_words_takes_the_array_over() -> None:
    words = np.stack([star(70).words, bandit(70).words])
    batch = FeedbackGraphs.from_words(words, 70, index=[1, 0, 1])
    assert batch == FeedbackGraphs.stack([bandit(70), star(70), bandit(70)])
    assert np.shares_memory(batch.words, words)
    assert not words.flags.writeable


def test_only_the_graphs_of_the_rounds_need_loops() -> None:
    pool = [complete(3), FeedbackGraph.from_edges([], 3, require_loops=False)]
    assert FeedbackGraphs.pool(pool, [0, 0]).has_all_loops
    assert not FeedbackGraphs.pool(pool, [0, 1]).has_all_loops


def test_repr() -> None:
    assert repr(FeedbackGraphs.repeat(star(4), 10)) == "FeedbackGraphs(10 rounds, n_arms=4, 1 stored)"


def test_bad_input_is_refused() -> None:
    batch = FeedbackGraphs.repeat(star(4), 3)
    missing = np.stack([np.eye(3), np.diag([1, 0, 0])])
    stray = np.full((1, 2, 1), 4, dtype=np.uint64)
    cases = [
        (lambda: FeedbackGraphs.from_dense(np.eye(3)), GraphError, r"matrices have shape \(3, 3\); expected \(n, arms"),
        (lambda: FeedbackGraphs.from_dense(np.ones((2, 3, 4))), GraphError, r"shape \(3, 4\); expected a square"),
        (lambda: FeedbackGraphs.from_dense(2 * missing), GraphError, r"entry \[0, 0, 0\] is 2\.0"),
        (lambda: FeedbackGraphs.from_dense(missing), GraphError, r"in round 1, 2 arm\(s\) lack a self-loop: 1, 2\. "),
        (lambda: FeedbackGraphs.stack([]), InputError, "graphs is empty"),
        (lambda: FeedbackGraphs.stack([star(3), star(4)]), GraphError, "graph 1 has 4 arms; expected 3"),
        (lambda: FeedbackGraphs.pool([star(3)], [0, 1]), InputError, r"index\[1\] is 1; expected one of .* 0 \.\. 0"),
        (lambda: FeedbackGraphs.pool([star(3)], [-1]), InputError, r"index\[0\] is -1"),
        (lambda: FeedbackGraphs.pool([star(3)], [0.0]), InputError, "index has type float64"),
        (lambda: FeedbackGraphs.pool([star(3)], [[0]]), InputError, r"shape \(1, 1\)"),
        (lambda: FeedbackGraphs.repeat(star(3), -1), SettingError, "n is -1; expected .* at least 0"),
        (lambda: FeedbackGraphs.concatenate([]), InputError, "batches is empty"),
        (lambda: FeedbackGraphs.concatenate([batch, batch_of(missing)]), GraphError, "batch 1 has 3 arms; expected 4"),
        (lambda: FeedbackGraphs.from_words(stray, 2), GraphError, "row 0 of graph 0 has bits beyond arm 1"),
        (lambda: FeedbackGraphs.from_words(stray, 3), GraphError, r"expected uint64 of shape \(stored, 3, 1\)"),
        (lambda: FeedbackGraphs.from_words(stray.astype(np.int64), 2), GraphError, "words have type int64"),
        (lambda: FeedbackGraphs.from_words(stray, 5000), GraphError, "packed words exist up to 4096"),
        (lambda: FeedbackGraphs.from_words(stray - stray, 2), GraphError, "in round 0, 2 arm"),
        (lambda: batch.revealed([0, 1]), InputError, r"shape \(2,\); expected one arm for each of 3 rounds"),
        (lambda: batch.revealed([0.0, 1.0, 2.0]), InputError, "actions have type float64"),
        (lambda: batch.revealed([0, 1, 4]), InputError, r"actions\[2\] is 4; expected an arm of 0 \.\. 3"),
        (lambda: batch[3], InputError, r"rounds is 3; expected rounds of 0 \.\. 2"),
        (lambda: batch[0.5], InputError, r"rounds is 0\.5"),
        (lambda: batch[np.array([[0]])], InputError, "rounds has 2 dimensions"),
        (lambda: FeedbackGraphs.stack([1]), GraphError, "graph 0 is a int"),
        (lambda: FeedbackGraphs.stack(None), GraphError, "graphs is a NoneType"),
        (lambda: FeedbackGraphs.pool([1], [0]), GraphError, "graph 0 is a int"),
        (lambda: FeedbackGraphs.pool([complete(2)], [[0], [0, 1]]), InputError, "rows of different lengths"),
        (lambda: FeedbackGraphs.repeat(5, 3), GraphError, "graph 0 is a int"),
        (lambda: FeedbackGraphs.from_words([[1]], 3), GraphError, "words is a list"),
        (lambda: FeedbackGraphs.concatenate([1]), GraphError, "batch 0 is a int"),
        (lambda: batch.revealed([[0], [0, 1], [0]]), InputError, "rows of different lengths"),
        (lambda: FixedSource(5), SettingError, "graph is 5"),
        (lambda: PoolSource(5), SettingError, "graphs is 5"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_large_graphs_have_no_words() -> None:
    batch = FeedbackGraphs.repeat(bandit(5000), 2)
    assert not batch.is_packed
    assert batch.has_all_loops
    np.testing.assert_array_equal(batch.revealed([7, 4999]).nonzero(), ([0, 1], [7, 4999]))
    with pytest.raises(GraphError, match="n_arms is 5000; packed words exist up to 4096"):
        _ = batch.words
