"""A batch of feedback graphs, one for each of n rounds, without storing any graph twice.

>>> star = FeedbackGraph.from_edges([(0, 1), (0, 2)], 3, directed=False, add_loops=True)
>>> loops = FeedbackGraph.from_edges([], 3, add_loops=True)
>>> graphs = FeedbackGraphs.pool([star, loops], index=[0, 0, 1, 0])
>>> graphs
FeedbackGraphs(4 rounds, n_arms=3, 2 stored)
>>> graphs[2] == loops
True
>>> graphs.revealed([0, 1, 1, 2]).astype(int)
array([[1, 1, 1],
       [1, 1, 0],
       [0, 1, 0],
       [1, 0, 1]])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Bool, Int, Int32, UInt64
from graphbandit.base.trusted import trusted
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.bits import WORD, diagonal, n_words, pack_rows, unpack_rows
from graphbandit.graphs.checked_input import as_booleans, checked_n_arms, checked_square, missing_loops_message
from graphbandit.graphs.frame_input import check_unnamed
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph
from graphbandit.graphs.store import check_places, check_words, checked_batches, checked_index, chosen_rounds


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackGraphs:
    """An immutable batch of n graphs on the same arms: round i has the stored graph ``index[i]``.

    So one class serves a graph that stays, a pool of graphs and a new graph in each round. Build a batch with `stack`,
    `repeat`, `pool` or `from_dense`.

    - `n_arms`: K.
    - `stored`: m graphs: packed words (m, K, W) up to `PACKED_LIMIT` arms, a tuple of sparse graphs above that.
    - `index`: which of them each round has.
    """

    n_arms: int
    stored: UInt64[np.ndarray, "stored arms words"] | tuple[FeedbackGraph, ...]
    index: Int32[np.ndarray, " n"]

    def __post_init__(self) -> None:
        if isinstance(self.stored, np.ndarray):
            check_words(self.stored, (len(self.stored), self.n_arms))
            self.stored.flags.writeable = False
        elif any(graph.n_arms != self.n_arms for graph in self.stored):
            raise GraphError(f"the stored graphs have other numbers of arms; expected {self.n_arms}")
        check_places(self.index, len(self.stored))
        self.index.flags.writeable = False

    @classmethod
    def from_dense(cls, matrices: npt.ArrayLike, *, require_loops: bool = True) -> FeedbackGraphs:
        """A batch from n square matrices, one for each round.

        - `matrices`: booleans, or zeros and ones, of shape (n, arms, arms).
        - `require_loops`: whether to refuse a graph in which an arm lacks a self-loop; True by default.

        >>> FeedbackGraphs.from_dense(np.ones((5, 3, 3)))
        FeedbackGraphs(5 rounds, n_arms=3, 5 stored)
        """
        check_unnamed(matrices)
        dense = as_booleans(matrices)
        if dense.ndim != 3:
            raise GraphError(f"matrices have shape {dense.shape}; expected (n, arms, arms)")
        n_arms = checked_square(dense.shape[1:])
        if n_arms <= PACKED_LIMIT:
            return cls.from_words(pack_rows(dense), n_arms, require_loops=require_loops)
        return cls.stack([FeedbackGraph.from_dense(matrix, require_loops=require_loops) for matrix in dense])

    @classmethod
    def stack(cls, graphs: Iterable[FeedbackGraph]) -> FeedbackGraphs:
        """One graph for each round, in this order; equal graphs are stored once.

        >>> loop = FeedbackGraph.from_dense([[1]])
        >>> FeedbackGraphs.stack([loop, loop])
        FeedbackGraphs(2 rounds, n_arms=1, 1 stored)
        """
        rounds = _checked_graphs(graphs)
        place = {graph: i for i, graph in enumerate(dict.fromkeys(rounds))}
        return cls.pool(list(place), [place[graph] for graph in rounds])

    @classmethod
    def repeat(cls, graph: FeedbackGraph, n: SupportsIndex) -> FeedbackGraphs:
        """The same graph in each of n rounds.

        - `graph`: the graph of all rounds.
        - `n`: how many rounds.

        >>> len(FeedbackGraphs.repeat(FeedbackGraph.from_dense([[1]]), 1_000_000))
        1000000
        """
        index = _ONCE
        if n != 1 or type(graph) is not FeedbackGraph:  # one round with a graph of its own is by far the most common
            _checked_graphs([graph])
            index = np.zeros(setting_integer("n", n, at_least=0), dtype=np.int32)
            index.flags.writeable = False
        stored = graph.rows[None] if isinstance(graph.rows, np.ndarray) else (graph,)
        return trusted(cls, {"n_arms": graph.n_arms, "stored": stored, "index": index})._knowing(graph.has_all_loops)

    @classmethod
    def pool(cls, graphs: Sequence[FeedbackGraph], index: npt.ArrayLike) -> FeedbackGraphs:
        """Round i has ``graphs[index[i]]``.

        - `graphs`: on the same arms, at least one.
        - `index`: one number for each round.
        """
        graphs = _checked_graphs(graphs)
        if not graphs:
            raise InputError("graphs is empty; expected at least one, so that the number of arms is known")
        n_arms = graphs[0].n_arms
        for i, graph in enumerate(graphs):
            if graph.n_arms != n_arms:
                raise GraphError(f"graph {i} has {graph.n_arms} arms; expected {n_arms}, as graph 0 has")
        checked = checked_index(index, len(graphs))
        if graphs[0].is_packed:
            return cls(n_arms, np.stack([graph.words for graph in graphs]), checked)
        return cls(n_arms, tuple(graphs), checked)

    @classmethod
    def from_words(
        cls,
        words: UInt64[np.ndarray, "stored arms words"],
        n_arms: int,
        index: npt.ArrayLike | None = None,
        *,
        require_loops: bool = True,
    ) -> FeedbackGraphs:
        """A batch from packed rows.

        - `words`: as `FeedbackGraph.words`, one for each stored graph. The array is not copied, and becomes read-only.
        - `n_arms`: K.
        - `index`: which graph each round has; None (default): round i has graph i.
        - `require_loops`: whether to refuse a graph in which an arm lacks a self-loop; True by default.

        >>> FeedbackGraphs.from_words(np.array([[[3], [2]]], dtype=np.uint64), 2)[0].to_dense().astype(int)
        array([[1, 1],
               [0, 1]])
        """
        n_arms = checked_n_arms(n_arms)
        if n_arms > PACKED_LIMIT:
            raise GraphError(f"n_arms is {n_arms}; packed words exist up to {PACKED_LIMIT}")
        if not isinstance(words, np.ndarray):
            raise GraphError(f"words is a {type(words).__name__}; expected an array of uint64")
        if words.dtype != np.uint64 or words.ndim != 3 or words.shape[1:] != (n_arms, n_words(n_arms)):
            expected = f"expected uint64 of shape (stored, {n_arms}, {n_words(n_arms)})"
            raise GraphError(f"words have type {words.dtype} and shape {words.shape}; {expected}")
        if n_arms % WORD and (words[..., -1] >> np.uint64(n_arms % WORD)).any():
            graph, arm = np.argwhere(words[..., -1] >> np.uint64(n_arms % WORD))[0].tolist()
            raise GraphError(f"row {arm} of graph {graph} has bits beyond arm {n_arms - 1}; expected zeros there")
        rounds = np.arange(len(words)) if index is None else index
        graphs = cls(n_arms, np.ascontiguousarray(words), checked_index(rounds, len(words)))
        if require_loops and not graphs.has_all_loops:
            first = next(i for i, graph in enumerate(graphs) if not graph.has_all_loops)
            raise GraphError(missing_loops_message(graphs[first].arms_without_loop, f"in round {first}, "))
        return graphs

    @classmethod
    def concatenate(cls, batches: Sequence[FeedbackGraphs]) -> FeedbackGraphs:
        """The batches one after the other; a store that batches share is kept once.

        >>> graphs = FeedbackGraphs.from_dense(np.ones((5, 3, 3)))
        >>> FeedbackGraphs.concatenate([graphs[3:], graphs[:2]])
        FeedbackGraphs(4 rounds, n_arms=3, 5 stored)
        """
        checked_batches(FeedbackGraphs, batches)
        first = batches[0]
        offsets: dict[int, int] = {}
        parts: list[FeedbackGraphs] = []
        for batch in batches:
            if id(batch.stored) not in offsets:
                offsets[id(batch.stored)] = sum(len(part.stored) for part in parts)
                parts.append(batch)
        index = np.concatenate([batch.index + np.int32(offsets[id(batch.stored)]) for batch in batches])
        if len(parts) == 1:
            return cls(first.n_arms, first.stored, index)
        if first.is_packed:
            return cls(first.n_arms, np.concatenate([part.words for part in parts]), index)
        return cls(first.n_arms, tuple(graph for part in parts for graph in part.stored), index)

    # The next two repeat those of `FeedbackGraph`, which stores its rows in another way.
    @property
    def words(self) -> UInt64[np.ndarray, "stored arms words"]:
        """The stored graphs' packed out-rows, up to `PACKED_LIMIT` arms; round i has ``words[index[i]]``."""
        if isinstance(self.stored, np.ndarray):
            return self.stored
        raise GraphError(f"n_arms is {self.n_arms}; packed words exist up to {PACKED_LIMIT}: use the graphs' csr()")

    @property
    def is_packed(self) -> bool:
        """Whether the graphs are stored as `words`, that is, have at most `PACKED_LIMIT` arms."""
        return isinstance(self.stored, np.ndarray)

    @cached_property
    def has_all_loops(self) -> bool:
        """Whether playing any arm reveals its own reward in every round."""
        used = np.flatnonzero(np.bincount(self.index, minlength=len(self.stored)))
        if isinstance(self.stored, np.ndarray):
            # usually every stored graph is used; the store may be large, so it is not copied then
            stored = self.stored if len(used) == len(self.stored) else self.stored[used]
            return bool(diagonal(stored).all())
        return all(self.stored[i].has_all_loops for i in used)

    def revealed(self, actions: npt.ArrayLike) -> Bool[np.ndarray, "n arms"]:
        """The mask of out(a_t): which arms are revealed in round t when ``actions[t]`` is played."""
        try:
            played = np.asarray(actions)
        except ValueError:
            raise InputError("actions have rows of different lengths; expected one arm a round") from None
        if played.shape != self.index.shape or (played.size and played.dtype.kind not in "ui"):
            raise InputError(
                f"actions have type {played.dtype} and shape {played.shape}; "
                f"expected one arm for each of {len(self)} rounds"
            )
        outside = (played < 0) | (played >= self.n_arms)
        if outside.any():
            first = int(np.argmax(outside))
            raise InputError(f"actions[{first}] is {played[first]}; expected an arm of 0 .. {self.n_arms - 1}")
        return self._revealed(played.astype(np.intp))

    def _revealed(self, played: Int[np.ndarray, " n"]) -> Bool[np.ndarray, "n arms"]:
        """`revealed` for arms that need no check."""
        if isinstance(self.stored, np.ndarray):
            return unpack_rows(self.stored[self.index, played], self.n_arms)
        mask = np.zeros((len(self), self.n_arms), dtype=np.bool_)
        # rows are so wide that the loop over rounds costs little
        for t, (graph, arm) in enumerate(zip(self, played, strict=True)):
            mask[t, graph.csr().of(arm)] = True
        return mask

    def first_revealed(self, arm: int) -> Int[np.ndarray, " revealed"]:
        """The arms that this arm reveals in the first round, ascending and read-only; for packed graphs, unchecked."""
        known: dict[int, Int[np.ndarray, " revealed"]] | None = self.__dict__.get("known_revealed")
        if known is None:
            known = self.__dict__["known_revealed"] = {}  # kept, because many rounds have the same graph
        kept = known.get(arm)
        if kept is None:
            row = self.words[self.index.item(0), arm]
            kept = known[arm] = unpack_rows(row, self.n_arms).nonzero()[0]
            kept.flags.writeable = False
        return kept

    def _knowing(self, has_all_loops: bool) -> FeedbackGraphs:
        """Mark the batch as having all self-loops, so that nobody checks again."""
        if has_all_loops:
            self.__dict__["has_all_loops"] = True
        return self

    def stored_graphs(self) -> list[FeedbackGraph]:
        """Every stored graph once, in the order `index` counts them."""
        return [self._stored_graph(i) for i in range(len(self.stored))]

    def _stored_graph(self, i: SupportsIndex) -> FeedbackGraph:
        return FeedbackGraph(self.n_arms, self.stored[i]) if isinstance(self.stored, np.ndarray) else self.stored[i]

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[FeedbackGraph]:
        return (self._stored_graph(i) for i in self.index)

    @overload
    def __getitem__(self, rounds: int) -> FeedbackGraph: ...
    @overload
    def __getitem__(
        self, rounds: slice | Sequence[int] | Int[np.ndarray, " chosen"] | Bool[np.ndarray, " n"]
    ) -> FeedbackGraphs: ...
    def __getitem__(self, rounds: Any) -> FeedbackGraph | FeedbackGraphs:
        """The graph of a round, or a batch of some rounds (slice, round numbers or mask); no graph is copied."""
        chosen = chosen_rounds(self.index, rounds)
        if not chosen.ndim:
            return self._stored_graph(chosen)
        chosen.flags.writeable = False
        part = trusted(FeedbackGraphs, {"n_arms": self.n_arms, "stored": self.stored, "index": chosen})
        return part._knowing(self.__dict__.get("has_all_loops", False))

    def __eq__(self, other: object) -> bool:
        """Whether each round has the same graph, however the graphs are stored."""
        if not isinstance(other, FeedbackGraphs):
            return NotImplemented
        if self.n_arms != other.n_arms or len(self) != len(other):
            return False
        mine, theirs = np.unique(np.stack([self.index, other.index]), axis=1)
        if isinstance(self.stored, np.ndarray):
            return np.array_equal(self.stored[mine], other.words[theirs])
        return all(self._stored_graph(i) == other._stored_graph(j) for i, j in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FeedbackGraphs({len(self)} rounds, n_arms={self.n_arms}, {len(self.stored)} stored)"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that an unpickled batch is read-only too
        return FeedbackGraphs, (self.n_arms, self.stored, self.index)


_ONCE = np.zeros(1, dtype=np.int32)
_ONCE.flags.writeable = False


def _checked_graphs(graphs: Iterable[FeedbackGraph]) -> list[FeedbackGraph]:
    if not isinstance(graphs, Iterable):
        raise GraphError(f"graphs is a {type(graphs).__name__}; expected a sequence of FeedbackGraph")
    checked = list(graphs)
    for i, graph in enumerate(checked):
        if not isinstance(graph, FeedbackGraph):
            raise GraphError(f"graph {i} is a {type(graph).__name__}; expected a FeedbackGraph")
    return checked
