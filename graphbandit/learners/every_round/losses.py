"""Rewards as losses in [0, 1], as the adversarial learners have them."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.array_types import RoundsByArms
from graphbandit.base.checks import LARGEST_SCALE, setting_boolean, setting_number
from graphbandit.base.shapes import Float
from graphbandit.errors import ObservationError, SettingError
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.words import Words


@dataclass(frozen=True, kw_only=True)
class BoundedRewards:
    """Settings `low`, `high` and `clip` of a learner: loss = (high - reward) / (high - low).

    Their guarantees are for rewards in [low, high], so any other is refused; with `clip` it counts as the nearer end.
    """

    low: float = 0.0
    high: float = 1.0
    clip: bool = False

    needs_loops = True
    """Yes: an arm must reveal its own loss when it is played, so that it can be estimated."""

    n_notes = 3
    """Level (always 0 where there is one), implicit exploration, and what the totals grow by."""

    def __post_init__(self) -> None:
        setting_number("low", self.low, at_least=-LARGEST_SCALE, at_most=LARGEST_SCALE)
        setting_number("high", self.high, at_least=-LARGEST_SCALE, at_most=LARGEST_SCALE)
        setting_boolean("clip", self.clip)
        if not self.low < self.high:
            raise SettingError(f"low is {self.low!r} and high is {self.high!r}; expected low below high")

    def check_rewards(self, rewards: Float[np.ndarray, " rewards"]) -> None:
        """Raise ObservationError at a reward outside [low, high], unless such rewards are clipped."""
        outside = (rewards < self.low) | (rewards > self.high)
        if not self.clip and outside.any():
            raise ObservationError(
                f"a reward is {rewards[outside][0]}; {type(self).__name__} expects rewards of {self.low:g} to "
                f"{self.high:g} (its settings low and high; clip=True counts others as the nearer end)"
            )


def given(setting: float | None) -> float:
    """A rate as kernels take it: nan has them use the algorithm's own."""
    return np.nan if setting is None else float(setting)


def weights_in_words(losses: RoundsByArms, made: Decisions) -> Words:
    """Exponential weights, the losses they come from, and, where there is one, the share of exploration.

    p = (1 - gamma) w + gamma times uniform on the exploration set; where a bias takes the place of exploration, p = w.
    """
    implicit = made.notes[:, 1] > 0.0
    share = np.where(implicit, 0.0, made.gamma)[:, None]
    spread = share * made.exploration_set / np.maximum(made.exploration_set.sum(axis=1, keepdims=True), 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # all of it is exploration: no weight shows
        weights = np.where(share < 1.0, np.maximum(made.baseline - spread, 0.0) / (1.0 - share), np.nan)
    sets = {} if implicit.all() else {"exploration set": made.exploration_set}
    return {"weight": weights, "estimated losses": losses, **sets, "gamma": made.gamma}
