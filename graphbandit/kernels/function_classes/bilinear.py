"""The paper's bilinear class f_i(x, a) = (x'a - x_i'a + (x_i'a_i - x'a_i)) / scale.

`offsets[i, a]` is x_i'a and `constants[i]` is x_i'a_i. Sums run over coordinates in their order, so a value never
depends on the batch it is computed in (a BLAS product may).
"""

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.kernels.jit import kernel


@kernel(inline="always")
def _dot(u: Float[np.ndarray, " d"], v: Float[np.ndarray, " d"]) -> float:
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] * v[i]
    return total


@kernel()
def bilinear_values(
    contexts: Float[np.ndarray, "n d"],
    arms: Float[np.ndarray, "arms d"],
    a0: Float[np.ndarray, "functions d"],
    offsets: Float[np.ndarray, "functions arms"],
    constants: Float[np.ndarray, " functions"],
    scale: float,
    values: Float[np.ndarray, "n functions arms"],
) -> None:
    """f_i(x, a) for every context, function and arm."""
    n, functions, n_arms = values.shape
    products = np.empty(n_arms)
    for t in range(n):
        for a in range(n_arms):
            products[a] = _dot(contexts[t], arms[a])
        for i in range(functions):
            shift = constants[i] - _dot(contexts[t], a0[i])
            for a in range(n_arms):
                values[t, i, a] = ((products[a] - offsets[i, a]) + shift) / scale


@kernel()
def bilinear_losses(
    contexts: Float[np.ndarray, "n d"],
    rows: Int[np.ndarray, " observed"],
    observed: Int[np.ndarray, " observed"],
    rewards: Float[np.ndarray, " observed"],
    arms: Float[np.ndarray, "arms d"],
    a0: Float[np.ndarray, "functions d"],
    offsets: Float[np.ndarray, "functions arms"],
    constants: Float[np.ndarray, " functions"],
    scale: float,
    losses: Float[np.ndarray, " functions"],
) -> None:
    """Add (f_i(x, a) - y)^2 of each observation to the loss of every function."""
    functions = losses.shape[0]
    shifts = np.empty(functions)
    row = -1
    for k in range(rows.shape[0]):
        if rows[k] != row:
            row = rows[k]
            for i in range(functions):
                shifts[i] = constants[i] - _dot(contexts[row], a0[i])
        arm = observed[k]
        product = _dot(contexts[row], arms[arm])
        reward = rewards[k]
        for i in range(functions):
            residual = ((product - offsets[i, arm]) + shifts[i]) / scale - reward
            losses[i] += residual * residual


@kernel()
def bilinear_candidates(
    contexts: Float[np.ndarray, "n d"],
    arms: Float[np.ndarray, "arms d"],
    offsets: Float[np.ndarray, "members arms"],
    available: Bool[np.ndarray, "masks arms"],
    chosen: Bool[np.ndarray, "n arms"],
) -> None:
    """Mark argmax_a of x'a - x_i'a for every member i, lowest index on ties."""
    n, n_arms = chosen.shape
    products = np.empty(n_arms)
    for t in range(n):
        mask = available[t if available.shape[0] > 1 else 0]
        for a in range(n_arms):
            products[a] = _dot(contexts[t], arms[a])
        for i in range(offsets.shape[0]):
            best = -1
            highest = -np.inf
            for a in range(n_arms):
                value = products[a] - offsets[i, a]
                if mask[a] and value > highest:
                    highest = value
                    best = a
            chosen[t, best] = True
