"""Normal numbers that belong to a place: the same (seed, round, draw, coordinate) always has the same number."""

import math

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import inner, kernel


@inner()
def mix(number: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: every bit of the answer depends on every bit of the number."""
    number = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel()
def fill_normals(seed: int, rounds: int, draw: int, out: Float[np.ndarray, " numbers"]) -> None:
    """Standard normal numbers of one draw of one round (Box and Muller), for as many coordinates as there is room."""
    key = mix(mix(mix(np.uint64(seed)) ^ np.uint64(rounds)) ^ np.uint64(draw))
    scale = 2.0**-53
    for i in range(0, out.shape[0], 2):
        first = mix(key ^ np.uint64(2 * i + 1))
        second = mix(key ^ np.uint64(2 * i + 2))
        radius = math.sqrt(-2.0 * math.log((float(first >> np.uint64(11)) + 0.5) * scale))
        angle = 2.0 * math.pi * float(second >> np.uint64(11)) * scale
        out[i] = radius * math.cos(angle)
        if i + 1 < out.shape[0]:
            out[i + 1] = radius * math.sin(angle)
