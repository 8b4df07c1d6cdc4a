"""Replay a learner on a log by rejection sampling: in the accepted rounds it is as if the learner had decided."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.errors import LogError, SettingError
from graphbandit.evaluation.intervals import asymptotic
from graphbandit.evaluation.learner_on_log import LearnerOnLog
from graphbandit.graphs.products import times_graphs
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """What the learner earned in the rounds that were accepted.

    - `value`, `low`, `high`, `standard_error`: the mean reward of the arms played, with an asymptotic interval.
    - `rounds`, `accepted`: the number of rounds of the log, and of accepted rounds.
    - `clipped`: the number of rounds in which the learner was more than `largest_weight` times as likely to play the
      arm as the log was. Such rounds are accepted too rarely; if there are none, the accepted rounds are distributed as
      if the learner had decided.
    - `rewards`: the rewards of the arms played, in order.
    - `state`: the learner's state at the end.
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
    log: Log | str | os.PathLike[str],
    learner: Learner[Any],
    *,
    level: float = 0.95,
    largest_weight: float | None = None,
    problem: Problem | None = None,
    seed: int = 0,
) -> Replay:
    """Run a learner on a log, accepting round t with probability pi(A) / (M p(A)).

    In an accepted round it is as if the learner had decided: A is distributed as pi, and what it reveals is in the log.
    The learner learns from these rounds only. For a log of uniform play this is the method of Li, Chu, Langford and
    Wang (2011); for any other log it is rejection sampling.

    - `log`: the decisions with their probabilities, and the revealed rewards; or the folder that holds them.
    - `learner`: the learner to run.
    - `level`: the probability with which the interval holds, 0.95 by default.
    - `largest_weight`: M; None (default): 1 / the smallest probability in the log, which pi / p never exceeds. A
      smaller M accepts more rounds but may clip some, which the result counts.
    - `problem`: the problem that it is told; None (default): the number of arms, noise 0.5, and ridge regression.
    - `seed`: the seed of the acceptance, 0 by default.
    """
    if not isinstance(learner, Learner):
        raise SettingError(f"learner is {learner!r}; expected a learner, such as IDSG()")
    log = Log.of(log)
    if largest_weight is None:
        most = 1.0 / min(float(batch.probability.min()) for batch in log.batches())
    else:
        most = setting_number("largest_weight", largest_weight, above=0)
    learning, rng = LearnerOnLog(learner, log, problem), stream(seed, "replay")
    clipped, earned = 0, [np.empty(0)]
    for batch in log.batches():
        for part, decisions in learning.decided(batch):
            played = (np.arange(len(part)), part.actions)
            ratio = decisions.probabilities[played] / part.probability
            clipped += int((ratio > most * (1 + 1e-9)).sum())
            kept = rng.random(len(part)) < ratio / most
            missing = kept & np.isnan(part.rewards[played])
            if missing.any():
                row = part.first_row + int(np.argmax(missing))
                raise LogError("the reward of the arm played is missing", table="decisions", row=row)
            if kept.any():
                earned.append(part.rewards[played][kept])
                chosen, p = part.take(kept), decisions.probabilities[kept]
                q = np.full(p.shape, np.nan) if chosen.graphs is None else times_graphs(p, chosen.graphs)
                learning.learn(chosen, q, decisions.notes[kept])
    rewards = np.concatenate(earned)
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
        clipped=clipped,
        rewards=rewards,
        state=learning.state,
    )
