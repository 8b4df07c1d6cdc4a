"""Finite function classes, whose values f_i(x, a) are given as an array (n, functions, arms)."""

import numpy as np

from graphbandit.base.array_types import ArmMasks, ObservationIndices, Offers, PerObservation, RoundsByArms
from graphbandit.base.shapes import Bool, Float
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.exploration import best_arm
from graphbandit.kernels.planning.information import highest_arm


@kernel()
def finite_losses(
    values: Float[np.ndarray, "n functions arms"],
    rows: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    losses: Float[np.ndarray, " functions"],
) -> None:
    """Add (f_i(x, a) - y)^2 of each observation to the loss of every function."""
    for k in range(rows.shape[0]):
        block = values[rows[k]]
        arm = arms[k]
        reward = rewards[k]
        for i in range(losses.shape[0]):
            residual = block[i, arm] - reward
            losses[i] += residual * residual


# walks over all functions like `planning.information.best_arm_weights`, which has no members
@kernel()
def finite_prospects(
    values: Float[np.ndarray, "n functions arms"],
    weights: Float[np.ndarray, " functions"],
    members: Bool[np.ndarray, " functions"],
    available: Offers,
    means: RoundsByArms,
    chosen: ArmMasks,
    chances: RoundsByArms,
) -> None:
    """The weighted mean of all functions, the best available arms of members, and the weight that calls an arm best."""
    n, functions, n_arms = values.shape
    for t in range(n):
        mask = available[t if available.shape[0] > 1 else 0]
        everyone = n_arms >= 16  # with fewer arms, a plain loop is as fast
        for a in range(n_arms):
            means[t, a] = 0.0
            chances[t, a] = 0.0
            everyone = everyone and mask[a]
        for i in range(functions):
            if weights[i] <= 0.0 and not members[i]:
                continue
            row = values[t, i]
            best = highest_arm(row) if everyone else best_arm(row, mask)
            chosen[t, best] |= members[i]
            chances[t, best] += weights[i]
            for a in range(n_arms):
                means[t, a] += weights[i] * row[a]


@kernel()
def finite_candidates(
    values: Float[np.ndarray, "n functions arms"],
    members: Bool[np.ndarray, " functions"],
    available: Offers,
    chosen: ArmMasks,
) -> None:
    """Mark the best available arm of every member, lowest index on ties. One mask serves all rounds, or one each."""
    for t in range(values.shape[0]):
        mask = available[t if available.shape[0] > 1 else 0]
        for i in range(values.shape[1]):
            if members[i]:
                chosen[t, best_arm(values[t, i], mask)] = True
