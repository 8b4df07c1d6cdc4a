"""Calls of IDS.G's kernels: from what an arm costs and teaches to the distribution to play."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.array_types import Offers, PerRound, RoundMask, RoundsByArms
from graphbandit.base.checks import BOOL, INTEGER, LARGEST
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import tuple_of
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.kernel_forms import kernel_batches, packed_batch
from graphbandit.graphs.probabilistic import ProbabilisticGraphs

if TYPE_CHECKING:
    from graphbandit.kernels.planning.information import Weighed


_NOTHING_LARGE = (1e-17 * LARGEST) ** 2
"""Up to this sum of squares, no value of a weight of 1e-17 or more is beyond `LARGEST`."""

_decide_weighed = DirectCall("planning.information", "decide_weighed")
_weigh_rounds = DirectCall("planning.information", "weigh_rounds")
_direct_rounds = DirectCall("planning.information", "direct_rounds")


def room_for(n: int, n_arms: int) -> "Weighed":
    """Arrays for n rounds, to be filled by a way to weigh arms, and then by `direct`."""
    arrays = (
        np.empty((n, 7, n_arms)),
        np.empty((n, n_arms), BOOL),
        np.empty((n, 2), INTEGER),
        np.empty(n),
        np.empty(n, BOOL),
    )
    found: Weighed = tuple_of(kernels_of("planning.information").Weighed, arrays)
    return found


def decide_by_draws(
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    parts: Iterable[tuple[slice, Float[np.ndarray, "part draws arms"]]],
    *,
    weights: Float[np.ndarray, " draws"],
    available: Offers,
    count_alike_as_blind: bool,
    uniforms: PerRound,
    check: Callable[[Float[np.ndarray, "part draws arms"]], None],
) -> "Weighed":
    """Weigh the arms by draws, and decide: the Bayesian form.

    - `parts`: values f_b(x, a), for some rounds at a time; they need not be finite.
    - `weights`, `available`: as kernels take them.
    - `count_alike_as_blind`: whether rounds in which all arms look the same are to be played uniformly.
    - `check`: called if some values may not be finite or may be too large; it raises if they are.
    """
    found, alike = room_for(len(uniforms), graphs.n_arms), count_alike_as_blind
    packed = packed_batch(graphs) if isinstance(graphs, FeedbackGraphs) else None
    for part, values in parts:
        if packed is None:
            squares = _weigh_rounds.call(part.start, values, weights, available, alike, found)
        else:  # weighed and decided in one call: two would make a decision between ten arms take 2.5 % longer
            squares = _decide_weighed.call(packed, part.start, values, weights, available, alike, uniforms, found)
        if not squares <= _NOTHING_LARGE:
            check(values)
    if packed is None:
        direct(graphs, available, uniforms, found)
    return found


def weigh_bounds(
    lower: RoundsByArms, upper: RoundsByArms, *, noise: float, available: Offers, blind: RoundMask, found: "Weighed"
) -> None:
    """Weigh the arms by bounds of their values: the frequentist form.

    - `lower`, `upper`: the bounds, finite.
    - `noise`: the scale of the rewards' noise.
    - `blind`: the rounds that are to be played uniformly.
    """
    kernels_of("planning.information").weigh_bounds(lower, upper, noise, available, found)
    found.blind[:] = blind


def direct(
    graphs: FeedbackGraphs | ProbabilisticGraphs, available: Offers, uniforms: PerRound, found: "Weighed"
) -> None:
    """Decide weighed rounds: what the arms that each arm reveals teach, the distribution of the smallest ratio, a draw.

    g(j) = sum over the arms a that j reveals of v(a), each times its edge probability if it has one. Blind rounds, in
    which nothing distinguishes the arms yet, are played uniformly.

    >>> from graphbandit import graphs
    >>> stars, everyone = FeedbackGraphs.repeat(graphs.star(3, hub=0), 1), np.ones((1, 3), dtype=bool)
    >>> found = room_for(1, 3)
    >>> found.tables[0, 4], found.tables[0, 6], found.blind[:] = [1.0, 0.5, 2.0], [1.0, 2.0, 4.0], False
    >>> direct(stars, everyone, np.array([0.5]), found)
    >>> found.tables[0, 3], found.tables[0, 0]
    (array([7., 3., 5.]), array([0., 1., 0.]))
    """
    if isinstance(graphs, ProbabilisticGraphs):
        kernels_of("planning.information").direct_rounds_weighted(
            graphs.stored, graphs.index, available, uniforms, found
        )
        return
    for part, stored in kernel_batches(graphs):
        offered = available if len(available) == 1 else available[part]
        some: Weighed = tuple_of(type(found), (array[part] for array in found))
        _direct_rounds.call(stored, offered, uniforms[part], some)
