"""Exponential weights with importance-weighted losses: EXP3-SET, EXP3-DOM, EXP3.G and EXP3-IX.

Losses are (high - reward) / (high - low), in [0, 1]. A loss that was revealed with probability q counts loss / (q +
g), where g is 0 or the round's implicit exploration. A round's notes are (level, g, amount): which weights it belongs
to, g, and what it adds to the totals that later rates depend on.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.core import types

from graphbandit.base.array_types import ArmMask, ObservationIndices, PerArm, PerObservation
from graphbandit.base.shapes import Float
from graphbandit.kernels.graphs.adjacency import GRAPH, Graph, Graphs, graph_of, reveals
from graphbandit.kernels.graphs.domination import (
    MASK,
    call_cover,
    greedy_dominating_set,
    greedy_independent_set_size,
    weakly_observable,
)
from graphbandit.kernels.jit import behind_pointer, inner, kernel
from graphbandit.kernels.learners.base import DONE, Floats, Inputs, Outputs, close_round, offered

EXP3_SET = 0
EXP3_DOM = 1
EXP3_G = 2
EXP3_IX = 3


class Exp3Settings(NamedTuple):
    """Which algorithm, and its constants; nan where the rate is the algorithm's own."""

    rule: int
    eta: float
    gamma: float
    independence: float
    """the independence number of the graphs, for EXP3.G; nan has it estimated"""
    horizon: float
    """T; nan when there is none"""
    low: float
    high: float
    address: int
    """of what EXP3-DOM and EXP3.G ask about a graph, which is compiled only for them; else 0"""


class Exp3Arrays(NamedTuple):
    """What has been learnt."""

    losses: Floats
    """(levels, arms): sums of estimated losses; more than one level for EXP3-DOM alone"""
    totals: Floats
    """(levels, 2). EXP3-SET, EXP3-IX: sum of Q. EXP3-DOM: sum since the last restart, r. EXP3.G: of strongly and of
    weakly observable graphs, the sum of independence or domination numbers, and how many"""


@inner()
def exponential_weights(eta: float, losses: PerArm, available: ArmMask, probabilities: PerArm) -> None:
    """p(a) proportional to exp(-eta losses(a)) on the arms on offer."""
    lowest = np.inf
    for a in range(losses.shape[0]):
        if available[a] and losses[a] < lowest:
            lowest = losses[a]
    total = 0.0
    for a in range(losses.shape[0]):
        probabilities[a] = math.exp(-eta * (losses[a] - lowest)) if available[a] else 0.0
        total += probabilities[a]
    for a in range(losses.shape[0]):
        probabilities[a] /= total


@inner()
def mix_in(gamma: float, chosen: ArmMask, probabilities: PerArm) -> None:
    """(1 - gamma) p + gamma times the uniform distribution on the chosen arms."""
    size = 0
    for a in range(chosen.shape[0]):
        size += chosen[a]
    for a in range(chosen.shape[0]):
        probabilities[a] = (1.0 - gamma) * probabilities[a] + (gamma / size if chosen[a] else 0.0)


@inner()
def variance_term(probabilities: PerArm, observed: PerArm, implicit: float) -> float:
    """Q = sum_a p(a) / (q(a) + g): what the variance of the estimated losses adds to the regret."""
    total = 0.0
    for a in range(probabilities.shape[0]):
        if probabilities[a] > 0.0:
            total += probabilities[a] / (observed[a] + implicit)
    return total


@inner()
def given_or(number: float, otherwise: float) -> float:
    """The number unless it is nan."""
    return otherwise if math.isnan(number) else number


@inner()
def dominating_gamma(level: int, settings: Exp3Settings, arrays: Exp3Arrays, n_arms: int) -> float:
    """gamma of this level of EXP3-DOM: min(1, sqrt(2^level log K / 2^r))."""
    own = math.sqrt(2.0**level * math.log(n_arms) / 2.0 ** arrays.totals[level, 1])
    return given_or(settings.gamma, min(1.0, own))


@inner()
def observability_rates(
    weak: bool, amount: float, rounds: int, settings: Exp3Settings, arrays: Exp3Arrays, n_arms: int
) -> tuple[float, float]:
    """eta and gamma of EXP3.G (Alon et al. 2015, Theorem 2), `amount` being this round's alpha or delta."""
    horizon = given_or(settings.horizon, rounds + 1.0)
    if weak or arrays.totals[1, 1] > 0.0:
        total, count = arrays.totals[1, 0], arrays.totals[1, 1]
        if weak:
            total, count = total + amount, count + 1.0
        delta = total / count
        gamma = given_or(settings.gamma, min((delta * math.log(n_arms) / horizon) ** (1.0 / 3.0), 0.5))
        return given_or(settings.eta, gamma * gamma / delta), gamma
    alpha = (arrays.totals[0, 0] + amount) / (arrays.totals[0, 1] + 1.0)
    gamma = given_or(settings.gamma, min(math.sqrt(1.0 / (alpha * horizon)), 0.5))
    return given_or(settings.eta, 2.0 * gamma), gamma


@kernel()
def observability(graph: Graph, available: ArmMask, chosen: ArmMask, independence: float) -> tuple[bool, float]:
    """Whether an arm on offer is weakly observable; then delta, else alpha, the independence number if it is told.

    delta is the size of a greedy dominating set of such arms, which `chosen` receives; -1 if there is none. If alpha is
    not told (nan), it is the size of a greedy independent set.
    """
    weak_arms = weakly_observable(graph, available)
    if weak_arms.any():
        return True, float(greedy_dominating_set(graph, weak_arms, available, chosen))
    return False, float(greedy_independent_set_size(graph, len(chosen))) if math.isnan(independence) else independence


