"""`evaluate` policies on a log: what would they have earned? `compare` two of them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from graphbandit.base.choices import IntervalKind, Method, Support
from graphbandit.base.progress import OnProgress
from graphbandit.errors import LogError, SettingError
from graphbandit.evaluation.estimator import FULL, Estimator
from graphbandit.evaluation.evaluation_table import Difference, EvaluationTable, PolicyValue, SegmentValue
from graphbandit.evaluation.group_sums import Sums
from graphbandit.evaluation.intervals import Interval, asymptotic
from graphbandit.evaluation.notes import PART_NOTE, drift_note, general_notes, learning_note, outside_note
from graphbandit.evaluation.passes import (
    Question,
    fits_models,
    model_data,
    pair_name,
    reward_range_of,
    run_in_parts,
    start_models,
    sum_terms,
    with_models,
)
from graphbandit.evaluation.policies import Policy, TrainedPolicy, policies_of
from graphbandit.evaluation.reward_models import GivenModel
from graphbandit.evaluation.settings import Fit, MissingRewards, Settings
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log
from graphbandit.logs.cluster import on_cluster, partitions


def evaluate(
    log: Log | str | os.PathLike[str],
    policies: Any,
    *,
    method: Method = "graph-dr",
    interval: IntervalKind = "betting",
    level: float = 0.95,
    model: Any = None,
    fit: Fit | None = None,
    folds: int = 2,
    reward_range: tuple[float, float] | None = None,
    largest_weight: float | None = None,
    shrink: float | None = None,
    support: Support = "all",
    missing_rewards: MissingRewards | float = "error",
    worth: bool = True,
    by: str | None = None,
    problem: Problem | None = None,
    seed: int = 0,
    cluster: Any = None,
    progress: OnProgress | None = None,
) -> EvaluationTable:
    """Estimate what each policy would have earned per round, on average, in the rounds of the log.

    - `log`: the decisions with their probabilities, and the revealed rewards; or the folder that holds them.
    - `policies`: a mapping from names to policies. A policy is probabilities (n, K); a callable of (contexts, graphs)
      that returns them; a `Bandit` or the path of a saved one, which stays fixed; a learner, which learns from the log
      as it goes; "uniform"; "logged", the policy of the log; or the name of a column of the log.
    - `method`: "graph-dr" (default) uses all revealed rewards and a model; "graph-ips", "graph-snips" and
      "graph-balanced" weight them in other ways. "ips", "snips" and "dr" use only the rewards of the arms played,
      "direct" only the model. `docs/evaluation.md` has the formulas.
    - `interval`: "betting" (default) holds at any number of rounds and for adaptive logs, "sequence" at all numbers of
      rounds at once. "bernstein" is wider, and holds even if the value drifts. "asymptotic" and "bootstrap" are for
      many independent rounds.
    - `level`: the probability with which the interval holds, 0.95 by default.
    - `model`: a function class; or predictions (n, K) or a callable of contexts that come from other data; None
      (default): ridge regression.
    - `fit`: the rounds that the model of a round is fitted to: "past", all earlier rounds, or "cross", all other folds.
      None (default): "past" for intervals that hold at any number of rounds, "cross" otherwise.
    - `folds`: the number of folds of "cross", 2 by default.
    - `reward_range`: the lowest and the highest possible reward; None (default): [0, 1] if the log's rewards are in it,
      and their own range otherwise.
    - `largest_weight`: the largest weight; larger weights are cut to it, which biases the value. None (default): no
      limit.
    - `shrink`: weights w become shrink * w / (w^2 + shrink), which biases the value. None (default): no shrinking.
    - `support`: "all" (default) refuses policies that play arms that could not be revealed; "part" leaves these arms
      out.
    - `missing_rewards`: what to do if the log lacks a revealed reward: raise an "error" (default), "drop" the round, or
      use this number as the reward.
    - `worth`: whether to measure what side observations were worth, too; True by default.
    - `by`: a column of the log; its segments are valued separately, too. None (default): no segments.
    - `problem`: the problem that learners are told; None (default): the number of arms, noise 0.5, and ridge
      regression.
    - `seed`: the seed of the folds and the bootstrap, 0 by default.
    - `cluster`: a Dask client or the address of a scheduler that evaluates partitions of the log; None (default): this
      process does everything.
    - `progress`: a function that is called with the rounds done and all rounds to do; None (default): none.

    >>> import numpy as np
    >>> log = Log.from_arrays(actions=[0, 1] * 50, probabilities=np.full((100, 2), 0.5), rewards=[1.0, 0.0] * 50)
    >>> table = evaluate(log, {"first": [1.0, 0.0], "uniform": "uniform"}, method="ips", interval="asymptotic")
    >>> table["first"].value, table["uniform"].value
    (1.0, 0.5)
    """
    log = Log.of(log)
    settings = _settings(locals())
    named = policies_of(policies, log, problem)
    sums, asked = _run(log, named, (), settings, model, by, cluster, progress)
    log.policies = {**log.policies, **named}
    return _table(log, sums, asked, named, model)


# The settings of evaluate are repeated here so that help() shows them.
def compare(
    log: Log | EvaluationTable | str | os.PathLike[str],
    first: Any,
    second: Any,
    *,
    policies: Mapping[str, Any] | None = None,
    method: Method = "graph-dr",
    interval: IntervalKind = "betting",
    level: float = 0.95,
    model: Any = None,
    fit: Fit | None = None,
    folds: int = 2,
    reward_range: tuple[float, float] | None = None,
    largest_weight: float | None = None,
    shrink: float | None = None,
    support: Support = "all",
    missing_rewards: MissingRewards | float = "error",
    problem: Problem | None = None,
    seed: int = 0,
    cluster: Any = None,
    progress: OnProgress | None = None,
) -> Difference:
    """Estimate how much better the first policy is than the second, with a paired interval.

    - `log`: as in `evaluate`; or a table of `evaluate`, whose settings are then used to compare two of its policies.
    - `first`, `second`: policies as `evaluate` takes them; or names of `policies`, or of policies that `evaluate` was
      given for this log.
    - `policies`: a mapping from names to policies; None (default): only the names of `evaluate` are known.
    - `method`, `interval`, `level`, `model`, `fit`, `folds`, `reward_range`, `largest_weight`, `shrink`, `support`,
      `missing_rewards`, `problem`, `seed`, `cluster`, `progress`: as in `evaluate`.

    >>> import numpy as np
    >>> log = Log.from_arrays(actions=[0, 1] * 50, probabilities=np.full((100, 2), 0.5), rewards=[1.0, 0.0] * 50)
    >>> print(compare(log, [1.0, 0.0], "uniform", method="ips", interval="asymptotic"))
    first - uniform: 0.5  [0.40151, 0.59849] at 95%: first is better
    """
    if isinstance(log, EvaluationTable):
        return log.compare(first, second)
    log = Log.of(log)
    settings = _settings({**locals(), "worth": False})  # a difference has no worth
    known = {**log.policies, **(policies or {})}
    named: dict[str, Any] = {}
    for place, given in (("first", first), ("second", second)):
        name = given if isinstance(given, str) else place
        if name in named:
            raise SettingError(f"first and second are both {name!r}; expected two policies")
        named[name] = known.get(name, given) if isinstance(given, str) else given
    resolved = policies_of(named, log, problem)
    one, other = resolved
    sums, asked = _run(log, resolved, ((one, other),), settings, model, None, cluster, progress)
    estimator = Estimator(settings=settings, reward_range=asked.reward_range, counts=sums.counts)
    found = estimator.of_difference(sums.terms[one], sums.terms[other], sums.terms[pair_name(one, other)])
    notes = general_notes(settings, asked.reward_range, model)
    if found.drifts:
        notes.append(drift_note(pair_name(one, other), settings))
    if found.outside:
        notes.append(outside_note([pair_name(one, other)], found.outside, settings))
    learning = [name for name, policy in resolved.items() if policy.in_order]
    if learning and settings.interval in ("betting", "sequence"):
        notes.append(learning_note(learning))
    comparable = settings.method == "direct" or not any(sums.weights[p].support(estimator.n) < FULL for p in resolved)
    if not comparable:
        found, notes = Interval(math.nan, math.nan, math.nan, math.nan), [PART_NOTE]
    return Difference(
        first=one,
        second=other,
        value=found.value,
        low=found.low,
        high=found.high,
        standard_error=found.standard_error,
        rounds=estimator.n,
        level=settings.level,
        notes=tuple(notes),
        comparable=comparable,
    )


def _settings(arguments: dict[str, Any]) -> Settings:
    if not len(arguments["log"]):
        raise LogError("the log is empty; expected at least one round")
    if arguments["progress"] is not None and not callable(arguments["progress"]):
        raise SettingError(f"progress is {arguments['progress']!r}; expected a function of two numbers, or None")
    return Settings(**{name: arguments[name] for name in Settings.__dataclass_fields__})


def _run(
    log: Log,
    policies: dict[str, Policy],
    pairs: tuple[tuple[str, str], ...],
    settings: Settings,
    model: Any,
    by: str | None,
    cluster: Any,
    progress: OnProgress | None,
) -> tuple[Sums, Question]:
    """Both passes, here or on a cluster."""
    for policy in policies.values():
        if isinstance(policy, TrainedPolicy):
            policy.learning.restart()
    functions = start_models(log, settings, model)
    asked = Question(
        settings=settings,
        policies=policies,
        pairs=pairs,
        reward_range=reward_range_of(log, settings),
        models=functions if isinstance(functions, GivenModel) else None,
        plain_models=functions if isinstance(functions, GivenModel) else None,
        by=by,
        first_row=log.first_row,
        rounds=len(log),
        arms=log.arms,
    )
    done = 0
    passes = 2 if fits_models(functions) else 1

    def count(rounds: int) -> None:
        nonlocal done
        done += rounds
        if progress is not None:
            progress(done, passes * len(log))

    if cluster is not None:
        with on_cluster(cluster, lambda part: count(len(part))) as (compute, workers):
            return run_in_parts(partitions(log, 4 * workers), asked, functions, compute)
    if fits_models(functions):
        asked = with_models(asked, *model_data(log, functions, asked, own=False, progress=count), functions)
    return sum_terms(log, asked, count), asked


def _table(log: Log, sums: Sums, asked: Question, policies: dict[str, Any], model: Any) -> EvaluationTable:
    settings = asked.settings
    estimator = Estimator(settings=settings, reward_range=asked.reward_range, counts=sums.counts)
    if not estimator.n:
        raise LogError(
            "all rounds of the log lack revealed rewards, so none can be used; expected missing_rewards=0.0, say"
        )
    values = {}
    for name in policies:
        weights = sums.weights[name]
        part = settings.support == "part"
        found = estimator.of_policy(sums.terms[name], part=part)
        plain = sums.plain.get(name)
        method = asked.plain_method
        without = None
        if plain is not None and method is not None:
            other = replace(estimator, settings=replace(settings, method=method))
            without = other.of_policy(plain, part=part)
        values[name] = PolicyValue(
            name=name,
            effective_sample_size=weights.effective,
            largest_weight=weights.largest,
            support=weights.support(estimator.n),
            rounds=estimator.n,
            without_side_observations=without,
            **asdict(found),
        )
    return EvaluationTable(
        values_by_name=values,
        settings=settings,
        reward_range=asked.reward_range,
        range_given=settings.reward_range is not None,
        dropped=sums.dropped,
        by=asked.by,
        segments=_segment_values(sums, settings),
        sums=sums,
        log=log,
        policies=policies,
        model=model,
    )


def _segment_values(sums: Sums, settings: Settings) -> tuple[SegmentValue, ...]:
    found = []
    for name, segments in sums.segments.items():
        for label, moments in segments.items():
            n, mean = moments.count, moments.total / moments.count
            spread = max(moments.squares / n - mean * mean, 0.0) * n / (n - 1) if n > 1 else math.nan
            low, high = asymptotic(mean, math.sqrt(spread / n), settings.level)
            found.append(SegmentValue(policy=name, segment=label, value=mean, low=low, high=high, rounds=n))
    return tuple(found)
