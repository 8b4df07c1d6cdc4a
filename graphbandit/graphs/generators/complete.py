"""All edges."""

from __future__ import annotations

from typing import SupportsIndex

from graphbandit.graphs.generators.clique_group import clique_group
from graphbandit.graphs.graph import FeedbackGraph


def complete(n_arms: SupportsIndex) -> FeedbackGraph:
    """Every arm reveals all: full information.

    - `n_arms`: K, the number of arms.

    >>> complete(3)
    FeedbackGraph(n_arms=3, n_edges=9, n_loops=3)
    """
    return clique_group(n_arms, 1)
