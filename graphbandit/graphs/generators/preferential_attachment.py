"""Each arm joins earlier arms that have many edges already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Int64
from graphbandit.graphs.checked_input import checked_n_arms
from graphbandit.graphs.generators.base import PairSource
from graphbandit.graphs.graph import FeedbackGraph


def preferential_attachment(
    n_arms: SupportsIndex, edges_per_arm: SupportsIndex = 2, *, rng: np.random.Generator
) -> FeedbackGraph:
    """Barabási-Albert: each arm joins earlier ones, drawn in proportion to how often they are joined already.

    Undirected and connected. Each arm makes `edges_per_arm` draws with replacement; an arm drawn twice counts
    twice in later draws and is one edge of the graph.

    - `n_arms`: K.
    - `edges_per_arm`: how many draws an arm makes, 2 by default.
    - `rng`: makes the draws.

    >>> preferential_attachment(10, 2, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=42, n_loops=10)
    """
    size, draws = checked_n_arms(n_arms), setting_integer("edges_per_arm", edges_per_arm, at_least=1)
    return PreferentialAttachmentSource(n_arms=size, edges_per_arm=draws).one(rng)


@dataclass(frozen=True, kw_only=True)
class PreferentialAttachmentSource(PairSource):
    """Each round a new Barabási-Albert graph (`preferential_attachment`)."""

    edges_per_arm: int = 2

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        setting_integer("edges_per_arm", self.edges_per_arm, at_least=1)

    def pairs(self, rng: np.random.Generator, rounds: int) -> Int64[np.ndarray, "rounds pairs 2"]:
        """Pairs (v, earlier arm) of preferential attachment, in linear time as Batagelj & Brandes (2005) do.

        Write the ends of all edges in one list: edge k of arm v has the ends 2k (v itself) and 2k + 1 (whom it
        joins). An arm stands in the list as often as it is joined, so a uniform place in the part written before
        v is a draw in proportion to that. An even place names an arm; an odd one says "the same as edge k'", a
        chain that ends at an even place. All chains are followed at once, in steps that double: no loop over arms.
        """
        arms = np.repeat(np.arange(1, self.n_arms), self.edges_per_arm)
        written = 2 * self.edges_per_arm * (arms - 1)
        place = (rng.random((rounds, len(arms))) * written).astype(np.int64)
        edge = place // 2
        same_as = np.where(place % 2 == 1, edge, np.arange(len(arms)))
        joined = np.where(written == 0, 0, arms[edge]) if len(arms) else edge
        while True:
            further = np.take_along_axis(same_as, same_as, axis=1)
            if np.array_equal(further, same_as):
                break
            same_as = further
        joined = np.take_along_axis(joined, same_as, axis=1)
        return np.stack([np.broadcast_to(arms, joined.shape), joined], axis=-1)
