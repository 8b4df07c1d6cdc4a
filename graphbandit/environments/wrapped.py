"""What environments share that change the rounds of another one."""

from dataclasses import dataclass

from graphbandit.environments.base import Environment
from graphbandit.errors import SettingError


@dataclass(frozen=True, kw_only=True, eq=False)
class WrappedEnvironment(Environment):
    """The arms and as many rounds as the environment inside has."""

    # declared as `FixedSource` is, around an environment instead of a graph
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
        """As many as the other environment has."""
        return self.environment.n_rounds
