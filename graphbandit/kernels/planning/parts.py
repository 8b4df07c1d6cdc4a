"""Single steps of a round, for callers in Python. Each is compiled only if Python calls it.

Each, `certify_program` too, repeats the arguments of the inner function that it calls, which Python cannot call.
"""

import numpy as np

from graphbandit.base.arrays import ArmIndices, ArmMask, PerArm
from graphbandit.base.shapes import Int
from graphbandit.kernels.graphs import adjacency
from graphbandit.kernels.graphs.adjacency import Graph
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning import certificate, exploration


@kernel()
def greedy_exploration_set(
    graph: Graph, candidates: ArmMask, gaps: PerArm, scratch: ArmIndices, order: ArmIndices
) -> int:
    """`exploration.greedy_exploration_set`."""
    return exploration.greedy_exploration_set(graph, candidates, gaps, scratch, order)


@kernel()
def set_baseline(explored: Int[np.ndarray, " size"], best: int, gamma: float, gaps: PerArm, baseline: PerArm) -> None:
    """`exploration.set_baseline` with a doubt of 0."""
    exploration.set_baseline(explored, explored.shape[0], best, gamma, gaps, np.zeros(gaps.shape[0]), 0.0, baseline)


@kernel()
def paper_demand(graph: Graph, baseline: PerArm, best: int, scratch: ArmIndices, demand: PerArm) -> None:
    """`exploration.paper_demand`."""
    exploration.paper_demand(graph, baseline, best, scratch, demand)


@kernel()
def draw_arm(probabilities: PerArm, uniform: float) -> int:
    """`exploration.draw_arm`."""
    return exploration.draw_arm(probabilities, uniform)


@kernel()
def observation_probabilities(graph: Graph, probabilities: PerArm, observed: PerArm) -> None:
    """`adjacency.observation_probabilities`."""
    adjacency.observation_probabilities(graph, probabilities, observed)


@kernel()
def certify_program(
    graph: Graph,
    demand: PerArm,
    gaps: PerArm,
    available: ArmMask,
    probabilities: PerArm,
    duals: PerArm,
    observed: PerArm,
) -> tuple[float, float, float, float]:
    """`certificate.certify_program`."""
    return certificate.certify_program(graph, demand, gaps, available, probabilities, duals, observed)
