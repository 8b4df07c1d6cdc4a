"""Networks of millions of edges: reading pairs of numbers, sorted rows, sets that grow by joining."""

import numpy as np

from graphbandit.base.shapes import Int, Int32, Int64, UInt8
from graphbandit.kernels.jit import kernel

_TAB, _NEWLINE, _RETURN, _BLANK, _HASH, _PERCENT, _MINUS, _ZERO = 9, 10, 13, 32, 35, 37, 45, 48
_ROOM = (2**63 - 1 - 9) // 10  # up to here a number has room for one more digit


@kernel()
def _after_blanks(text: UInt8[np.ndarray, " bytes"], i: int) -> int:
    while text[i] == _BLANK or text[i] == _TAB or text[i] == _RETURN:
        i += 1
    return i


@kernel()
def _number(text: UInt8[np.ndarray, " bytes"], start: int) -> tuple[int, int]:
    """The number that starts here and the place behind it, which is `start` if there is none."""
    first = start + 1 if text[start] == _MINUS else start
    i, number = first, np.int64(0)
    while _ZERO <= text[i] < _ZERO + 10 and number <= _ROOM:
        number = 10 * number + (np.int64(text[i]) - _ZERO)
        i += 1
    if i == first:
        return 0, start
    return int(number if first == start else -number), i


@kernel()
def read_pairs(
    text: UInt8[np.ndarray, " bytes"], separator: int, pairs: Int64[np.ndarray, "lines 2"]
) -> tuple[int, int]:
    """Fill `pairs` with the first two numbers of each line; what follows them in the line is passed over.

    Every line ends in a newline. Empty lines and those that start with # or % are skipped. `separator` is the byte
    between the numbers, a blank standing for any blanks and tabs. Returns the number of pairs, and the place where a
    line starts that does not begin with two numbers, or -1.
    """
    i, n = 0, 0
    while i < len(text):
        start = i
        i = _after_blanks(text, i)
        if text[i] != _NEWLINE and text[i] != _HASH and text[i] != _PERCENT:
            pairs[n, 0], past = _number(text, i)
            second = _after_blanks(text, past)
            if past == i or (second == past if separator == _BLANK else text[second] != separator):
                return n, start
            if separator != _BLANK:
                second = _after_blanks(text, second + 1)
            pairs[n, 1], i = _number(text, second)
            if i == second or (text[i] != separator and text[i] != _NEWLINE and _after_blanks(text, i) == i):
                return n, start
            n += 1
        while text[i] != _NEWLINE:
            i += 1
        i += 1
    return n, -1


@kernel()
def symmetric_rows(
    low: Int32[np.ndarray, " edges"], high: Int32[np.ndarray, " edges"], n_nodes: int
) -> tuple[Int64[np.ndarray, " nodes_plus_1"], Int32[np.ndarray, " entries"]]:
    """Sparse rows of the undirected edges low[e] < high[e], which are sorted and distinct.

    Writing all smaller neighbours before all larger ones, in the order of the edges, leaves every row sorted.
    """
    indptr = np.zeros(n_nodes + 1, np.int64)
    for e in range(len(low)):
        indptr[low[e] + 1] += 1
        indptr[high[e] + 1] += 1
    for i in range(n_nodes):
        indptr[i + 1] += indptr[i]
    free = indptr[:-1].copy()
    indices = np.empty(2 * len(low), np.int32)
    for e in range(len(low)):
        indices[free[high[e]]] = low[e]
        free[high[e]] += 1
    for e in range(len(low)):
        indices[free[low[e]]] = high[e]
        free[low[e]] += 1
    return indptr, indices


@kernel()
def _root(parent: Int32[np.ndarray, " nodes"], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel()
def grown_sets(
    low: Int32[np.ndarray, " edges"],
    high: Int32[np.ndarray, " edges"],
    order: Int[np.ndarray, " edges"],
    n_nodes: int,
    size: int,
) -> Int32[np.ndarray, " nodes"]:
    """Union-find: edge by edge in this order, join the sets of its two ends unless that gives more than `size` nodes.

    Returns for each node a node that stands for its set.
    """
    parent = np.arange(n_nodes).astype(np.int32)
    members = np.ones(n_nodes, np.int32)
    for k in range(len(order)):
        e = order[k]
        i, j = _root(parent, low[e]), _root(parent, high[e])
        if i != j and members[i] + members[j] <= size:
            if members[i] < members[j]:
                i, j = j, i
            parent[j] = i
            members[i] += members[j]
    for i in range(n_nodes):
        parent[i] = _root(parent, i)
    return parent
