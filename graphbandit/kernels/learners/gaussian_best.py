"""Which of several independent Gaussian arms is the best: the probability of each, by quadrature.

The maximum M of the arms has the distribution function F(x) = prod_a Phi_a(x). Between two points x < y it rises by
F(y) - F(x), and arm a's share of that rise is (log Phi_a(y) - log Phi_a(x)) / (log F(y) - log F(x)): exact where the
log Phi are in proportion, and of second order in the step otherwise. The shares add up to 1 whatever the steps. Steps
are halved until F rises by at most STEP in each, the rise times their length is at most WIDE and, where the log Phi of
two arms or more change, the rise times the product of the two largest changes is at most UNEVEN: so an arm known to the
last digit and one hardly known are resolved alike.
"""

import math

import numpy as np
from numba.core import types

from graphbandit.base.arrays import ArmMask, PerArm
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import behind_pointer, inner, kernel
from graphbandit.kernels.learners.normal import log_cdf

REACH = 6.0
"""Tails beyond this many standard deviations (1e-9) are left out."""

STEP = 1.0 / 32.0
"""F rises by at most this from one point to the next."""

WIDE = 5e-4
"""Rise times length of a step, as a share of the whole range: the maximum is taken to be in the middle of a step."""

UNEVEN = 1e-4
"""What of a rise may be shared unevenly within a step: rise times the changes of log Phi of the two fastest arms."""

FIRST_STEPS = 8
DEEPEST = 48


@inner()
def log_cdfs(x: float, means: PerArm, scales: PerArm, out: PerArm) -> float:
    """log Phi_a(x) of each arm; their sum, log F(x), is returned."""
    total = 0.0
    for i in range(means.shape[0]):
        out[i] = log_cdf((x - means[i]) / scales[i])
        total += out[i]
    return total


@inner()
def contenders(
    means: PerArm, variances: PerArm, available: ArmMask
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """The arms on offer that may be the best, their means and standard deviations, and the range of the maximum."""
    n_arms = means.shape[0]
    scales = np.empty(n_arms)
    low, high = -np.inf, -np.inf
    for a in range(n_arms):
        scales[a] = max(np.sqrt(variances[a]), 1e-12 * (1.0 + abs(means[a])))
        if available[a]:
            low = max(low, means[a] - REACH * scales[a])
            high = max(high, means[a] + REACH * scales[a])
    arms, centres, spreads = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    count = 0
    for a in range(n_arms):
        if available[a] and means[a] + REACH * scales[a] > low:
            arms[count], centres[count], spreads[count] = a, means[a], scales[a]
            count += 1
    return arms[:count], centres[:count], spreads[:count], low, high


@inner()
def maximum_points(means: PerArm, scales: PerArm, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Points between which F rises by little, ascending, and log Phi_a at each, (points, arms)."""
    n = means.shape[0]
    capacity = 256
    points = np.empty(capacity)
    logs = np.empty((capacity, n))
    pending = np.empty(DEEPEST + FIRST_STEPS + 2)
    pending_logs = np.empty((DEEPEST + FIRST_STEPS + 2, n))
    pending_total = np.empty(DEEPEST + FIRST_STEPS + 2)
    finest = (high - low) / 2.0**DEEPEST
    # the points still to come, nearest last; the first steps are even
    waiting = 0
    for i in range(FIRST_STEPS, -1, -1):
        pending[waiting] = low + (high - low) * i / FIRST_STEPS
        pending_total[waiting] = log_cdfs(pending[waiting], means, scales, pending_logs[waiting])
        waiting += 1
    count = 0
    last_value = 0.0
    while waiting > 0:
        value = math.exp(pending_total[waiting - 1])
        rise = value - last_value
        too_long = rise > STEP
        if count > 0 and not too_long:
            too_long = rise * (pending[waiting - 1] - points[count - 1]) > WIDE * (high - low)
        if count > 0 and not too_long and rise > UNEVEN:
            fastest, second = 0.0, 0.0
            for i in range(n):
                change = pending_logs[waiting - 1, i] - logs[count - 1, i]
                if change > fastest:
                    fastest, second = change, fastest
                elif change > second:
                    second = change
            too_long = rise * min(1.0, fastest * second) > UNEVEN
        if count > 0 and too_long and waiting < pending.shape[0]:
            middle = 0.5 * (points[count - 1] + pending[waiting - 1])
            if middle - points[count - 1] > finest:
                pending[waiting] = middle
                pending_total[waiting] = log_cdfs(middle, means, scales, pending_logs[waiting])
                waiting += 1
                continue
        if count == capacity:
            longer, longer_logs = np.empty(2 * capacity), np.empty((2 * capacity, n))
            for k in range(capacity):  # not by slices: for them Numba would compile an error's text, too
                longer[k] = points[k]
                for i in range(n):
                    longer_logs[k, i] = logs[k, i]
            points, logs, capacity = longer, longer_logs, 2 * capacity
        waiting -= 1
        points[count] = pending[waiting]
        for i in range(n):
            logs[count, i] = pending_logs[waiting, i]
        last_value = value
        count += 1
    return points[:count], logs[:count]


@inner()
def shares(logs: Float[np.ndarray, "points arms"]) -> Float[np.ndarray, "steps arms"]:
    """The probability that the maximum lies in each step and is that arm; all of them sum to 1."""
    n_points, n = logs.shape
    found = np.zeros((n_points - 1, n))
    before = 0.0  # what lies below the first point counts to the first step
    for g in range(n_points - 1):
        total, rise = 0.0, 0.0
        for i in range(n):
            total += logs[g + 1, i]
            rise += logs[g + 1, i] - logs[g, i]
        after = math.exp(total) if g + 2 < n_points else 1.0
        for i in range(n):
            found[g, i] = (after - before) * ((logs[g + 1, i] - logs[g, i]) / rise if rise > 0.0 else 1.0 / n)
        before = after
    return found


@kernel()
def best_probabilities(means: PerArm, variances: PerArm, available: ArmMask, probabilities: PerArm) -> None:
    """P(arm a has the largest of the means) for independent N(mean, variance) arms, among those on offer."""
    for a in range(means.shape[0]):
        probabilities[a] = 0.0
    arms, centres, scales, low, high = contenders(means, variances, available)
    if arms.shape[0] == 1:
        probabilities[arms[0]] = 1.0
        return
    _, logs = maximum_points(centres, scales, low, high)
    found = shares(logs)
    for g in range(found.shape[0]):
        for i in range(arms.shape[0]):
            probabilities[arms[i]] += found[g, i]


FLOATS, MASK = types.float64[::1], types.boolean[::1]

call_best, best_pointer = behind_pointer(best_probabilities, types.none(FLOATS, FLOATS, MASK, FLOATS))
"""Call `best_probabilities` by its address, with a tuple of its arguments; and find the address."""
