"""Feedback graphs whose edges are there with a probability, for rounds in which one knows only the odds.

Playing arm j reveals arm a with probability ``P[j, a]``, each edge independently of all others. A learner that
needs no more than these (`IDSG`) takes them in place of `FeedbackGraphs`; `sample` draws what is really revealed.

>>> matrix = [[1.0, 0.5], [0.0, 0.9]]
>>> graphs = ProbabilisticGraphs.repeat(matrix, 3)
>>> graphs
ProbabilisticGraphs(3 rounds, n_arms=2, 1 stored)
>>> graphs.sample(np.random.default_rng(0)).revealed([0, 0, 1]).astype(int)
array([[1, 1],
       [1, 0],
       [0, 1]])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import first_not_finite, numbers, setting_integer
from graphbandit.base.shapes import Bool, Float, Int, Int32
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.batch import FeedbackGraphs, checked_index

BLOCK = 64
"""Rounds that are drawn at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilisticGraphs:
    """An immutable batch of n matrices of edge probabilities: round i has ``stored[index[i]]``."""

    stored: Float[np.ndarray, "stored arms arms"]
    index: Int32[np.ndarray, " n"]

    def __post_init__(self) -> None:
        self.stored.flags.writeable = False
        self.index.flags.writeable = False

    @classmethod
    def from_dense(cls, matrices: npt.ArrayLike) -> ProbabilisticGraphs:
        """From n matrices of probabilities, shape (n, arms, arms), one a round.

        >>> ProbabilisticGraphs.from_dense(np.full((5, 3, 3), 0.1))
        ProbabilisticGraphs(5 rounds, n_arms=3, 5 stored)
        """
        stored = _matrices(matrices)
        return cls(stored, np.arange(len(stored), dtype=np.int32))

    @classmethod
    def pool(cls, matrices: npt.ArrayLike, index: npt.ArrayLike) -> ProbabilisticGraphs:
        """Round i has ``matrices[index[i]]``."""
        stored = _matrices(matrices)
        return cls(stored, checked_index(index, len(stored)))

    @classmethod
    def repeat(cls, matrix: npt.ArrayLike, n: SupportsIndex) -> ProbabilisticGraphs:
        """The same matrix in each of n rounds."""
        stored = _matrices(numbers("matrix", matrix)[None])
        return cls(stored, np.zeros(setting_integer("n", n, at_least=0), dtype=np.int32))

    @classmethod
    def from_graphs(cls, graphs: FeedbackGraphs) -> ProbabilisticGraphs:
        """Probability 1 where there is an edge and 0 where there is none.

        >>> from graphbandit import graphs
        >>> ProbabilisticGraphs.from_graphs(FeedbackGraphs.repeat(graphs.bandit(2), 1))[0]
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
        if not batches:
            raise InputError("batches is empty; expected at least one, so that the number of arms is known")
        for i, batch in enumerate(batches):
            if not isinstance(batch, ProbabilisticGraphs):
                raise GraphError(f"batch {i} is a {type(batch).__name__}; expected ProbabilisticGraphs")
            if batch.n_arms != batches[0].n_arms:
                raise GraphError(f"batch {i} has {batch.n_arms} arms; expected {batches[0].n_arms}, as batch 0 has")
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

    def __iter__(self) -> Iterator[Float[np.ndarray, "arms arms"]]:
        return (self.stored[i] for i in self.index)

    @overload
    def __getitem__(self, rounds: int) -> Float[np.ndarray, "arms arms"]: ...
    @overload
    def __getitem__(
        self, rounds: slice | Sequence[int] | Int[np.ndarray, " chosen"] | Bool[np.ndarray, " n"]
    ) -> ProbabilisticGraphs: ...
    def __getitem__(self, rounds: Any) -> Float[np.ndarray, "arms arms"] | ProbabilisticGraphs:
        """A round's matrix, or a batch of some rounds (slice, round numbers or mask); no matrix is copied."""
        expected = f"expected rounds of 0 .. {len(self) - 1}, a slice or a mask"
        try:
            chosen = self.index[rounds]
        except IndexError:
            raise InputError(f"rounds is {rounds!r}; {expected}") from None
        if chosen.ndim > 1:
            raise InputError(f"rounds has {chosen.ndim} dimensions; {expected}")
        return ProbabilisticGraphs(self.stored, chosen) if chosen.ndim else self.stored[chosen]

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
