"""What all learners of epochs share: when an epoch ends, which data it adds, and what a failed fit leaves behind."""

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundsByArms
from graphbandit.base.checks import LARGEST, setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.errors import EstimatedNoiseWarning, HorizonError, InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.learners.base import Learner, candidates_of, predictor_of
from graphbandit.learners.epochs.schedule import END, EpochSchedule
from graphbandit.learners.problem import Problem, check_function_class
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words

NO_OBSERVATIONS = Observations(
    contexts=np.empty((0, 0)),
    rounds=np.empty(0, dtype=np.int64),
    rows=np.empty(0, dtype=np.int64),
    arms=np.empty(0, dtype=np.int64),
    rewards=np.empty(0),
)
"""No rounds at all."""

AnyFunctionClass = FunctionClass[Any, Any, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class EpochClock:
    """What every state of a learner of epochs has: its problem, the rounds learnt, its epoch and all data so far."""

    problem: Problem
    rounds: int
    epoch: int
    data: Any

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise SettingError(f"problem is {self.problem!r}; expected a Problem")
        setting_integer("rounds", self.rounds, at_least=0, at_most=END)
        setting_integer("epoch", self.epoch, at_least=1, at_most=self.rounds + 1)  # an epoch has a round at least

    def __getstate__(self) -> dict[str, Any]:
        # what is kept can be worked out again, and may hold functions that cannot be copied
        return {name: value for name, value in self.__dict__.items() if name != "kept"}


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class EpochState(EpochClock):
    """What a learner of epochs knows.

    - `problem`: what it was told.
    - `rounds`: how many rounds it has learnt from.
    - `epoch`: m, from 1.
    - `data`: what the function class keeps of the observations.
    - `model`: the estimate fhat_m, None before there is one.
    """

    model: Any


State = TypeVar("State", bound=EpochClock)


class EndedEpoch(NamedTuple):
    """An epoch that is to be learnt: its rounds and late news, and the data they make."""

    observations: Observations
    length: int
    to_split: Any
    """The data up to the split point, and late news."""
    data: Any
    """All data so far."""
    from_split: Observations
    """The rounds from the split point on."""


class EpochLearner(Learner[State], Generic[State]):
    """A learner that learns when an epoch ends, from all data so far.

    - `epoch_growth`: the factor between the ends of epochs.
    - `function_class`: the functions that may be the truth; None: those of the problem.
    """

    epoch_growth: float
    function_class: AnyFunctionClass | None

    said: ClassVar[Words] = {BEST: "best", "gap": "gaps"}
    """What it tells of a decision, once there is an estimate: in words, and the field of the decisions that has it."""

    takes_own_arms = True
    """Yes: all knowledge is the function class's, which says whether arms share their parameters."""

    def __post_init__(self) -> None:
        EpochSchedule(growth=self.growth)  # refuses a growth that makes no epochs

    @abstractmethod
    def learnt(self, state: State, ended: EndedEpoch) -> State:
        """The state of the next epoch, once this one is in its data. May raise FitError."""

    def functions(self, problem: Problem) -> AnyFunctionClass:
        """The learner's own function class if it names one, else the problem's."""
        if self.function_class is not None:
            return check_function_class(self.function_class, problem.n_arms)
        if problem.function_class is None:
            raise SettingError(
                "function_class is None in both the learner and the problem; expected one in either, such as "
                "Problem(function_class='linear', features={...})"
            )
        return problem.function_class

    def of_epoch(self, state: State) -> Any:
        """What the rounds of an epoch have in common, as `prepared` gives it; kept, as every round asks for it."""
        kept: tuple[object, Any] | None = state.__dict__.get("kept")
        if kept is None or kept[0] is not self:
            kept = state.__dict__["kept"] = self, self.prepared(state)
        return kept[1]

    def prepared(self, state: State) -> Any:
        """What the rounds of this epoch have in common (default: nothing)."""
        return None

    def rounds_until_update(self, state: State) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        end, horizon = self.epochs(state.problem).tau(state.epoch), state.problem.horizon
        return (end if horizon is None else min(end, horizon)) - state.rounds

    def update(self, state: State, observations: Observations) -> State:
        """End the epoch: learn from all data so far."""
        return self.learnt(state, self.ended(state, observations, split=self.split(state)))

    def postpone(self, state: State, observations: Observations) -> State:
        """End the epoch with all of its data, and everything else, the estimate above all, as it was."""
        ended = self.ended(state, observations, split=state.rounds)
        after = replace(state, rounds=state.rounds + ended.length, epoch=state.epoch + 1, data=ended.data)
        if isinstance(after, RewardSpan):
            low, high = reward_span(after, observations)
            after = replace(after, lowest_reward=low, highest_reward=high)
        return after

    @property
    def refits(self) -> bool:
        """Yes: all data so far makes an estimate at any time."""
        return True

    def refit(self, state: State, observations: Observations) -> State:
        """Learn from all data so far in the middle of the epoch, which keeps its number and its end."""
        so_far = len(observations.between(state.rounds, END))
        return self._again(state, self.ended(state, observations, split=END, length=so_far))

    def grown(self, state: State, problem: Problem) -> State:
        """The class's data with the new arms, and an estimate from it; the epoch goes on."""
        if self.function_class is not None:
            raise SettingError(
                "function_class is a setting of the learner; expected it in the problem, to take more arms"
            )
        functions = self.functions(problem)
        if functions.n_observed(state.data) == 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EstimatedNoiseWarning)  # that was said at the start
                return replace(self.init(problem), rounds=state.rounds, epoch=state.epoch)
        data = functions.grown_data(state.data)
        ended = EndedEpoch(NO_OBSERVATIONS, 0, data, data, NO_OBSERVATIONS)
        return self._again(replace(state, problem=problem, data=data), ended)

    def _again(self, state: State, ended: EndedEpoch) -> State:
        """What is learnt at the start of the epoch, from other data; the epoch keeps its number."""
        before = replace(state, epoch=max(state.epoch - 1, 1))
        return replace(self.learnt(before, ended), epoch=state.epoch)

    def split(self, state: State) -> int:
        """The round from which the epoch's data is kept apart as `EndedEpoch.from_split` (default: its first)."""
        return state.rounds

    def ended(self, state: State, observations: Observations, *, split: int, length: int | None = None) -> EndedEpoch:
        """The epoch's data. Raises unless the observations hold all of its rounds; they may hold late news as well.

        Late news counts as data before the split. `length` is the number of rounds, None for all that were left.
        """
        functions, rounds = self.functions(state.problem), state.rounds
        observations.check(functions.n_arms)
        expected = self.rounds_until_update(state) if length is None else length
        if expected == 0 and length is None:
            raise HorizonError(f"round {rounds} is the last of the problem's horizon; expected no update after it")
        new = observations.between(rounds, rounds + expected)
        if len(new) != expected or (len(observations) and int(observations.rounds[-1]) >= rounds + expected):
            last = int(observations.rounds[-1]) if len(observations) else "none"
            raise InputError(
                f"the observations hold {len(new)} new rounds up to round {last}; "
                f"expected all of rounds {rounds} to {rounds + expected - 1}"
            )
        first = max(split, rounds)
        early = len(observations) and int(observations.rounds[0]) < first
        before = functions.add(state.data, observations.between(0, first)) if early else state.data
        after = new if first == rounds else observations.between(first, rounds + expected)
        return EndedEpoch(observations, expected, before, functions.add(before, after), after)

    def words(self, state: State, shown: Shown, made: Decisions) -> Words:
        """`said`; without an estimate, no best arm, gaps or gamma: zeros would mislead."""
        if getattr(state, "model", None) is not None:  # some states have no model
            return self.said
        unknown = {BEST: np.full(len(made), -1), "gap": np.full(made.gaps.shape, np.nan)}
        unknown["gamma"] = np.full(len(made), np.nan)
        return {name: unknown.get(name, field) for name, field in self.said.items()}

    @property
    def growth(self) -> float:
        """The factor between the ends of epochs, as used."""
        return self.epoch_growth

    def epochs(self, problem: Problem) -> EpochSchedule:
        """When epochs end; none is longer than the problem's longest."""
        return schedule_of(self.growth, problem.longest_epoch)

    def no_data(self, problem: Problem) -> Any:
        """Data without observations, which forgets by the problem's half-life if it has one."""
        functions = self.functions(problem)
        return functions.empty() if problem.half_life is None else functions.empty(half_life=problem.half_life)


