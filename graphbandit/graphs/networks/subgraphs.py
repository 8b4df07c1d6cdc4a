"""Connected subgraphs of a social network, as feedback graphs: how they are sampled, by name.

The sampler decides what the graphs look like, their independence number above all, so it is always named:

- "union-find", the paper's: go through the edges in random order and join the sets of their ends, unless that gives
  more than `size` nodes; sets of exactly `size` are kept. One pass gives many disjoint sets.
- "random-walk": from a random node, step to a random neighbour, or with probability 0.15 jump back to one of
  the nodes visited so far, until `size` different nodes have been visited.
- "bfs", the snowball: from a random node, take its neighbours in random order, then theirs.

All are connected, and *induced*: they have every edge of the network between their nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import SupportsIndex, get_args

import numpy as np

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.base.choices import Sampler
from graphbandit.base.shapes import Int32
from graphbandit.errors import GraphError, SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.networks.network import Network

RESTART = 0.15
"""How often a random walk jumps back."""

PASSES = 200
"""How many passes of union-find in a row may give no set of the right size."""

_STEPS = 1024  # of a walk, drawn at once


def sample_subgraphs(
    network: Network,
    size: SupportsIndex,
    count: SupportsIndex,
    *,
    sampler: Sampler = "union-find",
    rng: np.random.Generator,
) -> FeedbackGraphs:
    """`count` connected feedback graphs of `size` arms; playing an arm reveals it and its friends among the arms.

    - `network`: where they are cut from.
    - `size`: the arms of each.
    - `count`: how many.
    - `sampler`: "union-find" (default), "random-walk" or "bfs"; `docs/networks.md` compares them.
    - `rng`: draws them.

    >>> ring = Network.from_edges([(i, (i + 1) % 30) for i in range(30)])
    >>> graphs = sample_subgraphs(ring, 5, 3, rng=np.random.default_rng(0))
    >>> [graph.n_edges for graph in graphs]
    [13, 13, 13]
    """
    nodes = sample_nodes(network, size, count, sampler=sampler, rng=rng)
    return FeedbackGraphs.stack(network.feedback_graph(row) for row in nodes)


def sample_nodes(
    network: Network,
    size: SupportsIndex,
    count: SupportsIndex,
    *,
    sampler: Sampler = "union-find",
    rng: np.random.Generator,
) -> Int32[np.ndarray, "count size"]:
    """The nodes of the subgraphs that `sample_subgraphs` gives, each row in ascending order."""
    setting_choice("sampler", sampler, get_args(Sampler))
    wanted = setting_integer("count", count, at_least=1)
    n = setting_integer("size", size, at_least=1)
    if not isinstance(network, Network):
        raise SettingError(f"network is {network!r}; expected a Network")
    largest = int(network.component_sizes.max(initial=0))
    if n > largest:
        raise GraphError(
            f"size is {n}; expected at most {largest}, the nodes of the network's largest connected component"
        )
    return np.sort(SAMPLERS[sampler](network, n, wanted, rng), axis=1)


def _union_find(network: Network, size: int, count: int, rng: np.random.Generator) -> Int32[np.ndarray, "count size"]:
    """Passes with new shuffles until there are enough; of more sets than are needed, some drawn uniformly."""
    from graphbandit.kernels.graphs.networks import grown_sets

    edges = network.edges()
    order = np.arange(len(edges))
    found: list[Int32[np.ndarray, "_ size"]] = []
    missing, in_vain = count, 0
    while missing:
        rng.shuffle(order)
        sets = grown_sets(edges[:, 0], edges[:, 1], order, network.n_nodes, size)
        kept = np.flatnonzero(np.bincount(sets, minlength=network.n_nodes)[sets] == size)
        by_set = kept[np.argsort(sets[kept], kind="stable")].reshape(-1, size).astype(np.int32)
        by_set = by_set[np.argsort(by_set[:, 0])]  # in the order of their smallest nodes
        in_vain = 0 if len(by_set) else in_vain + 1
        if in_vain == PASSES:
            expected = "expected another size, or another sampler"
            raise GraphError(f"{PASSES} passes of union-find found no part of exactly size = {size}; {expected}")
        if len(by_set) > missing:
            by_set = by_set[rng.choice(len(by_set), missing, replace=False)]
        found.append(by_set)
        missing -= len(by_set)
    return np.concatenate(found)


def _walk(network: Network, root: int, size: int, rng: np.random.Generator) -> list[int]:
    """A jump leads to any visited node: if it always led to the first, a walk along a long path would hardly end."""
    visited, order = {root}, [root]
    at = root
    while True:
        for back, which in rng.random((_STEPS, 2)).tolist():
            if len(order) == size:
                return order
            if back < RESTART:
                at = order[int(which * len(order))]
                continue
            neighbours = network.rows.of(at)
            at = int(neighbours[int(which * len(neighbours))])
            if at not in visited:
                visited.add(at)
                order.append(at)


def _snowball(network: Network, root: int, size: int, rng: np.random.Generator) -> list[int]:
    taken, order = {root}, [root]
    for at in order:  # `order` grows meanwhile
        if len(order) == size:
            break
        for neighbour in rng.permutation(network.rows.of(at)).tolist():
            if neighbour not in taken and len(order) < size:
                taken.add(neighbour)
                order.append(neighbour)
    return order


def _from_roots(
    grow: Callable[[Network, int, int, np.random.Generator], list[int]],
    network: Network,
    size: int,
    count: int,
    rng: np.random.Generator,
) -> Int32[np.ndarray, "count size"]:
    """Grow a subgraph from each of `count` nodes, drawn uniformly from the components that are large enough."""
    roots = rng.choice(np.flatnonzero(network.component_sizes >= size), count).tolist()
    return np.array([grow(network, root, size, rng) for root in roots], dtype=np.int32)


SAMPLERS: dict[Sampler, Callable[[Network, int, int, np.random.Generator], Int32[np.ndarray, "count size"]]] = {
    "union-find": _union_find,
    "random-walk": partial(_from_roots, _walk),
    "bfs": partial(_from_roots, _snowball),
}
"""How subgraphs are sampled, by name."""
