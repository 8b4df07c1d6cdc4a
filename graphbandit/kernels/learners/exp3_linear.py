"""EXP3-LGC-U and EXP3-LGC-IX: exponential weights of losses that are linear in the context, one vector an arm.

A loss revealed with probability q adds loss / (q + g) S^-1 x to its arm's vector, S being the second moments of
contexts. Notes are those of `exp3`: (0, g, Q).
"""

import math
from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ObservationIndices, PerArm, PerObservation
from graphbandit.base.shapes import Float
from graphbandit.kernels.cholesky import add_square, solve_lower, solve_upper, squared_norm
from graphbandit.kernels.graphs.adjacency import Graph, Graphs, graph_of, reveals
from graphbandit.kernels.jit import inner, kernel
from graphbandit.kernels.learners.base import DONE, Floats, Inputs, Outputs, close_round, offered
from graphbandit.kernels.learners.exponential_weights import exponential_weights, given_or, mix_in, variance_term

LGC_U = 0
LGC_IX = 1


class LinearLossSettings(NamedTuple):
    """Which algorithm, and its constants, nan where the rate is the algorithm's own; and the contexts of the run."""

    rule: int
    contexts: Floats
    eta: float
    gamma: float
    low: float
    high: float


class LinearLossArrays(NamedTuple):
    """What has been learnt."""

    vectors: Floats
    """(arms, d): sums of estimated loss vectors"""
    factor: Floats
    """(d, d): the Cholesky factor U of ridge I + sum x x'"""
    totals: Floats
    """(1): sum of Q"""


# takes observations like `exponential_weights.learn`: an array for each column
@kernel()
def learn(
    rounds: int,
    settings: LinearLossSettings,
    arrays: LinearLossArrays,
    contexts: Float[np.ndarray, "n d"],
    rows: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    q: PerObservation,
    notes: Float[np.ndarray, "n notes"],
) -> None:
    """Learn the context of the new round, the last row, then all revealed losses; `rounds` were learnt before."""
    direction = contexts[-1].copy()
    add_square(arrays.factor, direction)
    row = -1
    for k in range(arms.shape[0]):
        if rows[k] != row:
            row = rows[k]
            for i in range(direction.shape[0]):
                direction[i] = contexts[row, i]
            solve_lower(arrays.factor, direction)
            solve_upper(arrays.factor, direction)
        loss = (settings.high - rewards[k]) / (settings.high - settings.low)
        loss = min(max(loss, 0.0), 1.0)
        weight = (rounds + 1.0) * loss / (q[k] + notes[row, 1])
        for i in range(direction.shape[0]):
            arrays.vectors[arms[k], i] += weight * direction[i]
    arrays.totals[0] += notes[-1, 2]


@inner()
def weigh(
    t: int,
    rounds: int,
    settings: LinearLossSettings,
    arrays: LinearLossArrays,
    inputs: Inputs,
    outputs: Outputs,
    predicted: PerArm,
) -> float:
    """The probabilities of round t and the predicted sums of losses; gamma is returned."""
    n_arms, d = arrays.vectors.shape
    context, available = settings.contexts[t], offered(inputs, t)
    for a in range(n_arms):
        total = 0.0
        for i in range(d):
            total += arrays.vectors[a, i] * context[i]
        predicted[a] = total
        outputs.explored[t, a] = available[a]
    entropy, grown = math.log(n_arms), n_arms + arrays.totals[0]
    if settings.rule == LGC_IX:
        own = math.sqrt(entropy / (d * grown))
        exponential_weights(given_or(settings.eta, own), predicted, available, outputs.tables[t, 0])
        return given_or(settings.gamma, own)
    eta = given_or(settings.eta, math.sqrt(entropy / (n_arms * (rounds + 1.0) + d * grown)))
    exponential_weights(eta, predicted, available, outputs.tables[t, 0])
    leverage = squared_norm(arrays.factor, context.copy())
    gamma = given_or(settings.gamma, min(0.5, n_arms * eta * max(rounds, 1) * leverage))
    mix_in(gamma, available, outputs.tables[t, 0])
    return gamma


# the arguments of every family's round, see `run`
@inner()
def one_round(
    graph: Graph,
    t: int,
    rounds: int,
    settings: LinearLossSettings,
    arrays: LinearLossArrays,
    inputs: Inputs,
    outputs: Outputs,
) -> None:
    """Row t of a run; `rounds` were learnt before it."""
    n_arms = arrays.vectors.shape[0]
    values = np.empty(n_arms)
    gamma = weigh(t, rounds, settings, arrays, inputs, outputs, values)
    for a in range(n_arms):
        values[a] *= -(settings.high - settings.low) / (rounds + 1.0)
    action = close_round(graph, t, values, gamma, inputs, outputs)
    implicit = gamma if settings.rule == LGC_IX else 0.0
    amount = variance_term(outputs.tables[t, 0], outputs.tables[t, 1], implicit)
    outputs.notes[t, 0], outputs.notes[t, 1], outputs.notes[t, 2] = 0.0, implicit, amount
    if inputs.learn:
        seen = np.empty(n_arms, np.int32)
        count = reveals(graph, action, seen)
        seen = seen[:count]
        rewards, q = inputs.rewards[t][seen], outputs.tables[t, 1][seen]
        rows = np.zeros(count, np.int64)
        contexts, notes = settings.contexts[t : t + 1], outputs.notes[t : t + 1]
        learn(rounds, settings, arrays, contexts, rows, seen, rewards, q, notes)


# the same loop for each family: a kernel that took the family's round as an argument could not be inlined
@kernel()
def run(
    graphs: Graphs,
    first: int,
    rounds: int,
    settings: LinearLossSettings,
    arrays: LinearLossArrays,
    inputs: Inputs,
    outputs: Outputs,
) -> int:
    """Rounds from row `first` on, one after another."""
    for t in range(graphs.place.shape[0]):
        one_round(graph_of(graphs, t), first + t, rounds + t, settings, arrays, inputs, outputs)
    return DONE
