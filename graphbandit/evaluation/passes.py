"""The two passes over a log: fit models of the rewards, then sum the terms of every policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from graphbandit.base.choices import Method
from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import InputError, LogError, SettingError, SupportError
from graphbandit.evaluation.group_sums import SegmentSums, Sums, Terms, WeightSums, group_of, group_slack, n_groups
from graphbandit.evaluation.policies import Policy, checked
from graphbandit.evaluation.reward_models import GivenModel, ModelData, RewardModels, default_class
from graphbandit.evaluation.settings import PLAIN, WITH_MODEL, Settings
from graphbandit.evaluation.terms import Seen, terms, uses_side_observations, weights_of
from graphbandit.function_classes.base import FunctionClass
from graphbandit.logs import Log, LogBatch
from graphbandit.logs.cluster import Compute

MASS = 1e-9
"""Unsupported probability up to this size counts as rounding error."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """What is asked of a log: everything that a pass needs besides it.

    `pairs` are the differences to evaluate, too; their names are "first - second". `arms` are names for errors.
    """

    settings: Settings
    policies: Mapping[str, Policy]
    pairs: tuple[tuple[str, str], ...]
    reward_range: tuple[float, float]
    models: RewardModels | GivenModel | None
    plain_models: RewardModels | GivenModel | None
    by: str | None
    first_row: int
    rounds: int
    arms: Sequence[str] | None = None

    @property
    def targets(self) -> list[str]:
        """The names of the policies and of the differences."""
        return [*self.policies, *(pair_name(*pair) for pair in self.pairs)]

    def with_differences(self, rows: dict[str, Float[np.ndarray, "n arms"]]) -> dict[str, Float[np.ndarray, "n arms"]]:
        """The policies' rows by name, and their differences."""
        return rows | {pair_name(first, second): rows[first] - rows[second] for first, second in self.pairs}

    @property
    def plain_method(self) -> Method | None:
        """The method without side observations; None if there is none, or if the worth is not asked for."""
        method = PLAIN.get(self.settings.method)
        return method if self.settings.worth and method not in (None, "direct") else None


def pair_name(first: str, second: str) -> str:
    """The name of a difference."""
    return f"{first} - {second}"


def reward_range_of(log: Log, settings: Settings) -> tuple[float, float]:
    """The range of the rewards: the given one, or [0, 1] if it contains all rewards, or else their own range."""
    low, high = log.reward_range
    if np.isnan(low):
        raise LogError("the log has no rewards; expected some", table="rewards")
    if settings.reward_range is not None:
        given = (float(settings.reward_range[0]), float(settings.reward_range[1]))
        if low < given[0] or high > given[1]:
            raise InputError(f"the rewards go from {low:g} to {high:g}; expected them within reward_range = {given}")
        return given
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def start_models(log: Log, settings: Settings, model: Any) -> FunctionClass[Any, Any, Any] | GivenModel | None:
    """The function class of the models to fit, or the given predictions; None if the method needs no model."""
    if settings.method not in WITH_MODEL:
        return None
    if model is None:
        return default_class(log)
    if isinstance(model, FunctionClass):
        if model.n_arms != log.n_arms:
            raise SettingError(f"model has {model.n_arms} arms; expected {log.n_arms}, as the log has")
        return model
    if not callable(model):
        model = np.asarray(model, dtype=np.float64)
        if model.shape != (len(log), log.n_arms):
            raise SettingError(f"model has shape {model.shape}; expected ({len(log)}, {log.n_arms})")
    return GivenModel(model, log.first_row, reward_range_of(log, settings))


def fill_missing(batch: LogBatch, asked: Question, *, side: bool) -> tuple[LogBatch, Bool[np.ndarray, " n"]]:
    """The batch with every reward that the method needs, and which rounds can be used.

    If the log lacks a reward that the graph reveals, this is an error, or drops the round, or a default is used.
    """
    settings, rows = asked.settings, np.arange(len(batch))
    if side:
        lacks = None if batch.expected is None else batch.expected & ~batch.revealed
    else:
        lacks = np.zeros_like(batch.revealed)
        lacks[rows, batch.actions] = ~batch.revealed[rows, batch.actions]
    if lacks is None or not lacks.any():
        return batch, np.ones(len(batch), dtype=np.bool_)
    wrong = lacks.any(axis=1)
    if settings.missing_rewards == "error":
        row = int(np.argmax(wrong))
        arm = int(np.argmax(lacks[row]))
        played = arm_name(asked.arms, batch.actions[row])
        raise LogError(
            f"the reward of {arm_name(asked.arms, arm)} is missing, though playing {played} reveals it; expected it, "
            "or missing_rewards='drop' to leave such rounds out, or missing_rewards=0.0 as a default reward",
            table="decisions",
            row=batch.first_row + row,
        )
    if settings.missing_rewards == "drop":
        return batch, ~wrong
    filled = replace(batch, rewards=np.where(lacks, float(settings.missing_rewards), batch.rewards))
    return filled, np.ones(len(batch), dtype=np.bool_)


