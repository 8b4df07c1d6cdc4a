"""What FALCON, RegCB.G, the greedy learners and SquareCB share: an estimate from all data at each epoch's start."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundsByArms
from graphbandit.learners.epochs.base import (
    AnyFunctionClass,
    EndedEpoch,
    EpochLearner,
    EpochState,
    check_rates,
    estimator,
    rounds_that_count,
)
from graphbandit.learners.epochs.schedule import EpochTerms
from graphbandit.learners.problem import Problem
from graphbandit.planning.sampled_rounds import SamplingRule, sample_rounds
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


class EstimateLearner(EpochLearner[EpochState]):
    """A learner whose state is fhat_m; each learner plays by it in its own way.

    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.
    """

    def init(self, problem: Problem) -> EpochState:
        """No data, no estimate."""
        return EpochState(problem=problem, rounds=0, epoch=1, data=self.no_data(problem), model=None)

    def learnt(self, state: EpochState, ended: EndedEpoch) -> EpochState:
        """fhat from all observations so far."""
        model = self.functions(state.problem).fit(ended.data)
        rounds = state.rounds + ended.length
        return replace(state, rounds=rounds, epoch=state.epoch + 1, data=ended.data, model=model)

    def prepared(self, state: EpochState) -> "Estimated":
        """The estimate, ready to be asked."""
        said = None if state.model is None else self.said
        return Estimated(estimator(self.functions(state.problem), state.model), said)

    def estimates(self, state: EpochState, shown: Shown) -> RoundsByArms:
        """fhat_m(x, a), zero where there is no estimate yet."""
        values: RoundsByArms = self.of_epoch(state).estimate(shown.contexts, shown.available)
        return values


class Estimated(NamedTuple):
    """What the rounds of an epoch have in common."""

    estimate: Callable[[Contexts, ArmMasks | None], RoundsByArms]
    """fhat_m(x, a), zero where there is no estimate yet"""
    said: Words | None
    """the words of the learner's decisions; None without an estimate"""
    rule: SamplingRule | None = None


class RuleLearner(EstimateLearner):
    """An `EstimateLearner` that samples by a `SamplingRule`."""

    @abstractmethod
    def rule(self, state: EpochState) -> SamplingRule:
        """How probabilities follow from the estimate in this epoch."""

    def candidates(self, state: EpochState, shown: Shown) -> ArmMasks | None:
        """The arms that exploration has to cover; None (default): those that the rule explores."""
        return None

    def prepared(self, state: EpochState) -> Estimated:
        """The estimate, and the rule."""
        return super().prepared(state)._replace(rule=self.rule(state))

    def choose(self, state: EpochState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Estimates, then the learner's own rule."""
        estimate, said, rule = self.of_epoch(state)
        contexts, available = shown.contexts, shown.available
        values = estimate(contexts, available)
        return sample_rounds(
            rule,
            values=values,
            candidates=self.candidates(state, shown),
            graphs=shown.graphs,  # type: ignore[arg-type]  # the door let nothing else in
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            available=available,
            words=said,
        )


# the settings are listed in the docstrings of both, so that help() shows them
@dataclass(frozen=True, kw_only=True)
class InverseGapLearner(RuleLearner):
    """What FALCON and RegCB.G share: gamma = rate sqrt(|S|) over all available arms, or S of them."""

    eta: float = 1.0
    delta: float = 0.1
    epoch_growth: float = 2.0
    function_class: AnyFunctionClass | None = None

    said: ClassVar[Words] = {**EstimateLearner.said, "gamma": "gamma"}

    def __post_init__(self) -> None:
        check_rates(self.eta, self.delta)
        super().__post_init__()

    def _rate(self, state: EpochState) -> float:
        """sqrt(eta tau_{m-1} / (2 log(2 K |F| T^2 / delta))) over the unit of the rewards; 0 in epoch 1."""
        problem, functions = state.problem, self.functions(state.problem)
        schedule = self.epochs(problem)
        terms = EpochTerms.of(schedule, problem.horizon, state.epoch, self.delta)
        worst = 2.0 * terms.log_term(problem.n_arms, functions.log_size)
        played = rounds_that_count(problem, schedule.tau(state.epoch - 1))
        return float(np.sqrt(self.eta * played / worst)) / functions.unit(state.data)