@lru_cache(maxsize=256)
def schedule_of(growth: float, longest: int | None, single: int = 0) -> EpochSchedule:
    """The schedule of these settings, which remembers what it has worked out."""
    return EpochSchedule(growth=growth, longest=longest, single=single)


def rounds_that_count(problem: Problem, rounds: int) -> float:
    """How many rounds at full weight these rounds are worth: sum of 2^(-k / half_life) over k < rounds.

    >>> rounds_that_count(Problem(n_arms=2), 100), round(rounds_that_count(Problem(n_arms=2, half_life=10.0), 100), 2)
    (100.0, 14.92)
    """
    if problem.half_life is None:
        return float(rounds)
    return math.expm1(-rounds * math.log(2.0) / problem.half_life) / math.expm1(-math.log(2.0) / problem.half_life)


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardSpan(EpochClock):
    """A state with the smallest and the largest reward seen, to estimate noise that the problem does not state."""

    lowest_reward: float
    highest_reward: float


def reward_span(state: RewardSpan, observations: Observations) -> tuple[float, float]:
    """The smallest and the largest reward, those of these observations included."""
    low = float(observations.rewards.min(initial=state.lowest_reward))
    return low, float(observations.rewards.max(initial=state.highest_reward))


def estimator(functions: AnyFunctionClass, model: Any) -> Callable[[Contexts, ArmMasks | None], RoundsByArms]:
    """fhat_m(x, a) for contexts and arms on offer, zero without a model.

    The function raises InputError at contexts that the class cannot evaluate.
    """
    if model is not None:
        predict = predictor_of(functions, model)
        return lambda contexts, _: predict(contexts)

    def nothing(contexts: Contexts, available: ArmMasks | None) -> RoundsByArms:
        check_evaluable(functions, contexts, available)
        return np.zeros((len(contexts), functions.n_arms))

    return nothing


def check_evaluable(functions: AnyFunctionClass, contexts: Contexts, available: ArmMasks | None = None) -> None:
    """Refuse contexts that the class cannot evaluate: at the update it would be too late."""
    functions.check_contexts(contexts)
    if not functions.evaluates_all:
        candidates_of(functions, functions.version_space(functions.empty(), math.inf), contexts, available)


def check_rates(eta: float, delta: float) -> None:
    """Raise SettingError unless gamma can be made of this strength of exploitation and probability of failure."""
    setting_number("eta", eta, above=0.0, below=LARGEST)
    setting_number("delta", delta, above=1.0 / LARGEST, below=1.0)
