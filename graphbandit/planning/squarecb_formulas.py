"""Distributions for SquareCB.G's program on graphs that have a formula (Zhang et al. 2023, and one that is exact).

Each takes estimated losses and gamma and returns a distribution. `inverse_gap_weighting` is the optimum itself; the
others are feasible points, so their value is never below the optimum; like the optimum on those graphs, it is within a
constant factor of 1 / gamma. For other graphs, or for the optimum, use `solve_squarecb_program`.
"""

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import PerArm
from graphbandit.base.checks import LARGEST, setting_number
from graphbandit.errors import InputError
from graphbandit.planning.exploration import arm_array


def inverse_gap_weighting(losses: npt.ArrayLike, gamma: float) -> PerArm:
    """Self-loops only: p(a) = 1 / (lambda + gamma (l(a) - min l)), with the lambda that makes it sum to one.

    This is the optimum. Constraint a is p(a) >= 1 / (1 + gamma (l(a) + z)), and at the optimum all hold with equality:
    then lambda = 1 + gamma (min l + z), and the value is (K - 1) / gamma whatever the losses are. SquareCB takes the
    same formula with K for lambda and the rest on the best arm; that is feasible as well.

    >>> inverse_gap_weighting([0.0, 0.5], gamma=3.0).round(4)  # lambda is 3/2
    array([0.6667, 0.3333])
    """
    costs = _costs(losses, gamma)
    low, high = 1.0, float(len(costs))  # one arm alone has mass 1 at lambda = 1; all have at most 1 / K at lambda = K
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if (1.0 / (middle + costs)).sum() > 1.0:
            low = middle
        else:
            high = middle
    p: PerArm = 1.0 / (high + costs)
    p /= p.sum()
    return p


def complete_graph(losses: npt.ArrayLike, gamma: float) -> PerArm:
    """Every arm reveals all: play the best. The value is max(0, 2 / gamma - smallest gap to another arm) <= 2 / gamma.

    >>> complete_graph([0.3, 0.1, 0.2], gamma=4.0)
    array([0., 1., 0.])
    """
    costs = _costs(losses, gamma)
    p = np.zeros(len(costs))
    p[np.argmin(costs)] = 1.0
    return p


def cops_and_robbers(losses: npt.ArrayLike, gamma: float) -> PerArm:
    """Every arm reveals all others but not itself: 1 / (2 + gamma gap) on the second best arm, the rest on the best.

    >>> cops_and_robbers([0.0, 0.5, 2.0], gamma=4.0)
    array([0.75, 0.25, 0.  ])
    """
    costs = _costs(losses, gamma)
    if len(costs) < 2:
        raise InputError("losses has one arm; expected at least two, as no arm reveals itself")
    best, second = np.argsort(costs, kind="stable")[:2]
    p = np.zeros(len(costs))
    p[second] = 1.0 / (2.0 + costs[second])
    p[best] = 1.0 - p[second]
    return p


def apple_tasting(losses: npt.ArrayLike, gamma: float) -> PerArm:
    """Two arms: the first reveals both, the second nothing, as when a message is delivered or held back as spam.

    p(0) = 1 if l(0) <= l(1), and 2 / (4 + gamma (l(0) - l(1))) otherwise.

    >>> apple_tasting([1.0, 0.0], gamma=4.0)
    array([0.25, 0.75])
    """
    costs = _costs(losses, gamma)
    if len(costs) != 2:
        raise InputError(f"losses has {len(costs)} arms; expected 2, the one that reveals both first")
    first = 1.0 if costs[0] <= costs[1] else 2.0 / (4.0 + costs[0] - costs[1])
    return np.array([first, 1.0 - first])


def inventory(losses: npt.ArrayLike, gamma: float) -> PerArm:
    """Arm i reveals the arms 0 .. i, as a stock of i items reveals any smaller demand.

    From the last arm down, p(i) = max(0, 1 / (1 + gamma (l(i) - min l)) - sum over j > i of p(j)), so that every arm
    i is revealed with probability of at least 1 / (1 + gamma (l(i) - min l)).

    >>> inventory([1.0, 0.0, 1.0, 0.5], gamma=2.0).round(12)
    array([0. , 0.5, 0. , 0.5])
    """
    wanted = 1.0 / (1.0 + _costs(losses, gamma))
    reached = np.maximum.accumulate(wanted[::-1])[::-1]
    p: PerArm = reached - np.append(reached[1:], 0.0)
    return p


def _costs(losses: npt.ArrayLike, gamma: float) -> PerArm:
    """gamma (l - min l)."""
    estimates = arm_array("losses", losses)
    if np.abs(estimates).max() > LARGEST:
        raise InputError(f"losses has {np.abs(estimates).max():g}; expected numbers up to {LARGEST:g} in size")
    scale = setting_number("gamma", gamma, above=0.0, below=LARGEST)
    costs: PerArm = scale * (estimates - estimates.min())
    return costs
