"""Feedback graphs to order: the three kinds of the paper's experiments, and other common ones.

All have self-loops. A random one takes a ``numpy.random.Generator``; the same state gives the same graph.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.shapes import Bool, Int, Int64
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph
from graphbandit.graphs.sparse_rows import SparseRows
from graphbandit.graphs.user_input import checked_n_arms


def bandit(n_arms: SupportsIndex) -> FeedbackGraph:
    """Self-loops only: each arm reveals its own reward, as in an ordinary bandit.

    >>> bandit(3).to_dense().astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    return FeedbackGraph.from_edges([], n_arms, add_loops=True)


def complete(n_arms: SupportsIndex) -> FeedbackGraph:
    """Every arm reveals all: full information.

    >>> complete(3)
    FeedbackGraph(n_arms=3, n_edges=9, n_loops=3)
    """
    return clique_group(n_arms, 1)


def star(
    n_arms: SupportsIndex, hub: SupportsIndex | None = None, *, rng: np.random.Generator | None = None
) -> FeedbackGraph:
    """One hub joined to all other arms in both directions; the paper's k-tree.

    - `n_arms`: K.
    - `hub`: the arm in the middle; None (default): arm 0, or drawn by `rng`.
    - `rng`: draws the hub; None (default): nothing is drawn.

    >>> star(4, hub=1).to_dense().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 1],
           [0, 1, 1, 0],
           [0, 1, 0, 1]])
    """
    size = checked_n_arms(n_arms)
    if hub is not None and rng is not None:
        raise SettingError(f"hub is {hub!r} and rng is given too; expected one of them")
    center = setting_integer("hub", 0 if hub is None else hub, at_least=0)
    if center >= size:
        raise SettingError(f"hub is {center}; expected an arm of 0 .. {size - 1}")
    if rng is not None:
        center = int(rng.integers(size))
    edges = np.stack([np.full(size, center), np.arange(size)], axis=1)
    return FeedbackGraph.from_edges(edges, size, directed=False, add_loops=True)


def clique_group(
    n_arms: SupportsIndex, n_cliques: SupportsIndex = 5, *, rng: np.random.Generator | None = None
) -> FeedbackGraph:
    """Disjoint cliques of sizes as equal as possible.

    - `n_arms`: K.
    - `n_cliques`: 5 by default.
    - `rng`: draws the members of the cliques; None (default): consecutive arms.

    >>> clique_group(5, 2).to_dense().astype(int)
    array([[1, 1, 1, 0, 0],
           [1, 1, 1, 0, 0],
           [1, 1, 1, 0, 0],
           [0, 0, 0, 1, 1],
           [0, 0, 0, 1, 1]])
    """
    cliques = clique_labels(1, checked_n_arms(n_arms), n_cliques, rng)[0]
    if len(cliques) <= PACKED_LIMIT:
        return FeedbackGraph.from_dense(cliques[:, None] == cliques)
    # row a holds the members of a's clique, which are consecutive in the order of cliques
    by_clique = np.argsort(cliques, kind="stable").astype(np.int32)
    sizes = np.bincount(cliques)
    first_member = np.cumsum(sizes) - sizes
    indptr = np.concatenate([[0], np.cumsum(sizes[cliques])])
    offsets = np.repeat(first_member[cliques] - indptr[:-1], sizes[cliques])
    return FeedbackGraph(len(cliques), SparseRows(indptr, by_clique[offsets + np.arange(indptr[-1])]))


# Generators of joined pairs end alike; each is short enough to be read on its own.


def random_graph(n_arms: SupportsIndex, density: float = 0.05, *, rng: np.random.Generator) -> FeedbackGraph:
    """The paper's random graph: ceil(density K²) times, join two uniformly drawn arms in both directions.

    The two arms may be the same, and a pair may be drawn again, so there are at most so many joined pairs.

    - `n_arms`: K.
    - `density`: 0.05 by default.
    - `rng`: draws the arms.

    >>> random_graph(10, 0.1, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=26, n_loops=10)
    """
    size = checked_n_arms(n_arms)
    edges = uniform_pairs(1, size, density, rng)[0]
    return FeedbackGraph.from_edges(edges, size, directed=False, add_loops=True)


def erdos_renyi(n_arms: SupportsIndex, probability: float, *, rng: np.random.Generator) -> FeedbackGraph:
    """Directed: each arm reveals each other arm with the same probability, independently.

    - `n_arms`: K.
    - `probability`: of an edge.
    - `rng`: draws the edges.

    >>> erdos_renyi(10, 0.2, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=25, n_loops=10)
    """
    size = checked_n_arms(n_arms)
    if size <= PACKED_LIMIT:
        return FeedbackGraph.from_dense(bernoulli_matrices(1, size, probability, rng)[0])
    entries = _successes(size * size, checked_probability(probability), rng)
    return FeedbackGraph.from_edges(np.stack(np.divmod(entries, size), axis=1), size, add_loops=True)


