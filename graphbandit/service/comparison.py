"""Is it better than before? The mean reward and the gain over a baseline, with intervals of `graphbandit.evaluation`.

A round counts when its rewards are complete and that of the arm played is among them. With rewards in [lo, hi], y the
rewards received, A the arm played, and pi the baseline:

    gain     y(A) - sum_a pi(a) y(a) / q(a)                        over the arms revealed
    lower    y(A) - hi + sum_a pi(a) (hi - y(a)) / q(a)            never below lo - hi
    upper    y(A) - lo - sum_a pi(a) (y(a) - lo) / q(a)            never above hi - lo

The mean of all three is the mean gain if q(a) > 0 for every arm that the baseline plays. That is known before the arm
is drawn, so leaving the other rounds out causes no bias. A revealed reward that never came makes the lower term
smaller and the upper one larger: the interval stays on the safe side. An apprentice is compared with its caller in the
same way, with the service as the policy that was not played.
"""

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from graphbandit.evaluation.running_interval import RunningInterval
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.rows import DecisionBody

INTERVAL = "empirical Bernstein, at all times"
"""The name of the interval of `graphbandit.evaluation`, as the page shows it."""
FEWEST = 10
"""Rounds before an interval is shown."""


class Comparison(msgspec.Struct):
    """What a bandit earns, and how much more than its baseline.

    `baseline`, `mode`, `low` and `high` (the range of rewards) are the settings behind the sums; if they change, the
    sums start afresh. `outside` counts rewards outside of the range, for which no interval holds.
    """

    baseline: str
    mode: str
    low: float
    high: float
    reward: RunningInterval
    gain: RunningInterval
    outside: int = 0

    @classmethod
    def of(cls, settings: BanditSettings) -> "Comparison":
        """Nothing seen yet."""
        low, high = settings.reward_range
        reward, gain = RunningInterval(low, high), RunningInterval(low - high, high - low)
        return cls(settings.baseline, settings.mode, low, high, reward, gain)

    def fits(self, settings: BanditSettings) -> bool:
        """Whether the sums were made with these settings."""
        return (self.baseline, self.mode, self.low, self.high) == (
            settings.baseline,
            settings.mode,
            *settings.reward_range,
        )

    def add(self, settings: BanditSettings, body: DecisionBody, rewards: dict[str, float]) -> None:
        """Add a round whose rewards are complete."""
        played = rewards.get(body.arm)
        if played is None or not body.active:
            return
        if not all(self.low <= reward <= self.high for reward in rewards.values()):
            self.outside += 1
            return
        self.reward.add(played, played, played)
        weights = _weights(settings, body, rewards)
        if weights is None:
            return
        seen = [(weights[arm], reward) for arm, reward in rewards.items() if arm in weights]
        other = math.fsum(weight * reward for weight, reward in seen)
        below = math.fsum(weight * (self.high - reward) for weight, reward in seen)  # at least 0
        above = math.fsum(weight * (reward - self.low) for weight, reward in seen)
        if body.proposed is None:
            self.gain.add(played - other, played - self.high + below, played - self.low - above)
        else:
            self.gain.add(other - played, self.low - played + above, self.high - played - below)

    def summary(self) -> dict[str, Any]:
        """As the page and `GET /v1/{bandit}` show it."""
        return {
            "mean_reward": self.reward.total / self.reward.n if self.reward.n else None,
            "mean_reward_interval": _shown(self.reward, self.outside),
            "gain": {
                "baseline": self.baseline,
                "rounds": self.gain.n,
                "of_rounds": self.reward.n + self.outside,
                **_shown(self.gain, self.outside),
            },
            "reward_range": [self.low, self.high],
            "rewards_outside_range": self.outside,
        }


def _shown(running: RunningInterval, outside: int) -> dict[str, Any]:
    if outside or running.n < FEWEST:
        return {"mean": None, "low": None, "high": None, "interval": INTERVAL}
    found = running.interval()
    return {"mean": found.value, "low": found.low, "high": found.high, "interval": INTERVAL}


def _weights(settings: BanditSettings, body: DecisionBody, rewards: Mapping[str, float]) -> dict[str, float] | None:
    """pi(a) / q(a) of the policy that was not played, for arms with a reward; None if the log does not determine it."""
    names = body.arms or settings.names
    if body.proposed is not None:  # an apprentice: the caller has played, not the service
        own = float(np.frombuffer(body.p)[names.index(body.arm)])
        return {body.arm: own / body.probability}
    q = np.frombuffer(body.q)
    place = {arm: i for i, arm in enumerate(names[: len(q)])}  # older rows lack the arms that were added since
    if settings.baseline != "uniform":
        plays = [settings.baseline]
    else:
        plays = body.available or [arm for arm in names if arm not in settings.retired]
    there = [place[arm] for arm in plays if arm in place]
    if len(there) < len(plays) or not (q[there] > 0.0).all():
        return None
    share, played = 1.0 / len(plays), set(plays)
    return {arm: share / float(q[place[arm]]) for arm in rewards if arm in played}
