"""SquareCB.G (Zhang, Zhang, Vrousgou, Luo and Mineiro 2023): each round the convex program of its estimate."""

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
from graphbandit.planning.squarecb_program import solve_squarecb_programs
from graphbandit.rounds.decisions import Decisions


@savable
@dataclass(frozen=True, kw_only=True)
class SquareCBG(OracleLearner):
    """p is the optimum of `squarecb_program` at the losses -fhat(x, a), solved exactly and certified.

    `oracle` "offline" fits the function class at the start of each epoch, as all learners here can; "vaw", "ridge"
    and "ogd" are online linear regression (`online_regression`) and learn every round, as in the paper. `gamma` is
    "power", for

        gamma = gamma_scale * (rounds learnt from) ^ gamma_exponent,

    or a number, for that gamma from the first update on; before it, gamma is 1. Vowpal Wabbit has the same power for
    both of its SquareCBs, with scale 10 without graphs and 1 with them; the theory asks for sqrt(alpha T / regret of
    the oracle), which grows so too. Before anything is learnt all losses are equal: p reveals as much as can be. Arms
    need not reveal themselves, but each on offer must be revealed by one on offer.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(SquareCBG(oracle="vaw"), Problem(n_arms=3))
    >>> bandit.decide([1.0], graphs.star(3, hub=1)).probabilities.round(4)
    array([0.3596, 0.2808, 0.3596])
    """

    oracle: str = "offline"
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
        """One convex program a round."""
        n, gamma = len(values), self.gamma_of(state)
        answers = solve_squarecb_programs(-values, graphs, np.full(n, gamma), available=available)
        best = np.argmax(values if available is None else np.where(available, values, -np.inf), axis=1)
        return decisions_from_probabilities(
            answers.probabilities,
            graphs=graphs,
            uniforms=uniforms,
            epoch=state.epoch,
            best=best,
            gaps=values[np.arange(n), best][:, None] - values,
            available=available,
            gamma=gamma,
            duality_gap=answers.duality_gap,
            solver="interior-point",
        )
