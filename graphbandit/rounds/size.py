"""Whether numbers are of a fair size, as is asked of contexts and values in every round."""

import numpy as np

from graphbandit.base.checks import FLOAT, within
from graphbandit.base.direct_calls import DirectCall
from graphbandit.base.shapes import Shaped

_small = DirectCall("size", "small")


def small(array: Shaped[np.ndarray, "..."], largest: float) -> bool:
    """`within` by a kernel, in a third of the time for a few hundred numbers."""
    if array.dtype == FLOAT and array.flags.carray and _small.call(array.reshape(-1), largest * largest):
        return True
    return within(array, largest)
