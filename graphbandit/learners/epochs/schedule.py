"""Epochs: when the learners of the paper stop to learn, and what their formulas ask for at that time."""

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

from graphbandit.base.checks import LARGEST, setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.errors import HorizonError, InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.learners.problem import Problem
from graphbandit.rounds.observations import Observations


@dataclass(frozen=True, kw_only=True)
class EpochSchedule:
    """Epoch m is the rounds tau_{m-1} + 1 .. tau_m, tau_0 = 0, tau_m = growth^m (2^m in the paper).

    For other growths tau_m is rounded, and at least one more than tau_{m-1}. The split point is t_0 = 0,
    t_m = (tau_m + tau_{m-1}) / 2, rounded down.

    >>> doubling = EpochSchedule()
    >>> [doubling.tau(m) for m in range(5)], [doubling.split(m) for m in range(5)]
    ([0, 2, 4, 8, 16], [0, 1, 3, 6, 12])
    >>> [EpochSchedule(growth=1.5).tau(m) for m in range(7)]
    [0, 2, 3, 4, 5, 8, 11]
    """

    growth: float = 2.0

    def __post_init__(self) -> None:
        setting_number("epoch_growth", self.growth, above=1.0)

    @functools.lru_cache(maxsize=4096)  # noqa: B019  # a schedule is one number
    def tau(self, m: int) -> int:
        """The last round of epoch m (counted from 1)."""
        if self.growth == 2.0:
            return 2**m if m > 0 else 0
        end = 0
        for k in range(1, m + 1):
            end = max(end + 1, round(self.growth**k))
        return end

    def split(self, m: int) -> int:
        """t_m: data up to here makes F_{m+1}; the rest of epoch m measures it."""
        return (self.tau(m) + self.tau(m - 1)) // 2 if m > 0 else 0

    @functools.lru_cache(maxsize=4096)  # noqa: B019
    def epochs(self, horizon: int) -> int:
        """M, the number of epochs that hold `horizon` rounds: ceil(log2 T) in the paper, at least 1."""
        m, end = 1, self.tau(1)
        while end < horizon:
            m += 1
            end = max(end + 1, round(self.growth**m))
        return m


@dataclass(frozen=True, kw_only=True)
class EpochTerms:
    """T, M and delta as the formulas of epoch m take them.

    With a known horizon they are the horizon's. Without one, T is the end of the epoch, M = m, and
    delta_m = delta / (m (m + 1)), so that the failures of all epochs still sum to at most delta.
    """

    epoch: int
    T: int
    M: int
    delta: float

    @classmethod
    def of(cls, schedule: EpochSchedule, horizon: int | None, m: int, delta: float) -> "EpochTerms":
        """The terms of epoch m."""
        if horizon is not None:
            return cls(epoch=m, T=horizon, M=schedule.epochs(horizon), delta=delta)
        return cls(epoch=m, T=schedule.tau(m), M=m, delta=delta / (m * (m + 1)))

    def log_term(self, n_arms: int, log_size: float) -> float:
        """log(2 K |F| T^2 / delta)."""
        return math.log(2.0 * n_arms * self.T**2 / self.delta) + log_size


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class EpochState:
    """What a learner of epochs knows: the rounds it has played, its epoch, all data, the estimate fhat_m."""

    problem: Problem
    rounds: int
    epoch: int
    data: Any
    model: Any

    def __post_init__(self) -> None:
        check_clock(self.problem, self.rounds, self.epoch)


def check_clock(problem: Problem, rounds: int, epoch: int) -> None:
    """Raise unless these can be part of a state."""
    if not isinstance(problem, Problem):
        raise SettingError(f"problem is {problem!r}; expected a Problem")
    setting_integer("rounds", rounds, at_least=0)
    setting_integer("epoch", epoch, at_least=1)


def rounds_left(schedule: EpochSchedule, problem: Problem, rounds: int, epoch: int) -> int:
    """Rounds until the epoch, or the horizon, ends."""
    end = schedule.tau(epoch)
    return (end if problem.horizon is None else min(end, problem.horizon)) - rounds


def check_rates(eta: float, delta: float) -> None:
    """Raise SettingError unless these are a strength of exploitation and a probability that gamma can be made of."""
    setting_number("eta", eta, above=0.0, below=LARGEST)
    setting_number("delta", delta, above=1.0 / LARGEST, below=1.0)


def add_epoch(
    function_class: FunctionClass[Any, Any, Any],
    data: Any,
    observations: Observations,
    *,
    rounds: int,
    expected: int,
    split: int,
) -> tuple[Any, Any, Observations]:
    """Data up to the split point, data of all rounds, and the rounds from the split point on.

    `observations` must hold the next `expected` rounds after `rounds`, all of them, and may hold late rewards of
    earlier ones; those count as data before the split.
    """
    observations.check(function_class.n_arms)
    if expected == 0:
        raise HorizonError(f"round {rounds} is the last of the problem's horizon; expected no update after it")
    new = observations.between(rounds, rounds + expected)
    if len(new) != expected or (len(observations) and int(observations.rounds[-1]) >= rounds + expected):
        last = int(observations.rounds[-1]) if len(observations) else "none"
        raise InputError(
            f"the observations hold {len(new)} new rounds up to round {last}; "
            f"expected all of rounds {rounds} to {rounds + expected - 1}"
        )
    before = function_class.add(data, observations.between(0, max(split, rounds)))
    after = observations.between(max(split, rounds), rounds + expected)
    return before, function_class.add(before, after), after


def postponed(
    function_class: FunctionClass[Any, Any, Any], state: Any, observations: Observations, *, expected: int
) -> Any:
    """The state of the next epoch with all data of this one, and the rest of it, the estimate above all, as it is."""
    _, data, _ = add_epoch(
        function_class, state.data, observations, rounds=state.rounds, expected=expected, split=state.rounds
    )
    return replace(state, rounds=state.rounds + expected, epoch=state.epoch + 1, data=data)
