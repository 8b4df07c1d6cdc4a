"""Social networks: undirected graphs of up to millions of nodes, from which small feedback graphs are cut.

>>> network = Network.from_edges([(7, 3), (3, 7), (3, 12), (5, 5)])
>>> network
Network(n_nodes=4, n_edges=2; dropped: 1 self-loop, 1 repeat)
>>> network.node_ids, network.degrees
(array([ 3,  5,  7, 12]), array([2, 0, 1, 1]))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Int, Int32, Int64
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sparse_rows import SparseRows, distinct

NODE_LIMIT = 2**31 - 1
"""The largest number of nodes: their numbers take 32 bits."""


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """An immutable undirected graph on the nodes 0 .. n_nodes - 1, without self-loops or repeated edges.

    - `rows`: the sorted neighbours of each node.
    - `node_ids`: the nodes' ids in the file or list they came from, ascending if they are numbers, in order of
      appearance if they are text; None (default): the ids are 0 .. n_nodes - 1.
    - `loops_dropped`, `repeats_dropped`: how many edges were left out, 0 by default; an edge that was given in both
      directions is a repeat.
    """

    rows: SparseRows
    node_ids: Int64[np.ndarray, " nodes"] | tuple[str, ...] | None = None
    loops_dropped: int = 0
    repeats_dropped: int = 0

    def __post_init__(self) -> None:
        arrays = [*self.rows, *([self.node_ids] if isinstance(self.node_ids, np.ndarray) else [])]
        for array in arrays:
            array.flags.writeable = False

    @classmethod
    def from_edges(
        cls, edges: npt.ArrayLike | Iterable[tuple[int, int]], n_nodes: SupportsIndex | None = None
    ) -> Network:
        """A network from pairs of whole numbers, in either direction, in any order.

        - `edges`: the pairs.
        - `n_nodes`: the nodes are 0 .. n_nodes - 1, some perhaps without an edge; None (default): the nodes are the
          numbers that occur, and `node_ids` has them.
        """
        pairs: npt.NDArray[Any] = np.asarray(edges if isinstance(edges, np.ndarray | Sequence) else list(edges))  # type: ignore[arg-type]
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "ui":
            raise GraphError(f"edges have shape {pairs.shape} and type {pairs.dtype}; expected pairs of whole numbers")
        if pairs.dtype == np.uint64 and pairs.max(initial=0) > np.iinfo(np.int64).max:
            raise GraphError(f"edges have the node {pairs.max()}; expected numbers of at most 64 bits with their sign")
        if n_nodes is None:
            return cls.of_numbers([pairs.astype(np.int64)])
        size = setting_integer("n_nodes", n_nodes, at_least=0, at_most=NODE_LIMIT)
        wrong = np.flatnonzero(((pairs < 0) | (pairs >= size)).any(axis=1))
        if len(wrong):
            pair = tuple(pairs[wrong[0]].tolist())
            raise GraphError(f"edge {wrong[0]} is {pair}; expected nodes of 0 .. {size - 1}")
        return cls.of_nodes(pairs.astype(np.int32), size)

    @classmethod
    def of_numbers(cls, parts: list[Int[np.ndarray, "_ 2"]]) -> Network:
        """A network from the pairs in all the arrays. Empties the list as it goes, to save memory."""
        ends = sum(part.size for part in parts)
        if not ends:
            return cls.of_nodes(np.zeros((0, 2), dtype=np.int32), 0, node_ids=np.zeros(0, dtype=np.int64))
        lowest = np.int64(min(int(part.min()) for part in parts if part.size))  # 64 bits: no difference overflows
        span = max(int(part.max()) for part in parts if part.size) - int(lowest) + 1
        if span > 8 * ends + 2**20:  # too far apart for a table of all numbers
            whole = np.concatenate(parts)
            parts.clear()
            node_ids, numbered = np.unique(whole, return_inverse=True)
            return cls.of_nodes(
                numbered.reshape(-1, 2).astype(np.int32), len(node_ids), node_ids=node_ids.astype(np.int64)
            )
        present = np.zeros(span, dtype=np.bool_)
        for part in parts:
            present[part - lowest] = True
        node_ids = np.flatnonzero(present) + lowest
        number = np.cumsum(present, dtype=np.int32) - np.int32(1)
        pairs = np.empty((ends // 2, 2), dtype=np.int32)
        filled = len(pairs)
        while parts:
            part = parts.pop()
            pairs[filled - len(part) : filled] = number[part - lowest]
            filled -= len(part)
        return cls.of_nodes(pairs, len(node_ids), node_ids=node_ids)

    @classmethod
    def of_nodes(
        cls,
        pairs: Int32[np.ndarray, "pairs 2"],
        n_nodes: int,
        *,
        node_ids: Int64[np.ndarray, " nodes"] | tuple[str, ...] | None = None,
    ) -> Network:
        """A network from pairs of nodes. One sort of 64-bit keys; 8 million pairs take about two seconds.

        - `pairs`: whole numbers from 0 to n_nodes - 1.
        - `n_nodes`: how many nodes there are.
        - `node_ids`: the nodes' ids; None (default): their numbers.
        """
        from graphbandit.kernels.graphs.networks import symmetric_rows

        if n_nodes > NODE_LIMIT:
            raise GraphError(f"the network has {n_nodes} nodes; expected at most {NODE_LIMIT}")
        if len(pairs) and not 0 <= pairs.min() <= pairs.max() < n_nodes:
            raise GraphError(f"pairs have nodes {pairs.min()} to {pairs.max()}; expected 0 to {n_nodes - 1}")
        keys = np.minimum(pairs[:, 0], pairs[:, 1]).astype(np.int64)
        keys *= n_nodes
        keys += np.maximum(pairs[:, 0], pairs[:, 1])
        keys = keys[pairs[:, 0] != pairs[:, 1]]
        n_joined = len(keys)
        keys = distinct(keys)
        low, high = (keys // n_nodes).astype(np.int32), (keys % n_nodes).astype(np.int32)
        rows = SparseRows(*symmetric_rows(low, high, n_nodes))
        return cls(rows, node_ids, loops_dropped=len(pairs) - n_joined, repeats_dropped=n_joined - len(keys))

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.rows.indptr) - 1

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once."""
        return len(self.rows.indices) // 2

    @cached_property
    def degrees(self) -> Int64[np.ndarray, " nodes"]:
        """How many neighbours each node has."""
        degrees = np.diff(self.rows.indptr)
        degrees.flags.writeable = False
        return degrees

    def edges(self) -> Int32[np.ndarray, "edges 2"]:
        """All edges (i, j) with i < j, sorted."""
        first = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees)
        once = first < self.rows.indices
        return np.stack([first[once], self.rows.indices[once]], axis=1)

    @cached_property
    def component_sizes(self) -> Int64[np.ndarray, " nodes"]:
        """For each node, how many nodes are connected with it, itself counted."""
        from graphbandit.kernels.graphs.networks import grown_sets

        edges = self.edges()
        order = np.arange(len(edges))
        sets = grown_sets(edges[:, 0], edges[:, 1], order, self.n_nodes, self.n_nodes)
        sizes: Int64[np.ndarray, " nodes"] = np.bincount(sets, minlength=self.n_nodes)[sets]
        sizes.flags.writeable = False
        return sizes

    @property
    def n_components(self) -> int:
        """The number of connected components; a node without neighbours is one."""
        sizes, members = np.unique(self.component_sizes, return_counts=True)
        return int((members // sizes).sum())

    def feedback_graph(self, nodes: Int[np.ndarray, " size"]) -> FeedbackGraph:
        """The induced subgraph on these nodes, all different: arm i is ``nodes[i]`` and reveals itself and its friends.

        >>> Network.from_edges([(0, 1), (1, 2), (2, 3)]).feedback_graph(np.array([3, 1, 2])).to_dense().astype(int)
        array([[1, 0, 1],
               [0, 1, 1],
               [1, 1, 1]])
        """
        order = np.argsort(nodes)
        ascending = nodes[order]
        if len(nodes) == 0 or ascending[0] < 0 or ascending[-1] >= self.n_nodes or (np.diff(ascending) == 0).any():
            raise InputError(f"nodes are {nodes!r}; expected different ones of 0 to {self.n_nodes - 1}, at least one")
        neighbours = np.concatenate([self.rows.of(i) for i in ascending])
        of_arm = np.repeat(order, self.degrees[ascending])
        place = np.minimum(np.searchsorted(ascending, neighbours), len(nodes) - 1)
        inside = ascending[place] == neighbours
        pairs = np.stack([of_arm[inside], order[place[inside]]], axis=1)
        return FeedbackGraph.from_edges(pairs, len(nodes), add_loops=True)

    def __repr__(self) -> str:
        counts = ((self.loops_dropped, "self-loop"), (self.repeats_dropped, "repeat"))
        dropped = ", ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in counts if count)
        return f"Network(n_nodes={self.n_nodes}, n_edges={self.n_edges}{'; dropped: ' * bool(dropped)}{dropped})"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that an unpickled network is read-only too
        return Network, (self.rows, self.node_ids, self.loops_dropped, self.repeats_dropped)
