"""Online linear regression: one observation at a time, one parameter for all arms or one for each.

`features` is (n, arms, d), or (n, 1, d) where all arms of a round share its context; `parameters` is (arms, d), or
(1, d) where all arms share it; the arrays of one arm stand for all.
"""

import numpy as np

from graphbandit.base.array_types import ObservationIndices, PerObservation, RoundsByArms
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import kernel


@kernel()
def predict(
    features: Float[np.ndarray, "n arms_or_one d"],
    parameters: Float[np.ndarray, "arms_or_one d"],
    inverses: Float[np.ndarray, "arms_or_one d_or_none d_or_none"],
    shrink: bool,
    values: RoundsByArms,
) -> None:
    """x'theta, with `shrink` over 1 + x' A^-1 x: what theta would predict had x been seen already, with value 0."""
    n, n_arms = values.shape
    size = features.shape[2]
    for t in range(n):
        for a in range(n_arms):
            x = features[t, a if features.shape[1] > 1 else 0]
            block = a if parameters.shape[0] > 1 else 0
            value, spread = 0.0, 1.0
            for i in range(size):
                value += x[i] * parameters[block, i]
                if shrink:
                    for j in range(size):
                        spread += x[i] * inverses[block, i, j] * x[j]
            values[t, a] = value / spread


@kernel()
def update_ridge(
    features: Float[np.ndarray, "n arms_or_one d"],
    rows: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    parameters: Float[np.ndarray, "arms_or_one d"],
    inverses: Float[np.ndarray, "arms_or_one d d"],
) -> None:
    """A := A + x x', theta := A^-1 sum y x, by the formula of Sherman and Morrison, in place."""
    size = features.shape[2]
    direction = np.empty(size)
    for k in range(rows.shape[0]):
        x = features[rows[k], arms[k] if features.shape[1] > 1 else 0]
        block = arms[k] if parameters.shape[0] > 1 else 0
        spread, error = 1.0, rewards[k]
        for i in range(size):
            direction[i] = 0.0
            for j in range(size):
                direction[i] += inverses[block, i, j] * x[j]
            spread += x[i] * direction[i]
            error -= x[i] * parameters[block, i]
        for i in range(size):
            parameters[block, i] += direction[i] * error / spread
            for j in range(size):
                inverses[block, i, j] -= direction[i] * direction[j] / spread


# takes observations like `update_ridge`
@kernel()
def update_gradient(
    features: Float[np.ndarray, "n arms_or_one d"],
    rows: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    rate: float,
    parameters: Float[np.ndarray, "arms_or_one d"],
    squares: Float[np.ndarray, " arms_or_one"],
) -> None:
    """theta := theta - step (x'theta - y) x, step = rate / sqrt(sum of |gradient|^2 so far), in place."""
    size = features.shape[2]
    for k in range(rows.shape[0]):
        x = features[rows[k], arms[k] if features.shape[1] > 1 else 0]
        block = arms[k] if parameters.shape[0] > 1 else 0
        error, norm = -rewards[k], 0.0
        for i in range(size):
            error += x[i] * parameters[block, i]
            norm += x[i] * x[i]
        squares[block] += error * error * norm
        if squares[block] > 0.0:
            step = rate * error / np.sqrt(squares[block])
            for i in range(size):
                parameters[block, i] -= step * x[i]
