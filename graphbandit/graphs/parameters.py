"""The parameters of a feedback graph in the theory: independence and domination numbers, observability, degrees.

They say how hard a problem is; no learner needs any of them as input. See Alon, Cesa-Bianchi, Dekel & Koren
(2015), "Online learning with feedback graphs: beyond bandits", for the terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Bool
from graphbandit.errors import GraphBanditError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.independence import independence_bounds
from graphbandit.graphs.kernel_forms import kernel_graph


@dataclass(frozen=True, repr=False)
class Bounds:
    """A whole number known to lie between `lower` and `upper`.

    - `lower`, `upper`: equal if the number is known.

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


def independence_number(graph: FeedbackGraph, *, exact_limit: int = 200, node_budget: int = 100_000) -> Bounds:
    """alpha(G), the size of the largest set of arms no two of which are joined, in either direction.

    Arms that are dominated are dropped first, which settles most of a sparse graph. What is left falls into connected
    components. Each gets a greedy independent set below and a greedy clique cover above; where these do not meet, it is
    searched by branch and bound. The answer never depends on the clock.

    - `graph`: its edges count in either direction.
    - `exact_limit`: components of more arms are not searched; 200 by default.
    - `node_budget`: the most nodes that all searches together visit, 100,000 by default; after that the bounds found so
      far are returned.

    >>> from graphbandit.graphs import clique_group, star
    >>> independence_number(star(50)), independence_number(clique_group(50, 5)).value
    (Bounds(exactly 49), 5)
    """
    limit = setting_integer("exact_limit", exact_limit, at_least=0)
    budget = setting_integer("node_budget", node_budget, at_least=0)
    return Bounds(*independence_bounds(graph, limit, budget))


def observable_arms(graph: FeedbackGraph) -> Bool[np.ndarray, " arms"]:
    """The arms that some arm reveals: in(a) is not empty.

    - `graph`: the feedback graph.

    >>> observable_arms(FeedbackGraph.from_edges([(0, 1)], 2, require_loops=False))
    array([False,  True])
    """
    return np.diff(graph.in_csr().indptr) > 0


def strongly_observable_arms(graph: FeedbackGraph) -> Bool[np.ndarray, " arms"]:
    """The observable arms that have a self-loop or are revealed by all other arms.

    - `graph`: the feedback graph.

    >>> strongly_observable_arms(FeedbackGraph.from_dense([[0, 1, 1], [0, 0, 0], [1, 1, 1]], require_loops=False))
    array([False,  True,  True])
    """
    without_loop = np.isin(np.arange(graph.n_arms), graph.arms_without_loop)
    by_all_others = np.diff(graph.in_csr().indptr) == graph.n_arms - 1
    strong: Bool[np.ndarray, " arms"] = observable_arms(graph) & (~without_loop | by_all_others)
    return strong


def observability(graph: FeedbackGraph) -> Literal["strong", "weak", "unobservable"]:
    """Whether all arms are strongly observable ("strong"), or at least observable ("weak").

    The minimax regret after T rounds is of order T^(1/2), T^(2/3) and T (unobservable). The paper calls a graph
    strongly observable only if it has all self-loops.

    - `graph`: the feedback graph.

    >>> observability(FeedbackGraph.from_edges([(0, 1), (1, 0)], 2, require_loops=False))
    'strong'
    >>> observability(FeedbackGraph.from_edges([(0, 1), (1, 2), (2, 0)], 3, require_loops=False))
    'weak'
    """
    if strongly_observable_arms(graph).all():
        return "strong"
    return "weak" if observable_arms(graph).all() else "unobservable"


def weak_domination_number_bound(graph: FeedbackGraph) -> Bounds:
    """delta(G), the size of the smallest set of arms that together reveal every weakly observable arm.

    Weakly observable arms are observable, but not strongly. Above: greedy set cover, always the arm that reveals
    most of what is not yet covered; at most 1 + ln(weak arms) times too large. Below: weak arms no two of which
    are revealed by the same arm, so that each needs one of its own, fewest revealing arms first.

    - `graph`: the feedback graph.

    >>> weak_domination_number_bound(FeedbackGraph.from_edges([(0, 1), (0, 2), (1, 0)], 3, require_loops=False))
    Bounds(exactly 2)
    """
    weak = observable_arms(graph) & ~strongly_observable_arms(graph)
    rows = graph.in_csr()
    lower = 0
    spent: set[int] = set()
    for arms in sorted((set(rows.of(a).tolist()) for a in np.flatnonzero(weak)), key=len):
        if spent.isdisjoint(arms):
            lower += 1
            spent |= arms
    return Bounds(lower, greedy_cover(graph, weak, np.ones(graph.n_arms, dtype=np.bool_))[0])


def greedy_cover(
    graph: FeedbackGraph, wanted: Bool[np.ndarray, " arms"], available: Bool[np.ndarray, " arms"]
) -> tuple[int, Bool[np.ndarray, " arms"]]:
    """How many arms on offer reveal all that are wanted, chosen greedily, and which; -1 if they cannot reveal all."""
    from graphbandit.kernels.graphs.domination import greedy_dominating_set

    chosen = np.empty(graph.n_arms, dtype=np.bool_)
    size = greedy_dominating_set(kernel_graph(graph), np.ascontiguousarray(wanted), available, chosen)
    return int(size), chosen


def density(graph: FeedbackGraph) -> float:
    """The share of the ordered pairs of different arms that are edges; 0 for a single arm.

    - `graph`: the feedback graph.

    >>> density(FeedbackGraph.from_dense([[1, 1], [0, 1]]))
    0.5
    """
    pairs = graph.n_arms * (graph.n_arms - 1)
    return (graph.n_edges - graph.n_loops) / pairs if pairs else 0.0


@dataclass(frozen=True, kw_only=True)
class DegreeStatistics:
    """How many arms an arm reveals (out) and is revealed by (in). Self-loops count: they reveal a reward too.

    - `mean`: edges / arms, the same for both directions.
    - `min_out`, `max_out`: the fewest and the most arms that an arm reveals.
    - `min_in`, `max_in`: the fewest and the most arms that reveal an arm.
    """

    mean: float
    min_out: int
    max_out: int
    min_in: int
    max_in: int


def degree_statistics(graph: FeedbackGraph) -> DegreeStatistics:
    """The mean, smallest and largest degrees.

    - `graph`: the feedback graph.

    >>> degree_statistics(FeedbackGraph.from_dense([[1, 1, 1], [0, 1, 0], [0, 0, 1]]))
    DegreeStatistics(mean=1.6666666666666667, min_out=1, max_out=3, min_in=1, max_in=2)
    """
    out_degrees = np.diff(graph.csr().indptr)
    in_degrees = np.diff(graph.in_csr().indptr)
    return DegreeStatistics(
        mean=graph.n_edges / graph.n_arms,
        min_out=int(out_degrees.min()),
        max_out=int(out_degrees.max()),
        min_in=int(in_degrees.min()),
        max_in=int(in_degrees.max()),
    )
