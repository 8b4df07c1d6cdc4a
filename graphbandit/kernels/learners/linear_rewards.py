"""Learners of linear rewards in every round: LinUCB and LinTS, from one ridge regression a parameter vector.

`factors` are the lower Cholesky factors L of V = ridge I + sum phi phi', `sums` the b = sum r phi. With u = L^-1 phi
and y = L^-1 b, the estimate of phi' theta is u'y and its width squared phi' V^-1 phi = u'u. Factors are updated by a
rank-one step of rotations, which stays positive definite where an updated inverse drifts.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from graphbandit.base.shapes import Float, Int, Int32, UInt64
from graphbandit.kernels.graphs.adjacency import reveals
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.learners.base import DONE, Floats, Inputs, Outputs, close_round, offered, play_one_arm
from graphbandit.kernels.learners.counter_random import fill_normals
from graphbandit.kernels.learners.gaussian_best import best_probabilities
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
    log_term: float
    """2 log(1 / delta), of that radius"""
    bias: float
    """sqrt(ridge) S, likewise"""
    draws: int
    seed: int


class LinearArrays(NamedTuple):
    """The regressions: one, or one an arm."""

    factors: Floats
    sums: Floats
    log_determinants: Floats
    """log det V - d log ridge"""


@kernel()
def solve_lower(factor: Float[np.ndarray, "d d"], right: Float[np.ndarray, " d"], out: Float[np.ndarray, " d"]) -> None:
    """out = L^-1 right."""
    for i in range(right.shape[0]):
        total = right[i]
        for j in range(i):
            total -= factor[i, j] * out[j]
        out[i] = total / factor[i, i]


@kernel()
def add_square(factor: Float[np.ndarray, "d d"], vector: Float[np.ndarray, " d"]) -> float:
    """L becomes the factor of L L' + v v'; `vector` is used up. Returns by how much log det grows."""
    d = vector.shape[0]
    growth = 0.0
    for i in range(d):
        old = factor[i, i]
        new = np.sqrt(old * old + vector[i] * vector[i])
        growth += 2.0 * np.log(new / old)
        c, s = new / old, vector[i] / old
        factor[i, i] = new
        for j in range(i + 1, d):
            factor[j, i] = (factor[j, i] + s * vector[j]) / c
            vector[j] = c * vector[j] - s * factor[j, i]
    return growth


@kernel()
def learn(
    arrays: LinearArrays,
    features: Float[np.ndarray, "n rows d"],
    rows: Int[np.ndarray, " observed"],
    arms: Int[np.ndarray, " observed"],
    rewards: Float[np.ndarray, " observed"],
) -> None:
    """Every reward that was revealed is one more row of its regression."""
    shared = arrays.factors.shape[0] == 1
    vector = np.empty(features.shape[2])
    for k in range(arms.shape[0]):
        p = 0 if shared else arms[k]
        phi = features[rows[k], 0 if features.shape[1] == 1 else arms[k]]
        for i in range(phi.shape[0]):
            arrays.sums[p, i] += rewards[k] * phi[i]
            vector[i] = phi[i]
        arrays.log_determinants[p] += add_square(arrays.factors[p], vector)


@kernel()
def estimate(
    t: int,
    settings: LinearSettings,
    arrays: LinearArrays,
    means: Float[np.ndarray, " arms"],
    directions: Float[np.ndarray, "arms d"],
) -> None:
    """phi_a' theta of each arm, and u_a = L^-1 phi_a, whose length is the width of the estimate."""
    shared = arrays.factors.shape[0] == 1
    d = arrays.factors.shape[2]
    solved = np.empty(d)
    for a in range(means.shape[0]):
        p = 0 if shared else a
        if a == 0 or not shared:
            solve_lower(arrays.factors[p], arrays.sums[p], solved)
        phi = settings.features[t, 0 if settings.features.shape[1] == 1 else a]
        solve_lower(arrays.factors[p], phi, directions[a])
        total = 0.0
        for i in range(d):
            total += solved[i] * directions[a, i]
        means[a] = total


@kernel()
def length(vector: Float[np.ndarray, " d"]) -> float:
    """Its Euclidean norm, summed in order."""
    total = 0.0
    for i in range(vector.shape[0]):
        total += vector[i] * vector[i]
    return math.sqrt(total)


