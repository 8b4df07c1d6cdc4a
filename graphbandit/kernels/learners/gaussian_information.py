"""Information-directed sampling for independent Gaussian arms: what an arm costs, what it tells, and the best mix."""

import numpy as np
from numba.core import types

from graphbandit.base.arrays import ArmMask, PerArm
from graphbandit.kernels.graphs.adjacency import GRAPH, Graph
from graphbandit.kernels.jit import behind_pointer, kernel
from graphbandit.kernels.learners.gaussian_best import FLOATS, MASK, contenders, maximum_points, shares
from graphbandit.kernels.learners.normal import hazard
from graphbandit.kernels.planning.information import neighbourhood, smallest_ratio


@kernel()
def regrets_and_information(
    means: PerArm, variances: PerArm, noise: float, available: ArmMask, regrets: PerArm, information: PerArm
) -> None:
    """Delta(a) = E[max] - mean(a), and h(a) = Var(E[theta_a | best arm]) / (2 (sigma^2 + variance(a))).

    h(a) is a lower bound of the mutual information between the best arm and a reward of arm a. If the maximum is
    x and another arm has it, theta_a has the mean of N(mean, variance) below x; all integrals are sums over the steps.
    Delta(a) is the integral of x - theta_a where another arm is the best: no term is negative, so small ones are exact.
    """
    n_arms = means.shape[0]
    arms, centres, scales, low, high = contenders(means, variances, available)
    n = arms.shape[0]
    for a in range(n_arms):
        information[a] = 0.0
    if n == 1:
        for a in range(n_arms):
            regrets[a] = means[arms[0]] - means[a]
        return
    points, logs = maximum_points(centres, scales, low, high)
    found = shares(logs)
    probabilities = np.zeros(n)
    conditional = np.zeros((n, n))  # [b, a]: sum of theta_a where b is the best
    below = np.empty(n)
    lost = np.zeros(n)
    for g in range(found.shape[0]):
        x = 0.5 * (points[g] + points[g + 1])
        for i in range(n):
            below[i] = min(centres[i] - scales[i] * hazard((x - centres[i]) / scales[i]), x)
        for b in range(n):
            share = found[g, b]
            if share > 0.0:
                probabilities[b] += share
                for i in range(n):
                    conditional[b, i] += share * (x if i == b else below[i])
                    if i != b:
                        lost[i] += share * (x - below[i])
    best = 0
    for i in range(n):
        if centres[i] > centres[best]:
            best = i
    for a in range(n_arms):
        regrets[a] = centres[best] + lost[best] - means[a]
    for i in range(n):
        regrets[arms[i]] = lost[i]
    for i in range(n):
        spread, average = 0.0, 0.0
        for b in range(n):
            average += conditional[b, i]
        for b in range(n):
            if probabilities[b] > 0.0:
                gap = conditional[b, i] / probabilities[b] - average
                spread += probabilities[b] * gap * gap
        information[arms[i]] = 0.5 * spread / (noise * noise + scales[i] * scales[i])


@kernel()
def ids_probabilities(
    graph: Graph, means: PerArm, variances: PerArm, noise: float, available: ArmMask, probabilities: PerArm
) -> None:
    """IDS-N: the smallest information ratio, where an arm tells what all the arms that it reveals tell."""
    n_arms = means.shape[0]
    regrets, information, gains = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    regrets_and_information(means, variances, noise, available, regrets, information)
    neighbourhood(graph, information, gains)
    smallest_ratio(regrets, gains, available, probabilities)


SIGNATURE = types.none(GRAPH, FLOATS, FLOATS, types.float64, MASK, FLOATS)

call_ids, ids_pointer = behind_pointer(ids_probabilities, SIGNATURE)
"""Call `ids_probabilities` by its address, with a tuple of its arguments; and find the address."""
