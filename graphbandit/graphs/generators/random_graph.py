"""Uniformly drawn pairs of arms, joined."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_number
from graphbandit.base.shapes import Int64, UInt64
from graphbandit.graphs.generators.base import FreshSource, joined
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.user_input import checked_n_arms


def random_graph(n_arms: SupportsIndex, density: float = 0.05, *, rng: np.random.Generator) -> FeedbackGraph:
    """The paper's random graph: ceil(density K²) times, join two uniformly drawn arms in both directions.

    The two arms may be the same, and a pair may be drawn again, so fewer pairs may be joined.

    - `n_arms`: K.
    - `density`: 0.05 by default.
    - `rng`: draws the arms.

    >>> random_graph(10, 0.1, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=26, n_loops=10)
    """
    size = checked_n_arms(n_arms)
    edges = uniform_pairs(1, size, density, rng)[0]
    return FeedbackGraph.from_edges(edges, size, directed=False, add_loops=True)


def uniform_pairs(n: int, n_arms: int, density: float, rng: np.random.Generator) -> Int64[np.ndarray, "n pairs 2"]:
    """ceil(density K²) pairs of uniformly drawn arms."""
    n_pairs = ceil(setting_number("density", density, at_least=0) * n_arms**2)
    return rng.integers(n_arms, size=(n, n_pairs, 2))


# `PreferentialAttachmentSource` is the same with other pairs and settings; a source is found beside its generator
@dataclass(frozen=True, kw_only=True)
class RandomSource(FreshSource):
    """Each round ceil(density K²) uniformly drawn pairs of arms, joined both ways (`random_graph`)."""

    generator = random_graph
    density: float = 0.05

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        setting_number("density", self.density, at_least=0)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """Packed graphs that join the pairs drawn."""
        return joined(self.n_arms, uniform_pairs(rounds, self.n_arms, self.density, rng))
