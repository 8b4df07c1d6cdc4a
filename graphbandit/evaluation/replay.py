"""Replay a learner on a log by rejection sampling: the accepted rounds are a run as if the learner had decided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.errors import FitError, HorizonError, LogError, SettingError
from graphbandit.evaluation.intervals import asymptotic
from graphbandit.evaluation.models import default_class, model_contexts
from graphbandit.evaluation.policies import decide
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log, LogBatch
from graphbandit.logs.batch import times_graphs
from graphbandit.rounds import Observations


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """What the learner earned in the rounds that were accepted.

    - `value`, `low`, `high`, `standard_error`: the mean reward of the arms played, with an asymptotic interval.
    - `rounds`, `accepted`: how many rounds the log has, and how many were accepted.
    - `clipped`: in how many rounds the learner was more than `largest_weight` times as likely to play the arm as the
      log was, so that they were accepted too rarely. With none the run is distributed as if the learner had decided.
    - `rewards`: those of the arms played, in order.
    - `state`: what the learner knows at the end.
    """

    value: float
    low: float
    high: float
    standard_error: float
    rounds: int
    accepted: int
    clipped: int
    rewards: Float[np.ndarray, " accepted"]
    state: Any


def replay(
    log: Log,
    learner: Learner[Any],
    *,
    problem: Problem | None = None,
    largest_weight: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Replay:
    """Run a learner on a log, accepting round t with probability pi(A) / (M p(A)).

    An accepted round is one that the learner decided itself: A is then distributed as pi, and it reveals what it would
    have revealed. The learner learns from these rounds only. This is the method of Li, Chu, Langford and Wang (2011)
    for a log of uniform play, and rejection sampling for any other.

    - `log`: who decided what with which probability, and what was revealed.
    - `learner`: the learner to run.
    - `problem`: what it is told; None (default): the number of arms, noise 0.5, and ridge regression.
    - `largest_weight`: M; None (default): 1 / the smallest probability in the log, which pi / p never exceeds. A
      smaller M accepts more rounds; the result counts those that it clips.
    - `level`: the probability with which the interval holds, 0.95 by default.
    - `seed`: of the learner's draws and of the acceptance, 0 by default.
    """
    if not isinstance(learner, Learner):
        raise SettingError(f"learner is {learner!r}; expected a learner, as AdaCBG()")
    most = 1.0 / _smallest(log) if largest_weight is None else setting_number("largest_weight", largest_weight, above=0)
    own = getattr(learner, "function_class", None)
    constant = problem is None and own is None
    problem = problem or Problem(
        n_arms=log.n_arms, function_class=None if own is not None else default_class(log), noise=0.5
    )
    run = _Run(learner, problem, most, constant, stream(seed, "replay"))
    for batch in log.batches():
        run.play(batch)
    rewards = np.concatenate(run.rewards) if run.rewards else np.empty(0)
    if not len(rewards):
        raise LogError("no round was accepted; expected a longer log, or a smaller largest_weight")
    value = float(rewards.mean())
    error = float(rewards.std(ddof=1)) / math.sqrt(len(rewards)) if len(rewards) > 1 else math.nan
    low, high = asymptotic(value, error, level)
    return Replay(
        value=value,
        low=low,
        high=high,
        standard_error=error,
        rounds=len(log),
        accepted=len(rewards),
        clipped=run.clipped,
        rewards=rewards,
        state=run.state,
    )


def _smallest(log: Log) -> float:
    return min(float(batch.probability.min()) for batch in log.batches())


class _Run:
    """The learner's own run, so far."""

    def __init__(
        self, learner: Learner[Any], problem: Problem, most: float, constant: bool, rng: np.random.Generator
    ) -> None:
        self._learner, self._most, self._constant, self._rng = learner, most, constant, rng
        self.state = learner.init(problem)
        self._unlearnt: list[Observations] = []
        self._waiting = self._rounds = self.clipped = 0
        self.rewards: list[Float[np.ndarray, " some"]] = []

    def play(self, batch: LogBatch) -> None:
        """Offer every round of the batch."""
        start = 0
        while start < len(batch):
            left = self._learner.rounds_until_update(self.state) - self._waiting
            if left <= 0:
                raise HorizonError("the learner has reached the problem's horizon; expected Problem(horizon=None)")
            part = batch.take(slice(start, start + left))
            self._offer(part, ends_at=left)
            start += len(part)

    def _offer(self, part: LogBatch, ends_at: int) -> None:
        contexts = model_contexts(part.contexts) if self._constant else part.contexts
        made = decide(self._learner, self.state, part, contexts)
        rows = np.arange(len(part))
        ratio = made.probabilities[rows, part.actions] / part.probability
        self.clipped += int((ratio > self._most * (1 + 1e-9)).sum())
        kept = self._rng.random(len(part)) < ratio / self._most
        if not kept.any():
            return
        chosen = part.take(kept)
        p = made.probabilities[kept]
        q = times_graphs(p, chosen.graphs) if chosen.graphs is not None else np.full(p.shape, np.nan)
        earned = chosen.rewards[np.arange(len(chosen)), chosen.actions]
        if np.isnan(earned).any():
            row = part.first_row + int(np.flatnonzero(kept)[np.argmax(np.isnan(earned))])
            raise LogError("the reward of the arm played is missing", table="decisions", row=row)
        self.rewards.append(earned)
        self._unlearnt.append(
            Observations.from_masks(
                contexts[kept],
                chosen.revealed,
                chosen.rewards,
                first_round=self._rounds,
                available=chosen.available,
                actions=chosen.actions,
                observation_probabilities=q,
                notes=made.notes[kept],
            )
        )
        self._rounds += len(chosen)
        self._waiting += len(chosen)
        if len(chosen) == ends_at:
            self._learn()

    def _learn(self) -> None:
        seen = Observations.concatenate(self._unlearnt)
        try:
            self.state = self._learner.update(self.state, seen)
        except FitError:
            self.state = self._learner.postpone(self.state, seen)
        self._unlearnt, self._waiting = [], 0
