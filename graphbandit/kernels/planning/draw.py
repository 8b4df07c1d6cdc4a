"""Probabilities that were found elsewhere, made decisions: what they reveal, and the arm that is drawn."""

from typing import Any

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.graphs.adjacency import observation_probabilities
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.exploration import draw_arm


@kernel()
def draw_packed(
    words: Any,
    index: Int[np.ndarray, " n"],
    probabilities: Float[np.ndarray, "n arms"],
    uniforms: Float[np.ndarray, " n"],
    observed: Float[np.ndarray, "n arms"],
    actions: Int[np.ndarray, " n"],
) -> None:
    """q and the drawn arm of each round of a batch of bit-packed graphs."""
    scratch = np.empty(probabilities.shape[1], np.int32)
    for t in range(probabilities.shape[0]):
        observation_probabilities(words[index[t]], probabilities[t], scratch, observed[t])
        actions[t] = draw_arm(probabilities[t], uniforms[t])


@kernel()
def draw_listed(
    graph: Any,
    probabilities: Float[np.ndarray, " arms"],
    uniform: float,
    observed: Float[np.ndarray, " arms"],
) -> int:
    """The same for one round of a large graph, given as neighbour lists. Returns the arm."""
    observation_probabilities(graph, probabilities, np.empty(probabilities.shape[0], np.int32), observed)
    return draw_arm(probabilities, uniform)


@kernel()
def draw_weighted(
    matrices: Float[np.ndarray, "stored arms arms"],
    index: Int[np.ndarray, " n"],
    probabilities: Float[np.ndarray, "n arms"],
    uniforms: Float[np.ndarray, " n"],
    observed: Float[np.ndarray, "n arms"],
    actions: Int[np.ndarray, " n"],
) -> None:
    """The same for graphs with probabilities on their edges: q(a) = sum_j p(j) P(j reveals a)."""
    n, n_arms = probabilities.shape
    for t in range(n):
        matrix = matrices[index[t]]
        observed[t] = 0.0
        for j in range(n_arms):
            if probabilities[t, j] > 0.0:
                for a in range(n_arms):
                    observed[t, a] += probabilities[t, j] * matrix[j, a]
        actions[t] = draw_arm(probabilities[t], uniforms[t])
