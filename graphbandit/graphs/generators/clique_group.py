"""Disjoint cliques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Int64, UInt64
from graphbandit.errors import SettingError
from graphbandit.graphs.bits import n_words
from graphbandit.graphs.checked_input import checked_n_arms
from graphbandit.graphs.generators.base import FreshSource
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph
from graphbandit.graphs.sparse_rows import SparseRows


def clique_group(
    n_arms: SupportsIndex, n_cliques: SupportsIndex = 5, *, rng: np.random.Generator | None = None
) -> FeedbackGraph:
    """Disjoint cliques of sizes as equal as possible.

    - `n_arms`: K.
    - `n_cliques`: 5 by default.
    - `rng`: draws the members of the cliques; None (default): consecutive arms.

    >>> clique_group(5, 2).to_dense().astype(int)
    array([[1, 1, 1, 0, 0],
           [1, 1, 1, 0, 0],
           [1, 1, 1, 0, 0],
           [0, 0, 0, 1, 1],
           [0, 0, 0, 1, 1]])
    """
    cliques = clique_labels(1, checked_n_arms(n_arms), n_cliques, rng)[0]
    if len(cliques) <= PACKED_LIMIT:
        return FeedbackGraph.from_dense(cliques[:, None] == cliques)
    # row a holds the members of a's clique, which are consecutive in the order of cliques
    by_clique = np.argsort(cliques, kind="stable").astype(np.int32)
    sizes = np.bincount(cliques)
    first_member = np.cumsum(sizes) - sizes
    indptr = np.concatenate([[0], np.cumsum(sizes[cliques])])
    offsets = np.repeat(first_member[cliques] - indptr[:-1], sizes[cliques])
    return FeedbackGraph(len(cliques), SparseRows(indptr, by_clique[offsets + np.arange(indptr[-1])]))


def clique_labels(
    n: int, n_arms: int, n_cliques: SupportsIndex, rng: np.random.Generator | None
) -> Int64[np.ndarray, "n arms"]:
    """The clique of every arm: consecutive arms, or shuffled with `rng`."""
    count = setting_integer("n_cliques", n_cliques, at_least=1)
    if count > n_arms:
        raise SettingError(f"n_cliques is {count}; expected at most {n_arms}, the number of arms")
    labels = np.broadcast_to(np.arange(n_arms) * count // n_arms, (n, n_arms))
    return labels if rng is None else rng.permuted(labels, axis=1)


@dataclass(frozen=True, kw_only=True)
class CliqueGroupSource(FreshSource):
    """Each round disjoint cliques with random members (`clique_group`)."""

    n_cliques: int = 5

    def __post_init__(self) -> None:
        clique_labels(0, checked_n_arms(self.n_arms), self.n_cliques, None)

    def one(self, rng: np.random.Generator) -> FeedbackGraph:
        """A single graph of any size."""
        return clique_group(self.n_arms, self.n_cliques, rng=rng)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """Packed graphs that join the arms with the same label."""
        from graphbandit.kernels.graphs.packing import join_cliques

        packed = np.empty((rounds, self.n_arms, n_words(self.n_arms)), dtype=np.uint64)
        join_cliques(clique_labels(rounds, self.n_arms, self.n_cliques, rng), self.n_cliques, packed)
        return packed
