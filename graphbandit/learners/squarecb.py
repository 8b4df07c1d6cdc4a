"""SquareCB (Foster and Rakhlin 2020): inverse-gap weighting, online oracle; the graph only feeds the estimate."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Float
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.epochs.schedule import EpochState
from graphbandit.learners.oracle_learner import OracleLearner
from graphbandit.planning.draw import decisions_from_probabilities
from graphbandit.rounds.decisions import Decisions


@savable
@dataclass(frozen=True, kw_only=True)
class SquareCB(OracleLearner):
    """p(a) = 1 / (K + gamma c(a)) for a != best, the rest on best, K counting the arms on offer.

    What `Falcon` plays, with an oracle that learns each round and a gamma that is a power of time, as in SquareCBG.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(SquareCB(), Problem(n_arms=2))
    >>> bandit.observe(bandit.decide([1.0], graphs.complete(2)), {0: 1.0, 1: 0.0})
    >>> bandit.decide([1.0], graphs.complete(2)).probabilities  # estimates 1/3 and 0: 1 / (2 + 10/3) on arm 1
    array([0.8125, 0.1875])
    """

    oracle: str = "vaw"
    gamma: float | str = "power"
    gamma_scale: float = 10.0
    gamma_exponent: float = 0.5
    regularisation: float = 1.0
    epoch_growth: float = 2.0
    function_class: FunctionClass[Any, Any, Any] | None = None

    def sample(
        self,
        state: EpochState,
        values: Float[np.ndarray, "n arms"],
        graphs: FeedbackGraphs,
        uniforms: Float[np.ndarray, " n"],
        available: Bool[np.ndarray, "n arms"] | None,
    ) -> Decisions:
        """Inverse-gap weighting over the arms on offer."""
        offered = np.ones(values.shape, dtype=np.bool_) if available is None else available
        rows, gamma = np.arange(len(values)), self.gamma_of(state)
        best = np.argmax(np.where(offered, values, -np.inf), axis=1)
        gaps = values[rows, best][:, None] - values
        size = offered.sum(axis=1)[:, None]
        p = np.where(offered, 1.0 / (size + gamma * np.maximum(gaps, 0.0)), 0.0)
        p[rows, best] = 0.0
        p[rows, best] = np.maximum(1.0 - p.sum(axis=1), 0.0)
        return decisions_from_probabilities(
            p,
            graphs=graphs,
            uniforms=uniforms,
            epoch=state.epoch,
            best=best,
            gaps=gaps,
            available=available,
            gamma=gamma,
        )
