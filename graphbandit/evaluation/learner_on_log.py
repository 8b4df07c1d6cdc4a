"""A learner that goes through a log: it decides the next rounds, and then learns from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.evaluation.reward_models import default_class, model_contexts
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log, LogBatch
from graphbandit.rounds import Decisions, Shown


class LearnerOnLog:
    """The state of a learner on its way through a log.

    - `loop`: the learner with its state.
    - `constant`: whether the learner is shown a constant context if the log has no contexts.
    """

    def __init__(self, learner: Learner[Any], log: Log, problem: Problem | None) -> None:
        functions = default_class(log) if getattr(learner, "function_class", None) is None else None
        self.constant = problem is None and functions is not None
        self.loop = Loop.start(learner, problem or Problem(n_arms=log.n_arms, function_class=functions, noise=0.5))

    def restart(self) -> None:
        """Forget everything learnt."""
        self.loop = Loop.start(self.loop.learner, self.loop.problem)

    @property
    def state(self) -> Any:
        """The learner's state after the rounds so far."""
        at_the_end = self.loop.rounds == self.loop.problem.horizon
        return self.loop.state if at_the_end else self.loop.ready().state

    def contexts(self, batch: LogBatch) -> Float[np.ndarray, "n ..."]:
        """The contexts of a batch as the learner takes them."""
        return model_contexts(batch.contexts) if self.constant else batch.contexts

    def decided(self, batch: LogBatch) -> Iterator[tuple[LogBatch, Decisions]]:
        """Cut a batch where epochs end; yield each part with the learner's decisions."""
        start = 0
        while start < len(batch):
            self.loop = self.loop.ready()
            part = batch.take(slice(start, start + self.loop.left))
            yield part, decide(self.loop.learner, self.loop.state, part, self.contexts(part))
            start += len(part)

    def learn(
        self,
        part: LogBatch,
        observation_probabilities: Float[np.ndarray, "n arms"],
        notes: Float[np.ndarray, "n notes"],
    ) -> None:
        """Learn from the rounds of a part as they are in the log."""
        first = self.loop.rounds
        rows, arms = np.nonzero(part.revealed)
        self.loop = self.loop.take(
            Played(first, self.contexts(part), part.actions, notes, part.available),
            News(rows + first, arms, part.rewards[rows, arms], observation_probabilities[rows, arms]),
        )


def decide(learner: Learner[Any], state: Any, part: LogBatch, contexts: Any) -> Decisions:
    """The learner's decisions. Only their probabilities are used, which do not depend on the random numbers."""
    return learner.decide(state, Shown(contexts, part.graphs, part.available), np.random.default_rng(0))
