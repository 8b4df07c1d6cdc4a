"""Learners of linear rewards in every round: LinUCB and LinTS, from one ridge regression a parameter vector.

`factors` are the Cholesky factors U of V = ridge I + sum phi phi', `sums` the b = sum r phi. With u = U'^-1 phi
and y = U'^-1 b, the estimate of phi' theta is u'y and its width squared phi' V^-1 phi = u'u. Factors are updated by a
rank-one step of rotations, which stays positive definite where an updated inverse drifts.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.core import types

from graphbandit.base.array_types import ArmMask, ObservationIndices, PerArm, PerObservation, Vector
from graphbandit.base.shapes import Float
from graphbandit.kernels.cholesky import add_square, solve_lower
from graphbandit.kernels.graphs.adjacency import Graph, Graphs, graph_of, reveals
from graphbandit.kernels.jit import behind_pointer, inner, kernel
from graphbandit.kernels.learners.base import DONE, Floats, Inputs, Outputs, close_round, offered, play_one_arm
from graphbandit.kernels.learners.counter_random import fill_normals
from graphbandit.kernels.learners.gaussian_best import FLOATS, MASK, best_probabilities
from graphbandit.kernels.planning.exploration import best_arm

LIN_UCB = 0
LIN_TS = 1


class LinearSettings(NamedTuple):
    """Which algorithm, and its constants; and the features of the rounds of a run."""

    rule: int
    features: Floats
    """(n, 1, d), a parameter vector for each arm, or (n, arms, d), one for all"""
    width: float
    """what the width is multiplied by; nan for the radius of the confidence set"""
    noise: float
    """sigma; nan if it is not known"""
    log_term: float
    """2 log(1 / delta), of that radius"""
    bias: float
    """sqrt(ridge) S, likewise"""
    draws: int
    seed: int
    address: int
    """of `thompson_shares`, which is compiled only for LinTS; else 0"""


class LinearArrays(NamedTuple):
    """The regressions: one, or one an arm."""

    factors: Floats
    sums: Floats
    log_determinants: Floats
    """log det V - d log ridge"""
    totals: Floats
    """the number of rewards, the sum of their squares, the smallest, the largest, and what they are counted from"""


@kernel()
def learn(
    arrays: LinearArrays,
    features: Float[np.ndarray, "n rows d"],
    rows: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    counted_from_first: bool,
) -> None:
    """Add every revealed reward to its regression as a row, counted from 0 or from the first reward."""
    shared = arrays.factors.shape[0] == 1
    vector, totals = np.empty(features.shape[2]), arrays.totals
    for k in range(arms.shape[0]):
        if counted_from_first and totals[0] == 0.0:
            totals[4] = rewards[k]
        reward = rewards[k] - totals[4]
        totals[0] += 1.0
        totals[1] += reward * reward
        totals[2] = min(totals[2], rewards[k])
        totals[3] = max(totals[3], rewards[k])
        p = 0 if shared else arms[k]
        phi = features[rows[k], 0 if features.shape[1] == 1 else arms[k]]
        for i in range(phi.shape[0]):
            arrays.sums[p, i] += reward * phi[i]
            vector[i] = phi[i]
        arrays.log_determinants[p] += add_square(arrays.factors[p], vector)


@inner()
def estimate(
    t: int, settings: LinearSettings, arrays: LinearArrays, means: PerArm, directions: Float[np.ndarray, "arms d"]
) -> float:
    """phi_a' theta of each arm, and u_a = U'^-1 phi_a, whose length is the width of the estimate. Returns sigma.

    Noise that is not known is sqrt((b0 + R / 2) / (a0 + n / 2)), a0 = 2, b0 = a0 (span / 4)^2, R = sum r^2 - theta'b;
    for a confidence set it is at least half the span. It is 1 while all rewards are the same.
    """
    shared = arrays.factors.shape[0] == 1
    d = arrays.factors.shape[2]
    solved = np.empty(d)
    explained = 0.0
    for a in range(means.shape[0]):
        p = 0 if shared else a
        if a == 0 or not shared:
            for i in range(d):
                solved[i] = arrays.sums[p, i]
            solve_lower(arrays.factors[p], solved)
            for i in range(d):
                explained += solved[i] * solved[i]
        phi = settings.features[t, 0 if settings.features.shape[1] == 1 else a]
        for i in range(d):
            directions[a, i] = phi[i]
        solve_lower(arrays.factors[p], directions[a])
        total = 0.0
        for i in range(d):
            total += solved[i] * directions[a, i]
        means[a] = total
    if not np.isnan(settings.noise):
        return settings.noise
    span = arrays.totals[3] - arrays.totals[2]
    if not span > 0.0:
        return 1.0
    residual = max(arrays.totals[1] - explained, 0.0)
    variance = (span * span / 8.0 + residual / 2.0) / (2.0 + arrays.totals[0] / 2.0)
    return max(math.sqrt(variance), span / 2.0 if settings.rule == LIN_UCB else 0.0)


@inner()
def length(vector: Vector) -> float:
    """Its Euclidean norm, summed in order."""
    total = 0.0
    for i in range(vector.shape[0]):
        total += vector[i] * vector[i]
    return math.sqrt(total)


@inner()
def upper_bounds(
    settings: LinearSettings, arrays: LinearArrays, noise: float, means: PerArm, directions: Float[np.ndarray, "arms d"]
) -> PerArm:
    """phi' theta + width |u|, where the width is given or sigma sqrt(2 log(1/delta) + log det) + sqrt(ridge) S.

    Where the noise is not known, S is in units of half the span of the rewards.
    """
    bounds = np.empty(means.shape[0])
    unit = 1.0
    if np.isnan(settings.noise) and arrays.totals[3] > arrays.totals[2]:
        unit = 0.5 * (arrays.totals[3] - arrays.totals[2])
    for a in range(means.shape[0]):
        width = settings.width
        if np.isnan(width):
            grown = arrays.log_determinants[0 if arrays.factors.shape[0] == 1 else a]
            width = noise * np.sqrt(settings.log_term + grown) + settings.bias * unit
        bounds[a] = means[a] + width * length(directions[a])
    return bounds


@kernel()
def thompson_shares(
    rounds: int,
    draws: int,
    seed: int,
    width: float,
    shared: bool,
    means: PerArm,
    directions: Float[np.ndarray, "arms d"],
    available: ArmMask,
    probabilities: PerArm,
) -> None:
    """How often phi' theta + width u'z of each arm is the largest, z standard normal.

    With one z for all arms, it is a share of the draws, whose z follow from seed, round and draw. With one z an arm,
    the arms are independent, and the probability is computed.
    """
    n_arms, d = directions.shape
    if not shared:
        variances = np.empty(n_arms)
        for a in range(n_arms):
            variances[a] = (width * length(directions[a])) ** 2
        best_probabilities(means, variances, available, probabilities)
        return
    z = np.empty(d)
    values = np.empty(n_arms)
    wins = np.zeros(n_arms, np.int64)
    for draw in range(draws):
        fill_normals(seed, rounds, draw, z)
        for a in range(n_arms):
            moved = 0.0
            for i in range(d):
                moved += directions[a, i] * z[i]
            values[a] = means[a] + width * moved
        wins[best_arm(values, available)] += 1
    for a in range(n_arms):
        probabilities[a] = wins[a] / draws


SIGNATURE = types.none(
    types.int64, types.int64, types.int64, types.float64, types.boolean,
    FLOATS, types.float64[:, ::1], MASK, FLOATS,
)  # fmt: skip

call_thompson, thompson_pointer = behind_pointer(thompson_shares, SIGNATURE)


@inner()
def one_round(
    graph: Graph, t: int, rounds: int, settings: LinearSettings, arrays: LinearArrays, inputs: Inputs, outputs: Outputs
) -> None:
    """Row t of a run; `rounds` were learnt before it."""
    n_arms = outputs.tables.shape[2]
    means = np.empty(n_arms)
    directions = np.empty((n_arms, arrays.factors.shape[2]))
    noise = estimate(t, settings, arrays, means, directions)
    tells = outputs.told.shape[1] > 0
    if settings.rule == LIN_UCB:
        bounds = upper_bounds(settings, arrays, noise, means, directions)
        play_one_arm(best_arm(bounds, offered(inputs, t)), t, outputs)
        if tells:
            for a in range(n_arms):
                outputs.told[t, 1, a] = bounds[a] + arrays.totals[4]
    else:
        if tells:
            for a in range(n_arms):
                outputs.told[t, 1, a] = settings.width * noise * length(directions[a])
        width, shared = settings.width * noise, arrays.factors.shape[0] == 1
        available, probabilities = offered(inputs, t), outputs.tables[t, 0]
        asked = rounds, settings.draws, settings.seed, width, shared, means, directions, available, probabilities
        call_thompson(settings.address, asked)
        for a in range(n_arms):
            outputs.explored[t, a] = outputs.tables[t, 0, a] > 0.0
    if tells:
        for a in range(n_arms):
            outputs.told[t, 0, a] = means[a] + arrays.totals[4]
    action = close_round(graph, t, means, 0.0, inputs, outputs)
    if inputs.learn:
        seen = np.empty(n_arms, np.int32)
        count = reveals(graph, action, seen)
        rewards = inputs.rewards[t][seen[:count]]
        first = bool(np.isnan(settings.noise))
        learn(arrays, settings.features[t : t + 1], np.zeros(count, np.int64), seen[:count], rewards, first)


# the same loop for each family: a kernel that took the family's round as an argument could not be inlined
@kernel()
def run(
    graphs: Graphs,
    first: int,
    rounds: int,
    settings: LinearSettings,
    arrays: LinearArrays,
    inputs: Inputs,
    outputs: Outputs,
) -> int:
    """Rounds from row `first` on, one after another."""
    for t in range(graphs.place.shape[0]):
        one_round(graph_of(graphs, t), first + t, rounds + t, settings, arrays, inputs, outputs)
    return DONE
