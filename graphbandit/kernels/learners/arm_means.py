"""Learners that keep the number and the sum of each arm's rewards, and nothing else: UCB-N, UCB-MaxN, TS-N, IDS-N."""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmMask, ObservationIndices, PerArm, PerObservation
from graphbandit.kernels.graphs.adjacency import Graph, Graphs, graph_of, reveals
from graphbandit.kernels.jit import inner, kernel
from graphbandit.kernels.learners.base import (
    DONE,
    Floats,
    Inputs,
    Integers,
    Outputs,
    close_round,
    offered,
    play_one_arm,
)
from graphbandit.kernels.learners.gaussian_best import call_best
from graphbandit.kernels.learners.gaussian_information import call_ids
from graphbandit.kernels.planning.exploration import best_arm

UCB_N = 0
UCB_MAX_N = 1
TS_N = 2
IDS_N = 3


class MeanSettings(NamedTuple):
    """Which algorithm, and its constants."""

    rule: int
    noise: float
    """sigma, the sub-Gaussian scale of a reward"""
    width: float
    """what the upper confidence bound's width is multiplied by"""
    prior_mean: float
    prior_variance: float
    address: int
    """of TS-N's or IDS-N's kernel, which is compiled only for them; else 0"""


class MeanArrays(NamedTuple):
    """What is known of each arm."""

    counts: Integers
    sums: Floats


@kernel()
def upper_bounds(rounds: int, settings: MeanSettings, arrays: MeanArrays, means: PerArm) -> PerArm:
    """mean + width sigma sqrt(8 log t / count), infinite for an arm never seen; t is the round, counted from 1."""
    bounds = np.empty(means.shape[0])
    factor = settings.width * settings.noise * np.sqrt(8.0 * np.log(rounds + 1.0))
    for a in range(means.shape[0]):
        count = arrays.counts[a]
        means[a] = arrays.sums[a] / count if count > 0 else 0.0
        bounds[a] = means[a] + factor / np.sqrt(count) if count > 0 else np.inf
    return bounds


@inner()
def best_neighbour(graph: Graph, target: int, counts: ArmIndices, means: PerArm, available: ArmMask) -> int:
    """The arm of the highest mean among arms seen and on offer that reveal `target`; `target` if there is none."""
    scratch = np.empty(means.shape[0], np.int32)
    chosen = -1
    for j in range(means.shape[0]):
        if available[j] and counts[j] > 0 and (chosen < 0 or means[j] > means[chosen]):
            count = reveals(graph, j, scratch)
            for k in range(count):
                if scratch[k] == target:
                    chosen = j
                    break
    return chosen if chosen >= 0 else target


@kernel()
def posterior(settings: MeanSettings, arrays: MeanArrays, means: PerArm) -> PerArm:
    """The posterior of N(prior_mean, prior_variance) means and N(0, sigma^2) noise: writes means, returns variances."""
    variances = np.empty(means.shape[0])
    noise = settings.noise * settings.noise
    for a in range(means.shape[0]):
        count = arrays.counts[a]
        if count == 0:
            means[a], variances[a] = settings.prior_mean, settings.prior_variance
        else:
            total = noise + count * settings.prior_variance
            means[a] = (settings.prior_mean * noise + settings.prior_variance * arrays.sums[a]) / total
            variances[a] = settings.prior_variance * noise / total
    return variances


@kernel()
def learn(arrays: MeanArrays, arms: ObservationIndices, rewards: PerObservation) -> None:
    """Count each reward and add it to its arm's sum."""
    for k in range(arms.shape[0]):
        arrays.counts[arms[k]] += 1
        arrays.sums[arms[k]] += rewards[k]


@inner()
def one_round(
    graph: Graph, t: int, rounds: int, settings: MeanSettings, arrays: MeanArrays, inputs: Inputs, outputs: Outputs
) -> None:
    """Row t of a run; `rounds` were learnt before it."""
    n_arms = arrays.counts.shape[0]
    available = offered(inputs, t)
    means = np.empty(n_arms)
    if settings.rule == UCB_N or settings.rule == UCB_MAX_N:
        arm = best_arm(upper_bounds(rounds, settings, arrays, means), available)
        if settings.rule == UCB_MAX_N:
            arm = best_neighbour(graph, arm, arrays.counts, means, available)
        play_one_arm(arm, t, outputs)
    else:
        variances = posterior(settings, arrays, means)
        if settings.rule == TS_N:
            call_best(settings.address, (means, variances, available, outputs.tables[t, 0]))
        else:
            asked = graph, means, variances, settings.noise, available, outputs.tables[t, 0]
            call_ids(settings.address, asked)
        for a in range(n_arms):
            outputs.explored[t, a] = outputs.tables[t, 0, a] > 0.0
    action = close_round(graph, t, means, 0.0, inputs, outputs)
    if inputs.learn:
        seen = np.empty(n_arms, np.int32)
        count = reveals(graph, action, seen)
        learn(arrays, seen[:count], inputs.rewards[t][seen[:count]])


# the same loop for each family: a kernel that took the family's round as an argument could not be inlined
@kernel()
def run(
    graphs: Graphs,
    first: int,
    rounds: int,
    settings: MeanSettings,
    arrays: MeanArrays,
    inputs: Inputs,
    outputs: Outputs,
) -> int:
    """Rounds from row `first` on, one after another."""
    for t in range(graphs.place.shape[0]):
        one_round(graph_of(graphs, t), first + t, rounds + t, settings, arrays, inputs, outputs)
    return DONE
