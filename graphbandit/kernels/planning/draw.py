"""From given probabilities to decisions: observation probabilities and the drawn arm."""

import numpy as np

from graphbandit.base.array_types import ArmsByArms, PerArm, PerRound, RoundIndices, RoundsByArms
from graphbandit.base.shapes import Float
from graphbandit.kernels.graphs.adjacency import Graphs, graph_of, observation_probabilities
from graphbandit.kernels.jit import inner, kernel
from graphbandit.kernels.planning.exploration import draw_arm


@kernel()
def draw_rounds(
    graphs: Graphs, probabilities: RoundsByArms, uniforms: PerRound, observed: RoundsByArms, actions: RoundIndices
) -> None:
    """q and the drawn arm of each round of a batch."""
    for t in range(probabilities.shape[0]):
        observation_probabilities(graph_of(graphs, t), probabilities[t], observed[t])
        actions[t] = draw_arm(probabilities[t], uniforms[t])


@kernel()
def draw_weighted(
    matrices: Float[np.ndarray, "stored arms arms"],
    index: RoundIndices,
    probabilities: RoundsByArms,
    uniforms: PerRound,
    observed: RoundsByArms,
    actions: RoundIndices,
) -> None:
    """The same for graphs with edge probabilities: q(a) = sum_j p(j) P(j reveals a)."""
    for t in range(probabilities.shape[0]):
        weighted_observation_probabilities(matrices[index[t]], probabilities[t], observed[t])
        actions[t] = draw_arm(probabilities[t], uniforms[t])


@inner()
def weighted_observation_probabilities(matrix: ArmsByArms, probabilities: PerArm, observed: PerArm) -> None:
    """q(a) = sum_j p(j) P(j reveals a), of one round."""
    n_arms = probabilities.shape[0]
    for a in range(n_arms):
        observed[a] = 0.0
    for j in range(n_arms):
        if probabilities[j] > 0.0:
            for a in range(n_arms):
                observed[a] += probabilities[j] * matrix[j, a]
