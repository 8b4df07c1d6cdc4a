"""Single steps of a round, for callers in Python. Each is compiled only if Python calls it."""

import numpy as np

from graphbandit.base.array_types import PerArm
from graphbandit.base.shapes import Int
from graphbandit.kernels.graphs import adjacency
from graphbandit.kernels.jit import for_python, kernel
from graphbandit.kernels.planning import certificate, demands, exploration

certify_program = for_python(certificate.certify_program)
draw_arm = for_python(exploration.draw_arm)
observation_probabilities = for_python(adjacency.observation_probabilities)
paper_demand = for_python(demands.paper_demand)


@kernel()
def set_baseline(explored: Int[np.ndarray, " size"], best: int, gamma: float, gaps: PerArm, baseline: PerArm) -> None:
    """`exploration.set_baseline` with a doubt of 0."""
    beliefs = exploration.Beliefs(gaps, np.zeros(gaps.shape[0]), False, 0.0)
    exploration.set_baseline(explored, explored.shape[0], best, gamma, beliefs, baseline)
