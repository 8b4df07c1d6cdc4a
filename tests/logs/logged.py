"""Small logs with known rewards, for tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.evaluation import Log


@dataclass
class Logged:
    """A log, what is behind it, and the arrays it was made of."""

    log: Log
    means: np.ndarray
    arrays: dict[str, Any]


def logged(
    n: int = 200,
    n_arms: int = 5,
    graph: gb.FeedbackGraph | gb.FeedbackGraphs | None = None,
    *,
    seed: int = 0,
    dimension: int = 3,
    columns: dict[str, Any] | None = None,
) -> Logged:
    """Rounds of a contextual policy with Bernoulli rewards."""
    rng = np.random.default_rng(seed)
    graph = gb.graphs.star(n_arms, hub=0) if graph is None else graph
    contexts = rng.normal(size=(n, dimension))
    means = 1 / (1 + np.exp(-contexts @ rng.normal(size=(dimension, n_arms))))
    scores = np.exp(0.7 * contexts @ rng.normal(size=(dimension, n_arms)))
    probabilities = 0.1 / n_arms + 0.9 * scores / scores.sum(axis=1, keepdims=True)
    actions = (probabilities.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    batch = gb.FeedbackGraphs.repeat(graph, n) if isinstance(graph, gb.FeedbackGraph) else graph
    rewards = (rng.random((n, n_arms)) < means).astype(float)
    rewards[~batch.revealed(actions)] = np.nan
    arrays = {
        "contexts": contexts,
        "graphs": graph,
        "actions": actions,
        "probabilities": probabilities,
        "rewards": rewards,
        "columns": columns,
    }
    return Logged(Log.from_arrays(**arrays), means, arrays)
