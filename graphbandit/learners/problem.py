"""What a learner must know before the first round."""

from dataclasses import dataclass
from typing import Any

from graphbandit.base.checks import LARGEST_SCALE, setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FunctionClass


@savable
@dataclass(frozen=True, kw_only=True)
class Problem:
    """A bandit problem as its learner sees it.

    - `n_arms`: K.
    - `function_class`: the functions that may be the truth; None (default): a learner must name its own.
    - `horizon`: the number of rounds T; None (default): a run without end.
    - `noise`: the sub-Gaussian scale sigma of the rewards, 0.5 at most for rewards in [0, 1]; None (default): not
      known. Draws and gamma then take it from the data, confidence radii an estimate on the high side.
    - `half_life`: for a world that changes: a reward counts half as much as one that many rounds younger. None
      (default): all count the same.
    - `longest_epoch`: learners of epochs learn at least every so many rounds; None (default): when an epoch ends.
    """

    n_arms: int
    function_class: FunctionClass[Any, Any, Any] | None = None
    horizon: int | None = None
    noise: float | None = None
    half_life: float | None = None
    longest_epoch: int | None = None

    def __post_init__(self) -> None:
        setting_integer("n_arms", self.n_arms, at_least=1, at_most=2**31 - 1)
        if self.horizon is not None:
            setting_integer("horizon", self.horizon, at_least=1, at_most=2**62)
        if self.noise is not None:
            setting_number("noise", self.noise, at_least=0.0, at_most=LARGEST_SCALE)
        if self.half_life is not None:
            setting_number("half_life", self.half_life, at_least=1e-3, at_most=2.0**62)
        if self.longest_epoch is not None:
            setting_integer("longest_epoch", self.longest_epoch, at_least=1, at_most=2**62)
        if self.function_class is not None:
            check_function_class(self.function_class, self.n_arms)


def check_function_class(function_class: object, n_arms: int) -> None:
    """Raise SettingError unless this is a function class of that many arms."""
    if not isinstance(function_class, FunctionClass):
        raise SettingError(f"function_class is {function_class!r}; expected a FunctionClass")
    if function_class.n_arms != n_arms:
        raise SettingError(f"function_class has {function_class.n_arms} arms; expected n_arms = {n_arms}")
