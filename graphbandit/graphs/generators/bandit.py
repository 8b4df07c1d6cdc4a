"""Self-loops only."""

from __future__ import annotations

from typing import SupportsIndex

from graphbandit.graphs.graph import FeedbackGraph


def bandit(n_arms: SupportsIndex) -> FeedbackGraph:
    """Self-loops only: each arm reveals its own reward, as in an ordinary bandit.

    - `n_arms`: K, the number of arms.

    >>> bandit(3).to_dense().astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    return FeedbackGraph.from_edges([], n_arms, add_loops=True)
