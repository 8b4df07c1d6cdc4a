"""The exploration set, gamma and the baseline of rounds with edge probabilities."""

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmMask, ArmsByArms, PerArm, RoundIndices
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.exploration import Beliefs, best_arm, set_baseline, set_chances
from graphbandit.kernels.planning.one_pass import GAMMAS, Outcome, Rounds
from graphbandit.kernels.planning.ordering import sort_chosen

SURE = 1.0 - 1e-12
"""Probabilities that sum to this count as one: ten times 0.1 is a little less."""


@kernel()
def greedy_likely_set(matrix: ArmsByArms, candidates: ArmMask, gaps: PerArm, order: ArmIndices) -> int:
    """Walk the candidates by ascending gap; take each unless those taken before reveal it with probabilities of sum 1.

    Returns |S|, S in `order`.
    """
    n_arms = candidates.shape[0]
    covered, other = np.zeros(n_arms), np.empty(n_arms, np.int32)
    size = 0
    for i in range(sort_chosen(candidates, gaps, order, other)):
        arm = order[i]
        if covered[arm] < SURE:
            order[size] = arm
            size += 1
            for a in range(n_arms):
                covered[a] += matrix[arm, a]
    return size


@kernel()
def _bound(matrix: ArmsByArms, baseline: PerArm, widths: PerArm, size: int, gamma: float) -> float:
    """2 |S| / gamma + (gamma / 4) sum_a q(a) w(a)^2, with the q of the baseline."""
    error = 0.0
    for j in range(baseline.shape[0]):
        if baseline[j] > 0.0:
            for a in range(widths.shape[0]):
                error += baseline[j] * matrix[j, a] * widths[a] * widths[a]
    return 2.0 * size / gamma + 0.25 * gamma * error


@kernel()
def baselines(
    matrices: Float[np.ndarray, "stored arms arms"],
    index: RoundIndices,
    rounds: Rounds,
    explore_all: bool,
    rate: float,
    doubt: float,
    outcome: Outcome,
) -> None:
    """Steps 1 to 5 of every round: gaps, S, gamma, the baseline and the best arm; the caller does the rest.

    gamma = rate sqrt(|S|), or, when `widths` are given, rate times the gamma with the smallest bound for the baseline.
    If all widths are 0, gamma is infinite and all mass is on best.
    """
    values, candidates, available, widths = rounds.values, rounds.candidates, rounds.available, rounds.widths
    gaps, baseline, explored = outcome.tables[:, 2], outcome.tables[:, 3], outcome.tables[:, 4]
    n, n_arms = values.shape
    order, chances = np.empty(n_arms, np.int32), np.empty(n_arms)
    for t in range(n):
        matrix, offered = matrices[index[t]], available[t if available.shape[0] > 1 else 0]
        best = best_arm(values[t], offered)
        for a in range(n_arms):
            gaps[t, a] = values[t, best] - values[t, a]
        if explore_all:
            size = 0
            for a in range(n_arms):
                if offered[a]:
                    order[size] = a
                    size += 1
        else:
            size = greedy_likely_set(matrix, candidates[t], gaps[t], order)
        for a in range(n_arms):
            explored[t, a] = 0.0
        for i in range(size):
            explored[t, order[i]] = 1.0
        known = set_chances(candidates[t], gaps[t], rounds.deviations[t], rounds.chances[t], chances)
        beliefs = Beliefs(gaps[t], chances, known, doubt)
        gamma = rate * np.sqrt(size)
        squares = 0.0
        for a in range(widths.shape[1]):
            squares += widths[t, a] * widths[t, a]
        if widths.shape[1] > 0 and squares <= 0.0:
            gamma = np.inf
            for a in range(n_arms):
                baseline[t, a] = 0.0
            baseline[t, best] = 1.0
        if squares > 0.0:
            lowest, trial = np.inf, np.sqrt(8.0 * size / squares)
            for _ in range(GAMMAS):
                set_baseline(order, size, best, trial, beliefs, baseline[t])
                bound = _bound(matrix, baseline[t], widths[t], size, trial)
                if bound < lowest * (1.0 - 1e-12):
                    lowest = bound
                    gamma = rate * trial
                trial *= 2.0
        if gamma < np.inf:
            set_baseline(order, size, best, gamma, beliefs, baseline[t])
        outcome.integers[t, 1], outcome.numbers[t, 1], outcome.numbers[t, 4] = best, gamma, 1.0
