"""What a learner is shown before it decides: the contexts, graphs and arms on offer of a batch of rounds."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import available_array, finite_contexts
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.base.trusted import trusted
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs

Graphs = FeedbackGraphs | ProbabilisticGraphs
"""A batch of graphs, or of the probabilities of their edges."""


@dataclass(frozen=True, eq=False, init=False)
class Shown:
    """A batch of n rounds as a learner sees them. It is checked when it is built and trusted after that.

    - `contexts`: one row a round, shape (n, ...), finite numbers.
    - `graphs`: one graph a round; or the probabilities of its edges; or None where no graph is shown.
    - `available`: the arms on offer, shape (n, arms) or (arms,), at least one a round; None (default): all of them.

    >>> from graphbandit import graphs
    >>> shown = Shown(np.zeros((3, 2)), FeedbackGraphs.repeat(graphs.star(4), 3), np.array([True, True, False, True]))
    >>> len(shown), shown.available.shape, len(shown[1:])
    (3, (3, 4), 2)
    """

    contexts: Shaped[np.ndarray, "n ..."]
    graphs: Graphs | None
    available: Bool[np.ndarray, "n arms"] | None

    def __init__(
        self, contexts: Shaped[np.ndarray, "..."], graphs: Graphs | None, available: npt.ArrayLike | None = None
    ) -> None:
        if not isinstance(contexts, np.ndarray) or contexts.ndim == 0:
            raise InputError(
                f"contexts is a {type(contexts).__name__}; expected an array with the round as its first axis"
            )
        if contexts.dtype.kind not in "biuf":
            raise InputError(f"contexts have type {contexts.dtype}; expected numbers")
        finite_contexts(contexts)
        n = len(contexts)
        if graphs is not None:
            if not isinstance(graphs, FeedbackGraphs | ProbabilisticGraphs):
                raise GraphError(
                    f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs, ProbabilisticGraphs or None"
                )
            if len(graphs) != n:
                raise InputError(f"{n} contexts came with {len(graphs)} graphs; expected one graph a round")
        mask = None
        if available is not None:
            n_arms = None if graphs is None else graphs.n_arms
            mask = np.array(available_array(available, n, n_arms), order="C")  # whoever handed it in may change it
        self.__dict__.update(contexts=contexts, graphs=graphs, available=mask)

    @classmethod
    def checked(cls, contexts: Shaped[np.ndarray, "n ..."], graphs: Graphs | None) -> "Shown":
        """Rounds with all arms on offer, which somebody has checked already."""
        return trusted(cls, {"contexts": contexts, "graphs": graphs, "available": None})

    @property
    def n_arms(self) -> int | None:
        """How many arms the graphs and masks have; None if neither is there to say."""
        if self.graphs is not None:
            return self.graphs.n_arms
        return None if self.available is None else self.available.shape[1]

    def __len__(self) -> int:
        return len(self.contexts)

    def __getitem__(self, rounds: slice) -> "Shown":
        """Some of the rounds. Nothing is copied or checked again."""
        graphs: Any = self.graphs
        return trusted(
            Shown,
            {
                "contexts": self.contexts[rounds],
                "graphs": None if graphs is None else graphs[rounds],
                "available": None if self.available is None else self.available[rounds],
            },
        )

    def with_graphs(self, graphs: Graphs) -> "Shown":
        """The same rounds with other graphs, one a round, which are trusted to fit."""
        return trusted(Shown, {"contexts": self.contexts, "graphs": graphs, "available": self.available})

    def offered(self, n_arms: int) -> Bool[np.ndarray, "n arms"]:
        """The arms on offer as a mask, all of them where `available` is None."""
        return np.ones((len(self), n_arms), dtype=np.bool_) if self.available is None else self.available

    def best_offered(self, values: Float[np.ndarray, "n arms"]) -> Int[np.ndarray, " n"]:
        """The arm on offer of the largest value in each round, the lowest index on ties."""
        offered = values if self.available is None else np.where(self.available, values, -np.inf)
        best: Int[np.ndarray, " n"] = offered.argmax(axis=1)
        return best

    @property
    def feedback_graphs(self) -> FeedbackGraphs:
        """The graphs, for learners that take no others."""
        return cast(FeedbackGraphs, self.graphs)
