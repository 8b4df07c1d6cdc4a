"""Kernels read arrays where they are, so views with gaps are copied or refused before they get there."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, InputError
from graphbandit.function_classes import BilinearClass
from graphbandit.graphs.sparse_rows import SparseRows

STARS = gb.FeedbackGraphs.pool([gb.graphs.star(4, hub=hub) for hub in range(4)], [0, 1, 2, 3, 2, 1, 0, 3])


def observed(batch: gb.FeedbackGraphs) -> np.ndarray:
    bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=4, noise=0.5), seed=0)
    return np.array([decision.observation_probabilities for decision in bandit.decide_batch(None, batch)])


@pytest.mark.parametrize("rounds", [slice(None, None, 2), slice(None, None, -1), slice(6, 1, -3)])
def test_slices_with_a_step_are_the_rounds_they_name(rounds: slice) -> None:
    whole, part = observed(STARS), STARS[rounds]
    assert part.index.flags.c_contiguous
    np.testing.assert_array_equal(observed(part), whole[rounds])


def test_an_index_with_gaps_is_refused() -> None:
    with pytest.raises(GraphError, match="index is a view with gaps"):
        gb.FeedbackGraphs(4, STARS.stored, STARS.index[::2])


def test_packed_rows_with_gaps_are_refused() -> None:
    with pytest.raises(GraphError, match="expected a contiguous array of uint64"):
        gb.FeedbackGraphs(4, STARS.stored[::-1], STARS.index)


def test_sparse_rows_with_gaps_are_refused() -> None:
    star = gb.graphs.star(5000)
    assert isinstance(star.rows, SparseRows)
    with pytest.raises(GraphError, match="views with gaps"):
        gb.FeedbackGraph(5000, SparseRows(*(np.repeat(array, 2)[::2] for array in star.rows)))


def test_a_class_of_arrays_in_another_order_has_the_same_values() -> None:
    rng = np.random.default_rng(0)
    given = {"x0": rng.normal(size=(6, 3)), "a0": rng.normal(size=(6, 3)), "arms": rng.normal(size=(5, 3))}
    contexts = rng.normal(size=(2, 3))
    expected = BilinearClass(**given).values(contexts)
    turned = BilinearClass(**{name: np.asfortranarray(array) for name, array in given.items()})
    np.testing.assert_array_equal(turned.values(contexts), expected)


def test_masked_numbers_are_refused() -> None:
    functions = gb.LinearClass(n_arms=4, dimension=2, parameters="per-arm")
    bandit = gb.Bandit(gb.IDSG(), gb.Problem(n_arms=4, function_class=functions, noise=0.5))
    whole = np.ma.masked_array([1.0, 2.0], mask=[False, False])
    with pytest.raises(InputError, match="masked numbers; expected an array without a mask"):
        bandit.decide(np.ma.masked_array([1.0, 2.0], mask=[False, True]), STARS[0])
    assert bandit.decide(whole, STARS[0]).id == 0
