"""What the theory asks of a feedback graph: independence and domination numbers, observability, degrees.

No learner needs any of them as input; they say how hard a problem is. See Alon, Cesa-Bianchi, Dekel & Koren
(2015), "Online learning with feedback graphs: beyond bandits", for the terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool

from graphbandit._independence import independence_bounds
from graphbandit.checks import setting_integer
from graphbandit.errors import GraphBanditError
from graphbandit.graphs import FeedbackGraph


@dataclass(frozen=True, repr=False)
class Bounds:
    """A whole number known to lie between `lower` and `upper`.

    >>> Bounds(3, 3), Bounds(3, 5)
    (Bounds(exactly 3), Bounds(3 to 5, not exact))
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper

    @property
    def value(self) -> int:
        """The number itself; an error if only bounds are known."""
        if not self.exact:
            raise GraphBanditError(f"the number is known as {self!r} only; use lower or upper, or search longer")
        return self.lower

    def __repr__(self) -> str:
        return f"Bounds(exactly {self.lower})" if self.exact else f"Bounds({self.lower} to {self.upper}, not exact)"


def independence_number(graph: FeedbackGraph, *, exact_limit: int = 200, node_budget: int = 50_000) -> Bounds:
    """alpha(G), the size of the largest set of arms no two of which are joined, in either direction.

    Arms that an easy argument settles are taken or dropped first (see `independence_bounds`). What is left falls
    into connected parts; a part of at most `exact_limit` arms is searched by branch and bound, larger ones get a
    greedy independent set below and a greedy clique cover above. The search of all parts together visits at
    most `node_budget` nodes, after which the bounds found so far stand: the answer never depends on the clock.

    >>> from graphbandit.graph_generators import clique_group, star
    >>> independence_number(star(50)), independence_number(clique_group(50, 5)).value
    (Bounds(exactly 49), 5)
    """
    limit = setting_integer("exact_limit", exact_limit, at_least=0)
    budget = setting_integer("node_budget", node_budget, at_least=0)
    return Bounds(*independence_bounds(graph, limit, budget))


def observable_arms(graph: FeedbackGraph) -> Bool[np.ndarray, " arms"]:
    """The arms that some arm reveals: in(a) is not empty."""
    return _in_degrees(graph) > 0


def strongly_observable_arms(graph: FeedbackGraph) -> Bool[np.ndarray, " arms"]:
    """The arms that have a self-loop or are revealed by all other arms, and by one at least.

    >>> alternating = FeedbackGraph.from_dense([[0, 1, 1], [1, 0, 0], [0, 1, 1]], require_loops=False)
    >>> strongly_observable_arms(alternating)
    array([False,  True,  True])
    """
    in_degrees = _in_degrees(graph)
    has_loop = np.ones(graph.n_arms, dtype=np.bool_)
    has_loop[graph.arms_without_loop] = False
    return has_loop | ((in_degrees == graph.n_arms - 1) & (in_degrees > 0))


def observability(graph: FeedbackGraph) -> Literal["strong", "weak", "unobservable"]:
    """ "strong" if all arms are strongly observable, "weak" if all are observable, else "unobservable".

    The minimax regret after T rounds is of order T^1/2, T^2/3 and T. (The paper calls a graph strongly
    observable only if it has all self-loops.)

    >>> observability(FeedbackGraph.from_dense([[0, 1], [1, 0]], require_loops=False))
    'strong'
    >>> observability(FeedbackGraph.from_dense([[1, 1], [0, 0]], require_loops=False))
    'strong'
    """
    if strongly_observable_arms(graph).all():
        return "strong"
    return "weak" if observable_arms(graph).all() else "unobservable"


def weak_domination_number_bound(graph: FeedbackGraph) -> Bounds:
    """delta(G), the size of the smallest set of arms that together reveal every weakly observable arm.

    Weakly observable arms are observable, but not strongly. Above, greedy set cover: always the arm that reveals
    most of what is not yet covered, at most 1 + ln(weak arms) times too large. Below, weak arms of which no two
    are revealed by the same arm: each needs an arm of its own.

    >>> apart = FeedbackGraph.from_edges([(0, 1), (0, 2), (3, 0), (1, 3)], 4, require_loops=False)
    >>> weak_domination_number_bound(apart)
    Bounds(exactly 3)
    """
    weak = np.flatnonzero(observable_arms(graph) & ~strongly_observable_arms(graph))
    revealed_by = {int(a): graph.revealed_by(a) for a in weak}
    return Bounds(_disjoint_rows(revealed_by), _greedy_cover(graph, revealed_by))


def density(graph: FeedbackGraph) -> float:
    """The share of the ordered pairs of different arms that are edges; 0 for a single arm.

    >>> density(FeedbackGraph.from_dense([[1, 1], [0, 1]]))
    0.5
    """
    pairs = graph.n_arms * (graph.n_arms - 1)
    return (graph.n_edges - graph.n_loops) / pairs if pairs else 0.0


@dataclass(frozen=True, kw_only=True)
class DegreeStatistics:
    """Smallest, mean and largest numbers of arms that an arm reveals (out) and is revealed by (in), itself included."""

    min_out: int
    max_out: int
    min_in: int
    max_in: int
    mean: float
    """The mean of the out-degrees, which is that of the in-degrees too."""
