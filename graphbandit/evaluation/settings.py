"""The settings of `evaluate` and `compare`, checked when they are built."""

from dataclasses import dataclass
from typing import Literal, get_args

from graphbandit.base.checks import optional_number, setting_choice, setting_integer, setting_number
from graphbandit.base.choices import IntervalKind, Method, Support
from graphbandit.errors import SettingError

MissingRewards = Literal["error", "drop"]
Fit = Literal["cross", "past"]

METHODS: tuple[Method, ...] = get_args(Method)
INTERVALS: tuple[IntervalKind, ...] = get_args(IntervalKind)

WITH_MODEL = ("direct", "dr", "graph-balanced", "graph-dr")
"""Methods that need a model of the rewards."""

ANY_SIZE: tuple[IntervalKind, ...] = ("bernstein", "betting", "sequence")
"""Intervals that hold at every number of rounds."""

PLAIN: dict[Method, Method] = {
    "graph-ips": "ips",
    "graph-snips": "snips",
    "graph-balanced": "ips",
    "graph-dr": "dr",
    "direct": "direct",
}
"""The counterpart of each method without side observations."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How policies are evaluated; `evaluate` describes each setting."""

    method: Method = "graph-dr"
    interval: IntervalKind = "betting"
    level: float = 0.95
    folds: int = 2
    fit: Fit | None = None
    reward_range: tuple[float, float] | None = None
    largest_weight: float | None = None
    shrink: float | None = None
    support: Support = "all"
    missing_rewards: MissingRewards | float = "error"
    worth: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        setting_choice("method", self.method, METHODS)
        setting_choice("interval", self.interval, INTERVALS)
        setting_number("level", self.level, above=0.0, below=1.0)
        setting_integer("folds", self.folds, at_least=2, at_most=1000)
        setting_integer("seed", self.seed, at_least=0)
        setting_choice("support", self.support, get_args(Support))
        if self.fit is not None:
            setting_choice("fit", self.fit, get_args(Fit))
        optional_number("largest_weight", self.largest_weight, above=0.0)
        optional_number("shrink", self.shrink, above=0.0)
        if self.largest_weight is not None and self.shrink is not None:
            raise SettingError("largest_weight and shrink are both given; expected at most one of them")
        if isinstance(self.missing_rewards, str):
            setting_choice("missing_rewards", self.missing_rewards, get_args(MissingRewards))
        else:
            setting_number("missing_rewards", self.missing_rewards)
        if self.reward_range is not None:
            try:
                low, high = self.reward_range
            except (TypeError, ValueError):
                raise SettingError(
                    f"reward_range is {self.reward_range!r}; expected a pair (lowest, highest)"
                ) from None
            setting_number("the lowest of reward_range", low)
            setting_number("the highest of reward_range", high, above=float(low))

    @property
    def any_size(self) -> bool:
        """Whether the interval holds at every number of rounds."""
        return self.interval in ANY_SIZE

    @property
    def fitting(self) -> str:
        """Which rounds the model of a round is fitted to: "cross", all other folds; "past", all earlier rounds."""
        return self.fit or ("past" if self.any_size else "cross")
