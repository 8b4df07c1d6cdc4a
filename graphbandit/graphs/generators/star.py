"""One arm joined to all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.errors import SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.bits import WORD, pack_rows
from graphbandit.graphs.checked_input import checked_n_arms
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph


def star(
    n_arms: SupportsIndex, hub: SupportsIndex | None = None, *, rng: np.random.Generator | None = None
) -> FeedbackGraph:
    """One hub joined to all other arms in both directions; the paper's k-tree.

    - `n_arms`: K.
    - `hub`: the arm in the middle; None (default): arm 0, or drawn by `rng`.
    - `rng`: draws the hub; None (default): nothing is drawn.

    >>> star(4, hub=1).to_dense().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 1],
           [0, 1, 1, 0],
           [0, 1, 0, 1]])
    """
    size = checked_n_arms(n_arms)
    if hub is not None and rng is not None:
        raise SettingError(f"hub is {hub!r} and rng is given too; expected one of them")
    center = setting_integer("hub", 0 if hub is None else hub, at_least=0)
    if center >= size:
        raise SettingError(f"hub is {center}; expected an arm of 0 .. {size - 1}")
    if rng is not None:
        center = int(rng.integers(size))
    edges = np.stack([np.full(size, center), np.arange(size)], axis=1)
    return FeedbackGraph.from_edges(edges, size, directed=False, add_loops=True)


@dataclass(frozen=True, kw_only=True)
class StarSource:
    """Each round a star whose hub is drawn uniformly (`star`, the paper's k-tree)."""

    n_arms: int

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds; a hub that is drawn more than once has its star stored once."""
        hubs, index = np.unique(rng.integers(self.n_arms, size=n), return_inverse=True)
        if self.n_arms > PACKED_LIMIT:
            stars = tuple(star(self.n_arms, hub) for hub in hubs)
            return FeedbackGraphs(self.n_arms, stars, index.astype(np.int32))
        words = np.tile(pack_rows(np.eye(self.n_arms, dtype=np.bool_)), (len(hubs), 1, 1))
        each = np.arange(len(hubs))
        words[each, hubs] = pack_rows(np.ones(self.n_arms, dtype=np.bool_))
        words[each, :, hubs // WORD] |= np.uint64(1) << (hubs % WORD).astype(np.uint64)[:, None]
        return FeedbackGraphs.from_words(words, self.n_arms, index)