def fits_models(functions: FunctionClass[Any, Any, Any] | GivenModel | None) -> bool:
    """Whether a first pass over the log is needed to fit models."""
    return functions is not None and not isinstance(functions, GivenModel)


def model_data(
    log: Log,
    functions: Any,
    asked: Question,
    *,
    own: bool,
    progress: Callable[[int], None] | None = None,
) -> tuple[ModelData, ModelData | None]:
    """Collect the models' data over a part of a log, with side observations and, if they are asked for, without."""
    settings, first_row = asked.settings, asked.first_row
    whole = ModelData(functions, settings, asked.rounds, own=own)
    other = ModelData(functions, settings, asked.rounds, own=own) if asked.plain_method == "dr" else None
    side = settings.method != "dr"
    for batch in log.batches():
        filled, usable = fill_missing(batch, asked, side=side)
        if not usable.all():
            filled = replace(filled, rewards=np.where(usable[:, None], filled.rewards, np.nan))
        whole.add(filled, first_row, side=side)
        if other is not None:
            other.add(filled, first_row, side=False)
        if progress is not None:
            progress(len(batch))
    return whole, other


def with_models(asked: Question, whole: ModelData, other: ModelData | None, functions: Any) -> Question:
    """What is asked, with fitted models, with side observations and without."""

    def models(data: ModelData) -> RewardModels:
        return RewardModels(
            function_class=functions,
            settings=asked.settings,
            reward_range=asked.reward_range,
            first_row=asked.first_row,
            fitted=data.models(),
            starts=data.starts,
        )

    return replace(asked, models=models(whole), plain_models=None if other is None else models(other))


def sum_terms(log: Log, asked: Question, progress: Callable[[int], None] | None = None) -> Sums:
    """Sum the terms of one part of a log, in the groups of the whole log."""
    count = n_groups(asked.rounds)
    low, high = asked.reward_range
    slack_of_group = group_slack(count, high - low)
    sums = Sums(
        counts=np.zeros(count, dtype=np.int64),
        terms={name: Terms.zeros(count) for name in asked.targets},
        plain={name: Terms.zeros(count) for name in asked.targets} if asked.plain_method else {},
        weights={name: WeightSums() for name in asked.policies},
        segments={name: {} for name in asked.policies},
        dropped=0,
    )
    if asked.by is not None and asked.by not in log.columns:
        raise SettingError(
            f"by is {asked.by!r}; expected one of the log's columns, {', '.join(log.columns) or 'none'}; features of "
            "the context are not columns"
        )
    for batch in log.batches():
        _add_batch(sums, batch, asked, slack_of_group)
        if progress is not None:
            progress(len(batch))
    return sums


def run_in_parts(parts: list[Log], asked: Question, functions: Any, compute: Compute) -> tuple[Sums, Question]:
    """Both passes over parts of a log; `compute` applies a function to every part, and the sums are merged."""
    if any(policy.in_order for policy in asked.policies.values()):
        raise SettingError("a learner that learns as it goes needs all rounds in order; expected no cluster for it")
    if fits_models(functions):
        found = compute(partial(model_data, functions=functions, asked=asked, own=True), parts)
        whole = reduce(ModelData.merge, [pair[0] for pair in found])
        other = reduce(ModelData.merge, [pair[1] for pair in found]) if asked.plain_method == "dr" else None
        asked = with_models(asked, whole, other, functions)
    return reduce(Sums.merge, compute(partial(sum_terms, asked=asked), parts)), asked


