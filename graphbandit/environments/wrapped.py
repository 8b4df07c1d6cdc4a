"""The common base of environments that change the rounds of another one."""

from dataclasses import dataclass

from graphbandit.environments.base import Environment
from graphbandit.errors import SettingError


@dataclass(frozen=True, kw_only=True, eq=False)
class WrappedEnvironment(Environment):
    """An environment with the arms and the number of rounds of the one inside."""

    environment: Environment

    def __post_init__(self) -> None:
        if not isinstance(self.environment, Environment):
            raise SettingError(
                f"environment is {self.environment!r}; expected an environment, such as environments.paper()"
            )

    @property
    def n_arms(self) -> int:
        """K."""
        return self.environment.n_arms

    @property
    def n_rounds(self) -> int | None:
        """The number of rounds of the other environment; None if there is no limit."""
        return self.environment.n_rounds
