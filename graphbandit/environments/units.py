"""Any environment in other units, or with learners told more or less about it, as in a new user's problem."""

import inspect
from dataclasses import dataclass, replace
from typing import Any

from graphbandit.base.checks import LARGEST_SCALE, setting_boolean, setting_number
from graphbandit.environments.base import Environment, Instance, Rounds, WrappedEnvironment
from graphbandit.errors import SettingError
from graphbandit.function_classes import FunctionClass
from graphbandit.function_classes.finite_base import FiniteFunctionClass
from graphbandit.learners.problem import Problem


@dataclass(frozen=True, kw_only=True)
class UnitsEnvironment(WrappedEnvironment):
    """The rounds of another environment with rewards offset + factor * y, such as cents instead of dollars.

    - `environment`: the environment that draws the rounds.
    - `offset`: the number added to every reward, 0 by default.
    - `factor`: the number that every reward is multiplied by, above 0; 1 by default. Regret is in the new units, too.
    - `tell_noise`: whether learners are told the noise, in the new units; True by default.
    - `tell_bound`: whether a function class that has a `norm_bound` keeps it, in the new units; True by default.
    - `half_life`, `longest_epoch`: what learners are told about a changing world; None (default): what the environment
      tells them.

    A finite function class fixes its own units, so its problems allow neither offset nor factor.
    """

    offset: float = 0.0
    factor: float = 1.0
    tell_noise: bool = True
    tell_bound: bool = True
    half_life: float | None = None
    longest_epoch: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        setting_number("offset", self.offset, at_least=-LARGEST_SCALE, at_most=LARGEST_SCALE)
        setting_number("factor", self.factor, above=0.0, at_most=LARGEST_SCALE)
        setting_boolean("tell_noise", self.tell_noise)
        setting_boolean("tell_bound", self.tell_bound)

    def instance(self, seed: int, repeat: int = 0) -> "UnitsInstance":
        """The instance of the other environment, in these units."""
        return UnitsInstance(environment=self, inner=self.environment.instance(seed, repeat))


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitsInstance(Instance):
    """One repeat."""

    environment: UnitsEnvironment
    inner: Instance

    def problem(self, horizon: int | None) -> Problem:
        """What the other environment tells learners, in these units; its noise only with `tell_noise`."""
        problem, settings = self.inner.problem(horizon), self.environment
        same = settings.offset == 0.0 and settings.factor == 1.0
        if not same and isinstance(problem.function_class, FiniteFunctionClass):
            raise SettingError(
                f"offset is {settings.offset:g} and factor {settings.factor:g}, but the problem's finite function "
                "class fixes its own units; expected 0 and 1"
            )
        noise = problem.noise if settings.tell_noise else None
        return replace(
            problem,
            noise=None if noise is None else noise * settings.factor,
            function_class=_rescaled(problem.function_class, settings.factor if settings.tell_bound else None),
            half_life=problem.half_life if settings.half_life is None else settings.half_life,
            longest_epoch=problem.longest_epoch if settings.longest_epoch is None else settings.longest_epoch,
        )

    def rounds(self, first: int, stop: int) -> Rounds:
        """The rounds of the other environment, with means and rewards in these units."""
        rounds, a, b = self.inner.rounds(first, stop), self.environment.offset, self.environment.factor
        return replace(rounds, means=a + b * rounds.means, rewards=a + b * rounds.rewards)


def _rescaled(functions: FunctionClass[Any, Any, Any] | None, factor: float | None) -> Any:
    """The class with its norm bound, if it has one, in the new units; without the bound if there is no factor."""
    bound = getattr(functions, "norm_bound", None)
    if functions is None or bound is None:
        return functions
    settings = {name: getattr(functions, name) for name in inspect.signature(type(functions)).parameters}
    return type(functions)(**{**settings, "norm_bound": None if factor is None else bound * factor})


# The settings have their lines here and in the class, because `help` of either shows only its own.
def units(
    environment: Environment,
    *,
    offset: float = 0.0,
    factor: float = 1.0,
    tell_noise: bool = True,
    tell_bound: bool = True,
    half_life: float | None = None,
    longest_epoch: int | None = None,
) -> UnitsEnvironment:
    """The rounds of another environment in other units, a `UnitsEnvironment`.

    - `environment`: the environment that draws the rounds.
    - `offset`: the number added to every reward, 0 by default.
    - `factor`: the number that every reward is multiplied by, above 0; 1 by default. Regret is in the new units, too.
    - `tell_noise`: whether learners are told the noise, in the new units; True by default.
    - `tell_bound`: whether a function class that has a `norm_bound` keeps it, in the new units; True by default.
    - `half_life`, `longest_epoch`: what learners are told about a changing world; None (default): what the environment
      tells them.

    >>> from graphbandit import environments
    >>> cents = units(environments.linear(n_arms=2, dimension=2), offset=500.0, factor=80.0, tell_noise=False)
    >>> cents.instance(seed=0).rounds(0, 1).means.round(1)
    array([[479. , 541.5]])
    >>> cents.instance(seed=0).problem(horizon=None).noise is None
    True
    """
    return UnitsEnvironment(
        environment=environment,
        offset=offset,
        factor=factor,
        tell_noise=tell_noise,
        tell_bound=tell_bound,
        half_life=half_life,
        longest_epoch=longest_epoch,
    )
