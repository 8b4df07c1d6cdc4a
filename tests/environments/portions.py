"""Rounds are the same in whatever portions they are read."""

import numpy as np


def check_portions(instance):
    """Portions that cross the ends of blocks are those of the whole, which is returned."""
    whole = instance.rounds(0, 700)
    for first, stop in [(0, 1), (89, 91), (255, 257), (256, 512), (100, 699), (511, 513), (180, 270)]:
        part = instance.rounds(first, stop)
        np.testing.assert_array_equal(part.contexts, whole.contexts[first:stop])
        np.testing.assert_array_equal(part.rewards, whole.rewards[first:stop])
        np.testing.assert_array_equal(part.means, whole.means[first:stop])
        assert part.graphs == whole.graphs[first:stop]
    return whole
