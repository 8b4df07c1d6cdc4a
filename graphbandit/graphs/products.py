"""Rows of numbers, one a round, times the matrices of the rounds' graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from graphbandit.base.shapes import Float, Int
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.bits import unpack_rows
from graphbandit.graphs.probabilistic import ProbabilisticGraphs

CELLS = 1 << 18
"""The size of a (K, K) block of graphs that is unpacked at a time, in rounds times arms times arms."""


def times_graphs(
    rows: Float[np.ndarray, "n arms"], graphs: FeedbackGraphs | ProbabilisticGraphs, *, transposed: bool = False
) -> Float[np.ndarray, "n arms"]:
    """Row t times the matrix of graph t: sum over j of rows[t, j] G_t[j, a].

    With `transposed`, sum over a of G_t[j, a] rows[t, a]. Rounds that share a graph are multiplied together. The order
    of sums depends on the round alone.
    """
    n, n_arms = rows.shape
    result = np.empty((n, n_arms))
    used, place = np.unique(graphs.index, return_inverse=True)
    if len(used) * 4 > n and n_arms <= 512:  # hardly a graph is shared
        step = max(1, CELLS // (n_arms * n_arms))
        for start in range(0, n, step):
            part = slice(start, start + step)
            dense = dense_graphs(graphs, graphs.index[part])
            result[part] = np.einsum("na,nja->nj" if transposed else "nj,nja->na", rows[part], dense)
        return result
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place, minlength=len(used)))
    start = 0
    for stored, end in zip(used.tolist(), ends.tolist(), strict=True):
        chosen = order[start:end]
        matrix = _sparse(graphs, stored)
        # not a dense product: BLAS sums in an order that depends on how many rows there are
        result[chosen] = ((matrix if transposed else matrix.T) @ rows[chosen].T).T
        start = end
    return result


def _sparse(graphs: FeedbackGraphs | ProbabilisticGraphs, stored: int) -> Any:
    if isinstance(graphs, ProbabilisticGraphs):
        return scipy.sparse.csr_array(graphs.stored[stored])
    return graphs._stored_graph(stored).to_sparse().astype(np.float64)


def dense_graphs(
    graphs: FeedbackGraphs | ProbabilisticGraphs, index: Int[np.ndarray, " some"]
) -> Float[np.ndarray, "some arms arms"]:
    """The matrices of these stored graphs."""
    if isinstance(graphs, ProbabilisticGraphs):
        return np.asarray(graphs.stored[index])
    if isinstance(graphs.stored, np.ndarray):
        return unpack_rows(graphs.stored[index], graphs.n_arms).astype(np.float64)
    raise TypeError("graphs of this many arms are multiplied one by one")
