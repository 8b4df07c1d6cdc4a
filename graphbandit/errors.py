"""The few kinds of error the package raises. Each message names the value that was wrong and what is expected.

Everything derives from `GraphBanditError`; where Python has a fitting built-in (``ValueError``, ``KeyError``),
the error is that as well, so code that knows nothing of this package still catches it.
"""


class GraphBanditError(Exception):
    """Anything that goes wrong in graphbandit on purpose."""


class SettingError(GraphBanditError, ValueError):
    """A setting of a learner, problem, environment or function class is out of its range."""


class ExperimentError(SettingError):
    """An experiment is described wrongly; `place` is the path of the setting, as ("learners", "ours", "eta")."""

    def __init__(self, message: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message, self.place = message, place

    def __str__(self) -> str:
        return f"{'.'.join(self.place)}: {self.message}" if self.place else self.message


class InputError(GraphBanditError, ValueError):
    """An array that was handed in has the wrong shape, type or values."""


class GraphError(InputError):
    """A feedback graph is malformed, or lacks the self-loops that are required of it."""


class NetworkFileError(InputError):
    """A file of a network's edges is missing, damaged, empty, or has a line that is not an edge."""


class ObservationError(InputError):
    """Rewards do not fit the decision they are for: not revealed, given twice, or not finite."""


class UnknownArmError(GraphError, ObservationError):
    """No arm has this name or number."""


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
    """A regression could not be fitted to the data; whoever asked keeps the model it has.

    `after_round` is the number of rounds decided when a loop met it, None elsewhere.
    """

    after_round: int | None = None


class EngineError(GraphBanditError):
    """The processes or the cluster that run an experiment cannot be started or reached."""


class MissingExtraError(GraphBanditError, ImportError):
    """An optional dependency is needed; the message says how to install it."""


class EstimatedNoiseWarning(UserWarning):
    """The problem does not say how noisy its rewards are, so the learner estimates it, conservatively."""
