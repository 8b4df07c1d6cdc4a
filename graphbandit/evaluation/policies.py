"""Policies to evaluate: arrays and columns of probabilities, callables, bandits, and learners that learn as they go."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphbandit.bandit import Bandit
from graphbandit.bandit.learning_from_logs import check_fits, contexts_of
from graphbandit.base.checks import numbers
from graphbandit.base.shapes import Float
from graphbandit.errors import HorizonError, InputError, SettingError
from graphbandit.evaluation.learner_on_log import LearnerOnLog, decide
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log, LogBatch
from graphbandit.logs.batch import SUM_TOLERANCE


class Policy(ABC):
    """pi(a | x) for each round of a log.

    `in_order` says that the policy learns from the rounds it is shown, so it must be shown all of them in order.
    """

    in_order: bool = False

    @abstractmethod
    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The probabilities of every arm, one row for each round of the batch."""


class UniformPolicy(Policy):
    """Plays every available arm with the same probability."""

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """1 / K over the available arms."""
        if batch.available is None:
            return np.full(batch.rewards.shape, 1.0 / batch.n_arms)
        return np.asarray(batch.available / batch.available.sum(axis=1, keepdims=True))


class UnknownProbabilitiesError(InputError):
    """The log has the probability of the played arm alone, and the policy that wrote it needs those of all arms."""


class LoggedPolicy(Policy):
    """The policy that wrote the log."""

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The probabilities in the log."""
        if batch.probabilities is None or not batch.all_known.all():
            row = batch.first_row + int(np.argmin(batch.all_known))
            raise UnknownProbabilitiesError(
                "the policy 'logged' needs the probabilities of all arms; the log has only the played one's in row "
                f"{row}; expected the policy 'uniform', or a log with them (convert with probabilities=[...])"
            )
        return batch.probabilities


class ArrayPolicy(Policy):
    """Given probabilities, with one row for each round of the log, or one row for all rounds."""

    def __init__(self, rows: Float[np.ndarray, "*n arms"], log: Log) -> None:
        self._first = log.first_row
        if rows.ndim == 1:
            rows = np.broadcast_to(rows, (len(log), len(rows)))
        if rows.shape != (len(log), log.n_arms):
            raise InputError(f"has shape {rows.shape}; expected ({len(log)}, {log.n_arms})")
        self._rows = rows

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The rows of these rounds."""
        start = batch.first_row - self._first
        return self._rows[start : start + len(batch)]


class ColumnPolicy(Policy):
    """Probabilities from a column of the log's decisions."""

    def __init__(self, name: str) -> None:
        self._name = name

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The values of the column in these rounds."""
        return numbers(f"the column {self._name!r}", batch.columns[self._name])


class CallablePolicy(Policy):
    """A function of contexts and graphs (and `available`, if it has such a parameter)."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._available = False
        try:
            takes = inspect.signature(function)
        except (TypeError, ValueError):  # some functions written in C have no signature
            return
        self._available = "available" in takes.parameters
        try:
            takes.bind(None, None, **({"available": None} if self._available else {}))
        except TypeError:
            raise InputError(
                f"is a function of {takes}; expected one of (contexts, graphs), or of (contexts, graphs, available)"
            ) from None

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The probabilities that the function returns."""
        more = {"available": batch.available} if self._available else {}
        found: Float[np.ndarray, "n arms"] = self._function(batch.contexts, batch.graphs, **more)
        return found


class FrozenPolicy(Policy):
    """A learner with a fixed state: it decides every round with what it knows now, and learns nothing.

    `contexts` returns the contexts of a batch as the learner takes them.
    """

    def __init__(self, learner: Learner[Any], state: Any, contexts: Callable[[LogBatch], Any]) -> None:
        self._learner, self._state, self._contexts = learner, state, contexts

    @classmethod
    def of_bandit(cls, bandit: Bandit, log: Log) -> FrozenPolicy:
        """The policy of a bandit in its current state."""
        try:
            check_fits(log, bandit.problem)
        except InputError as error:
            raise InputError(f"is a bandit that does not fit: {error}") from None
        return cls(bandit.learner, bandit.state, partial(contexts_of, problem=bandit.problem))

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The probabilities of all rounds, decided with the same state."""
        most = self._learner.rounds_until_update(self._state)
        if not most:
            raise HorizonError("the learner has reached its horizon; expected one that may still decide")
        found = np.empty(batch.rewards.shape)
        for start in range(0, len(batch), most):
            part = batch.take(slice(start, start + most))
            found[start : start + most] = decide(self._learner, self._state, part, self._contexts(part)).probabilities
        return found


