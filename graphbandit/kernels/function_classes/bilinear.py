"""The paper's bilinear class f_i(x, a) = (x'a - x_i'a + (x_i'a_i - x'a_i)) / scale.

`offsets[i, a]` is x_i'a and `constants[i]` is x_i'a_i. Sums run over coordinates in their order, so a value never
depends on the batch it is computed in (a BLAS product may).
"""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmMasks, ObservationIndices, Offers, PerObservation, Vector
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.exploration import best_arm
from graphbandit.kernels.planning.information import highest_arm
from graphbandit.kernels.simd_lanes import octet, put


class Bilinear(NamedTuple):
    """The functions, by what their formula takes."""

    arms: Float[np.ndarray, "arms d"]
    a0: Float[np.ndarray, "functions d"]
    offsets: Float[np.ndarray, "functions arms"]
    constants: Float[np.ndarray, " functions"]
    scale: float


# a plain loop, as in `cholesky.squared_norm`: kernels sum in a fixed order
@kernel(inline="always")
def _dot(u: Vector, v: Vector) -> float:
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] * v[i]
    return total


@kernel()
def bilinear_values(
    contexts: Float[np.ndarray, "n d"], functions: Bilinear, values: Float[np.ndarray, "n functions arms"]
) -> None:
    """f_i(x, a) for every context, function and arm."""
    n, n_functions, n_arms = values.shape
    products = np.empty(n_arms)
    for t in range(n):
        for a in range(n_arms):
            products[a] = _dot(contexts[t], functions.arms[a])
        for i in range(n_functions):
            shift = functions.constants[i] - _dot(contexts[t], functions.a0[i])
            for a in range(n_arms):
                values[t, i, a] = ((products[a] - functions.offsets[i, a]) + shift) / functions.scale


@kernel()
def bilinear_losses(
    contexts: Float[np.ndarray, "n d"],
    rows: ObservationIndices,
    observed: ObservationIndices,
    rewards: PerObservation,
    functions: Bilinear,
    losses: Float[np.ndarray, " functions"],
) -> None:
    """Add (f_i(x, a) - y)^2 of each observation to the loss of every function."""
    n_functions = losses.shape[0]
    shifts = np.empty(n_functions)
    row = -1
    for k in range(rows.shape[0]):
        if rows[k] != row:
            row = rows[k]
            for i in range(n_functions):
                shifts[i] = functions.constants[i] - _dot(contexts[row], functions.a0[i])
        arm = observed[k]
        product = _dot(contexts[row], functions.arms[arm])
        reward = rewards[k]
        for i in range(n_functions):
            residual = ((product - functions.offsets[i, arm]) + shifts[i]) / functions.scale - reward
            losses[i] += residual * residual


@kernel()
def bilinear_candidates(
    contexts: Float[np.ndarray, "n d"],
    arms: Float[np.ndarray, "arms d"],
    offsets: Float[np.ndarray, "members arms"],
    available: Offers,
    chosen: ArmMasks,
) -> None:
    """Mark argmax_a of x'a - x_i'a for every member i, lowest index on ties."""
    n, n_arms = chosen.shape
    whole = n_arms // 8 * 8
    products, values = np.empty(n_arms), np.empty(n_arms)
    for t in range(n):
        mask = available[t if available.shape[0] > 1 else 0]
        everyone = n_arms >= 16  # with fewer arms, a plain loop is as fast
        for a in range(n_arms):
            products[a] = _dot(contexts[t], arms[a])
            everyone = everyone and mask[a]
        for i in range(offsets.shape[0]):
            for a in range(0, whole, 8):
                put(values, a, octet(products, a) - octet(offsets, i * n_arms + a))
            for a in range(whole, n_arms):
                values[a] = products[a] - offsets[i, a]
            chosen[t, highest_arm(values) if everyone else best_arm(values, mask)] = True