def preferential_attachment(
    n_arms: SupportsIndex, edges_per_arm: SupportsIndex = 2, *, rng: np.random.Generator
) -> FeedbackGraph:
    """Barabási-Albert: each arm joins earlier ones, drawn in proportion to how often they are joined already.

    Undirected and connected. Each arm makes `edges_per_arm` draws with replacement; an arm drawn twice counts
    twice in later draws and is one edge of the graph.

    - `n_arms`: K.
    - `edges_per_arm`: how many draws an arm makes, 2 by default.
    - `rng`: makes the draws.

    >>> preferential_attachment(10, 2, rng=np.random.default_rng(0))
    FeedbackGraph(n_arms=10, n_edges=42, n_loops=10)
    """
    size = checked_n_arms(n_arms)
    edges = attachment_pairs(1, size, edges_per_arm, rng)[0]
    return FeedbackGraph.from_edges(edges, size, directed=False, add_loops=True)


# What the random kinds draw, for n graphs at once. `rng` is used graph by graph, so that drawing a graphs and
# then b graphs gives the same as drawing a + b.


def clique_labels(
    n: int, n_arms: int, n_cliques: SupportsIndex, rng: np.random.Generator | None
) -> Int64[np.ndarray, "n arms"]:
    """The clique of every arm: consecutive arms, or shuffled with `rng`."""
    count = setting_integer("n_cliques", n_cliques, at_least=1)
    if count > n_arms:
        raise SettingError(f"n_cliques is {count}; expected at most {n_arms}, the number of arms")
    labels = np.broadcast_to(np.arange(n_arms) * count // n_arms, (n, n_arms))
    return labels if rng is None else rng.permuted(labels, axis=1)


def uniform_pairs(n: int, n_arms: int, density: float, rng: np.random.Generator) -> Int64[np.ndarray, "n pairs 2"]:
    """ceil(density K²) pairs of uniformly drawn arms."""
    n_pairs = ceil(setting_number("density", density, at_least=0) * n_arms**2)
    return rng.integers(n_arms, size=(n, n_pairs, 2))


def bernoulli_matrices(
    n: int, n_arms: int, probability: float, rng: np.random.Generator
) -> Bool[np.ndarray, "n arms arms"]:
    """Matrices with independent entries, and the diagonal true."""
    matrices = rng.random((n, n_arms, n_arms)) < checked_probability(probability)
    matrices[:, np.arange(n_arms), np.arange(n_arms)] = True
    return matrices


def attachment_pairs(
    n: int, n_arms: int, edges_per_arm: SupportsIndex, rng: np.random.Generator
) -> Int64[np.ndarray, "n pairs 2"]:
    """Pairs (v, earlier arm) of preferential attachment, in linear time as Batagelj & Brandes (2005) do.

    Write the ends of all edges in one list: edge k of arm v has the ends 2k (v itself) and 2k + 1 (whom it
    joins). An arm stands in the list as often as it is joined, so a uniform place in the part written before
    v is a draw in proportion to that. An even place names an arm; an odd one says "the same as edge k'", a
    chain that ends at an even place. All chains are followed at once, in steps that double: no loop over arms.
    """
    draws = setting_integer("edges_per_arm", edges_per_arm, at_least=1)
    arms = np.repeat(np.arange(1, n_arms), draws)
    written = 2 * draws * (arms - 1)
    place = (rng.random((n, len(arms))) * written).astype(np.int64)
    edge = place // 2
    same_as = np.where(place % 2 == 1, edge, np.arange(len(arms)))
    joined = np.where(written == 0, 0, arms[edge]) if len(arms) else edge
    while True:
        further = np.take_along_axis(same_as, same_as, axis=1)
        if np.array_equal(further, same_as):
            break
        same_as = further
    joined = np.take_along_axis(joined, same_as, axis=1)
    return np.stack([np.broadcast_to(arms, joined.shape), joined], axis=-1)


def checked_probability(probability: float) -> float:
    """A number of 0 to 1."""
    if setting_number("probability", probability, at_least=0) > 1:
        raise SettingError(f"probability is {probability!r}; expected a number of 0 to 1")
    return float(probability)


def _successes(trials: int, probability: float, rng: np.random.Generator) -> Int[np.ndarray, " successes"]:
    """The places of successes in a row of trials, by their geometric gaps: no work for the failures."""
    found = np.zeros(0, dtype=np.int64)
    last = -1
    while probability > 0 and last < trials:
        expected = (trials - last) * probability
        gaps = rng.geometric(probability, size=int(expected + 4 * sqrt(expected)) + 10)
        # a gap past the end is as good as any longer one, and sums without overflow
        places = last + np.cumsum(np.minimum(gaps, trials + 1))
        found = np.concatenate([found, places])
        last = int(places[-1])
    return found[found < trials]