SIGNATURE = types.Tuple((types.boolean, types.float64))(GRAPH, MASK, MASK, types.float64)

call_observability, observability_pointer = behind_pointer(observability, SIGNATURE)
"""Call `observability` by its address, with a tuple of its arguments; and find the address."""


@inner()
def weigh(
    graph: Graph, t: int, rounds: int, settings: Exp3Settings, arrays: Exp3Arrays, inputs: Inputs, outputs: Outputs
) -> tuple[bool, int, float, float]:
    """The probabilities of round t. Returns whether there are any, the level, gamma, and what EXP3.G notes down."""
    available, probabilities, explored = offered(inputs, t), outputs.tables[t, 0], outputs.explored[t]
    n_arms = available.shape[0]
    entropy = math.log(n_arms)
    level, gamma, amount = 0, 0.0, 0.0
    for a in range(n_arms):
        explored[a] = available[a]
    if settings.rule == EXP3_SET:
        eta = given_or(settings.eta, math.sqrt(2.0 * entropy / (n_arms + arrays.totals[0, 0])))
        exponential_weights(eta, arrays.losses[0], available, probabilities)
    elif settings.rule == EXP3_IX:
        own = math.sqrt(entropy / (n_arms + arrays.totals[0, 0]))
        gamma = given_or(settings.gamma, own)
        exponential_weights(given_or(settings.eta, own), arrays.losses[0], available, probabilities)
    elif settings.rule == EXP3_DOM:
        size = call_cover(settings.address, (graph, available, available, explored))
        if size < 0:
            return False, 0, 0.0, 0.0
        while 2 ** (level + 1) <= size:
            level += 1
        gamma = dominating_gamma(level, settings, arrays, n_arms)
        eta = given_or(settings.eta, gamma / 2.0**level)
        exponential_weights(eta, arrays.losses[level], available, probabilities)
        mix_in(gamma, explored, probabilities)
    else:
        asked = graph, available, explored, settings.independence
        weak, amount = call_observability(settings.address, asked)
        if weak:
            if amount < 0.0:
                return False, 0, 0.0, 0.0
            level = 1
        eta, gamma = observability_rates(weak, amount, rounds, settings, arrays, n_arms)
        exponential_weights(eta, arrays.losses[0], available, probabilities)
        mix_in(gamma, explored, probabilities)
    return True, level, gamma, amount


@kernel()
def learn(
    settings: Exp3Settings,
    arrays: Exp3Arrays,
    rows: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    q: PerObservation,
    notes: Float[np.ndarray, "n notes"],
) -> None:
    """Learn all revealed losses, and the totals of the new round, which is the last row of the notes."""
    for k in range(arms.shape[0]):
        level = int(notes[rows[k], 0]) if settings.rule == EXP3_DOM else 0
        loss = (settings.high - rewards[k]) / (settings.high - settings.low)
        loss = min(max(loss, 0.0), 1.0)
        arrays.losses[level, arms[k]] += loss / (q[k] + notes[rows[k], 1])
    level, amount = int(notes[-1, 0]), notes[-1, 2]
    if settings.rule == EXP3_DOM:
        arrays.totals[level, 0] += 1.0 + amount / 2.0 ** (level + 1)
        if math.isnan(settings.gamma) and arrays.totals[level, 0] > 2.0 ** arrays.totals[level, 1]:
            arrays.totals[level, 0] = 0.0
            arrays.totals[level, 1] += 1.0
            for a in range(arrays.losses.shape[1]):
                arrays.losses[level, a] = 0.0
    else:
        arrays.totals[level, 0] += amount
        arrays.totals[level, 1] += 1.0


@inner()
def one_round(
    graph: Graph, t: int, rounds: int, settings: Exp3Settings, arrays: Exp3Arrays, inputs: Inputs, outputs: Outputs
) -> bool:
    """Row t of a run; `rounds` were learnt before it. False if the graph is not one this algorithm can play."""
    n_arms = outputs.tables.shape[2]
    possible, level, gamma, amount = weigh(graph, t, rounds, settings, arrays, inputs, outputs)
    if not possible:
        return False
    values = np.empty(n_arms)
    for a in range(n_arms):
        values[a] = -arrays.losses[level if settings.rule == EXP3_DOM else 0, a] / (rounds + 1.0)
        values[a] *= settings.high - settings.low
    action = close_round(graph, t, values, gamma, inputs, outputs)
    implicit = gamma if settings.rule == EXP3_IX else 0.0
    if settings.rule != EXP3_G:
        amount = variance_term(outputs.tables[t, 0], outputs.tables[t, 1], implicit)
    outputs.notes[t, 0], outputs.notes[t, 1], outputs.notes[t, 2] = level, implicit, amount
    if inputs.learn:
        seen = np.empty(n_arms, np.int32)
        count = reveals(graph, action, seen)
        seen = seen[:count]
        rows = np.zeros(count, np.int64)
        rewards, q = inputs.rewards[t][seen], outputs.tables[t, 1][seen]
        learn(settings, arrays, rows, seen, rewards, q, outputs.notes[t : t + 1])
    return True


# the same loop for each family: a kernel that took the family's round as an argument could not be inlined
@kernel()
def run(
    graphs: Graphs,
    first: int,
    rounds: int,
    settings: Exp3Settings,
    arrays: Exp3Arrays,
    inputs: Inputs,
    outputs: Outputs,
) -> int:
    """Rounds from row `first` on, one after another, up to one that cannot be played."""
    for t in range(graphs.place.shape[0]):
        if not one_round(graph_of(graphs, t), first + t, rounds + t, settings, arrays, inputs, outputs):
            return first + t
    return DONE
