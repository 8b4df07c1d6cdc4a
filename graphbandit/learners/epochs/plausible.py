"""What IDS.G, RegCB and bootstrapped Thompson sampling share: the functions still plausible, anew at each epoch."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from graphbandit.base.checks import LARGEST, first_not_finite, numbers
from graphbandit.base.saved_files import savable
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Draws, FunctionClass
from graphbandit.learners.base import Learner, candidates_of, function_class_of
from graphbandit.learners.epochs.noise import conservative_noise, warn_of_estimated_noise
from graphbandit.learners.epochs.schedule import EpochSchedule, add_epoch, check_clock, postponed, rounds_left
from graphbandit.learners.problem import Problem
from graphbandit.rounds.observations import Observations

CELLS = 2**15
"""Values f_b(x, a) held at a time, so that memory never grows with the batch."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class PlausibleState:
    """What is known in epoch m.

    `plausible` are the functions that may be the truth, given all data so far: `Draws`, or a version space F_m.
    `noise` is the sigma that was used for it (infinite while nothing can be said), `lowest_reward` and
    `highest_reward` the span of what was seen.
    """

    problem: Problem
    rounds: int
    epoch: int
    data: Any
    plausible: Any
    noise: float
    lowest_reward: float
    highest_reward: float

    def __post_init__(self) -> None:
        check_clock(self.problem, self.rounds, self.epoch)


class PlausibleLearner(Learner[PlausibleState]):
    """A learner whose state is a set of plausible functions; how it plays, given them, is each one's own."""

    delta: float
    epoch_growth: float
    function_class: FunctionClass[Any, Any, Any] | None

    @abstractmethod
    def plausible(
        self, functions: FunctionClass[Any, Any, Any], data: Any, noise: float, names: tuple[str | int, ...]
    ) -> Any:
        """The plausible functions given this data and noise; `names` is the path of a random stream for draws."""

    def init(self, problem: Problem) -> PlausibleState:
        """What the class holds plausible without data: all of a finite one."""
        functions = function_class_of(self.function_class, problem)
        if problem.noise is None:
            warn_of_estimated_noise(type(self).__name__)
        noise = math.inf if problem.noise is None else float(problem.noise)
        return self._state(functions, problem, 0, 1, functions.empty(), noise, math.inf, -math.inf)

    def rounds_until_update(self, state: PlausibleState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return rounds_left(self._schedule, state.problem, state.rounds, state.epoch)

    def update(self, state: PlausibleState, observations: Observations) -> PlausibleState:
        """End an epoch: plausible functions given all data so far."""
        problem, m = state.problem, state.epoch
        functions = function_class_of(self.function_class, problem)
        expected = self.rounds_until_update(state)
        _, data, _ = add_epoch(
            functions, state.data, observations, rounds=state.rounds, expected=expected, split=state.rounds
        )
        low = float(observations.rewards.min(initial=state.lowest_reward))
        high = float(observations.rewards.max(initial=state.highest_reward))
        noise = conservative_noise(
            problem.noise, functions, data, span=max(high - low, 0.0), epoch=m + 1, delta=self.delta
        )
        return self._state(functions, problem, state.rounds + expected, m + 1, data, float(noise), low, high)

    def postpone(self, state: PlausibleState, observations: Observations) -> PlausibleState:
        """All observations, and the plausible functions as they were."""
        functions = function_class_of(self.function_class, state.problem)
        after: PlausibleState = postponed(functions, state, observations, expected=self.rounds_until_update(state))
        return replace(
            after,
            lowest_reward=float(observations.rewards.min(initial=state.lowest_reward)),
            highest_reward=float(observations.rewards.max(initial=state.highest_reward)),
        )

    @cached_property
    def _schedule(self) -> EpochSchedule:
        return EpochSchedule(growth=self.epoch_growth)

    def _state(
        self,
        functions: FunctionClass[Any, Any, Any],
        problem: Problem,
        rounds: int,
        epoch: int,
        data: Any,
        noise: float,
        low: float,
        high: float,
    ) -> PlausibleState:
        """Draws come from a stream that is named after what was seen: the same state has the same draws."""
        names = (type(self).__name__, epoch, functions.n_observed(data), low.hex(), high.hex())
        return PlausibleState(
            problem=problem,
            rounds=rounds,
            epoch=epoch,
            data=data,
            plausible=self.plausible(functions, data, noise, names),
            noise=noise,
            lowest_reward=low,
            highest_reward=high,
        )


def plausible_draws(
    functions: FunctionClass[Any, Any, Any],
    data: Any,
    noise: float,
    *,
    count: int,
    seed: int,
    names: tuple[str | int, ...],
) -> Draws:
    """The class's draws. While nothing can be said of the noise, data says nothing either: those without data."""
    rng = stream(seed, *names)
    if noise == math.inf:
        return functions.draws(functions.empty(), noise=1.0, count=count, rng=rng)
    return functions.draws(data, noise=noise, count=count, rng=rng)


def plausible_space(functions: FunctionClass[Any, Any, Any], data: Any, noise: float, *, delta: float) -> Any:
    """F_m at the class's sharp radius; all of F while nothing can be said of the noise."""
    radius = functions.sharp_radius(data, noise, delta) if noise < math.inf else math.inf
    return functions.version_space(data, radius)


def draws_know_nothing(functions: FunctionClass[Any, Any, Any], state: PlausibleState) -> bool:
    """Whether the state's draws were made without any data."""
    return state.noise == math.inf or functions.n_observed(state.data) == 0


def values_of_draws(
    functions: FunctionClass[Any, Any, Any], state: PlausibleState, contexts: Shaped[np.ndarray, "n ..."]
) -> Iterator[tuple[slice, Float[np.ndarray, "part draws arms"]]]:
    """f_b(x, a), some rounds at a time, checked as kernels trust them; nothing where the class has no draws yet."""
    draws: Draws = state.plausible
    if not len(draws):
        # contexts the class cannot evaluate are refused now: at the update it would be too late
        candidates_of(functions, functions.version_space(functions.empty(), math.inf), contexts, None)
        return
    step = max(CELLS // (len(draws) * functions.n_arms), 1)
    for start in range(0, len(contexts), step):
        part = slice(start, start + step)
        values = np.ascontiguousarray(numbers("the draws", functions.draw_values(draws, contexts[part]), has="have"))
        expected = (len(contexts[part]), len(draws), functions.n_arms)
        if values.shape != expected:
            raise InputError(f"the function class gave draws of shape {values.shape}; expected {expected}")
        if not max(values.max(), -values.min()) <= LARGEST:
            where = first_not_finite(values, largest=LARGEST)
            raise InputError(f"the function class drew {where}; expected finite values up to {LARGEST:g} in size")
        yield part, values


def bounds_of(
    functions: FunctionClass[Any, Any, Any], space: Any, contexts: Shaped[np.ndarray, "n ..."]
) -> tuple[Float[np.ndarray, "n arms"], Float[np.ndarray, "n arms"]]:
    """The class's lower and upper bounds, checked as kernels trust them; they may be infinite."""
    lower, upper = functions.bounds(space, contexts)
    expected = (len(contexts), functions.n_arms)
    if lower.shape != expected or upper.shape != expected or not (lower <= upper).all():
        raise InputError(
            f"the function class gave bounds of shapes {lower.shape} and {upper.shape}; "
            f"expected {expected}, the lower ones not above the upper ones"
        )
    return lower, upper
