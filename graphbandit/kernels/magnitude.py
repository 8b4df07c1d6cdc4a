"""How large numbers are, looked at several at a time."""

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.simd_lanes import eight, octet, total_of


@kernel()
def small(numbers: Float[np.ndarray, " n"], limit: float) -> bool:
    """Whether the squares of all numbers add up to `limit` at most; not so if one is not a number."""
    if limit == np.inf:
        return True  # somebody has looked
    lanes, rest = eight(0.0), 0.0
    whole = numbers.shape[0] // 8 * 8
    for i in range(0, whole, 8):
        lanes = lanes + octet(numbers, i) * octet(numbers, i)
    for i in range(whole, numbers.shape[0]):
        rest += numbers[i] * numbers[i]
    total: float = total_of(lanes) + rest
    return total <= limit
