"""Feedback graphs whose edges are there with known probabilities.

Playing arm j reveals arm a with probability ``P[j, a]``, each edge independently of all others. `ProbabilisticGraph` is
one round, `ProbabilisticGraphs` a batch. Learners that plan with edge probabilities (`IDSG`, and `AdaCBG` with tight
coverage) take them in place of feedback graphs; `sample` draws what is really revealed.

>>> graph = ProbabilisticGraph([[1.0, 0.5], [0.0, 0.9]])
>>> graph
ProbabilisticGraph(n_arms=2, expected_edges=2.4)
>>> graphs = ProbabilisticGraphs.repeat(graph, 3)
>>> graphs
ProbabilisticGraphs(3 rounds, n_arms=2, 1 stored)
>>> graphs.sample(np.random.default_rng(0)).revealed([0, 0, 1]).astype(int)
array([[1, 1],
       [1, 0],
       [0, 1]])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from graphbandit.base.arm_names import ArmNames, arm_index
from graphbandit.base.checks import first_not_finite, numbers, setting_integer, setting_number
from graphbandit.base.frames import is_frame
from graphbandit.base.shapes import Bool, Float, Int, Int32
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.checked_input import checked_names
from graphbandit.graphs.frame_input import check_unnamed, square_of_frame
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.store import check_places, checked_batches, checked_index, chosen_rounds
from graphbandit.graphs.svg import MOST_SHOWN, graph_svg

BLOCK = 64
"""Rounds that are drawn at a time."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ProbabilisticGraph:
    """An immutable graph of one round: ``matrix[j, a]`` is the probability that playing j reveals a.

    - `matrix`: a square array or data frame of probabilities; it is copied. The rows and columns of a frame may have
      names, as in `FeedbackGraph.from_dense`.
    - `arms`: the names of the arms; None (default): they have none, or a frame has them.
    """

    matrix: Float[np.ndarray, "arms arms"]
    arms: ArmNames | None

    def __init__(self, matrix: npt.ArrayLike, *, arms: Iterable[str] | None = None) -> None:
        if not isinstance(matrix, np.ndarray) and is_frame(matrix):
            matrix, arms = square_of_frame(matrix, arms)
        array = _matrices(numbers("the edge probabilities", matrix, has="have")[None])[0]
        array.flags.writeable = False
        object.__setattr__(self, "matrix", array)
        object.__setattr__(self, "arms", checked_names(arms, len(array)))

    @classmethod
    def from_dense(cls, matrix: npt.ArrayLike, *, arms: Iterable[str] | None = None) -> ProbabilisticGraph:
        """The same as the constructor, under the name that `FeedbackGraph` uses.

        - `matrix`: a square array or data frame of probabilities.
        - `arms`: the names of the arms; None (default): they have none, or a frame has them.
        """
        return cls(matrix, arms=arms)

    @classmethod
    def from_graph(cls, graph: FeedbackGraph, probability: float = 1.0) -> ProbabilisticGraph:
        """Every edge of a graph with the same probability, and its self-loops with probability 1.

        - `graph`: the graph.
        - `probability`: of each edge but the self-loops, 1 by default.

        >>> ProbabilisticGraph.from_graph(FeedbackGraph.from_dense([[1, 1], [0, 1]]), 0.3).matrix
        array([[1. , 0.3],
               [0. , 1. ]])
        """
        if not isinstance(graph, FeedbackGraph):
            raise GraphError(f"graph is a {type(graph).__name__}; expected a FeedbackGraph")
        share = setting_number("probability", probability, at_least=0.0, at_most=1.0)
        dense = graph.to_dense()
        return cls(np.where(np.eye(graph.n_arms, dtype=np.bool_), 1.0, share) * dense, arms=graph.arms)

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.matrix)

    @property
    def has_all_loops(self) -> bool:
        """Whether playing any arm surely reveals its own reward."""
        return bool((np.diagonal(self.matrix) == 1.0).all())

    def sample(self, rng: np.random.Generator) -> FeedbackGraph:
        """A graph drawn edge by edge: the edge from j to a is there where a uniform number is below P[j, a]."""
        return FeedbackGraph.from_dense(
            rng.random(self.matrix.shape) < self.matrix, arms=self.arms, require_loops=False
        )

    def __getitem__(self, pair: tuple[SupportsIndex | str, SupportsIndex | str]) -> float:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise GraphError(f"index is {pair!r}; expected two arms, graph[j, a]")
        j, a = (arm_index(arm, self.n_arms, self.arms) for arm in pair)
        return float(self.matrix[j, a])

    def __eq__(self, other: object) -> bool:
        """Whether all probabilities are the same, whatever the names."""
        return np.array_equal(self.matrix, other.matrix) if isinstance(other, ProbabilisticGraph) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _repr_svg_(self) -> str | None:
        """A picture for notebooks, up to 40 arms: the less likely an edge, the paler."""
        if self.n_arms > MOST_SHOWN:
            return None
        edges = np.argwhere(self.matrix > 0.0)
        return graph_svg(self.n_arms, self.arms, edges, self.matrix[tuple(edges.T)].tolist())

    def __repr__(self) -> str:
        return f"ProbabilisticGraph(n_arms={self.n_arms}, expected_edges={self.matrix.sum():.4g})"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that an unpickled graph is read-only too
        return partial(ProbabilisticGraph, arms=self.arms), (self.matrix,)


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilisticGraphs:
    """An immutable batch of n matrices of edge probabilities: round i has ``stored[index[i]]``.

    - `stored`: m matrices of edge probabilities.
    - `index`: which of them each round has.
    """

    stored: Float[np.ndarray, "stored arms arms"]
    index: Int32[np.ndarray, " n"]

    def __post_init__(self) -> None:
        shape = self.stored.shape
        fits = self.stored.dtype == np.float64 and len(shape) == 3 and shape[1] == shape[2]
        if not fits or not self.stored.flags.c_contiguous:
            raise GraphError(f"stored has type {self.stored.dtype} and shape {shape}; expected (stored, arms, arms)")
        check_places(self.index, len(self.stored))
        self.stored.flags.writeable = False
        self.index.flags.writeable = False

    @classmethod
    def from_dense(cls, matrices: npt.ArrayLike) -> ProbabilisticGraphs:
        """A batch from n matrices of probabilities, shape (n, arms, arms), one a round.

        >>> ProbabilisticGraphs.from_dense(np.full((5, 3, 3), 0.1))
        ProbabilisticGraphs(5 rounds, n_arms=3, 5 stored)
        """
        stored = _matrices(matrices)
        return cls(stored, np.arange(len(stored), dtype=np.int32))

    @classmethod
    def pool(cls, matrices: npt.ArrayLike, index: npt.ArrayLike) -> ProbabilisticGraphs:
        """Round i has ``matrices[index[i]]``.

        - `matrices`: of edge probabilities, shape (m, arms, arms).
        - `index`: one number a round.
        """
        stored = _matrices(matrices)
        return cls(stored, checked_index(index, len(stored)))

    @classmethod
    def repeat(cls, graph: ProbabilisticGraph | npt.ArrayLike, n: SupportsIndex) -> ProbabilisticGraphs:
        """The same graph in each of n rounds.

        - `graph`: a `ProbabilisticGraph`, or its matrix.
        - `n`: how many rounds.
        """
        one = graph if isinstance(graph, ProbabilisticGraph) else ProbabilisticGraph(graph)
        stored = one.matrix[None]
        return cls(stored, np.zeros(setting_integer("n", n, at_least=0), dtype=np.int32))

    @classmethod
    def from_graphs(cls, graphs: FeedbackGraphs) -> ProbabilisticGraphs:
        """Probability 1 where there is an edge and 0 where there is none.

        >>> from graphbandit import graphs
        >>> ProbabilisticGraphs.from_graphs(FeedbackGraphs.repeat(graphs.bandit(2), 1))[0].matrix
        array([[1., 0.],
               [0., 1.]])
        """
        if not isinstance(graphs, FeedbackGraphs):
            raise GraphError(f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs")
        each = graphs.stored_graphs()
        dense = [graph.to_dense() for graph in each]
        stored = np.stack(dense).astype(np.float64) if dense else np.empty((0, graphs.n_arms, graphs.n_arms))
        return cls(stored, graphs.index)

    @classmethod
    def concatenate(cls, batches: Sequence[ProbabilisticGraphs]) -> ProbabilisticGraphs:
        """One batch after the other."""
        checked_batches(ProbabilisticGraphs, batches)
        starts = np.cumsum([0, *(len(batch.stored) for batch in batches[:-1])], dtype=np.int32)
        index = np.concatenate([batch.index + start for batch, start in zip(batches, starts, strict=True)])
        return cls(np.concatenate([batch.stored for batch in batches]), index)

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.stored.shape[1])

    @cached_property
    def has_all_loops(self) -> bool:
        """Whether in every round playing any arm surely reveals its own reward."""
        used = self.stored[np.unique(self.index)]
        return bool((np.diagonal(used, axis1=1, axis2=2) == 1.0).all())

    def sample(self, rng: np.random.Generator) -> FeedbackGraphs:
        """Graphs drawn edge by edge: the edge from j to a is there where a uniform number is below P[j, a].

        Each round takes K^2 uniform numbers, so rounds drawn in parts are the same as all at once.
        """
        k = self.n_arms
        parts = [
            FeedbackGraphs.from_dense(rng.random((len(part), k, k)) < self.stored[part], require_loops=False)
            for part in (self.index[start : start + BLOCK] for start in range(0, max(len(self), 1), BLOCK))
        ]
        return FeedbackGraphs.concatenate(parts)

    def __len__(self) -> int:
        return len(self.index)

    def _revealed(self, played: Int[np.ndarray, " n"]) -> Bool[np.ndarray, "n arms"]:
        """The mask of the arms that may be revealed in round t when ``played[t]`` is played."""
        mask: Bool[np.ndarray, "n arms"] = self.stored[self.index, played] > 0.0
        return mask

    def matrix(self, i: int) -> Float[np.ndarray, "arms arms"]:
        """The probabilities of round i, not copied."""
        matrix: Float[np.ndarray, "arms arms"] = self.stored[self.index[i]]
        return matrix

    def __iter__(self) -> Iterator[ProbabilisticGraph]:
        return (self[i] for i in range(len(self)))

    # Overloads are written out for each kind of batch: type checkers take no shorter form.
    @overload
    def __getitem__(self, rounds: int) -> ProbabilisticGraph: ...
    @overload
    def __getitem__(
        self, rounds: slice | Sequence[int] | Int[np.ndarray, " chosen"] | Bool[np.ndarray, " n"]
    ) -> ProbabilisticGraphs: ...
    def __getitem__(self, rounds: Any) -> ProbabilisticGraph | ProbabilisticGraphs:
        """A round's graph, or a batch of some rounds (slice, round numbers or mask), which copies no matrix."""
        chosen = chosen_rounds(self.index, rounds)
        return ProbabilisticGraphs(self.stored, chosen) if chosen.ndim else ProbabilisticGraph(self.stored[chosen])

    def __eq__(self, other: object) -> bool:
        """Whether each round has the same probabilities, however they are stored."""
        if not isinstance(other, ProbabilisticGraphs):
            return NotImplemented
        if self.n_arms != other.n_arms or len(self) != len(other):
            return False
        mine, theirs = np.unique(np.stack([self.index, other.index]), axis=1)
        return np.array_equal(self.stored[mine], other.stored[theirs])

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ProbabilisticGraphs({len(self)} rounds, n_arms={self.n_arms}, {len(self.stored)} stored)"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that an unpickled batch is read-only too
        return ProbabilisticGraphs, (self.stored, self.index)


def _matrices(value: npt.ArrayLike) -> Float[np.ndarray, "stored arms arms"]:
    """A copy, checked: square matrices of numbers from 0 to 1."""
    check_unnamed(value)
    try:
        array = np.array(numbers("the edge probabilities", value, has="have"), order="C")
    except InputError as error:
        raise GraphError(str(error)) from None
    if array.ndim != 3 or array.shape[1] != array.shape[2] or array.shape[1] == 0:
        raise GraphError(f"the edge probabilities have shape {array.shape}; expected square matrices, (n, arms, arms)")
    if not np.isfinite(array).all():
        raise GraphError(f"the edge probabilities have {first_not_finite(array)}; expected numbers from 0 to 1")
    outside = (array < 0.0) | (array > 1.0)
    if outside.any():
        i, j, a = np.argwhere(outside)[0].tolist()
        raise GraphError(f"the probability that {j} reveals {a} in graph {i} is {array[i, j, a]}; expected 0 to 1")
    return array