class TrainedPolicy(Policy):
    """A learner that learns from the log as it goes (progressive validation).

    It decides a round with what it has learnt from all earlier rounds: from the rewards that the logging policy
    revealed there, with the propensities of the log. Its value is the average over the policies it had on the way.
    """

    in_order = True

    def __init__(self, learner: Learner[Any], log: Log, problem: Problem | None = None) -> None:
        self.learning = LearnerOnLog(learner, log, problem)

    def probabilities(self, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
        """The probabilities in the next rounds; the learner learns from them at the ends of its epochs."""
        found = np.empty(batch.rewards.shape)
        for part, decisions in self.learning.decided(batch):
            start = part.first_row - batch.first_row
            found[start : start + len(part)] = decisions.probabilities
            self.learning.learn(part, part.q, decisions.notes)
        return found


def policy_of(name: str, value: Any, log: Log, problem: Problem | None = None) -> Policy:
    """Make a policy of what the caller has given."""
    try:
        if isinstance(value, Policy):
            return value
        if isinstance(value, str) and value in ("uniform", "logged"):
            return UniformPolicy() if value == "uniform" else LoggedPolicy()
        if isinstance(value, str) and value in log.columns:
            return ColumnPolicy(value)
        if isinstance(value, str | os.PathLike):
            if not Path(value).exists():
                columns = ", ".join(map(repr, log.columns)) or "none"
                raise InputError(
                    f"is {str(value)!r}; expected 'uniform', 'logged', a saved bandit, or a column ({columns})"
                )
            return FrozenPolicy.of_bandit(Bandit.load(value), log)
        if isinstance(value, Bandit):
            return FrozenPolicy.of_bandit(value, log)
        if isinstance(value, Learner):
            return TrainedPolicy(value, log, problem)
        if callable(value):
            return CallablePolicy(value)
        if value is None:
            raise InputError("is None; expected probabilities, a function, a Bandit, a learner, or a name")
        return ArrayPolicy(numbers("", value), log)
    except InputError as error:
        raise type(error)(f"the policy {name!r} {str(error).strip()}") from None


def checked(name: str, given: Any, batch: LogBatch) -> Float[np.ndarray, "n arms"]:
    """The probabilities of a policy; raises InputError unless they are a distribution in every round."""
    found = numbers(f"what the policy {name!r} gives", given)
    if found.shape != batch.rewards.shape:
        raise InputError(
            f"the policy {name!r} gives probabilities of shape {found.shape}; expected {batch.rewards.shape}"
        )
    inside = np.asarray((found >= 0) & (found <= 1 + SUM_TOLERANCE)).all(axis=1)
    rows = np.asarray(~(inside & (np.abs(found.sum(axis=1) - 1) <= SUM_TOLERANCE)))
    if rows.any():
        row = int(np.argmax(rows))
        raise InputError(
            f"the policy {name!r} gives {found[row]} in round {batch.first_row + row}; "
            "expected numbers from 0 to 1 that sum to 1"
        )
    if batch.available is not None:
        wrong = ((found > 0) & ~batch.available).any(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"the policy {name!r} plays an arm that is not available in round {batch.first_row + row}")
    return found


def policies_of(policies: Any, log: Log, problem: Problem | None = None) -> dict[str, Policy]:
    """Make named policies of a mapping, a list of names, or a single policy."""
    if isinstance(policies, str):
        policies = {policies: policies}
    elif isinstance(policies, list | tuple) and policies and all(isinstance(name, str) for name in policies):
        policies = {name: name for name in policies}
    elif policies is None or (isinstance(policies, list | tuple) and not policies):
        raise SettingError(f"policies is {policies!r}; expected at least one policy, such as {{'new': probabilities}}")
    elif not hasattr(policies, "items"):
        policies = {"policy": policies}
    if not policies:
        raise SettingError("policies is empty; expected at least one")
    for name in policies:
        if not isinstance(name, str):
            raise SettingError(f"policies has the name {name!r}; expected a string")
    return {name: policy_of(name, value, log, problem) for name, value in policies.items()}
