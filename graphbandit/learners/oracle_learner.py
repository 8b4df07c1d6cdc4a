"""What SquareCB and SquareCB.G share: an oracle, offline or online, and a gamma that grows as a power of time."""

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from graphbandit.base.checks import LARGEST, setting_choice, setting_number
from graphbandit.base.shapes import Bool, Float, Shaped
from graphbandit.errors import HorizonError, InputError, SettingError
from graphbandit.function_classes.online import ORACLES, OnlineLinear
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.base import check_batch
from graphbandit.learners.epochs.estimates import EstimateLearner
from graphbandit.learners.epochs.schedule import EpochSchedule, EpochState
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations


class OracleLearner(EstimateLearner):
    """fhat by the function class at the start of each epoch (oracle "offline"), or linear, by the round ("vaw", ...).

    An online oracle is its own class of functions: a `function_class` of the learner is refused with it, and the
    problem's is not used. `gamma` is "power", for gamma = gamma_scale * max(1, rounds learnt from) ^ gamma_exponent,
    or a number.
    """

    oracle: str
    gamma: float | str
    gamma_scale: float
    gamma_exponent: float
    regularisation: float

    def __post_init__(self) -> None:
        setting_choice("oracle", self.oracle, ("offline", *ORACLES))
        if self.oracle != "offline" and self.function_class is not None:
            raise SettingError(
                f"function_class is {self.function_class!r} with oracle {self.oracle!r}, which is linear by itself; "
                "expected None, or oracle 'offline'"
            )
        if isinstance(self.gamma, str):
            if self.gamma != "power":
                raise SettingError(f"gamma is {self.gamma!r}; expected 'power' or a number above 0")
        else:
            setting_number("gamma", self.gamma, above=0.0, below=LARGEST)
        setting_number("gamma_scale", self.gamma_scale, above=0.0, below=LARGEST)
        setting_number("gamma_exponent", self.gamma_exponent, at_least=0.0, below=2.0)
        setting_number("regularisation", self.regularisation, above=0.0)
        EpochSchedule(growth=self.epoch_growth)

    @abstractmethod
    def sample(
        self,
        state: EpochState,
        values: Float[np.ndarray, "n arms"],
        graphs: FeedbackGraphs,
        uniforms: Float[np.ndarray, " n"],
        available: Bool[np.ndarray, "n arms"] | None,
    ) -> Decisions:
        """Decisions from estimated mean rewards, which are all 0 before anything is learnt."""

    def gamma_of(self, state: EpochState) -> float:
        """The gamma of the rounds until the next update; 1 before the first, when all estimates are 0."""
        if state.model is None:
            return 1.0
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        return self.gamma_scale * math.pow(state.rounds, self.gamma_exponent)

    def init(self, problem: Problem) -> EpochState:
        """Nothing is known."""
        if self.oracle == "offline":
            return super().init(problem)
        return EpochState(problem=problem, rounds=0, epoch=1, data=None, model=None)

    def rounds_until_update(self, state: EpochState) -> int:
        """With an online oracle 1, until the horizon."""
        if self.oracle == "offline":
            return super().rounds_until_update(state)
        horizon = state.problem.horizon
        return 1 if horizon is None or state.rounds < horizon else 0

    def decide(
        self,
        state: EpochState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """The oracle's estimates, then the learner's own rule."""
        if self.oracle == "offline":
            values, mask = self.estimates(state, contexts, graphs, available, loops=False)
            return self.sample(state, values, graphs, rng.random(len(contexts)), mask)
        left = self.rounds_until_update(state)
        mask = check_batch(state.problem.n_arms, left, contexts, graphs, available, loops=False)
        values = self._online(state).predict(state.model, contexts)
        if not (np.abs(values) <= LARGEST).all():
            raise InputError(f"the oracle predicts values beyond {LARGEST:g}; expected contexts of smaller size")
        return self.sample(state, values, graphs, rng.random(len(contexts)), mask)

    def update(self, state: EpochState, observations: Observations) -> EpochState:
        """The oracle sees what was revealed."""
        if self.oracle == "offline":
            return super().update(state, observations)
        observations.check(state.problem.n_arms)
        if self.rounds_until_update(state) == 0:
            raise HorizonError(f"round {state.rounds} ends the problem's horizon; expected no update after it")
        if len(observations) == 0 or int(observations.rounds[-1]) != state.rounds:
            last = int(observations.rounds[-1]) if len(observations) else "none"
            raise InputError(f"the last round of the observations is {last}; expected round {state.rounds}")
        model: Any = self._online(state).update(state.model, observations)
        return EpochState(problem=state.problem, rounds=state.rounds + 1, epoch=state.epoch + 1, data=None, model=model)

    def postpone(self, state: EpochState, observations: Observations) -> EpochState:
        """All observations, and fhat as it was; an online oracle has no fit that could fail."""
        if self.oracle == "offline":
            return super().postpone(state, observations)
        return self.update(state, observations)

    def _online(self, state: EpochState) -> OnlineLinear:
        return OnlineLinear(method=self.oracle, n_arms=state.problem.n_arms, regularisation=self.regularisation)
