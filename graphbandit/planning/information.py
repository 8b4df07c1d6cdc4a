"""Calls of IDS.G's kernels: from what an arm costs and teaches to the distribution to play."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.array_types import Offers, PerRound, RoundMask, RoundsByArms
from graphbandit.base.checks import BOOL, INTEGER, LARGEST, as_in_kernels
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import tuple_of
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.kernel_forms import kernel_batches
from graphbandit.graphs.probabilistic import ProbabilisticGraphs

if TYPE_CHECKING:
    from graphbandit.kernels.planning.information import Directed, Weighed


_NOTHING_LARGE = (1e-17 * LARGEST) ** 2
"""Up to this sum of squares, no value of a weight of 1e-17 or more is beyond `LARGEST`."""

_directed_rounds = DirectCall("planning.information", "directed_rounds")
_weighed_rounds = DirectCall("planning.information", "weighed_rounds")


def by_weighed_draws(
    graphs: FeedbackGraphs,
    draws: Iterable[tuple[slice, Float[np.ndarray, "part draws arms"]]],
    *,
    weights: Float[np.ndarray, " draws"],
    available: Offers,
    knows_nothing: bool,
    uniforms: PerRound,
    check: Callable[[Float[np.ndarray, "part draws arms"]], None],
) -> "Weighed":
    """Decide rounds with packed graphs in one kernel: regret and information from draws, then the smallest ratio.

    - `draws`: values f_b(x, a), for some rounds at a time; they need not be finite.
    - `weights`, `available`: as kernels take them.
    - `knows_nothing`: whether rounds in which all arms look the same are played uniformly.
    - `check`: called if some values may not be finite or may be too large; it raises if they are.
    """
    n, n_arms = len(uniforms), graphs.n_arms
    arrays = np.empty((n, 7, n_arms)), np.empty((n, n_arms), BOOL), np.empty((n, 2), INTEGER), np.empty(n)
    found: Weighed = tuple_of(kernels_of("planning.information").Weighed, arrays)
    ((_, stored),) = kernel_batches(graphs)
    for part, values in draws:
        squares = _weighed_rounds.call(stored, part.start, values, weights, available, knows_nothing, uniforms, found)
        if not squares <= _NOTHING_LARGE:
            check(values)
    return found


def information_directed_rounds(
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    *,
    regrets: RoundsByArms,
    information: RoundsByArms,
    available: Offers,
    blind: RoundMask,
    uniforms: PerRound,
) -> "Directed":
    """Decide a batch: what the arms that each arm reveals teach, the distribution of the smallest ratio, the draw.

    g(j) = sum over the arms a that j reveals of v(a), each times its edge probability if it has one. `blind` rounds, in
    which nothing distinguishes the arms yet, are played uniformly.

    >>> from graphbandit import graphs
    >>> stars = FeedbackGraphs.repeat(graphs.star(3, hub=0), 1)
    >>> found = information_directed_rounds(
    ...     stars,
    ...     regrets=np.array([[1.0, 0.5, 2.0]]),
    ...     information=np.array([[1.0, 2.0, 4.0]]),
    ...     available=np.ones((1, 3), dtype=bool),
    ...     blind=np.zeros(1, dtype=bool),
    ...     uniforms=np.array([0.5]),
    ... )
    >>> found.gains, found.probabilities
    (array([[7., 3., 5.]]), array([[0., 1., 0.]]))
    """
    n, n_arms = regrets.shape
    kernels = kernels_of("planning.information")
    tables, actions = np.empty((4, n, n_arms)), np.empty((n, 2), dtype=np.int64)
    found: Directed = kernels.Directed(tables[0], tables[1], tables[2], tables[3], actions)
    if isinstance(graphs, ProbabilisticGraphs):
        kernels.directed_rounds_weighted(
            graphs.stored, graphs.index, regrets, information, available, blind, uniforms, found
        )
        return found
    regrets, information, uniforms = map(as_in_kernels, (regrets, information, uniforms))
    masks, blind = as_in_kernels(available, BOOL), as_in_kernels(blind, BOOL)
    for part, stored in kernel_batches(graphs):
        offered = masks if len(masks) == 1 else masks[part]
        some = kernels.Directed(*(array[part] for array in found))
        _directed_rounds.call(stored, regrets[part], information[part], offered, blind[part], uniforms[part], some)
    return found
