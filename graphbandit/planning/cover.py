"""Covers: few arms that together reveal all candidates, to be played while nothing is known."""

import numpy as np

from graphbandit.base.array_types import ArmMask
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.parameters import greedy_cover
from graphbandit.planning.revealed import revealed_by_some


def cover_of(graph: FeedbackGraph, candidates: ArmMask, available: ArmMask) -> ArmMask:
    """Arms on offer that together reveal every candidate that can be revealed; a single candidate is its own cover.

    Greedy: each step takes the arm that reveals the most candidates not yet revealed, the lowest index on ties. The
    cover D has at most 1 + log K times as many arms as the smallest one (Chvatal 1979). Played uniformly, it observes
    every candidate with probability at least 1 / |D|. Without estimates all arms look the same, so playing D loses
    nothing, while the exploration set takes candidates in their order and may miss the arm that reveals all.

    >>> from graphbandit import graphs
    >>> everyone = np.ones(5, dtype=bool)
    >>> cover_of(graphs.star(5, hub=3), everyone, everyone)
    array([False, False, False,  True, False])
    """
    if np.count_nonzero(candidates) <= 1:
        return candidates
    wanted = candidates if graph.has_all_loops else candidates & revealed_by_some(graph, available)
    size, chosen = greedy_cover(graph, wanted, available)
    return chosen if size > 0 else candidates
