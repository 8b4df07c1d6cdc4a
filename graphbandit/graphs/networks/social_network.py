"""A generated social network that stands in for Flixster where no data file is at hand."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np

from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.shapes import Float, Int32, Int64
from graphbandit.errors import SettingError
from graphbandit.graphs.networks.network import NODE_LIMIT, Network

FLIXSTER_MEAN_DEGREE = 2 * 7_918_801 / 2_523_386
"""2 edges / nodes of the ASU crawl of Flixster: 6.28."""

FLIXSTER_LARGEST_DEGREE = 1_474
"""The largest degree of the same crawl."""

STAND_IN_NODES = 50_000
"""Nodes of the network that stands in for Flixster: enough for its largest degrees, and made in about a second."""

_ROUNDS = 200  # of swaps; a few dozen are enough unless the largest degrees are too close to the number of nodes


def social_network(
    n_nodes: SupportsIndex = STAND_IN_NODES,
    *,
    mean_degree: float = FLIXSTER_MEAN_DEGREE,
    largest_degree: SupportsIndex = FLIXSTER_LARGEST_DEGREE,
    rng: np.random.Generator,
) -> Network:
    """A connected network with power-law degrees; the defaults are Flixster's published figures.

    Degrees have P(d) proportional to d^-g on 1 .. largest_degree, where g is what gives the mean: 1.91 for Flixster's.
    That also gives its median and mode, 1. They are the quantiles of that law at (i + u) / n_nodes with one uniform u,
    so that every draw meets the figures. Edges are those of the configuration model: the ends are paired at random;
    self-loops and repeats are then swapped away with random other edges, and small components are swapped into
    the large one, both without changing a degree.

    In real networks friends of friends are often friends; here they are so no more often than by chance.

    - `n_nodes`: 50,000 by default.
    - `mean_degree`: the mean number of friends, 6.28 by default.
    - `largest_degree`: the most friends of a node, 1474 by default.
    - `rng`: draws degrees and edges.

    >>> social_network(2000, largest_degree=100, rng=np.random.default_rng(0))
    Network(n_nodes=2000, n_edges=6285)
    """
    size = setting_integer("n_nodes", n_nodes, at_least=2, at_most=NODE_LIMIT)
    largest = setting_integer("largest_degree", largest_degree, at_least=1)
    if largest >= size:
        raise SettingError(f"largest_degree is {largest}; expected less than n_nodes = {size}")
    law = power_law(setting_number("mean_degree", mean_degree, at_least=1), largest)
    places = (np.arange(size) + rng.random()) / size
    degrees = 1 + np.searchsorted(np.cumsum(law)[:-1], places, side="right")
    degrees[-1] -= degrees.sum() % 2  # each edge has two ends; the last degree is the largest
    ends = np.repeat(rng.permutation(size).astype(np.int32), degrees)
    pairs = rng.permutation(ends).reshape(-1, 2)
    return Network.of_nodes(_connected(_simple(pairs, size, rng), size, rng), size)


def power_law(mean: float, largest: int) -> Float[np.ndarray, " degrees"]:
    """P(1), ..., P(largest), proportional to d^-g with the g that gives the mean, found by bisection.

    >>> law = power_law(FLIXSTER_MEAN_DEGREE, FLIXSTER_LARGEST_DEGREE)
    >>> [round(float(p), 3) for p in law[:3]]
    [0.576, 0.153, 0.071]
    """
    degrees = np.arange(1.0, largest + 1)
    if mean > (1 + largest) / 2:
        raise SettingError(
            f"mean_degree is {mean:g}; expected at most {(1 + largest) / 2:g}, half of the largest degree"
        )
    low, high = 0.0, 64.0
    for _ in range(100):
        exponent = (low + high) / 2
        weights: Float[np.ndarray, " degrees"] = degrees**-exponent
        too_steep = (weights * (degrees - mean)).sum() < 0
        low, high = (low, exponent) if too_steep else (exponent, high)
    weights /= weights.sum()
    return weights


def _simple(
    pairs: Int32[np.ndarray, "edges 2"], n_nodes: int, rng: np.random.Generator
) -> Int32[np.ndarray, "edges 2"]:
    """The same degrees without self-loops or repeats: such edges swap ends with random others until there are none."""
    for _ in range(_ROUNDS):
        keys = pairs.min(axis=1).astype(np.int64) * n_nodes + pairs.max(axis=1)
        order = np.argsort(keys, kind="stable")
        bad = pairs[:, 0] == pairs[:, 1]
        bad[order[1:]] |= keys[order[1:]] == keys[order[:-1]]
        wrong, good = np.flatnonzero(bad), np.flatnonzero(~bad)
        if not len(wrong):
            return pairs
        if len(good) < len(wrong):
            break
        _swap(pairs, wrong, rng.choice(good, len(wrong), replace=False))
    raise SettingError(
        f"n_nodes is {n_nodes}, too few for these degrees; expected more nodes or a smaller largest_degree"
    )


def _connected(
    pairs: Int32[np.ndarray, "edges 2"], n_nodes: int, rng: np.random.Generator
) -> Int32[np.ndarray, "edges 2"]:
    """The same degrees in one connected component.

    One edge of every small component swaps ends with an edge of the largest component that is not in its spanning tree.
    Both ends of the first edge are then joined to that tree.
    """
    import scipy

    from graphbandit.kernels.graphs.networks import grown_sets

    component = grown_sets(pairs[:, 0], pairs[:, 1], np.arange(len(pairs)), n_nodes, n_nodes)
    largest = int(np.argmax(np.bincount(component)))
    components, one_each = np.unique(component[pairs[:, 0]], return_index=True)
    small = one_each[components != largest]
    graph = scipy.sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_nodes, n_nodes))
    _, before = scipy.sparse.csgraph.breadth_first_order(graph.tocsr(), largest, directed=False)
    in_tree = (before[pairs[:, 0]] == pairs[:, 1]) | (before[pairs[:, 1]] == pairs[:, 0])
    spare = np.flatnonzero((component[pairs[:, 0]] == largest) & ~in_tree)
    if len(spare) < len(small):
        raise SettingError(f"n_nodes is {n_nodes}, which so few edges do not connect; expected a larger mean_degree")
    _swap(pairs, small, rng.choice(spare, len(small), replace=False))
    return pairs


def _swap(
    pairs: Int32[np.ndarray, "edges 2"], some: Int64[np.ndarray, " swaps"], others: Int64[np.ndarray, " swaps"]
) -> None:
    """Edges (a, b) and (c, d) become (a, c) and (b, d)."""
    pairs[some, 1], pairs[others, 0] = pairs[others, 0], pairs[some, 1].copy()
