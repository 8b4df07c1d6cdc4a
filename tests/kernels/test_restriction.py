"""The part of a sampling program that matters, against loops over the matrix of the graph."""

import numpy as np
import pytest
from numba import njit

import graphbandit as gb
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.kernels.graphs.adjacency import Graph
from graphbandit.kernels.planning.restriction import restrict, transpose_lists

NO_WORDS = np.empty((0, 0), dtype=np.uint64)
NO_WORDS.flags.writeable = False  # kernels are compiled for arrays that cannot be written


@njit
def restricted(graph, row_of, rows, best, available, marks):
    columns, pointers, entries = restrict(graph, row_of, rows, best, available, marks)
    return columns, pointers, entries, transpose_lists(pointers, entries, rows.size)


@pytest.mark.parametrize("listed", [False, True], ids=["packed", "listed"])
def test_columns_are_the_best_arm_and_those_that_reveal_a_row(listed):
    rng = np.random.default_rng(0)
    n_arms = 70  # more than a word of 64
    for _ in range(20):
        matrix = (rng.random((n_arms, n_arms)) < 0.04) | np.eye(n_arms, dtype=bool)
        available = rng.random(n_arms) < 0.7
        best = int(rng.choice(np.flatnonzero(available)))
        rows = np.sort(rng.choice(n_arms, 9, replace=False)).astype(np.int32)
        row_of, marks = np.full(n_arms, -1, np.int32), np.full(n_arms, -1, np.int32)
        row_of[rows] = np.arange(9)
        graph = gb.FeedbackGraph.from_dense(matrix)
        stored = Graph(NO_WORDS, *graph.csr(), *graph.in_csr()) if listed else kernel_graph(graph)
        columns, pointers, entries, by_row = restricted(stored, row_of, rows, best, available, marks)
        reveals = matrix[:, rows]
        assert columns.tolist() == [j for j in range(n_arms) if available[j] and (reveals[j].any() or j == best)]
        lists = np.split(entries, pointers[1:-1])
        assert [sorted(found) for found in lists] == [np.flatnonzero(reveals[j]).tolist() for j in columns]
        row_pointers, row_entries = by_row
        of_rows = [columns[found].tolist() for found in np.split(row_entries, row_pointers[1:-1])]
        assert of_rows == [[j for j in columns if reveals[j, i]] for i in range(9)]
        assert (marks == -1).all()
