"""Finite classes made of parameter grids and of draws."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphBanditError


def test_a_grid_of_parameters():
    grid = np.random.default_rng(0).normal(size=(7, 3))
    functions = gb.function_classes.finite_from_parameters(lambda x, theta: x @ theta, grid, n_arms=4)
    contexts = np.random.default_rng(1).normal(size=(5, 4, 3))
    np.testing.assert_allclose(functions.values(contexts), np.einsum("nad,md->nma", contexts, grid), atol=1e-12)
    assert functions.n_functions == 7
    assert functions.n_arms == 4


def test_numbers_and_matrices_are_parameters_too():
    contexts = np.ones((2, 3))
    by_number = gb.function_classes.finite_from_parameters(lambda x, scale: scale * x, [1.0, 2.0], n_arms=3)
    np.testing.assert_array_equal(by_number.values(contexts)[:, 1], 2.0 * contexts)
    by_matrix = gb.function_classes.finite_from_parameters(lambda x, matrix: x @ matrix, np.ones((2, 3, 4)), n_arms=4)
    np.testing.assert_array_equal(by_matrix.values(contexts), np.full((2, 2, 4), 3.0))


def test_draws_of_another_class():
    linear = gb.LinearClass(n_arms=4, dimension=3)
    rng = np.random.default_rng(2)
    contexts = rng.normal(size=(20, 4, 3))
    seen = gb.Observations.from_masks(contexts, np.ones((20, 4), bool), contexts[:, :, 0])
    draws = linear.draws(linear.add(linear.empty(), seen), noise=0.1, count=50, rng=rng)
    finite = gb.function_classes.finite_from_draws(linear, draws)
    np.testing.assert_array_equal(finite.values(contexts), linear.draw_values(draws, contexts))
    best = finite.fit(finite.add(finite.empty(), seen)).index
    losses = ((linear.draw_values(draws, contexts) - contexts[:, None, :, 0]) ** 2).sum(axis=(0, 2))
    assert best == np.argmin(losses)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gb.function_classes.finite_from_parameters(3, [1.0], n_arms=2),
        lambda: gb.function_classes.finite_from_parameters(lambda x, p: x, [], n_arms=2),
        lambda: gb.function_classes.finite_from_parameters(lambda x, p: x, [np.nan], n_arms=2),
        lambda: gb.function_classes.finite_from_parameters(lambda x, p: x, 3.0, n_arms=2),
        lambda: gb.function_classes.finite_from_draws(gb.LinearClass(n_arms=2, dimension=1), [1, 2]),
        lambda: gb.function_classes.finite_from_draws("linear", None),
        lambda: gb.function_classes.finite_from_parameters(lambda x, p: x, [[1.0], [1.0, 2.0]], n_arms=2),
    ],
)
def test_what_cannot_be_a_class_is_refused(make):
    with pytest.raises(GraphBanditError, match="expected"):
        make()
