"""One way to ask a feedback graph for its edges, whichever way it is stored.

Kernels take a graph as a `Graph`, packed or listed, from a batch of `Graphs`, and ask it the questions of this module
and of `graphs.incidence`. Whether it is packed or listed is known here alone.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from graphbandit.base.array_types import ArmIndices, ArmMask, PerArm
from graphbandit.base.shapes import Int32, Int64, UInt64
from graphbandit.kernels.graphs.arm_sets import ArmSet, has, ones, set_of, trailing_zeros
from graphbandit.kernels.jit import inner


class Graph(NamedTuple):
    """One graph: bit-packed rows, or, where `words` has no columns, neighbour lists."""

    words: UInt64[np.ndarray, "arms words"]
    pointers: Int64[np.ndarray, " ptr"]
    arms: Int32[np.ndarray, " edges"]
    """``arms[pointers[j]:pointers[j + 1]]`` are the arms that j reveals ..."""
    in_pointers: Int64[np.ndarray, " ptr"]
    in_arms: Int32[np.ndarray, " edges"]
    """... and ``in_arms[in_pointers[a]:in_pointers[a + 1]]`` those that reveal a"""


# repeats the lists of `Graph`: `graph_of` hands them on as they are
class Graphs(NamedTuple):
    """A batch: round t has the packed graph ``words[place[t]]``, or all have the one that is listed."""

    words: UInt64[np.ndarray, "stored arms words"]
    place: Int32[np.ndarray, " n"]
    pointers: Int64[np.ndarray, " ptr"]
    arms: Int32[np.ndarray, " edges"]
    in_pointers: Int64[np.ndarray, " ptr"]
    in_arms: Int32[np.ndarray, " edges"]


def _read_only(dtype: Any, dimensions: int) -> Any:
    return types.Array(dtype, dimensions, "C", readonly=True)


_LISTS = (_read_only(types.int64, 1), _read_only(types.int32, 1)) * 2
GRAPH = types.NamedTuple((_read_only(types.uint64, 2), *_LISTS), Graph)
"""The type of a `Graph`, as signatures have it."""


@inner()
def graph_of(graphs: Graphs, t: int) -> Graph:
    """The graph of round t."""
    return Graph(graphs.words[graphs.place[t]], graphs.pointers, graphs.arms, graphs.in_pointers, graphs.in_arms)


@inner()
def reveals(graph: Graph, arm: int, arms: ArmIndices) -> Any:
    """Write the arms that playing `arm` reveals into `arms`, ascending, and return how many there are."""
    count: Any = np.int64(0)  # not a literal: functions that receive it would be compiled once more for it
    if graph.words.shape[1] == 0:
        start = graph.pointers[arm]
        count = graph.pointers[arm + 1] - start
        for k in range(count):
            arms[k] = graph.arms[start + k]
        return count
    for w in range(graph.words.shape[1]):
        word = graph.words[arm, w]
        while word != np.uint64(0):
            arms[count] = 64 * w + trailing_zeros(word)
            count += 1
            word &= word - np.uint64(1)
    return count


@inner()
def reveals_among(graph: Graph, arm: int, among: ArmSet, arms: ArmIndices) -> int:
    """`reveals`, of the arms of a set alone."""
    count = 0
    if graph.words.shape[1] == 0:
        for k in range(graph.pointers[arm], graph.pointers[arm + 1]):
            arms[count] = graph.arms[k]
            count += has(among, graph.arms[k])
    for w in range(graph.words.shape[1]):
        word = graph.words[arm, w] & among[w]
        while word != np.uint64(0):
            arms[count] = 64 * w + trailing_zeros(word)
            count += 1
            word &= word - np.uint64(1)
    return count


@inner()
def reveals_all(graph: Graph, arm: int, wanted: ArmSet) -> bool:
    """Whether playing `arm` reveals all arms of a set."""
    missing = 0
    for w in range(wanted.shape[0]):
        revealed = graph.words[arm, w] if graph.words.shape[1] > 0 else np.uint64(0)
        missing += ones(wanted[w] & ~revealed)
    if graph.words.shape[1] == 0:
        for k in range(graph.pointers[arm], graph.pointers[arm + 1]):
            missing -= has(wanted, graph.arms[k])
    return missing == 0


@inner()
def revealers(graph: Graph, arm: int, available: ArmMask, arms: ArmIndices) -> int:
    """Write the arms on offer that reveal `arm` into `arms`, ascending, and return how many there are.

    `arms` must have room for one more.
    """
    count = 0
    if graph.words.shape[1] == 0:
        for k in range(graph.in_pointers[arm], graph.in_pointers[arm + 1]):
            arms[count] = graph.in_arms[k]
            count += available[graph.in_arms[k]]
    else:
        for j in range(available.shape[0]):
            arms[count] = j
            count += available[j] and has(graph.words[j], arm)
    return count


@inner()
def total_revealed(graph: Graph, arm: int, values: PerArm) -> float:
    """The sum of the values of the arms that playing `arm` reveals, ascending."""
    total = 0.0
    if graph.words.shape[1] == 0:
        for k in range(graph.pointers[arm], graph.pointers[arm + 1]):
            total += values[graph.arms[k]]
    for w in range(graph.words.shape[1]):
        word = graph.words[arm, w]
        while word != np.uint64(0):
            total += values[np.uint64(64 * w + trailing_zeros(word))]
            word &= word - np.uint64(1)
    return total


@inner()
def observation_probabilities(graph: Graph, probabilities: PerArm, observed: PerArm) -> None:
    """q(a) = sum of p(j) over the arms j that reveal a."""
    for a in range(observed.shape[0]):
        observed[a] = 0.0
    n_words = graph.words.shape[1]
    for j in range(probabilities.shape[0]):
        p = probabilities[j]
        if p > 0.0:
            if n_words == 0:
                for k in range(graph.pointers[j], graph.pointers[j + 1]):
                    observed[graph.arms[k]] += p
            for w in range(n_words):
                word = graph.words[j, w]
                while word != np.uint64(0):
                    observed[np.uint64(64 * w + trailing_zeros(word))] += p
                    word &= word - np.uint64(1)


@inner()
def subtract_prices(graph: Graph, prices: PerArm, totals: PerArm) -> None:
    """totals(j) -= y(a) for each arm a of positive price y(a) that j reveals, ascending."""
    n_arms, n_words = totals.shape[0], graph.words.shape[1]
    if n_words == 0:
        for a in range(n_arms):
            if prices[a] > 0.0:
                for k in range(graph.in_pointers[a], graph.in_pointers[a + 1]):
                    totals[graph.in_arms[k]] -= prices[a]
        return
    priced = set_of(prices)
    for j in range(n_arms):
        for w in range(n_words):
            word = graph.words[j, w] & priced[w]
            while word != np.uint64(0):
                totals[j] -= prices[np.uint64(64 * w + trailing_zeros(word))]
                word &= word - np.uint64(1)