def _add_batch(sums: Sums, batch: LogBatch, asked: Question, slack_of_group: Float[np.ndarray, " groups"]) -> None:
    settings = asked.settings
    side = uses_side_observations(settings.method)
    targets = {name: checked(name, policy.probabilities(batch), batch) for name, policy in asked.policies.items()}
    filled, usable = fill_missing(batch, asked, side=side)
    groups = group_of(np.arange(len(batch)) + batch.first_row - asked.first_row)
    if not usable.all():
        filled = filled.take(usable)
        groups, targets = groups[usable], {name: rows[usable] for name, rows in targets.items()}
    sums.dropped += len(batch) - len(filled)
    if not len(filled):
        return
    first = int(groups[0])
    slack, local = slack_of_group[groups], groups - first
    sums.counts[first : int(groups[-1]) + 1] += np.bincount(local)
    model = None if asked.models is None else asked.models.predict(filled)
    seen = Seen(filled, side)
    _check_known(seen)
    lacking = {name: unsupported(rows, seen) for name, rows in targets.items()}
    bounds = asked.reward_range if settings.any_size else None
    common = {
        "largest_weight": settings.largest_weight,
        "shrink": settings.shrink,
        "reward_range": bounds,
        "slack": slack,
    }
    supported = targets
    if settings.method != "direct":
        for name, mass in lacking.items():
            _check_support(name, targets[name], mass, seen, asked)
        supported = {name: np.where(np.isnan(seen.q) | (seen.q > 0), rows, 0.0) for name, rows in targets.items()}
    noise = 1.0 if asked.models is None else asked.models.residual
    for name, target in asked.with_differences(supported).items():
        found = terms(settings.method, target, seen, model, noise=noise, **common)
        sums.terms[name].add(first, local, found)
        if name in targets:
            w = weights_of(target, seen, largest_weight=settings.largest_weight, shrink=settings.shrink).sum(axis=1)
            sums.weights[name].add(w, lacking[name])
            if asked.by is not None:
                _add_segments(sums.segments[name], filled.columns[asked.by], found.value)
    _add_plain(sums, filled, targets, asked, first, local, common)
    if batch.times is not None:
        earliest, latest = sums.times
        sums.times = np.fmin(earliest, np.fmin.reduce(batch.times)), np.fmax(latest, np.fmax.reduce(batch.times))


def _add_plain(
    sums: Sums,
    batch: LogBatch,
    targets: dict[str, Float[np.ndarray, "n arms"]],
    asked: Question,
    first: int,
    local: Any,
    common: dict[str, Any],
) -> None:
    """Add the terms without side observations; a target without support there is left out from now on."""
    if asked.plain_method is None or not sums.plain:
        return
    rows = np.arange(len(batch))
    if not batch.revealed[rows, batch.actions].all():
        sums.plain.clear()
        return
    seen = Seen(batch, side=False)
    model = None if asked.plain_models is None else asked.plain_models.predict(batch)
    for name, target in targets.items():
        if (unsupported(target, seen) > MASS).any():
            sums.plain.pop(name, None)
    for pair in asked.pairs:
        if any(name not in sums.plain for name in pair):
            sums.plain.pop(pair_name(*pair), None)
    everything = asked.with_differences(targets)
    for name, plain in sums.plain.items():
        plain.add(first, local, terms(asked.plain_method, everything[name], seen, model, **common))


def _check_known(seen: Seen) -> None:
    lacking = (seen.revealed & np.isnan(seen.q)).any(axis=1)
    if lacking.any():
        raise LogError(
            "the log does not say with which probability the rewards were going to be revealed; expected the "
            "probabilities of all arms and the graph, or observation probabilities (method='ips' needs neither)",
            table="decisions",
            row=seen.batch.first_row + int(np.argmax(lacking)),
        )


def unsupported(target: Float[np.ndarray, "n arms"], seen: Seen) -> Float[np.ndarray, " n"]:
    """The policy's probability of arms that could not be revealed; nan in rounds where the log does not tell."""
    q = seen.q
    found: Float[np.ndarray, " n"] = np.where(q > 0, 0.0, target).sum(axis=1)
    return np.where(np.isnan(q).any(axis=1), np.nan, found)


def arm_name(arms: Sequence[str] | None, number: int) -> str:
    """An arm in errors: by its name, or by its number if arms have no names."""
    return f"arm {number if arms is None else repr(arms[number])}"


def _check_support(
    name: str, target: Float[np.ndarray, "n arms"], mass: Float[np.ndarray, " n"], seen: Seen, asked: Question
) -> None:
    if asked.settings.support == "part" or not (mass > MASS).any():
        return
    row = int(np.nanargmax(mass))
    hidden = np.flatnonzero((seen.q[row] == 0) & (target[row] > 0))
    several = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    raise SupportError(
        f"the policy {name!r} has probability {mass[row]:g} on {arm_name(asked.arms, int(hidden[0]))}{several}, which "
        f"could not be revealed in round {seen.batch.first_row + row}; expected none, or support='part' for the value "
        "of the other arms. A log that is to be evaluated needs a floor, such as IDSG(floor=0.02)"
    )


def _add_segments(known: dict[str, SegmentSums], values: Any, value: Float[np.ndarray, " n"]) -> None:
    labels, place = np.unique(np.array([str(v) for v in values.tolist()]), return_inverse=True)
    for i, label in enumerate(labels.tolist()):
        rows = value[place == i]
        new = SegmentSums(count=len(rows), total=float(rows.sum()), squares=float((rows * rows).sum()))
        known[label] = known.get(label, SegmentSums()).merge(new)
