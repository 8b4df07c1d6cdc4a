"""AdaCB (Foster, Rakhlin, Simchi-Levi & Xu 2021, algorithm 1): what AdaCB.G is where no arm reveals another."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators import bandit
from graphbandit.learners.adacb_g import AdaCBG, AdaCBGState
from graphbandit.learners.base import Learner, check_batch
from graphbandit.learners.problem import Problem
from graphbandit.planning.draw import draw
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations


@savable
@dataclass(frozen=True, kw_only=True)
class AdaCB(Learner[AdaCBGState]):
    """p(a) = 1 / (|A| + gamma c(a)) for every candidate a != best of A = A(x; F_m), the rest on best.

    It is AdaCB.G on the graph of self-loops alone: the exploration set is all candidates, and the sampling program's
    answer is its baseline. It learns from every reward the graph reveals, and ignores the graph when choosing, so any
    graph will do. The settings are those of `AdaCBG`, whose formulas for F_m, lambda_m and gamma it shares.

    >>> AdaCB(eta=2.0)
    AdaCB(radius='sharp', eta=2.0, delta=0.1, radius_factor=1.0, epoch_growth=2.0, function_class=None)
    """

    radius: Literal["sharp", "paper"] = "sharp"
    eta: float = 1.0
    delta: float = 0.1
    radius_factor: float = 1.0
    epoch_growth: float = 2.0
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        self._on_loops  # noqa: B018  # refuses bad settings

    @cached_property
    def _on_loops(self) -> AdaCBG:
        return AdaCBG(
            radius=self.radius,
            eta=self.eta,
            delta=self.delta,
            radius_factor=self.radius_factor,
            epoch_growth=self.epoch_growth,
            linear_program=False,
            function_class=self.function_class,
        )

    def init(self, problem: Problem) -> AdaCBGState:
        """As AdaCB.G."""
        return self._on_loops.init(problem)

    def rounds_until_update(self, state: AdaCBGState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return self._on_loops.rounds_until_update(state)

    def decide(
        self,
        state: AdaCBGState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Chosen as if no arm revealed another; the observation probabilities are those of the graphs there are."""
        n_arms = state.problem.n_arms
        check_batch(n_arms, self.rounds_until_update(state), contexts, graphs, available, loops=False)
        loops = FeedbackGraphs.repeat(bandit(n_arms), len(contexts))
        chosen = self._on_loops.decide(state, contexts, loops, rng, available=available)
        _, observed = draw(chosen.probabilities, graphs, np.zeros(len(contexts)))
        return dataclasses.replace(chosen, observation_probabilities=observed)

    def update(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """As AdaCB.G, from everything that was revealed."""
        return self._on_loops.update(state, observations)

    def postpone(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """As AdaCB.G."""
        return self._on_loops.postpone(state, observations)
