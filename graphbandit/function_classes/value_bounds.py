"""What follows from lower and upper bounds of f(x, a) alone, when no more is known of a version space."""

import numpy as np

from graphbandit.base.array_types import ArmMasks, RoundIndices, RoundsByArms


def candidates_within(lower: RoundsByArms, upper: RoundsByArms, available: ArmMasks | None = None) -> ArmMasks:
    """The available arms a with upper(a) >= max over available b of lower(b): all that can be best, and maybe more.

    >>> candidates_within(np.array([[0.0, 0.5, 0.2]]), np.array([[0.4, 0.9, 0.6]]))
    array([[False,  True,  True]])
    """
    offered = np.ones(lower.shape, dtype=np.bool_) if available is None else available
    best = np.where(offered, lower, -np.inf).max(axis=1)
    candidates: ArmMasks = offered & (upper >= best[:, None])
    return candidates


def widths_within(lower: RoundsByArms, upper: RoundsByArms, estimate: RoundsByArms, best: RoundIndices) -> RoundsByArms:
    """The largest |(f - fhat)(a) - (f - fhat)(best)| of any f within the bounds; 0 at the best arm itself.

    That is max(u(a) - fhat(a) + fhat(best) - l(best), fhat(a) - l(a) + u(best) - fhat(best)).
    """
    rows = np.arange(len(best))
    above, below = np.maximum(upper - estimate, 0.0), np.maximum(estimate - lower, 0.0)
    widths: RoundsByArms = np.maximum(above + below[rows, best][:, None], below + above[rows, best][:, None])
    widths[rows, best] = 0.0
    return widths
