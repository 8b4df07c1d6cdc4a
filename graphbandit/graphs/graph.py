"""Feedback graphs: which rewards does playing an arm reveal?

A feedback graph on K arms is a directed graph: ``graph[j, a]`` is true when playing arm j reveals the reward of arm a.
Row j is out(j), what j reveals; column a is what reveals a. A self-loop ``graph[a, a]`` means that playing arm a
reveals its own reward; the paper's graphs have all self-loops.

>>> graph = FeedbackGraph.from_edges([(0, 1), (1, 2)], n_arms=3, add_loops=True)
>>> graph
FeedbackGraph(n_arms=3, n_edges=5, n_loops=3)
>>> graph[0, 1], graph[1, 0]
(True, False)
>>> graph.reveals(1)
array([1, 2])
>>> graph.revealed_by(1)
array([0, 1])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
import scipy  # its subpackages load on first use

from graphbandit.base.arm_names import ArmNames, arm_index
from graphbandit.base.extras import imported
from graphbandit.base.frames import is_frame
from graphbandit.base.shapes import Bool, Int64, UInt64
from graphbandit.base.signatures import Readable
from graphbandit.errors import GraphError
from graphbandit.graphs.bits import WORD, column, diagonal, pack_rows, unpack_rows
from graphbandit.graphs.checked_input import (
    as_booleans,
    as_pairs,
    check_nodes,
    checked_n_arms,
    checked_names,
    checked_square,
    missing_loops_message,
)
from graphbandit.graphs.frame_input import square_of_frame
from graphbandit.graphs.sparse_rows import SparseRows, check_sparse_rows, sparse_rows
from graphbandit.graphs.store import check_words
from graphbandit.graphs.svg import MOST_SHOWN, graph_svg

PACKED_LIMIT = 4096
"""The largest number of arms stored as packed bits (2 MB at most); larger graphs have sparse rows."""


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackGraph:
    """An immutable directed graph on the arms 0 .. n_arms - 1; built by one of the ``from_`` constructors.

    An edge says that playing its first arm reveals the reward of the second, whatever that reward is: what is revealed
    must not depend on the rewards. Graphs are equal if their edges are equal, whatever the names. A method that takes
    an arm also takes the arm's name.

    - `n_arms`: K.
    - `rows`: how the edges are stored: packed bits up to `PACKED_LIMIT` arms (`words`), sparse rows above that. `csr`
      gives sparse rows of either, and every method works with both.
    - `arms`: the names of the arms; None (default): they have none.
    """

    n_arms: int
    rows: UInt64[np.ndarray, "arms words"] | SparseRows
    arms: ArmNames | None = None

    __signature__ = Readable()

    def __post_init__(self) -> None:
        if isinstance(self.rows, np.ndarray):
            check_words(self.rows, (self.n_arms,))
            self.rows.flags.writeable = False
        else:
            check_sparse_rows(self.rows, self.n_arms)
            for array in self.rows:
                array.flags.writeable = False

    @classmethod
    def from_dense(
        cls,
        matrix: npt.ArrayLike,
        *,
        arms: Iterable[str] | None = None,
        add_loops: bool = False,
        require_loops: bool = True,
    ) -> FeedbackGraph:
        """A graph from a square matrix; entry (j, a) says whether playing j reveals a.

        - `matrix`: booleans, or zeros and ones: an array, or a data frame. If a frame's rows or columns have names,
          they are those of the arms.
        - `arms`: the names of the arms, in the order of the rows; None (default): they have none, or a frame has them.
          The rows and columns of a frame with names may be in any order.
        - `add_loops`: whether to add a self-loop to every arm; False by default.
        - `require_loops`: whether to refuse a graph in which an arm lacks a self-loop; True by default.

        >>> FeedbackGraph.from_dense([[1, 1], [0, 1]]).edges().tolist()
        [[0, 0], [0, 1], [1, 1]]
        """
        if not isinstance(matrix, np.ndarray) and is_frame(matrix):
            matrix, arms = square_of_frame(matrix, arms)
        dense = as_booleans(matrix)
        n_arms = checked_square(dense.shape)
        names = checked_names(arms, n_arms)
        if n_arms > PACKED_LIMIT:
            sources, targets = np.nonzero(dense)
            return cls._from_pairs(sources, targets, n_arms, names, add_loops, require_loops)
        if add_loops:
            dense = dense | np.eye(n_arms, dtype=np.bool_)
        return cls(n_arms, pack_rows(dense), names)._with_loops_checked(require_loops)

    @classmethod
    def from_sparse(
        cls, matrix: Any, *, arms: Iterable[str] | None = None, add_loops: bool = False, require_loops: bool = True
    ) -> FeedbackGraph:
        """A graph from any SciPy sparse matrix or array of booleans, or zeros and ones; duplicates are summed.

        The settings are those of `from_dense`.

        >>> FeedbackGraph.from_sparse(scipy.sparse.eye_array(3))
        FeedbackGraph(n_arms=3, n_edges=3, n_loops=3)
        """
        is_sparse = scipy.sparse.issparse(matrix)
        if not is_sparse:
            raise GraphError(f"matrix is a {type(matrix).__name__}; expected a SciPy sparse matrix or array")
        n_arms = checked_square(matrix.shape)
        entries = matrix.tocsr(copy=True)
        entries.sum_duplicates()
        entries = entries.tocoo()
        present = as_booleans(entries.data, places=(entries.row, entries.col))
        sources, targets = entries.row[present], entries.col[present]
        return cls._from_pairs(sources, targets, n_arms, checked_names(arms, n_arms), add_loops, require_loops)

    @classmethod
    def from_edges(
        cls,
        edges: npt.ArrayLike | Iterable[tuple[int | str, int | str]],
        n_arms: SupportsIndex | None = None,
        *,
        arms: Iterable[str] | None = None,
        directed: bool = True,
        add_loops: bool = False,
        require_loops: bool = True,
    ) -> FeedbackGraph:
        """A graph from pairs (j, a): playing j reveals a.

        - `edges`: the pairs, or a data frame of two columns; repeats are fine.
        - `n_arms`: the number of arms; None (default): that of their names.
        - `arms`: the names of the arms; edges may then be pairs of names, of numbers, or of both. None (default): no
          names.
        - `directed`: True by default; if False, an edge (j, a) also means that a reveals j.
        - `add_loops`: whether to add a self-loop to every arm; False by default.
        - `require_loops`: whether to refuse a graph in which an arm lacks a self-loop; True by default.

        >>> friends = FeedbackGraph.from_edges([(0, 1), (1, 2)], n_arms=3, directed=False, add_loops=True)
        >>> friends.to_dense().astype(int)
        array([[1, 1, 0],
               [1, 1, 1],
               [0, 1, 1]])
        >>> orders = FeedbackGraph.from_edges([("20", "10")], arms=["10", "20"], add_loops=True)
        >>> orders.reveals("20")
        array([0, 1])
        """
        names = None if arms is None else ArmNames.of(arms)
        if n_arms is None and names is None:
            raise GraphError("n_arms and arms are both None; expected the number of arms or their names")
        size = checked_n_arms(len(names) if n_arms is None and names is not None else n_arms)
        if names is not None and len(names) != size:
            raise GraphError(f"arms has {len(names)} names; expected n_arms = {size}")
        sources, targets = as_pairs(edges, size, names).T
        if not directed:
            sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        return cls._from_pairs(sources, targets, size, names, add_loops, require_loops)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        arms: Sequence[Any] | None = None,
        add_loops: bool = False,
        require_loops: bool = True,
    ) -> FeedbackGraph:
        """A graph from a NetworkX graph: an edge u -> v says that playing u reveals v.

        Nodes that are text become the names of the arms.

        - `graph`: directed or not; an undirected graph gives both directions. Edge data are ignored.
        - `arms`: the nodes in the order of the arms; None (default): nodes that are all text keep their order in the
          graph, and other nodes must be 0 .. n_arms - 1.
        - `add_loops`: whether to add a self-loop to every arm; False by default.
        - `require_loops`: whether to refuse a graph in which an arm lacks a self-loop; True by default.
        """
        if not isinstance(graph, imported("networkx", "networkx").Graph):
            raise GraphError(f"graph is a {type(graph).__name__}; expected a NetworkX graph")
        named = len(graph) > 0 and all(isinstance(node, str) for node in graph)
        order: list[Any] = list(arms) if arms is not None else list(graph) if named else list(range(len(graph)))
        check_nodes(graph, order, ordered=arms is not None)
        place = {node: i for i, node in enumerate(order)}
        pairs = [(place[u], place[v]) for u, v in graph.edges()]
        return cls.from_edges(
            pairs,
            len(order),
            arms=order if named else None,
            directed=graph.is_directed(),
            add_loops=add_loops,
            require_loops=require_loops,
        )

    @classmethod
    def _from_pairs(
        cls,
        sources: npt.NDArray[Any],
        targets: npt.NDArray[Any],
        n_arms: int,
        names: ArmNames | None,
        add_loops: bool,
        require_loops: bool,
    ) -> FeedbackGraph:
        if add_loops:
            loops = np.arange(n_arms)
            sources, targets = np.concatenate([sources, loops]), np.concatenate([targets, loops])
        if n_arms > PACKED_LIMIT:
            return cls(n_arms, sparse_rows(sources, targets, n_arms), names)._with_loops_checked(require_loops)
        dense = np.zeros((n_arms, n_arms), dtype=np.bool_)
        dense[sources, targets] = True
        return cls(n_arms, pack_rows(dense), names)._with_loops_checked(require_loops)

    def _with_loops_checked(self, require_loops: bool) -> FeedbackGraph:
        if require_loops and not self.has_all_loops:
            raise GraphError(missing_loops_message(self.arms_without_loop))
        return self

    def to_dense(self) -> Bool[np.ndarray, "arms arms"]:
        """The matrix G of booleans, ``G[j, a]``: playing j reveals a."""
        if isinstance(self.rows, np.ndarray):
            return unpack_rows(self.rows, self.n_arms)
        return self.to_sparse().toarray()

    def to_sparse(self) -> scipy.sparse.csr_array[np.bool_]:
        """The same matrix as a SciPy ``csr_array`` of booleans."""
        indptr, indices = self.csr()
        ones = np.ones(len(indices), dtype=np.bool_)
        return scipy.sparse.csr_array((ones, indices, indptr), shape=(self.n_arms, self.n_arms), copy=True)

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph``: u -> v says that playing u reveals v, self-loops included.

        Its nodes are the names of the arms, or 0 .. n_arms - 1 if they have none.
        """
        graph = imported("networkx", "networkx").DiGraph()
        nodes = range(self.n_arms) if self.arms is None else self.arms.names
        graph.add_nodes_from(nodes)
        graph.add_edges_from((nodes[j], nodes[a]) for j, a in self.edges().tolist())
        return graph

    def edges(self) -> Int64[np.ndarray, "edges 2"]:
        """All pairs (j, a) with ``graph[j, a]``, self-loops included, sorted."""
        indptr, indices = self.csr()
        return np.stack([np.repeat(np.arange(self.n_arms), np.diff(indptr)), indices], axis=1)

    @property
    def words(self) -> UInt64[np.ndarray, "arms words"]:
        """Packed out-rows: bit ``a % 64`` of ``words[j, a // 64]`` is ``graph[j, a]``."""
        if isinstance(self.rows, np.ndarray):
            return self.rows
        raise GraphError(f"n_arms is {self.n_arms}; packed words exist up to {PACKED_LIMIT}: use csr()")

    @property
    def is_packed(self) -> bool:
        """Whether the graph is stored as `words`, that is, has at most `PACKED_LIMIT` arms."""
        return isinstance(self.rows, np.ndarray)

    def csr(self) -> SparseRows:
        """Sparse out-rows ``(indptr, indices)``: what each arm reveals. Computed once."""
        return self._out_rows

    def in_csr(self) -> SparseRows:
        """Sparse rows of the transpose: what reveals each arm. Computed once."""
        return self._in_rows

    @cached_property
    def _out_rows(self) -> SparseRows:
        if isinstance(self.rows, np.ndarray):
            sources, targets = np.nonzero(self.to_dense())
            return sparse_rows(sources, targets, self.n_arms)
        return self.rows

    @cached_property
    def _in_rows(self) -> SparseRows:
        turned = self.to_sparse().T.tocsr()
        indptr, indices = turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
        indptr.flags.writeable = indices.flags.writeable = False
        return SparseRows(indptr, indices)

    @cached_property
    def n_edges(self) -> int:
        """The number of pairs (j, a) with ``graph[j, a]``; self-loops and both directions count."""
        if isinstance(self.rows, np.ndarray):
            return int(np.bitwise_count(self.rows).sum())
        return len(self.rows.indices)

    @cached_property
    def arms_without_loop(self) -> Int64[np.ndarray, " arms_found"]:
        """The arms a that lack ``graph[a, a]``, sorted."""
        loops = diagonal(self.rows) if isinstance(self.rows, np.ndarray) else self.to_sparse().diagonal()
        arms = np.flatnonzero(~loops)
        arms.flags.writeable = False
        return arms

    @property
    def n_loops(self) -> int:
        """The number of arms that reveal their own reward."""
        return self.n_arms - len(self.arms_without_loop)

    @property
    def has_all_loops(self) -> bool:
        """Whether playing any arm reveals its own reward."""
        return len(self.arms_without_loop) == 0

    @cached_property
    def is_undirected(self) -> bool:
        """Whether ``graph[j, a] == graph[a, j]`` for all arms."""
        return all(np.array_equal(x, y) for x, y in zip(self.csr(), self.in_csr(), strict=True))

    def reveals(self, arm: SupportsIndex | str) -> Int64[np.ndarray, " degree"]:
        """out(arm): the arms whose rewards are revealed when `arm` is played, sorted."""
        j = self._checked(arm)
        if isinstance(self.rows, np.ndarray):
            return np.flatnonzero(self.reveals_mask(j))
        return self.rows.of(j).astype(np.int64)

    def revealed_by(self, arm: SupportsIndex | str) -> Int64[np.ndarray, " degree"]:
        """in(arm): the arms that reveal the reward of `arm`, sorted."""
        a = self._checked(arm)
        if isinstance(self.rows, np.ndarray):
            return np.flatnonzero(column(self.rows, a))
        return self.in_csr().of(a).astype(np.int64)

    def reveals_mask(self, arm: SupportsIndex | str) -> Bool[np.ndarray, " arms"]:
        """out(arm) as a mask over all arms."""
        j = self._checked(arm)
        if isinstance(self.rows, np.ndarray):
            return unpack_rows(self.rows[j], self.n_arms)
        mask = np.zeros(self.n_arms, dtype=np.bool_)
        mask[self.reveals(j)] = True
        return mask

    def transpose(self) -> FeedbackGraph:
        """The graph with every edge reversed."""
        rows = pack_rows(self.to_dense().T) if self.is_packed else self.in_csr()
        return FeedbackGraph(self.n_arms, rows, self.arms)

    def with_loops(self) -> FeedbackGraph:
        """The graph with all self-loops; the graph itself if it has them already."""
        if self.has_all_loops:
            return self
        sources, targets = self.edges().T
        return FeedbackGraph._from_pairs(sources, targets, self.n_arms, self.arms, True, True)

    def with_arms(self, arms: Iterable[str] | None) -> FeedbackGraph:
        """The same graph with these names for its arms, or with none."""
        return FeedbackGraph(self.n_arms, self.rows, checked_names(arms, self.n_arms))

    def _checked(self, arm: SupportsIndex | str) -> int:
        return arm_index(arm, self.n_arms, self.arms)

    def __getitem__(self, pair: tuple[SupportsIndex | str, SupportsIndex | str]) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise GraphError(f"index is {pair!r}; expected two arms, graph[j, a]")
        j, a = self._checked(pair[0]), self._checked(pair[1])
        if isinstance(self.rows, np.ndarray):
            return bool(int(self.rows[j, a // WORD]) >> a % WORD & 1)
        row = self.rows.of(j)
        place = np.searchsorted(row, a)
        return bool(place < len(row) and row[place] == a)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeedbackGraph):
            return NotImplemented
        if self.n_arms != other.n_arms:
            return False
        if isinstance(self.rows, np.ndarray):
            return np.array_equal(self.words, other.words)
        return all(np.array_equal(x, y) for x, y in zip(self.csr(), other.csr(), strict=True))

    @cached_property
    def _hash(self) -> int:
        rows = self.rows if isinstance(self.rows, np.ndarray) else self.rows.indices
        return hash((self.n_arms, rows.tobytes()))

    def __hash__(self) -> int:
        return self._hash

    def _repr_svg_(self) -> str | None:
        """A picture for notebooks, up to 40 arms."""
        return graph_svg(self.n_arms, self.arms, self.edges()) if self.n_arms <= MOST_SHOWN else None

    def __repr__(self) -> str:
        return f"FeedbackGraph(n_arms={self.n_arms}, n_edges={self.n_edges}, n_loops={self.n_loops})"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that an unpickled graph is read-only too
        return FeedbackGraph, (self.n_arms, self.rows, self.arms)
