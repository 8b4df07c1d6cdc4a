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
from graphbandit.graphs.checked_input import checked_n_arms
from graphbandit.graphs.generators.base import FreshSource
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph


def erdos_renyi(n_arms: SupportsIndex, probability: float, *, rng: np.random.Generator) -> FeedbackGraph:
    """Directed: each arm reveals each other arm with the same probability, independently.

    - `n_arms`: K.
    - `probability`: of an edge.
    - `rng`: draws the edges.

    >>> erdos_renyi(10, 0.2, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=25, n_loops=10)
    """
    return ErdosRenyiSource(n_arms=checked_n_arms(n_arms), probability=probability).one(rng)


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

    probability: float

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        if setting_number("probability", self.probability, at_least=0) > 1:
            raise SettingError(f"probability is {self.probability!r}; expected a number of 0 to 1")

    def one(self, rng: np.random.Generator) -> FeedbackGraph:
        """A single graph of any size."""
        if self.n_arms <= PACKED_LIMIT:
            return FeedbackGraph.from_dense(self._matrices(rng, 1)[0])
        entries = _successes(self.n_arms**2, float(self.probability), rng)
        return FeedbackGraph.from_edges(np.stack(np.divmod(entries, self.n_arms), axis=1), self.n_arms, add_loops=True)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """Packed graphs of the dense matrices drawn."""
        return pack_rows(self._matrices(rng, rounds))

    def _matrices(self, rng: np.random.Generator, n: int) -> Bool[np.ndarray, "n arms arms"]:
        """Matrices with independent entries, and the diagonal true."""
        matrices = rng.random((n, self.n_arms, self.n_arms)) < float(self.probability)
        matrices[:, np.arange(self.n_arms), np.arange(self.n_arms)] = True
        return matrices
