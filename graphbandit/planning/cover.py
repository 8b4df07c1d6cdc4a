"""Where to look first while nothing is known: few arms that reveal all candidates."""

from functools import cache

import numpy as np

from graphbandit.base.arrays import ArmMask
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.planning.revealed import revealed_by_some


def cover_of(graph: FeedbackGraph, candidates: ArmMask, available: ArmMask) -> ArmMask:
    """Arms on offer that together reveal every candidate that can be revealed; the candidate itself if it is alone.

    Each time the arm that reveals the most of what is missing, the lowest index on ties: at most 1 + log K times as
    many as are needed (Chvatal 1979). Played uniformly, D of them observe every candidate with probability 1 / |D| at
    least. With no estimate all arms look the same, so nothing is lost by playing these, while the exploration set,
    which is the first candidates in their order, may miss the arm that reveals all.

    >>> from graphbandit import graphs
    >>> everyone = np.ones(5, dtype=bool)
    >>> cover_of(graphs.star(5, hub=3), everyone, everyone)
    array([False, False, False,  True, False])
    """
    from graphbandit.kernels.graphs.domination import greedy_dominating_set

    if np.count_nonzero(candidates) <= 1:
        return candidates
    wanted = candidates if graph.has_all_loops else candidates & revealed_by_some(graph, available)
    chosen = np.zeros(graph.n_arms, dtype=np.bool_)
    size = greedy_dominating_set(kernel_graph(graph), np.ascontiguousarray(wanted), available, chosen)
    return chosen if size > 0 else candidates


def cover_size(graph: FeedbackGraph, candidates: ArmMask, available: ArmMask) -> int:
    """How many arms on offer, taken greedily, reveal all candidates; -1 if some candidate is revealed by none."""
    from graphbandit.kernels.graphs.domination import greedy_dominating_set

    chosen = np.zeros(graph.n_arms, dtype=np.bool_)
    return int(greedy_dominating_set(kernel_graph(graph), np.ascontiguousarray(candidates), available, chosen))


@cache
def cover_address() -> int:
    """Where the compiled code is that counts the arms of a cover, for kernels."""
    from graphbandit.kernels.graphs.domination import cover_pointer

    return cover_pointer()
