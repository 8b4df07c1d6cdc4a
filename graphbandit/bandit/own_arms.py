"""The arms of one round, where rounds bring their own instead of those of the problem."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from graphbandit.bandit.given_rewards import rewards_of
from graphbandit.base.arm_names import ArmNames, arm_index, known_arm
from graphbandit.base.shapes import Int
from graphbandit.errors import InputError, ObservationError, SettingError, UnknownArmError
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision


class RoundArms(NamedTuple):
    """The arms of one round: how many there are, and their names if they have any."""

    n_arms: int
    arms: ArmNames | None


def check_own_arms(learner: Learner[Any], problem: Problem, graph: object) -> None:
    """Raise SettingError unless this learner can take arms that differ from round to round, on this problem."""
    if problem.capacity is None:
        return
    if not learner.takes_own_arms:
        raise SettingError(
            f"{type(learner).__name__} knows arms by their numbers, but rounds bring their own; expected a learner of "
            "a function class, such as IDSG"
        )
    functions = getattr(learner, "function_class", None)
    if functions is not None:
        functions.check_own_arms()
    if graph is not None:
        raise SettingError("graph is of the bandit, but rounds bring their own arms; expected a graph with each round")


def past_arms(
    read: Sequence[RoundArms], capacity: int, actions: object, rewards: object
) -> tuple[Int[np.ndarray, " n"] | None, Any]:
    """The arms played in past rounds by place, and the rewards, by place where they come by name."""
    played = None
    if actions is not None:
        given: Any = actions.to_list() if hasattr(actions, "to_list") else actions
        listed = list(given) if isinstance(given, Sequence | np.ndarray) else []
        if len(listed) != len(read):
            raise InputError(f"actions has {len(listed)} arms for {len(read)} contexts; expected one a round")
        places = [known_arm("actions", arm, one.n_arms, one.arms) for arm, one in zip(listed, read, strict=True)]
        played = np.array(places, dtype=np.int64)
    if not isinstance(rewards, list | tuple) or not any(isinstance(one, Mapping) for one in rewards):
        return played, rewards
    if len(rewards) != len(read):
        raise InputError(f"rewards has {len(rewards)} mappings for {len(read)} contexts; expected one a round")
    table = np.full((len(read), capacity), np.nan)
    for t, (one, told) in enumerate(zip(read, rewards, strict=True)):
        for arm, reward in rewards_of(one, told).items():
            try:
                table[t, arm_index(arm, one.n_arms)] = reward
            except (UnknownArmError, TypeError, ValueError):
                raise ObservationError(
                    f"rewards[{t}] has {reward!r} for arm {arm!r}; expected a number for one of the round's arms"
                ) from None
    return played, table


def with_own_arms(decision: Decision, own: RoundArms) -> Decision:
    """A decision of only the round's arms, by their names."""
    alone = decision.detached()
    return replace(alone, batch=alone.batch.first_arms(own.n_arms), arms=own.arms)
