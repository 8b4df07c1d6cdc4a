"""Features whose inner products are, about, those of a kernel: point by point, so no value depends on the batch."""

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.kernels.cholesky import solve_lower
from graphbandit.kernels.jit import kernel

RBF, LAPLACIAN, MATERN_3_2, MATERN_5_2 = 0, 1, 2, 3


@kernel()
def fourier_features(
    points: Float[np.ndarray, "m d"], frequencies: Float[np.ndarray, "waves d"], out: Float[np.ndarray, "m features"]
) -> None:
    """cos(w'x) and sin(w'x) for every frequency w, divided by the root of their number: vectors of length 1."""
    waves, scale = frequencies.shape[0], 1.0 / np.sqrt(frequencies.shape[0])
    for t in range(points.shape[0]):
        for k in range(waves):
            phase = 0.0
            for i in range(points.shape[1]):
                phase += frequencies[k, i] * points[t, i]
            out[t, 2 * k] = scale * np.cos(phase)
            out[t, 2 * k + 1] = scale * np.sin(phase)


@kernel()
def kernel_matrix(
    kind: int,
    lengthscale: float,
    points: Float[np.ndarray, "m d"],
    landmarks: Float[np.ndarray, "marks d"],
    out: Float[np.ndarray, "m marks"],
) -> None:
    """k(x, z) for every point and landmark."""
    for t in range(points.shape[0]):
        for k in range(landmarks.shape[0]):
            distance = 0.0
            for i in range(points.shape[1]):
                apart = (points[t, i] - landmarks[k, i]) / lengthscale
                distance += abs(apart) if kind == LAPLACIAN else apart * apart
            if kind == RBF:
                out[t, k] = np.exp(-0.5 * distance)
            elif kind == LAPLACIAN:
                out[t, k] = np.exp(-distance)
            elif kind == MATERN_3_2:
                root = np.sqrt(3.0 * distance)
                out[t, k] = (1.0 + root) * np.exp(-root)
            else:
                root = np.sqrt(5.0 * distance)
                out[t, k] = (1.0 + root + root * root / 3.0) * np.exp(-root)


# its first arguments are those of `kernel_matrix`, which it calls
@kernel()
def nystrom_features(
    kind: int,
    lengthscale: float,
    points: Float[np.ndarray, "m d"],
    landmarks: Float[np.ndarray, "marks d"],
    factor: Float[np.ndarray, "marks marks"],
    out: Float[np.ndarray, "m marks"],
) -> None:
    """U'^-1 k(x, landmarks), where U'U is the kernel matrix of the landmarks."""
    kernel_matrix(kind, lengthscale, points, landmarks, out)
    for t in range(points.shape[0]):
        solve_lower(factor, out[t])
