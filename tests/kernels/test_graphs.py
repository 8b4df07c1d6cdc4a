"""What kernels ask graphs, packed or listed: each answer against the dense matrix."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.graphs.kernel_forms import kernel_graph, listed_graph
from graphbandit.kernels.graphs import adjacency, arm_sets, domination, incidence
from graphbandit.kernels.jit import for_python

set_of, revealing = for_python(arm_sets.set_of), for_python(incidence.revealing)
reveals_among, reveals_all = for_python(adjacency.reveals_among), for_python(adjacency.reveals_all)
revealers, subtract_prices = for_python(adjacency.revealers), for_python(adjacency.subtract_prices)


@pytest.mark.parametrize("form", [kernel_graph, listed_graph])
@pytest.mark.parametrize("n_arms", [1, 9, 64, 130])
def test_answers_are_those_of_the_dense_matrix(form, n_arms):
    rng = np.random.default_rng(n_arms)
    for density in (0.0, 0.1, 0.6, 1.0):
        dense = rng.random((n_arms, n_arms)) < density
        graph = form(gb.FeedbackGraph.from_dense(dense, require_loops=False))
        chosen, available = rng.random(n_arms) < 0.3, rng.random(n_arms) < 0.8
        words, scratch = set_of(chosen), np.empty(n_arms + 1, dtype=np.int32)
        for arm in range(n_arms):
            count = reveals_among(graph, arm, words, scratch)
            np.testing.assert_array_equal(scratch[:count], np.flatnonzero(dense[arm] & chosen))
            assert reveals_all(graph, arm, words) == (dense[arm] | ~chosen).all()
            count = revealers(graph, arm, available, scratch)
            np.testing.assert_array_equal(scratch[:count], np.flatnonzero(dense[:, arm] & available))

        prices, totals = rng.normal(size=n_arms), rng.random(n_arms)
        expected = totals - dense @ np.maximum(prices, 0.0)
        subtract_prices(graph, prices, totals)
        np.testing.assert_allclose(totals, expected, atol=1e-12)

        best, rows = int(rng.integers(n_arms)), np.flatnonzero(chosen).astype(np.int32)
        available[best] = True
        row_of, marks = np.zeros(n_arms, dtype=np.int32), np.full(n_arms, -1, dtype=np.int32)
        row_of[rows] = np.arange(len(rows))
        columns, found = revealing(graph, rows, row_of, best, available, marks)
        useful = available & (dense[:, chosen].any(axis=1) | (np.arange(n_arms) == best))
        np.testing.assert_array_equal(columns, np.flatnonzero(useful))
        covers = dense[useful][:, chosen]
        np.testing.assert_array_equal(found.col_rows, np.nonzero(covers)[1])
        np.testing.assert_array_equal(np.diff(found.col_ptr), covers.sum(axis=1))
        np.testing.assert_array_equal(found.row_cols, np.nonzero(covers.T)[1])
        np.testing.assert_array_equal(np.diff(found.row_ptr), covers.sum(axis=0))
        assert (marks == -1).all()


@pytest.mark.parametrize("form", [kernel_graph, listed_graph])
def test_a_cover_counts_where_it_is_smaller_than_the_set(form):
    everyone = np.ones(9, dtype=bool)
    for graph, cover in ((gb.graphs.star(9, hub=3), 1), (gb.graphs.bandit(9), 9), (gb.graphs.complete(9), 1)):
        for size in (1, 2, 5, 9):
            found = domination.size_with_cover(form(graph), everyone, everyone, size)
            assert found == min(cover, size)
