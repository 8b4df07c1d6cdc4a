"""The few kinds of error that the package raises. Each message names the wrong value and what was expected.

All errors derive from `GraphBanditError`. If Python has a fitting built-in error (``ValueError``, ``KeyError``), they
derive from that too, so code that knows nothing of this package still catches them.
"""


class GraphBanditError(Exception):
    """The base of all errors that graphbandit raises."""


class SettingError(GraphBanditError, ValueError):
    """A setting of a learner, problem, environment or function class is out of range."""


class ExperimentError(SettingError):
    """An experiment's description is wrong; `place` is the path of the setting, as ("learners", "ours", "eta")."""

    def __init__(self, message: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message, self.place = message, place

    def __str__(self) -> str:
        return f"{'.'.join(self.place)}: {self.message}" if self.place else self.message


class InputError(GraphBanditError, ValueError):
    """An array that was handed in has the wrong shape, type or values."""


class GraphError(InputError):
    """A feedback graph is malformed, or lacks required self-loops."""


class NetworkFileError(InputError):
    """A file of a network's edges is missing, damaged, empty, or has a line that is not an edge."""


class ObservationError(InputError):
    """Rewards do not fit their decision: not revealed, given twice, or not finite."""


class UnknownArmError(GraphError, ObservationError):
    """No arm has this name or number."""


class LogError(InputError):
    """A log is damaged, incomplete or contradicts itself; `table` and `row` (counted from 0) say where."""

    def __init__(self, message: str, *, table: str | None = None, row: int | None = None) -> None:
        super().__init__(message)
        self.message, self.table, self.row = message, table, row

    def __reduce__(self) -> tuple[object, ...]:
        return _log_error, (self.message, self.table, self.row)

    def __str__(self) -> str:
        place = ", ".join(filter(None, (self.table, None if self.row is None else f"row {self.row}")))
        return f"{place}: {self.message}" if place else self.message


def _log_error(message: str, table: str | None, row: int | None) -> LogError:
    return LogError(message, table=table, row=row)


class SupportError(InputError):
    """A policy plays arms whose rewards the log can never reveal, so no unbiased value exists."""


class NestedCallError(GraphBanditError, RuntimeError):
    """A bandit was called within another call of the same thread, as by a signal handler; nothing has changed."""


class UnknownDecisionError(GraphBanditError, KeyError):
    """No open decision has this id."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class HorizonError(GraphBanditError):
    """More rounds were asked for than the problem's horizon holds."""


class SavedFileError(GraphBanditError):
    """A saved file is truncated, foreign, of another version, or cannot be written."""


class SolverError(GraphBanditError):
    """A linear program has no solution, or none that carries its certificate."""


class FitError(GraphBanditError):
    """A regression could not be fitted to the data; the last good model is kept.

    `after_round` is the number of rounds that a loop had decided by then; None outside of loops.
    """

    after_round: int | None = None


class EngineError(GraphBanditError):
    """The processes or the cluster for an experiment cannot be started or reached."""


class ConfigurationError(SettingError):
    """The configuration of a service is wrong; `field` is the path of the setting, such as "bandits.prices.window"."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class DatabaseError(GraphBanditError):
    """The log of a service cannot be read or written: its database is away, full, damaged or of another version."""


class ServiceError(GraphBanditError):
    """A decision service refused a request or could not be reached.

    `status` is the HTTP status (0: not reached), `field` the part of the request that was wrong.
    """

    def __init__(self, message: str, *, status: int = 0, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.field = status, field


class MissingExtraError(GraphBanditError, ImportError):
    """An optional dependency is missing; the message says how to install it."""


class IgnoredSettingWarning(UserWarning):
    """The learner does not do what a setting of the problem asks for."""


class ForgottenDecisionsWarning(UserWarning):
    """More decisions await rewards than a bandit keeps, so it forgets the oldest."""


class EstimatedNoiseWarning(UserWarning):
    """The problem does not say how noisy its rewards are, so the learner estimates the noise conservatively."""
