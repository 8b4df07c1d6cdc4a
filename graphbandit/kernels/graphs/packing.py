"""Packed graphs straight from what a generator draws: no dense matrix in between, and no GIL held."""

import numpy as np

from graphbandit.base.shapes import Int, UInt64
from graphbandit.kernels.jit import kernel


@kernel()
def join_pairs(pairs: Int[np.ndarray, "n pairs 2"], words: UInt64[np.ndarray, "n arms words"]) -> None:
    """Add all self-loops and join each pair of arms in both directions; `words` starts as zeros."""
    n, n_arms, _ = words.shape
    for t in range(n):
        graph = words[t]
        for a in range(n_arms):
            graph[a, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
        for k in range(pairs.shape[1]):
            i, j = pairs[t, k, 0], pairs[t, k, 1]
            graph[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            graph[j, i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel()
def join_cliques(labels: Int[np.ndarray, "n arms"], n_cliques: int, words: UInt64[np.ndarray, "n arms words"]) -> None:
    """Arms with the same label, one of 0 .. n_cliques - 1, reveal each other and themselves."""
    n, n_arms, n_words = words.shape
    members = np.empty((n_cliques, n_words), np.uint64)
    for t in range(n):
        members[:] = np.uint64(0)
        for a in range(n_arms):
            members[labels[t, a], a >> 6] |= np.uint64(1) << np.uint64(a & 63)
        for a in range(n_arms):
            for w in range(n_words):
                words[t, a, w] = members[labels[t, a], w]
