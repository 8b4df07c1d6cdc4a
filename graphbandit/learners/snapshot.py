"""What a learner would decide now: a snapshot decides any number of rounds and learns nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.array_types import PerRound, RoundsByArms
from graphbandit.learners.base import GivenUniforms, Learner
from graphbandit.learners.every_round.base import EveryRoundLearner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class Snapshot:
    """A learner at one moment: what it would decide next, in each of any number of rounds.

    - `learner`, `problem`, `state`: the algorithm, what it was told, and what it knows.
    - `learnt`: the number of rounds that the state has learnt from.
    """

    learner: Learner[Any]
    problem: Problem
    state: Any
    learnt: int

    def decide(self, shown: Shown, uniforms: PerRound) -> Decisions:
        """Decide each of these rounds as the next one, its arm drawn by the uniform number of its row."""
        return self._decide(shown, uniforms, words=True)

    def _decide(self, shown: Shown, uniforms: PerRound, *, words: bool) -> Decisions:
        """Decide, with or without the learner's words."""
        self.learner.check_shown(self.problem, shown)
        # a learner of every round would take the rounds of a batch for consecutive ones
        size = 1 if isinstance(self.learner, EveryRoundLearner) else max(2**20 // self.problem.n_arms, 1)
        parts = []
        for i in range(0, len(shown), size):
            part = shown if len(shown) <= size else shown[i : i + size]
            drawn = GivenUniforms(np.array(uniforms[i : i + size]))
            made = self.learner.chosen(self.problem, self.state, part, drawn)
            parts.append(self.learner.in_words(self.state, part, made) if words else made)
        return Decisions.concatenate(parts)

    def probabilities(self, shown: Shown) -> RoundsByArms:
        """p: the probability of each arm in each round."""
        if not len(shown):
            return np.empty((0, self.problem.n_arms))
        return np.array(self._decide(shown, np.zeros(len(shown)), words=False).probabilities)
