"""What all learners that learn in every round share: what a run of rounds takes and fills, and how a round ends.

A family of learners is one kernel module whose `run` plays rounds one after another in a single compiled loop, with the
family's own settings and arrays. With `learn` off it decides a round and changes nothing.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphbandit.base.array_types import ArmMask, PerArm
from graphbandit.kernels.graphs.adjacency import Graph, observation_probabilities
from graphbandit.kernels.jit import inner
from graphbandit.kernels.planning.exploration import best_arm, draw_arm

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

DONE = -1
"""What a run returns when all went well; else the row of the round that could not be decided."""


class Inputs(NamedTuple):
    """What the rounds bring, a row each."""

    available: Flags
    """(n, arms), or (1, arms) for all rounds"""
    uniforms: Floats
    """(n): one number a round draws its arm"""
    rewards: Floats
    """(n, arms); looked at where they are revealed, and only if `learn`"""
    learn: bool


class Outputs(NamedTuple):
    """What is written down of the rounds, a row each: the fields of `Decisions`, and the notes."""

    tables: Floats
    """(n, 3, arms): p, q, and the gaps"""
    explored: Flags
    integers: Integers
    """(n, 2): action, best"""
    numbers: Floats
    """(n, 3): probability, gamma, objective"""
    notes: Floats
    told: Floats
    """(n, words, arms): what the learner says of each arm in its own words; no words while it plays many rounds"""


@inner()
def offered(inputs: Inputs, t: int) -> ArmMask:
    """The mask of round t."""
    mask: ArmMask = inputs.available[t if inputs.available.shape[0] > 1 else 0]
    return mask


@inner()
def close_round(graph: Graph, t: int, values: PerArm, gamma: float, inputs: Inputs, outputs: Outputs) -> int:
    """Draw the arm of round t by its probabilities, and write down what explains it, given the estimated values."""
    n_arms = values.shape[0]
    probabilities, gaps = outputs.tables[t, 0], outputs.tables[t, 2]
    observation_probabilities(graph, probabilities, outputs.tables[t, 1])
    best = best_arm(values, offered(inputs, t))
    objective = 0.0
    for a in range(n_arms):
        gaps[a] = values[best] - values[a]
        objective += probabilities[a] * gaps[a]
    action = draw_arm(probabilities, inputs.uniforms[t])
    outputs.integers[t, 0], outputs.integers[t, 1] = action, best
    outputs.numbers[t, 0], outputs.numbers[t, 1], outputs.numbers[t, 2] = probabilities[action], gamma, objective
    return action


@inner()
def play_one_arm(arm: int, t: int, outputs: Outputs) -> None:
    """All mass on one arm, which is all that is explored."""
    for a in range(outputs.tables.shape[2]):
        outputs.tables[t, 0, a] = 1.0 if a == arm else 0.0
        outputs.explored[t, a] = a == arm
