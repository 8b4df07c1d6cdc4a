"""Learn epochs whose rewards were gathered in a function class's data before: in parts, or without keeping rounds.

A learner of epochs learns from data alone, so the observations of an epoch are not needed once its data is there.
"""

from dataclasses import replace
from typing import Any, TypeGuard

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


def learnt_from_data(learner: Learner[Any], state: Any, data: Any, length: int) -> Any:
    """The state after `length` rounds more, at most those of the epoch; `data` are all data so far. May raise FitError.

    The learner is one that `gathers`.
    """
    assert isinstance(learner, EpochLearner)
    ended = EndedEpoch(NO_OBSERVATIONS, length, data, data, NO_OBSERVATIONS)
    if length < learner.rounds_until_update(state):
        return learner._again(_spanning(state, data), ended)
    return learner.learnt(_spanning(state, data), ended)


def postponed_with_data(state: Any, data: Any, length: int) -> Any:
    """The state after the same rounds when the fit has failed: all data, and the last good estimate."""
    return replace(_spanning(state, data), rounds=state.rounds + length, epoch=state.epoch + 1, data=data)


def _spanning(state: Any, data: Any) -> Any:
    """The state with the smallest and the largest reward of the data, if it has them."""
    if not isinstance(state, RewardSpan) or not data.count:
        return state
    low, high = min(state.lowest_reward, data.lowest), max(state.highest_reward, data.highest)
    return replace(state, lowest_reward=low, highest_reward=high)
