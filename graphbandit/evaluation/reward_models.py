"""Models of the rewards for direct, doubly robust and balanced estimators, fitted to the log itself.

The model of a round is never fitted to that round. With "cross", rounds fall into random folds, and the model of a fold
is fitted to all other folds. With "past", models are fitted to all rounds before round 16, 24, 36, ... (each 1.5 times
the one before), so the model of a round depends on earlier rounds only. Intervals that hold at any number of rounds,
and adaptive logs, need "past".
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphbandit.base.checks import numbers
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.errors import InputError
from graphbandit.evaluation.settings import Settings
from graphbandit.function_classes import LinearClass, merging
from graphbandit.function_classes.base import FunctionClass
from graphbandit.logs import Log, LogBatch
from graphbandit.rounds import Observations

FIRST_FIT, GROWTH = 16, 1.5


def default_class(log: Log) -> FunctionClass[Any, Any, Any]:
    """Ridge regression with an intercept for each arm; arms that have features share a parameter."""
    shape = log.context_shape
    if len(shape) == 2:
        return LinearClass(n_arms=log.n_arms, dimension=shape[1], intercept=True)
    size = max(int(np.prod(shape)), 1)
    return LinearClass(n_arms=log.n_arms, dimension=size, parameters="per-arm", intercept=True)


def model_contexts(log_contexts: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n ..."]:
    """Contexts as a function class takes them: a constant if the log has none."""
    n = len(log_contexts)
    return log_contexts if log_contexts[:1].size or (n == 0 and log_contexts.size) else np.ones((n, 1))


def widest_noise(reward_range: tuple[float, float]) -> float:
    """The largest variance that rewards of this range can have: the square of half the range."""
    low, high = reward_range
    return ((high - low) / 2) ** 2


def fold_of(ids: Int[np.ndarray, " n"], settings: Settings) -> Int[np.ndarray, " n"]:
    """The fold of each round: a hash of its id and the seed."""
    mixed = ids.astype(np.uint64) + np.uint64((0x9E3779B97F4A7C15 * (settings.seed + 1)) & 0xFFFFFFFFFFFFFFFF)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(settings.folds)).astype(np.int64)


def fit_rows(rounds: int) -> list[int]:
    """The rounds at which a model is fitted to the past.

    >>> fit_rows(60)
    [16, 24, 36, 54]
    """
    rows, size = [], float(FIRST_FIT)
    while int(size) < rounds:
        rows.append(int(size))
        size *= GROWTH
    return rows


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model and the mean square of its residuals."""

    model: Any
    noise: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardModels:
    """Fitted models, and which of them belongs to each round; `first_row` is the first round of the log."""

    function_class: FunctionClass[Any, Any, Any]
    settings: Settings
    reward_range: tuple[float, float]
    first_row: int
    fitted: Sequence[Fitted | None]
    starts: Sequence[int] = field(default_factory=list)

    def predict(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """fhat(x, a) in each round, from the model that has not seen the round."""
        contexts = model_contexts(batch.contexts)
        result = np.full((len(batch), batch.n_arms), sum(self.reward_range) / 2)
        if self.settings.fitting == "cross":
            which = fold_of(batch.ids, self.settings)
        else:
            rows = np.arange(len(batch)) + batch.first_row - self.first_row
            which = np.searchsorted(np.array(self.starts, dtype=np.int64), rows, side="right")
        for number in np.unique(which).tolist():
            fitted, rows = self.fitted[number], which == number
            if fitted is not None:
                result[rows] = self.function_class.predict(fitted.model, np.ascontiguousarray(contexts[rows]))
        return result

    @property
    def residual(self) -> float:
        """The mean square of the models' residuals, averaged over the models."""
        known = [fitted.noise for fitted in self.fitted if fitted is not None]
        noise = widest_noise(self.reward_range)
        return max(float(np.mean(known)), 1e-6 * noise) if known else noise


@dataclass(frozen=True, eq=False)
class GivenModel:
    """Predictions of the caller: an array, or a callable of contexts. They must not be fitted to the same rounds."""

    source: Any
    first_row: int
    reward_range: tuple[float, float]

    @property
    def residual(self) -> float:
        """Unknown, so the largest possible variance is used."""
        return widest_noise(self.reward_range)

    def predict(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The predictions for these rounds, checked."""
        if callable(self.source):
            found = numbers("the prediction of the model", self.source(batch.contexts))
        else:
            start = batch.first_row - self.first_row
            found = self.source[start : start + len(batch)]
        if found.shape != batch.rewards.shape or not np.isfinite(found).all():
            raise InputError(
                f"the model gives values of shape {found.shape}; expected finite ones of shape {batch.rewards.shape}"
            )
        return found


def observed(batch: LogBatch, rows: Shaped[np.ndarray, " n"] | slice, *, side: bool) -> Observations:
    """The observations of some rounds: all revealed rewards or, without `side`, only those of the arms played."""
    part = batch.take(rows)
    seen = part.revealed if side else part.revealed_of_played
    return Observations.from_masks(model_contexts(part.contexts), seen, part.rewards)


class ModelData:
    """The data that models are fitted to, collected while the log is read.

    With "cross" there are data for each fold; with "past" they grow, and a model is fitted at each of `fit_rows`. `own`
    keeps the data of each fold or block apart, so that parts of a log can be merged.
    """

    def __init__(self, functions: FunctionClass[Any, Any, Any], settings: Settings, rounds: int, *, own: bool) -> None:
        self.functions, self.settings, self.own = functions, settings, own
        self.starts = fit_rows(rounds)
        count = settings.folds if settings.fitting == "cross" else (len(self.starts) + 1 if own else 1)
        self.data = [functions.empty() for _ in range(count)]
        self.fitted: list[Fitted | None] = [None]

    def add(self, batch: LogBatch, first_row: int, *, side: bool) -> None:
        """Add the rewards of a batch."""
        if self.settings.fitting == "cross":
            fold = fold_of(batch.ids, self.settings)
            for number in range(self.settings.folds):
                rows = fold == number if self.own else fold != number
                if rows.any():
                    self.data[number] = self.functions.add(self.data[number], observed(batch, rows, side=side))
            return
        begin = batch.first_row - first_row
        cuts = [row - begin for row in self.starts if begin < row < begin + len(batch)]
        for low, high in zip([0, *cuts], [*cuts, len(batch)], strict=True):
            block = int(np.searchsorted(self.starts, begin + low, side="right"))
            if not self.own:
                while len(self.fitted) <= block:
                    self.fitted.append(fit(self.functions, self.data[0]))
            place = block if self.own else 0
            self.data[place] = self.functions.add(self.data[place], observed(batch, slice(low, high), side=side))

    def models(self) -> list[Fitted | None]:
        """The model of each fold or block, after all rounds have been added."""
        if self.settings.fitting == "past":
            if not self.own:
                return [*self.fitted, *[self.fitted[-1]] * (len(self.starts) + 1 - len(self.fitted))]
            found: list[Fitted | None] = [None]
            past = self.data[0]
            for block in self.data[1:]:
                found.append(fit(self.functions, past))
                past = merging.merged([past, block])
            return found
        if not self.own:
            return [fit(self.functions, data) for data in self.data]
        others = [[data for j, data in enumerate(self.data) if j != i] for i in range(self.settings.folds)]
        return [fit(self.functions, merging.merged(some)) for some in others]

    def merge(self, other: ModelData) -> ModelData:
        """The data of both parts of a log."""
        merged = copy(self)
        merged.data = [merging.merged(list(pair)) for pair in zip(self.data, other.data, strict=True)]
        return merged


def fit(functions: FunctionClass[Any, Any, Any], data: Any) -> Fitted | None:
    """Fit a model by least squares; None without data."""
    count = functions.n_observed(data)
    if not count:
        return None
    return Fitted(functions.fit(data), functions.smallest_loss(data) / count)
