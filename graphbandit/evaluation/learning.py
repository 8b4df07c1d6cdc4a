"""A learner that goes through a log: it says what it would do in the next rounds, and then learns from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.evaluation.models import default_class, model_contexts
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.learners.problem import Problem
from graphbandit.logs import Log, LogBatch
from graphbandit.rounds import Decisions, Shown


class Learning:
    """The learner's loop, and the log's rounds as the learner sees them.

    - `loop`: how far the learner has come.
    - `constant`: whether it is shown a constant where the log has no contexts.
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
        """What the learner knows after these rounds."""
        at_the_end = self.loop.rounds == self.loop.problem.horizon
        return self.loop.state if at_the_end else self.loop.ready().state

    def contexts(self, batch: LogBatch) -> Float[np.ndarray, "n ..."]:
        """The contexts of a batch, as the learner takes them."""
        return model_contexts(batch.contexts) if self.constant else batch.contexts

    def decided(self, batch: LogBatch) -> Iterator[tuple[LogBatch, Decisions]]:
        """The parts of a batch that end where epochs end, each with what the learner would do in it."""
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
        """Take in the rounds of a part as the log has them."""
        first = self.loop.rounds
        rows, arms = np.nonzero(part.revealed)
        self.loop = self.loop.take(
            Played(first, self.contexts(part), part.actions, notes, part.available),
            News(rows + first, arms, part.rewards[rows, arms], observation_probabilities[rows, arms]),
        )


def decide(learner: Learner[Any], state: Any, part: LogBatch, contexts: Any) -> Decisions:
    """The learner's decisions, of which only the probabilities count; they do not depend on the random numbers."""
    return learner.decide(state, Shown(contexts, part.graphs, part.available), np.random.default_rng(0))
