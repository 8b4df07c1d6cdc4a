"""Which arms reveal some given arms, and which of these each reveals: the columns and rows of a sampling program."""

from typing import NamedTuple

import numpy as np
from numba import types

from graphbandit.base.array_types import ArmIndices, ArmMask
from graphbandit.base.shapes import Int, Int32
from graphbandit.kernels.graphs.adjacency import Graph
from graphbandit.kernels.graphs.arm_sets import ones, trailing_zeros
from graphbandit.kernels.jit import inner


class Incidence(NamedTuple):
    """Who covers what, as two lists of lists that say the same thing."""

    col_ptr: Int32[np.ndarray, " columns_plus_1"]
    col_rows: Int32[np.ndarray, " entries"]
    """``col_rows[col_ptr[j]:col_ptr[j+1]]`` are the rows that column j covers."""
    row_ptr: Int32[np.ndarray, " rows_plus_1"]
    row_cols: Int32[np.ndarray, " entries"]
    """``row_cols[row_ptr[i]:row_ptr[i+1]]`` are the columns that cover row i."""


INCIDENCE = types.NamedUniTuple(types.int32[::1], 4, Incidence)
"""Its type, for signatures."""


@inner()
def revealing(
    graph: Graph, rows: Int[np.ndarray, " rows"], row_of: ArmIndices, best: int, available: ArmMask, marks: ArmIndices
) -> tuple[Int[np.ndarray, " columns"], Incidence]:
    """`best` and every available arm that reveals a row, ascending, and which rows each reveals.

    `rows` are arms, ascending, and `row_of[a]` is the place of arm a among them. `marks` must be -1 everywhere, and is
    so again afterwards.
    """
    # Two ways: asking every arm with `reveals_among` makes a whole program of 50 packed arms take 7 % longer, and one
    # of 20,000 listed arms, of which 100 are demanded, twice as long.
    if graph.words.shape[1] == 0:
        columns, pointers, entries = _listed(graph, rows, best, available, marks)
    else:
        columns, pointers, entries = _packed(graph, rows, row_of, best, available)
    row_pointers, row_columns = _transposed(pointers, entries, rows.shape[0])
    return columns, Incidence(pointers, entries, row_pointers, row_columns)


@inner()
def _packed(
    graph: Graph, rows: Int[np.ndarray, " rows"], row_of: ArmIndices, best: int, available: ArmMask
) -> tuple[Int[np.ndarray, " columns"], Int[np.ndarray, " ptr"], Int[np.ndarray, " entries"]]:
    """For packed graphs: every word of every available arm, masked by the rows."""
    n_arms, n_words = graph.words.shape
    mask = np.zeros(n_words, np.uint64)
    for i in range(rows.shape[0]):
        mask[rows[i] >> 6] |= np.uint64(1) << np.uint64(rows[i] & 63)
    columns = np.empty(n_arms, np.int32)
    pointers = np.empty(n_arms + 1, np.int32)
    count = 0
    pointers[0] = 0
    for j in range(n_arms):
        revealed = 0
        for w in range(n_words):
            revealed += ones(graph.words[j, w] & mask[w])
        columns[count] = j
        pointers[count + 1] = pointers[count] + revealed
        count += available[j] and (revealed > 0 or j == best)
    entries = np.empty(pointers[count], np.int32)
    used = 0
    for c in range(count):
        for w in range(n_words):
            word = graph.words[columns[c], w] & mask[w]
            while word != np.uint64(0):
                entries[used] = row_of[64 * w + trailing_zeros(word)]
                used += 1
                word &= word - np.uint64(1)
    return columns[:count], pointers[: count + 1], entries


@inner()
def _listed(
    graph: Graph, rows: Int[np.ndarray, " rows"], best: int, available: ArmMask, marks: ArmIndices
) -> tuple[Int[np.ndarray, " columns"], Int[np.ndarray, " ptr"], Int[np.ndarray, " entries"]]:
    """For listed graphs: walk the arms that reveal the rows. `marks` has how many rows each reveals, then its place."""
    in_pointers, in_arms = graph.in_pointers, graph.in_arms
    marks[best] = 0
    count = 1
    for i in range(rows.shape[0]):
        for k in range(in_pointers[rows[i]], in_pointers[rows[i] + 1]):
            j = in_arms[k]
            if available[j]:
                if marks[j] < 0:
                    marks[j] = 0
                    count += 1
                marks[j] += 1
    columns = np.empty(count, np.int32)
    pointers = np.empty(count + 1, np.int32)
    pointers[0] = 0
    count = 0
    for j in range(marks.shape[0]):
        if marks[j] >= 0:
            columns[count] = j
            pointers[count + 1] = pointers[count] + marks[j]
            marks[j] = pointers[count]
            count += 1
    entries = np.empty(pointers[count], np.int32)
    for i in range(rows.shape[0]):
        for k in range(in_pointers[rows[i]], in_pointers[rows[i] + 1]):
            j = in_arms[k]
            if available[j]:
                entries[marks[j]] = i
                marks[j] += 1
    for c in range(count):
        marks[columns[c]] = -1
    return columns, pointers, entries


@inner()
def _transposed(
    pointers: Int[np.ndarray, " ptr"], entries: Int[np.ndarray, " entries"], n_rows: int
) -> tuple[Int[np.ndarray, " row_ptr"], Int[np.ndarray, " entries"]]:
    """From the rows of each column to the columns of each row."""
    row_pointers = np.zeros(n_rows + 1, np.int32)
    for k in range(entries.shape[0]):
        row_pointers[entries[k] + 1] += 1
    for i in range(n_rows):
        row_pointers[i + 1] += row_pointers[i]
    place = row_pointers.copy()
    row_entries = np.empty(entries.shape[0], np.int32)
    for c in range(pointers.shape[0] - 1):
        for k in range(pointers[c], pointers[c + 1]):
            row = entries[k]
            row_entries[place[row]] = c
            place[row] += 1
    return row_pointers, row_entries
