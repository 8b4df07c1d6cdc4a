"""What generators share: sources that draw a single graph, or many small ones at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from graphbandit.base.shapes import Int64, UInt64
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.bits import n_words
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph

_BLOCK = 2**19  # bytes of dense matrices held at once; they fit into a core's cache


@dataclass(frozen=True, kw_only=True)
class FreshSource(ABC):
    """A new graph each round: many small ones are drawn at once, packed; large ones are drawn one by one.

    `rng` is used graph by graph, so that drawing a graphs and then b graphs gives the same as drawing a + b.
    """

    n_arms: int

    @abstractmethod
    def one(self, rng: np.random.Generator) -> FeedbackGraph:
        """A single graph of any size."""

    @abstractmethod
    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """The packed graphs of some rounds."""

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds."""
        if self.n_arms > PACKED_LIMIT:
            large = tuple(self.one(rng) for _ in range(n))
            return FeedbackGraphs(self.n_arms, large, np.arange(n, dtype=np.int32))
        drawn = np.empty((n, self.n_arms, n_words(self.n_arms)), dtype=np.uint64)
        step = max(1, _BLOCK // self.n_arms**2)
        for start in range(0, n, step):
            drawn[start : start + step] = self.words(rng, min(step, n - start))
        return FeedbackGraphs.from_words(drawn, self.n_arms)


class PairSource(FreshSource):
    """Graphs of self-loops, and of pairs of arms that are joined in both directions."""

    @abstractmethod
    def pairs(self, rng: np.random.Generator, rounds: int) -> Int64[np.ndarray, "rounds pairs 2"]:
        """The pairs of some rounds."""

    def one(self, rng: np.random.Generator) -> FeedbackGraph:
        """A single graph of any size."""
        return FeedbackGraph.from_edges(self.pairs(rng, 1)[0], self.n_arms, directed=False, add_loops=True)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """The packed graphs of some rounds."""
        from graphbandit.kernels.graphs.packing import join_pairs

        words = np.zeros((rounds, self.n_arms, n_words(self.n_arms)), dtype=np.uint64)
        join_pairs(self.pairs(rng, rounds), words)
        return words
