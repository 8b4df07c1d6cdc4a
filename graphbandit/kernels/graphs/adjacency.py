"""One way to ask a feedback graph for its edges, whichever way it is stored.

To the kernels a graph is either `words`, a bit-packed uint64 array (arms, words) as in `FeedbackGraph.words`, or,
for large graphs, the tuple (indptr, indices, in_indptr, in_indices) of its out- and in-neighbour lists.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.kernels.jit import kernel


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The position of the lowest set bit of a non-zero uint64: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


trailing_zeros: Any = intrinsic(_trailing_zeros)


def reveals(graph: Any, arm: int, arms: Int[np.ndarray, " arms"]) -> int:
    """Write the arms that playing `arm` reveals into `arms`, ascending, and return how many there are."""
    raise TypeError("reveals is for compiled code")


@overload(reveals)
def _reveals(graph: Any, arm: Any, arms: Any) -> Any:
    if isinstance(graph, types.Array):

        def packed(graph: Any, arm: Any, arms: Any) -> Any:
            count = 0
            for w in range(graph.shape[1]):
                word = graph[arm, w]
                while word != np.uint64(0):
                    arms[count] = 64 * w + trailing_zeros(word)
                    count += 1
                    word &= word - np.uint64(1)
            return count

        return packed

    def listed(graph: Any, arm: Any, arms: Any) -> Any:
        start = graph[0][arm]
        count = graph[0][arm + 1] - start
        for k in range(count):
            arms[k] = graph[1][start + k]
        return count

    return listed


def restrict(
    graph: Any,
    row_of: Int[np.ndarray, " arms"],
    rows: Int[np.ndarray, " rows"],
    best: int,
    available: Bool[np.ndarray, " arms"],
    scratch: Int[np.ndarray, " arms"],
) -> tuple[Int[np.ndarray, " columns"], Int[np.ndarray, " ptr"], Int[np.ndarray, " entries"]]:
    """The columns of the sampling program that matter: `best`, and every available arm that reveals a row.

    `rows` are the arms whose observation probability is constrained, `row_of[a]` the place of arm a among them, or
    -1. Returns the arms of the columns, ascending, and for each the rows it reveals (pointers and row numbers).
    No other arm can carry mass in an optimum: it would cost something and reveal nothing that is asked for.
    """
    raise TypeError("restrict is for compiled code")


@overload(restrict)
def _restrict(graph: Any, row_of: Any, rows: Any, best: Any, available: Any, scratch: Any) -> Any:
    if isinstance(graph, types.Array):

        def packed(graph: Any, row_of: Any, rows: Any, best: Any, available: Any, scratch: Any) -> Any:
            n_arms, n_words = graph.shape
            mask = np.zeros(n_words, np.uint64)
            for i in range(rows.shape[0]):
                mask[rows[i] >> 6] |= np.uint64(1) << np.uint64(rows[i] & 63)
            columns = np.empty(n_arms, np.int32)
            pointers = np.empty(n_arms + 1, np.int32)
            entries = np.empty(max(4 * rows.shape[0], 64), np.int32)
            count = 0
            used = 0
            pointers[0] = 0
            for j in range(n_arms):
                if not available[j]:
                    continue
                start = used
                for w in range(n_words):
                    word = graph[j, w] & mask[w]
                    while word != np.uint64(0):
                        if used == entries.shape[0]:
                            longer = np.empty(2 * used, np.int32)
                            longer[:used] = entries
                            entries = longer
                        entries[used] = row_of[64 * w + trailing_zeros(word)]
                        used += 1
                        word &= word - np.uint64(1)
                if used > start or j == best:
                    columns[count] = j
                    count += 1
                    pointers[count] = used
            return columns[:count], pointers[: count + 1], entries[:used]

        return packed

    def listed(graph: Any, row_of: Any, rows: Any, best: Any, available: Any, scratch: Any) -> Any:
        # From the rows' in-neighbours: arms far from them are never touched. `scratch` marks columns found.
        in_pointers, in_indices = graph[2], graph[3]
        total = 0
        for i in range(rows.shape[0]):
            total += in_pointers[rows[i] + 1] - in_pointers[rows[i]]
        found = np.empty(total + 1, np.int32)
        found[0] = best
        scratch[best] = 0
        count = 1
        for i in range(rows.shape[0]):
            for k in range(in_pointers[rows[i]], in_pointers[rows[i] + 1]):
                j = in_indices[k]
                if available[j]:
                    if scratch[j] < 0:
                        scratch[j] = 0
                        found[count] = j
                        count += 1
                    scratch[j] += 1
        columns = np.sort(found[:count])
        pointers = np.empty(count + 1, np.int32)
        pointers[0] = 0
        for c in range(count):
            pointers[c + 1] = pointers[c] + scratch[columns[c]]
            scratch[columns[c]] = pointers[c]
        entries = np.empty(pointers[count], np.int32)
        for i in range(rows.shape[0]):
            for k in range(in_pointers[rows[i]], in_pointers[rows[i] + 1]):
                j = in_indices[k]
                if available[j]:
                    entries[scratch[j]] = i
                    scratch[j] += 1
        for c in range(count):
            scratch[columns[c]] = -1
        return columns, pointers, entries

    return listed


@kernel()
def transpose_lists(
    pointers: Int[np.ndarray, " ptr"], entries: Int[np.ndarray, " entries"], n_rows: int
) -> tuple[Int[np.ndarray, " row_ptr"], Int[np.ndarray, " entries"]]:
    """From the rows of each column to the columns of each row."""
    row_pointers = np.zeros(n_rows + 1, np.int32)
    for k in range(entries.shape[0]):
        row_pointers[entries[k] + 1] += 1
    for i in range(n_rows):
        row_pointers[i + 1] += row_pointers[i]
    place = row_pointers[:-1].copy()
    row_entries = np.empty(entries.shape[0], np.int32)
    for c in range(pointers.shape[0] - 1):
        for k in range(pointers[c], pointers[c + 1]):
            row = entries[k]
            row_entries[place[row]] = c
            place[row] += 1
    return row_pointers, row_entries


@kernel()
def observation_probabilities(
    graph: Any,
    probabilities: Float[np.ndarray, " arms"],
    scratch: Int[np.ndarray, " arms"],
    observed: Float[np.ndarray, " arms"],
) -> None:
    """q(a) = sum of p(j) over the arms j that reveal a."""
    observed[:] = 0.0
    for j in range(probabilities.shape[0]):
        if probabilities[j] > 0.0:
            count = reveals(graph, j, scratch)
            for k in range(count):
                observed[scratch[k]] += probabilities[j]