@kernel()
def upper_bounds(
    settings: LinearSettings,
    arrays: LinearArrays,
    means: Float[np.ndarray, " arms"],
    directions: Float[np.ndarray, "arms d"],
) -> Float[np.ndarray, " arms"]:
    """phi' theta + width |u|, where the width is given or sigma sqrt(2 log(1/delta) + log det) + sqrt(ridge) S."""
    bounds = np.empty(means.shape[0])
    for a in range(means.shape[0]):
        width = settings.width
        if np.isnan(width):
            grown = arrays.log_determinants[0 if arrays.factors.shape[0] == 1 else a]
            width = settings.noise * np.sqrt(settings.log_term + grown) + settings.bias
        bounds[a] = means[a] + width * length(directions[a])
    return bounds


@kernel()
def thompson_shares(
    t: int,
    rounds: int,
    settings: LinearSettings,
    arrays: LinearArrays,
    means: Float[np.ndarray, " arms"],
    directions: Float[np.ndarray, "arms d"],
    inputs: Inputs,
    probabilities: Float[np.ndarray, " arms"],
) -> None:
    """How often phi' theta + width u'z of each arm is the largest, z standard normal.

    One z for all arms: in a share of the draws, whose z belong to round and draw and not to luck. One z an arm: the
    arms are independent, and the probability is worked out.
    """
    n_arms, d = directions.shape
    available = offered(inputs, t)
    if arrays.factors.shape[0] > 1:
        variances = np.empty(n_arms)
        for a in range(n_arms):
            variances[a] = (settings.width * length(directions[a])) ** 2
        best_probabilities(means, variances, available, probabilities)
        return
    z = np.empty(d)
    values = np.empty(n_arms)
    wins = np.zeros(n_arms, np.int64)
    for draw in range(settings.draws):
        fill_normals(settings.seed, rounds, draw, z)
        for a in range(n_arms):
            noise = 0.0
            for i in range(d):
                noise += directions[a, i] * z[i]
            values[a] = means[a] + settings.width * noise
        wins[best_arm(values, available)] += 1
    for a in range(n_arms):
        probabilities[a] = wins[a] / settings.draws


@kernel()
def one_round(
    graph: Any, t: int, rounds: int, settings: LinearSettings, arrays: LinearArrays, inputs: Inputs, outputs: Outputs
) -> None:
    """Row t of a run; `rounds` were learnt before it."""
    n_arms = outputs.probabilities.shape[1]
    means = np.empty(n_arms)
    directions = np.empty((n_arms, arrays.factors.shape[2]))
    estimate(t, settings, arrays, means, directions)
    if settings.rule == LIN_UCB:
        play_one_arm(best_arm(upper_bounds(settings, arrays, means, directions), offered(inputs, t)), t, outputs)
    else:
        thompson_shares(t, rounds, settings, arrays, means, directions, inputs, outputs.probabilities[t])
        for a in range(n_arms):
            outputs.explored[t, a] = outputs.probabilities[t, a] > 0.0
    action = close_round(graph, t, means, 0.0, inputs, outputs)
    if inputs.learn:
        seen = np.empty(n_arms, np.int32)
        count = reveals(graph, action, seen)
        rewards = inputs.rewards[t][seen[:count]]
        learn(arrays, settings.features[t : t + 1], np.zeros(count, np.int64), seen[:count], rewards)


@kernel()
def run_packed(
    words: UInt64[np.ndarray, "stored arms words"],
    index: Int32[np.ndarray, " n"],
    rounds: int,
    settings: LinearSettings,
    arrays: LinearArrays,
    inputs: Inputs,
    outputs: Outputs,
) -> int:
    """All rounds, one after another."""
    for t in range(index.shape[0]):
        one_round(words[index[t]], t, rounds + t, settings, arrays, inputs, outputs)
    return DONE


@kernel()
def run_listed(
    graph: Any, t: int, rounds: int, settings: LinearSettings, arrays: LinearArrays, inputs: Inputs, outputs: Outputs
) -> int:
    """Row t of a run, with a large graph."""
    one_round(graph, t, rounds, settings, arrays, inputs, outputs)
    return DONE
