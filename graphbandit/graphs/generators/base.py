"""What generators share: a source that draws many small graphs at once, and the packing of joined pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

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
    generator: ClassVar[Callable[..., FeedbackGraph]]
    """draws a single graph; its arguments are the settings of the source"""

    @abstractmethod
    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """The packed graphs of some rounds."""

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds."""
        if self.n_arms > PACKED_LIMIT:
            large = tuple(type(self).generator(**vars(self), rng=rng) for _ in range(n))
            return FeedbackGraphs(self.n_arms, large, np.arange(n, dtype=np.int32))
        drawn = np.empty((n, self.n_arms, n_words(self.n_arms)), dtype=np.uint64)
        step = max(1, _BLOCK // self.n_arms**2)
        for start in range(0, n, step):
            drawn[start : start + step] = self.words(rng, min(step, n - start))
        return FeedbackGraphs.from_words(drawn, self.n_arms)


def joined(n_arms: int, pairs: Int64[np.ndarray, "n pairs 2"]) -> UInt64[np.ndarray, "n arms words"]:
    """Self-loops, and the pairs joined in both directions."""
    from graphbandit.kernels.graphs.packing import join_pairs

    words = np.zeros((len(pairs), n_arms, n_words(n_arms)), dtype=np.uint64)
    join_pairs(pairs, words)
    return words
