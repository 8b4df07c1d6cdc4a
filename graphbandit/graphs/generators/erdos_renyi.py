"""Independent edges."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_number
from graphbandit.base.shapes import Bool, Int, UInt64
from graphbandit.errors import SettingError
from graphbandit.graphs.bits import pack_rows
from graphbandit.graphs.generators.base import FreshSource
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph
from graphbandit.graphs.user_input import checked_n_arms


def erdos_renyi(n_arms: SupportsIndex, probability: float, *, rng: np.random.Generator) -> FeedbackGraph:
    """Directed: each arm reveals each other arm with the same probability, independently.

    - `n_arms`: K.
    - `probability`: of an edge.
    - `rng`: draws the edges.

    >>> erdos_renyi(10, 0.2, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=25, n_loops=10)
    """
    size = checked_n_arms(n_arms)
    if size <= PACKED_LIMIT:
        return FeedbackGraph.from_dense(bernoulli_matrices(1, size, probability, rng)[0])
    entries = _successes(size * size, checked_probability(probability), rng)
    return FeedbackGraph.from_edges(np.stack(np.divmod(entries, size), axis=1), size, add_loops=True)


def bernoulli_matrices(
    n: int, n_arms: int, probability: float, rng: np.random.Generator
) -> Bool[np.ndarray, "n arms arms"]:
    """Matrices with independent entries, and the diagonal true."""
    matrices = rng.random((n, n_arms, n_arms)) < checked_probability(probability)
    matrices[:, np.arange(n_arms), np.arange(n_arms)] = True
    return matrices


def checked_probability(probability: float) -> float:
    """A number of 0 to 1."""
    if setting_number("probability", probability, at_least=0) > 1:
        raise SettingError(f"probability is {probability!r}; expected a number of 0 to 1")
    return float(probability)


def _successes(trials: int, probability: float, rng: np.random.Generator) -> Int[np.ndarray, " successes"]:
    """The places of successes in a row of trials, drawn by the geometric gaps between them: failures cost no work."""
    found = np.zeros(0, dtype=np.int64)
    last = -1
    while probability > 0 and last < trials:
        expected = (trials - last) * probability
        gaps = rng.geometric(probability, size=int(expected + 4 * sqrt(expected)) + 10)
        # gaps past the end are cut, so that their sum does not overflow
        places = last + np.cumsum(np.minimum(gaps, trials + 1))
        found = np.concatenate([found, places])
        last = int(places[-1])
    return found[found < trials]


@dataclass(frozen=True, kw_only=True)
class ErdosRenyiSource(FreshSource):
    """Each round a directed graph with independent edges (`erdos_renyi`)."""

    generator = erdos_renyi
    probability: float

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        checked_probability(self.probability)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """Packed graphs of the dense matrices drawn."""
        return pack_rows(bernoulli_matrices(rounds, self.n_arms, self.probability, rng))
