"""Check that contexts and values are not too large; runs in every round."""

import numpy as np

from graphbandit.base.checks import FLOAT, within
from graphbandit.base.direct_calls import DirectCall
from graphbandit.base.shapes import Float, Shaped

_small = DirectCall("magnitude", "small")


def small_array(array: Shaped[np.ndarray, "..."], largest: float) -> bool:
    """Like `within`, compiled: three times as fast for a few hundred numbers."""
    if array.dtype == FLOAT and array.flags.carray and small_floats(array, largest):
        return True
    return within(array, largest)


def small_floats(array: Float[np.ndarray, "..."], largest: float) -> bool:
    """Whether the root of the sum of squares is at most `largest`; the array must be as kernels take them."""
    is_small: bool = _small.call(array if array.ndim == 1 else array.reshape(-1), largest * largest)
    return is_small
