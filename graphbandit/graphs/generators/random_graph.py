"""Uniformly drawn pairs of arms, joined."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_number
from graphbandit.base.shapes import Int64
from graphbandit.graphs.checked_input import checked_n_arms
from graphbandit.graphs.generators.base import PairSource
from graphbandit.graphs.graph import FeedbackGraph


def random_graph(n_arms: SupportsIndex, density: float = 0.05, *, rng: np.random.Generator) -> FeedbackGraph:
    """The paper's random graph: ceil(density K²) times, join two uniformly drawn arms in both directions.

    The two arms may be the same, and a pair may be drawn again, so fewer pairs may be joined.

    - `n_arms`: K.
    - `density`: 0.05 by default.
    - `rng`: draws the arms.

    >>> random_graph(10, 0.1, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=26, n_loops=10)
    """
    return RandomSource(n_arms=checked_n_arms(n_arms), density=density).one(rng)


@dataclass(frozen=True, kw_only=True)
class RandomSource(PairSource):
    """Each round ceil(density K²) uniformly drawn pairs of arms, joined both ways (`random_graph`)."""

    density: float = 0.05

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        setting_number("density", self.density, at_least=0)

    def pairs(self, rng: np.random.Generator, rounds: int) -> Int64[np.ndarray, "rounds pairs 2"]:
        """ceil(density K²) pairs of uniformly drawn arms a round."""
        return rng.integers(self.n_arms, size=(rounds, ceil(float(self.density) * self.n_arms**2), 2))
