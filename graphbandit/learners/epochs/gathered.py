"""Learn epochs whose rewards were gathered in a function class's data before: in parts, or without keeping rounds.

A learner of epochs learns from data alone, so the observations of an epoch are not needed once its data is there.
"""

from dataclasses import replace
from typing import Any, TypeGuard

from graphbandit.errors import FitError
from graphbandit.function_classes.merging import keeps_sums
from graphbandit.learners.base import Learner
from graphbandit.learners.epochs.base import NO_OBSERVATIONS, EndedEpoch, EpochLearner, RewardSpan


def gathers(learner: Learner[Any], state: Any) -> TypeGuard[EpochLearner[Any]]:
    """Whether a learner learns from data alone, and keeps it as sums.

    AdaCBG with the paper's gamma does not: it measures disagreement on the rounds themselves.
    """
    return (
        isinstance(learner, EpochLearner)
        and type(learner).update is EpochLearner.update
        and type(learner).ended is EpochLearner.ended
        and getattr(learner, "gamma_rule", "natural") == "natural"
        and keeps_sums(state.data)
    )


def learnt_from_data(learner: EpochLearner[Any], state: Any, data: Any, length: int) -> tuple[Any, bool]:
    """The state after `length` rounds more, at most those of the epoch, and whether a fit was put off.

    `data` are all data so far, those of these rounds included.
    """
    if isinstance(state, RewardSpan) and data.count:
        low, high = min(state.lowest_reward, data.lowest), max(state.highest_reward, data.highest)
        state = replace(state, lowest_reward=low, highest_reward=high)
    ended = EndedEpoch(NO_OBSERVATIONS, length, data, data, NO_OBSERVATIONS)
    if length < learner.rounds_until_update(state):
        return learner._again(state, ended), False
    try:
        return learner.learnt(state, ended), False
    except FitError:
        return replace(state, rounds=state.rounds + length, epoch=state.epoch + 1, data=data), True
