"""What a round explores before the linear program: the exploration set and the inverse-gap baseline."""

from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.arm_names import arm_index
from graphbandit.base.array_types import ArmMask, PerArm
from graphbandit.base.checks import first_not_finite, numbers, setting_number
from graphbandit.base.shapes import Int
from graphbandit.errors import GraphError, InputError, UnknownArmError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_graph


def arm_array(name: str, value: npt.ArrayLike, n_arms: int | None = None) -> PerArm:
    """`value` as one finite number for each of `n_arms` arms, or of any number of arms."""
    array = numbers(name, value)
    size = max(array.size, 1) if n_arms is None else n_arms
    if array.shape != (size,):
        raise InputError(f"{name} has shape {array.shape}; expected ({size},), one number an arm")
    if not np.isfinite(array).all():
        raise InputError(f"{name} has {first_not_finite(array)}; expected finite numbers")
    return np.ascontiguousarray(array)


def gap_array(value: npt.ArrayLike, n_arms: int | None = None) -> PerArm:
    """Gaps c(a) = v(best) - v(a) as an array: finite and not negative."""
    gaps = arm_array("gaps", value, n_arms)
    if (gaps < 0).any():
        arm = int(np.argmax(gaps < 0))
        raise InputError(f"gaps has {gaps[arm]} at arm {arm}; expected gaps v(best) - v(a) of at least 0")
    return gaps


def check_graph(graph: object) -> None:
    """Raise GraphError unless this is one feedback graph."""
    if not isinstance(graph, FeedbackGraph):
        raise GraphError(f"graph is a {type(graph).__name__}; expected a FeedbackGraph")


def checked_best(best: object, n_arms: int) -> int:
    """`best` as the number of one of the arms."""
    try:
        return arm_index(best, n_arms)
    except UnknownArmError:
        raise InputError(f"best is {best!r}; expected an arm, from 0 to {n_arms - 1}") from None


def checked_candidates(candidates: npt.ArrayLike, n_arms: int) -> ArmMask:
    """`candidates` as a boolean mask of the arms."""
    mask = _array("candidates", candidates, "a boolean mask")
    if mask.dtype != np.bool_ or mask.shape != (n_arms,):
        found = f"an array of {mask.dtype} of shape {mask.shape}"
        raise InputError(f"candidates is {found}; expected a boolean mask of shape ({n_arms},)")
    return mask


def exploration_set(
    graph: FeedbackGraph, candidates: "npt.ArrayLike", gaps: "npt.ArrayLike"
) -> Int[np.ndarray, " size"]:
    """The exploration set S, its arms in the order they were taken (ConstructExplorationSet of Algorithm 1).

    Walk the candidates by ascending gap, ties to the lowest index; take an arm unless it is revealed by one taken
    before. Every candidate is then in S or revealed by an arm of S with a gap no larger than its own. On an undirected
    graph S is an independent set, so |S| <= alpha(G); on a directed one an arm of S may reveal an earlier one, and |S|
    can exceed alpha(G).

    - `graph`: who reveals whom.
    - `candidates`: A(x; F_m), a boolean mask.
    - `gaps`: c, one number an arm.

    >>> from graphbandit import graphs
    >>> star = graphs.star(6, hub=0)
    >>> exploration_set(star, np.ones(6, dtype=bool), [0.1, 0.0, 1.0, 1.0, 1.0, 1.0])
    array([1, 2, 3, 4, 5])
    """
    from graphbandit.kernels.planning.exploration import greedy_exploration_set

    check_graph(graph)
    mask = checked_candidates(candidates, graph.n_arms)
    order = np.empty(graph.n_arms, dtype=np.int32)
    scratch = np.empty(graph.n_arms, dtype=np.int32)
    costs = arm_array("gaps", gaps, graph.n_arms)
    size = greedy_exploration_set(kernel_graph(graph), mask, costs, scratch, order)
    return order[:size].astype(np.int64)


def inverse_gap_baseline(
    explored: "npt.ArrayLike", gaps: "npt.ArrayLike", gamma: float, *, best: int | None = None
) -> PerArm:
    """The baseline distribution p~ of the sampling program.

    p~(a) = 1 / (|S| + gamma c(a)) for a in S other than best, 0 for every other arm, and the rest on best: never
    negative, as each of at most |S| terms is at most 1/|S|. With S = all arms it is FALCON's rule.

    - `explored`: S, the numbers of its arms.
    - `gaps`: c, one number an arm.
    - `gamma`: the exploration parameter.
    - `best`: the arm that gets the rest; None (default): the arm of the smallest gap.

    >>> inverse_gap_baseline([1, 2, 3], [0.1, 0.0, 1.0, 1.0], gamma=5.0)
    array([0.   , 0.75 , 0.125, 0.125])
    """
    from graphbandit.kernels.planning.single_steps import set_baseline

    costs = gap_array(gaps)
    arms = _array("explored", explored, "arm numbers")
    whole = arms.dtype.kind in "iu" or not arms.size
    if arms.ndim != 1 or not whole or (len(arms) and not (arms.min() >= 0 and arms.max() < len(costs))):
        raise InputError(f"explored is {explored!r}; expected arm numbers from 0 to {len(costs) - 1}")
    if len(np.unique(arms)) != len(arms):
        raise InputError(f"explored is {explored!r}; expected every arm once")
    chosen = int(np.argmin(costs)) if best is None else checked_best(best, len(costs))
    baseline = np.empty(len(costs))
    rate = setting_number("gamma", gamma, at_least=0.0)
    set_baseline(arms.astype(np.int32), chosen, rate, costs, baseline)
    return baseline


def _array(name: str, value: npt.ArrayLike, expected: str) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        return np.ascontiguousarray(value)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; expected {expected}") from None
