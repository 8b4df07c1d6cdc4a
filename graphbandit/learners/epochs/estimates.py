"""What FALCON, RegCB.G and the greedy learners share: an estimate from all data at each epoch's start, no more."""

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from graphbandit.base.shapes import Bool, Float, Shaped
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.base import Learner, candidates_of, check_batch, function_class_of, predicted
from graphbandit.learners.epochs.schedule import (
    EpochSchedule,
    EpochState,
    EpochTerms,
    add_epoch,
    check_rates,
    postponed,
    rounds_left,
)
from graphbandit.learners.problem import Problem
from graphbandit.planning.sampling import SamplingRule, sample_rounds
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations


class EstimateLearner(Learner[EpochState]):
    """A learner whose state is fhat_m; how it plays, given the estimate, is each one's own."""

    epoch_growth: float
    function_class: FunctionClass[Any, Any, Any] | None

    def init(self, problem: Problem) -> EpochState:
        """No data, no estimate."""
        functions = function_class_of(self.function_class, problem)
        return EpochState(problem=problem, rounds=0, epoch=1, data=functions.empty(), model=None)

    def rounds_until_update(self, state: EpochState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return rounds_left(self._schedule, state.problem, state.rounds, state.epoch)

    def estimates(
        self,
        state: EpochState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        available: Bool[np.ndarray, "n arms"] | None,
        *,
        loops: bool,
    ) -> tuple[Float[np.ndarray, "n arms"], Bool[np.ndarray, "n arms"] | None]:
        """fhat_m(x, a), zero where there is no estimate yet, and the masks; raises unless the batch can be decided."""
        n_arms = state.problem.n_arms
        functions = function_class_of(self.function_class, state.problem)
        left = self.rounds_until_update(state)
        available = check_batch(n_arms, left, contexts, graphs, available, loops=loops)
        functions.check_contexts(contexts)
        if state.model is None:
            # contexts the class cannot evaluate are refused now: at the update it would be too late
            candidates_of(functions, functions.version_space(state.data, math.inf), contexts, available)
            return np.zeros((len(contexts), n_arms)), available
        return predicted(functions, state.model, contexts), available

    def update(self, state: EpochState, observations: Observations) -> EpochState:
        """fhat from all observations so far."""
        functions = function_class_of(self.function_class, state.problem)
        expected = self.rounds_until_update(state)
        _, data, _ = add_epoch(
            functions, state.data, observations, rounds=state.rounds, expected=expected, split=state.rounds
        )
        return EpochState(
            problem=state.problem,
            rounds=state.rounds + expected,
            epoch=state.epoch + 1,
            data=data,
            model=functions.fit(data),
        )

    def postpone(self, state: EpochState, observations: Observations) -> EpochState:
        """All observations, and fhat as it was."""
        functions = function_class_of(self.function_class, state.problem)
        after: EpochState = postponed(functions, state, observations, expected=self.rounds_until_update(state))
        return after

    @cached_property
    def _schedule(self) -> EpochSchedule:
        return EpochSchedule(growth=self.epoch_growth)


class RuleLearner(EstimateLearner):
    """An `EstimateLearner` that samples by a `SamplingRule`."""

    @property
    @abstractmethod
    def needs_loops(self) -> bool:
        """Whether every arm must reveal itself."""

    @abstractmethod
    def rule(self, state: EpochState) -> SamplingRule:
        """How probabilities follow from the estimate in this epoch."""

    @abstractmethod
    def explored_arms(
        self, state: EpochState, values: Float[np.ndarray, "n arms"], available: Bool[np.ndarray, "n arms"]
    ) -> Bool[np.ndarray, "n arms"]:
        """The arms that exploration has to cover: the candidates of this learner."""

    def decide(
        self,
        state: EpochState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Estimates, then the learner's own rule."""
        values, available = self.estimates(state, contexts, graphs, available, loops=self.needs_loops)
        offered = np.ones(values.shape, dtype=np.bool_) if available is None else available
        return sample_rounds(
            self.rule(state),
            values=values,
            candidates=self.explored_arms(state, values, offered),
            graphs=graphs,
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            available=available,
        )


class InverseGapLearner(RuleLearner):
    """What FALCON and RegCB.G share: gamma = rate sqrt(|S|) over all available arms, or S of them."""

    eta: float
    delta: float

    def __post_init__(self) -> None:
        check_rates(self.eta, self.delta)
        EpochSchedule(growth=self.epoch_growth)

    def explored_arms(
        self, state: EpochState, values: Float[np.ndarray, "n arms"], available: Bool[np.ndarray, "n arms"]
    ) -> Bool[np.ndarray, "n arms"]:
        """Every available arm."""
        return np.array(available)

    def _rate(self, state: EpochState) -> float:
        """sqrt(eta tau_{m-1} / (2 log(2 K |F| T^2 / delta))); 0 in epoch 1."""
        problem = state.problem
        functions = function_class_of(self.function_class, problem)
        terms = EpochTerms.of(self._schedule, problem.horizon, state.epoch, self.delta)
        worst = 2.0 * terms.log_term(problem.n_arms, functions.log_size)
        return float(np.sqrt(self.eta * self._schedule.tau(state.epoch - 1) / worst))
