"""Rewards as people hand them to a `Bandit`: mappings and series from arms to rewards."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphbandit.bandit.given_graphs import Arms
from graphbandit.base.arm_names import known_arm
from graphbandit.base.shapes import Int
from graphbandit.errors import ObservationError
from graphbandit.features.context_input import is_series


def rewards_of(arms: Arms, rewards: object) -> Mapping[Any, Any]:
    """Rewards by number of arm: a mapping or a pandas Series from names or numbers of arms to rewards."""
    if not isinstance(rewards, dict | Mapping):  # most are a dictionary, which is faster to check
        if not is_series(rewards, "pandas"):
            raise ObservationError(
                f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward, such as "
                "{decision.arm: 1.0}"
            )
        if not rewards.index.is_unique:  # type: ignore[attr-defined]
            raise ObservationError("rewards has an arm twice in its index; expected each arm once")
        rewards = rewards.to_dict()  # type: ignore[attr-defined]
        assert isinstance(rewards, Mapping)
    kinds = set(map(type, rewards))
    if kinds == {int} or not any(issubclass(kind, str) for kind in kinds):
        return rewards
    found: dict[Any, Any] = {}
    for arm, reward in rewards.items():
        number = known_arm("rewards", arm, arms.n_arms, arms.arms, ObservationError)
        if number in found:
            raise ObservationError(f"rewards has arm {arm!r} twice, by its name and its number; expected it once")
        found[number] = reward
    return found


def rewards_in_order(rewards: Any, revealed: Int[np.ndarray, " revealed"]) -> Mapping[int, Any]:
    """Rewards of the arms that a decision reveals, one each in their order, null where none has come."""
    if len(rewards) != len(revealed):
        raise ObservationError(
            f"rewards is a Series of {len(rewards)}, which has no index; expected {len(revealed)}, one for each of "
            "revealed_arms in their order, or a mapping from arm to reward"
        )
    pairs = zip(revealed.tolist(), rewards.to_list(), strict=True)
    return {arm: reward for arm, reward in pairs if reward is not None}
