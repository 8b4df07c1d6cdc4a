"""What IDS.G, RegCB and bootstrapped Thompson sampling share: the functions still plausible, anew at each epoch."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.array_types import Contexts, Offers, RoundsByArms
from graphbandit.base.checks import LARGEST, check_within, everyone_always, setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Draws
from graphbandit.learners.base import drawer_of
from graphbandit.learners.epochs.base import (
    AnyFunctionClass,
    EndedEpoch,
    EpochLearner,
    RewardSpan,
    check_evaluable,
    reward_span,
)
from graphbandit.learners.epochs.noise import conservative_noise, warn_of_estimated_noise
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Shown

CELLS = 2**15
"""Values f_b(x, a) held at a time, so that memory never grows with the batch."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class PlausibleState(RewardSpan):
    """What a learner that plays by plausible functions knows in epoch m.

    - `problem`, `rounds`, `epoch`, `data`: as in `EpochState`.
    - `lowest_reward`, `highest_reward`: the span of the rewards seen.
    - `plausible`: the functions that may be the truth, given all data so far: `Draws`, or a version space F_m.
    - `noise`: the sigma that was used for them; None if it was drawn as well, infinite while nothing can be said.
    """

    plausible: Any
    noise: float | None


class PlausibleLearner(EpochLearner[PlausibleState]):
    """A learner whose state is a set of plausible functions; each learner plays by them in its own way.

    - `delta`: the probability that the truth is left out, or that noise nobody told is estimated too low.
    """

    delta: float

    def __post_init__(self) -> None:
        setting_number("delta", self.delta, above=1.0 / LARGEST, below=1.0)
        super().__post_init__()

    @property
    def takes_draws(self) -> bool:
        """Whether the plausible functions are draws, for which noise that is not told is part of what is drawn."""
        return False

    def plausible(self, functions: AnyFunctionClass, data: Any, noise: float | None, epoch: int) -> Any:
        """F_m at the class's sharp radius; all of F while nothing can be said of the noise."""
        assert noise is not None  # if nobody told it, it was estimated
        radius = functions.sharp_radius(data, noise, self.delta) if noise < math.inf else math.inf
        return functions.version_space(data, radius)

    def init(self, problem: Problem) -> PlausibleState:
        """What the class holds plausible without data: all of a finite one."""
        if problem.noise is None and not self.takes_draws:
            warn_of_estimated_noise(type(self).__name__)
        return self._state(problem, 0, 1, self.no_data(problem), math.inf, -math.inf)

    def learnt(self, state: PlausibleState, ended: EndedEpoch) -> PlausibleState:
        """Plausible functions given all data so far."""
        low, high = reward_span(state, ended.observations)
        return self._state(state.problem, state.rounds + ended.length, state.epoch + 1, ended.data, low, high)

    def _state(self, problem: Problem, rounds: int, epoch: int, data: Any, low: float, high: float) -> PlausibleState:
        functions, noise, span = self.functions(problem), problem.noise, max(high - low, 0.0)
        if not self.takes_draws:
            noise = conservative_noise(noise, functions, data, span=span, epoch=epoch, delta=self.delta)
        return PlausibleState(
            problem=problem,
            rounds=rounds,
            epoch=epoch,
            data=data,
            plausible=self.plausible(functions, data, noise, epoch),
            noise=noise,
            lowest_reward=low,
            highest_reward=high,
        )


@dataclass(frozen=True, kw_only=True)
class DrawingLearner(PlausibleLearner):
    """A `PlausibleLearner` that may draw its functions; the settings are those of `IDSG`."""

    draws: int = 200
    delta: float = 0.1
    epoch_growth: float = 1.2
    seed: int = 0
    function_class: AnyFunctionClass | None = None

    def __post_init__(self) -> None:
        setting_integer("draws", self.draws, at_least=1)
        setting_integer("seed", self.seed, at_least=0)
        super().__post_init__()

    def plausible(self, functions: AnyFunctionClass, data: Any, noise: float | None, epoch: int) -> Any:
        """Draws from a stream that is named after what was seen, so that the same state has the same draws; or F_m."""
        if not self.takes_draws:
            return super().plausible(functions, data, noise, epoch)
        rng = stream(self.seed, type(self).__name__, epoch, functions.n_observed(data))
        return functions.draws(data, noise=noise, count=self.draws, rng=rng)


def draws_know_nothing(functions: AnyFunctionClass, state: PlausibleState) -> bool:
    """Whether data says nothing yet: there is none, or nobody told the noise and all rewards seen are the same."""
    same = state.highest_reward <= state.lowest_reward
    return functions.n_observed(state.data) == 0 or (state.noise is None and same)


Parts = Iterable[tuple[slice, Float[np.ndarray, "part draws arms"]]]
"""Values f_b(x, a) for some rounds at a time, and which rounds they are."""


def values_of_draws(functions: AnyFunctionClass, draws: Draws) -> Callable[[Contexts], Parts]:
    """f_b(x, a) as a function of the contexts, some rounds at a time; nothing where the class has no draws yet.

    The values are as kernels trust them, except that they need not be finite: `check_drawn`.
    """
    if not len(draws):

        def nothing(contexts: Contexts) -> Parts:
            check_evaluable(functions, contexts)
            return ()

        return nothing
    values_of, most = drawer_of(functions, draws), max(CELLS // (len(draws) * functions.n_arms), 1)

    def values(contexts: Contexts) -> Parts:
        n = len(contexts)
        if n <= most:
            return ((slice(0, n), values_of(contexts)),)
        parts = (slice(start, start + most) for start in range(0, n, most))
        return ((part, values_of(contexts[part])) for part in parts)

    return values


def check_drawn(values: Float[np.ndarray, "part draws arms"]) -> None:
    """Raise InputError unless the values of draws are finite and of a fair size."""
    check_within("the function class drew", values, of="values")


def masks_of(shown: Shown, n_arms: int) -> Offers:
    """The arms on offer as kernels take them: one row a round, or one row for all where everything is."""
    return everyone_always(n_arms) if shown.available is None else np.ascontiguousarray(shown.available)


def bounds_of(functions: AnyFunctionClass, space: Any, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
    """The class's lower and upper bounds, checked as kernels trust them; they may be infinite."""
    lower, upper = functions.bounds(space, contexts)
    expected = (len(contexts), functions.n_arms)
    if lower.shape != expected or upper.shape != expected or not (lower <= upper).all():
        raise InputError(
            f"the function class gave bounds of shapes {lower.shape} and {upper.shape}; "
            f"expected {expected}, the lower ones not above the upper ones"
        )
    return lower, upper
