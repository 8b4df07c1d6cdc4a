"""Learn policies from a log, choose the best one, and value it on rounds that were not used for either."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_number
from graphbandit.base.shapes import Float
from graphbandit.errors import LogError, SettingError
from graphbandit.evaluation.evaluate import evaluate
from graphbandit.evaluation.evaluation_table import EvaluationTable, PolicyValue
from graphbandit.evaluation.learner_on_log import LearnerOnLog
from graphbandit.evaluation.policies import FrozenPolicy, Policy
from graphbandit.evaluation.reward_models import default_class, fit, model_contexts, observed
from graphbandit.function_classes.base import FunctionClass
from graphbandit.function_classes.merging import keeps_sums, merged
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log, LogBatch
from graphbandit.logs.cluster import on_cluster, partitions


@dataclass(frozen=True, kw_only=True, eq=False)
class BestPolicy:
    """The policy that was chosen, and its value on rounds that had no part in learning or choosing it.

    - `name`, `policy`: the chosen policy.
    - `value`: its value on the held-out rounds.
    - `against`: the value of the logging policy there; None if the log does not have its probabilities.
    - `chosen_by`: the values of all contenders on the rounds that chose the best; they favour the chosen one.
    - `held_out`: the values on the held-out rounds.
    - `rounds`: the number of rounds for learning, for choosing, and held out.
    """

    name: str
    policy: Policy
    value: PolicyValue
    against: PolicyValue | None
    chosen_by: EvaluationTable
    held_out: EvaluationTable
    rounds: tuple[int, int, int]


class GreedyPolicy(Policy):
    """Always plays the arm with the highest estimate; the first one on ties."""

    def __init__(self, functions: FunctionClass[Any, Any, Any], model: Any) -> None:
        self.functions, self.model = functions, model

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """Probability 1 for the best arm."""
        values = np.array(self.functions.predict(self.model, model_contexts(batch.contexts)))
        if batch.available is not None:
            values[~batch.available] = -np.inf
        rows = np.zeros(values.shape)
        rows[np.arange(len(rows)), values.argmax(axis=1)] = 1.0
        return rows


def best_policy(
    log: Log | str | os.PathLike[str],
    contenders: Mapping[str, Learner[Any] | FunctionClass[Any, Any, Any]] | None = None,
    *,
    problem: Problem | None = None,
    learn: float = 0.5,
    choose: float = 0.25,
    cluster: Any = None,
    **settings: Any,
) -> BestPolicy:
    """Learn contenders from the first part of a log, choose the best on the second, and value it on the rest.

    - `log`: a log, or its folder, in the order of time, so that policies learn from rounds before those they are judged
      on.
    - `contenders`: a mapping from names to learners or function classes. A learner learns from the log with its
      propensities and then stays fixed. The policy of a function class plays the arm with the highest estimate. None
      (default): ridge regression.
    - `problem`: the problem that learners are told; None (default): the number of arms, noise 0.5, and ridge
      regression.
    - `learn`: the share of the rounds to learn from, 0.5 by default.
    - `choose`: the share of the rounds to choose by, 0.25 by default.
    - `cluster`: a Dask client or the address of a scheduler. Policies are evaluated there, and function classes that
      keep sums learn there from partitions; learners and other classes learn in this process. None (default):
      everything runs in this process.
    - `**settings`: further settings of `evaluate`.
    """
    setting_number("learn", learn, above=0.0, below=1.0)
    setting_number("choose", choose, above=0.0, below=1.0)
    if learn + choose >= 1:
        raise SettingError(f"learn + choose is {learn + choose:g}; expected less than 1, as rounds must be left over")
    log = Log.of(log)
    named = {"ridge": default_class(log)} if contenders is None else dict(contenders)
    if not named:
        raise SettingError("contenders is empty; expected at least one")
    first, second = int(len(log) * learn), int(len(log) * (learn + choose))
    if not 0 < first < second < len(log):
        raise LogError(f"the log has {len(log)} rounds; expected enough for three parts")
    parts = log[:first], log[first:second], log[second:]
    policies = {name: learnt(name, value, parts[0], problem, cluster) for name, value in named.items()}
    chosen_by = evaluate(parts[1], policies, cluster=cluster, **settings)
    best = chosen_by.best
    judged: dict[str, Any] = {best: policies[best]}
    if next(parts[2].batches(1)).probabilities is not None and best != "logged":
        judged["logged"] = "logged"
    held_out = evaluate(parts[2], judged, cluster=cluster, **settings)
    return BestPolicy(
        name=best,
        policy=policies[best],
        value=held_out[best],
        against=held_out["logged"] if "logged" in judged else None,
        chosen_by=chosen_by,
        held_out=held_out,
        rounds=(len(parts[0]), len(parts[1]), len(parts[2])),
    )


def learnt(name: str, candidate: Any, log: Log, problem: Problem | None = None, cluster: Any = None) -> Policy:
    """The policy that a candidate learns from a log."""
    if isinstance(candidate, FunctionClass):
        data = _data(candidate, log, cluster)
        fitted = fit(candidate, data)
        if fitted is None:
            raise LogError("the rounds to learn from have no rewards; expected some")
        return GreedyPolicy(candidate, fitted.model)
    if isinstance(candidate, Learner):
        learning = LearnerOnLog(candidate, log, problem)
        for batch in log.batches():
            for part, decisions in learning.decided(batch):
                learning.learn(part, part.q, decisions.notes)
        return FrozenPolicy(candidate, learning.state, learning.contexts)
    raise SettingError(f"contenders[{name!r}] is {candidate!r}; expected a learner or a function class")


def _data(functions: FunctionClass[Any, Any, Any], log: Log, cluster: Any) -> Any:
    """All rewards of a log as data of a class; collected in parts on a cluster if the class keeps sums."""

    def data_of(part: Log) -> Any:
        data = functions.empty()
        for batch in part.batches():
            data = functions.add(data, observed(batch, slice(None), side=True))
        return data

    if cluster is None or not keeps_sums(functions.empty()):
        return data_of(log)
    with on_cluster(cluster) as (compute, workers):
        return merged(compute(data_of, partitions(log, 4 * workers)))
