"""What SquareCB and SquareCB.G share: estimates of an oracle, offline or online, and a gamma that grows with time."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Literal, get_args

import numpy as np

from graphbandit.base.array_types import RoundsByArms
from graphbandit.base.checks import LARGEST, setting_choice, setting_number
from graphbandit.base.trusted import trusted
from graphbandit.errors import HorizonError, InputError, SettingError
from graphbandit.function_classes.online import OnlineLinear, Oracle
from graphbandit.learners.base import Learner
from graphbandit.learners.epochs.base import AnyFunctionClass, EpochState, rounds_that_count
from graphbandit.learners.epochs.estimates import EstimateLearner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words

OracleName = Literal["offline", Oracle]

LARGEST_CONTEXT = 1e6
"""Contexts of an online oracle are refused beyond this length, times the root of the regularisation.

The square of the length over the regularisation is the condition of the matrix it inverts, so at 1e6 four digits of
sixteen are left; one context of length 1e8 would leave none, and spoil every estimate after it.
"""


@dataclass(frozen=True, kw_only=True)
class OnlineOracle:
    """Linear regression that learns every round; its states are those of a learner whose epochs are one round long."""

    oracle: Oracle
    regularisation: float

    def init(self, problem: Problem) -> EpochState:
        """Nothing is known."""
        return EpochState(problem=problem, rounds=0, epoch=1, data=None, model=None)

    def rounds_until_update(self, state: EpochState) -> int:
        """One, until the horizon."""
        horizon = state.problem.horizon
        return 1 if horizon is None or state.rounds < horizon else 0

    def estimates(self, state: EpochState, shown: Shown) -> RoundsByArms:
        """What the regression predicts, 0 before anything is learnt."""
        largest = LARGEST_CONTEXT * math.sqrt(self.regularisation)
        with np.errstate(over="ignore"):  # infinitely long is too long
            lengths = np.sqrt((shown.contexts * shown.contexts).sum(axis=-1))
        if not (lengths <= largest).all():
            raise InputError(
                f"a context has length {lengths.max():g}; an online oracle expects at most {largest:g}: scale contexts"
            )
        values = self._regression(state).predict(state.model, shown.contexts)
        if not (np.abs(values) <= LARGEST).all():
            raise InputError(f"the oracle predicts values beyond {LARGEST:g}; expected contexts of smaller size")
        return values

    def update(self, state: EpochState, observations: Observations) -> EpochState:
        """The regression sees what was revealed in the next round, and late news."""
        if self.rounds_until_update(state) == 0:
            raise HorizonError(f"round {state.rounds} ends the problem's horizon; expected no update after it")
        if len(observations) == 0 or int(observations.rounds[-1]) != state.rounds:
            last = int(observations.rounds[-1]) if len(observations) else "none"
            raise InputError(f"the last round of the observations is {last}; expected round {state.rounds}")
        model = self._regression(state).update(state.model, observations)
        rounds, epoch = state.rounds + 1, state.epoch + 1
        fields = {"problem": state.problem, "rounds": rounds, "epoch": epoch, "data": None, "model": model}
        return trusted(EpochState, fields)

    def _regression(self, state: EpochState) -> OnlineLinear:
        return _regression_of(self.oracle, state.problem.n_arms, self.regularisation)


@lru_cache(maxsize=64)
def _regression_of(oracle: Oracle, n_arms: int, regularisation: float) -> OnlineLinear:
    """The regression with these settings; kept, as every round asks for it twice."""
    return OnlineLinear(oracle=oracle, n_arms=n_arms, regularisation=regularisation)


@dataclass(frozen=True, kw_only=True)
class OracleLearner(EstimateLearner):
    """A learner whose estimates are those of the function class, an epoch each, or of an `OnlineOracle`."""

    oracle: OracleName
    gamma: float | Literal["power"] = "power"
    gamma_scale: float = 10.0
    gamma_exponent: float = 0.5
    regularisation: float = 1.0  # not `ridge`: in an experiment file that is the function class's, in the same table
    epoch_growth: float = 2.0
    function_class: AnyFunctionClass | None = None

    said: ClassVar[Words] = {**EstimateLearner.said, "gamma": "gamma"}

    def __post_init__(self) -> None:
        setting_choice("oracle", self.oracle, get_args(OracleName))
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
        super().__post_init__()

    @abstractmethod
    def sample(self, state: EpochState, values: RoundsByArms, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Decisions from estimated mean rewards, which are all 0 before anything is learnt."""

    def choose(self, state: EpochState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """The oracle's estimates, then the learner's own rule."""
        values = self._online.estimates(state, shown) if self._online else self.estimates(state, shown)
        return self.sample(state, values, shown, rng)

    def gamma_of(self, state: EpochState) -> float:
        """The gamma of the rounds until the next update; 1 before the first, when all estimates are 0."""
        if state.model is None:
            return 1.0
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        rounds = rounds_that_count(state.problem, state.rounds) if self._online is None else state.rounds
        return self.gamma_scale * math.pow(rounds, self.gamma_exponent) / self.unit(state)

    def unit(self, state: EpochState) -> float:
        """The size of a reward that counts as 1."""
        if self._online is not None:
            return state.model.unit if state.model is not None else 1.0
        return self.functions(state.problem).unit(state.data)

    @cached_property
    def _online(self) -> OnlineOracle | None:
        if self.oracle == "offline":
            return None
        return OnlineOracle(oracle=self.oracle, regularisation=self.regularisation)

    def init(self, problem: Problem) -> EpochState:
        """Nothing is known."""
        return self._online.init(problem) if self._online else super().init(problem)

    def rounds_until_update(self, state: EpochState) -> int:
        """Rounds until the oracle learns, or the horizon ends."""
        return self._online.rounds_until_update(state) if self._online else super().rounds_until_update(state)

    def update(self, state: EpochState, observations: Observations) -> EpochState:
        """The oracle sees what was revealed."""
        return self._online.update(state, observations) if self._online else super().update(state, observations)

    def grown(self, state: EpochState, problem: Problem) -> EpochState:
        """The state for more arms; only with the offline oracle."""
        return super().grown(state, problem) if self._online is None else Learner.grown(self, state, problem)

    @property
    def forgets(self) -> bool:
        """Yes, with the offline oracle; for an online one all rewards count the same."""
        return self._online is None

    @property
    def refits(self) -> bool:
        """Yes, with the offline oracle; an online one learns every round."""
        return self._online is None

    def postpone(self, state: EpochState, observations: Observations) -> EpochState:
        """All observations, and fhat as it was; an online oracle has no fit that could fail."""
        return self._online.update(state, observations) if self._online else super().postpone(state, observations)
