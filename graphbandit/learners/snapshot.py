"""What a learner would decide now: a snapshot decides any number of rounds and learns nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.arrays import PerRound, RoundsByArms
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
        self.learner.check_shown(self.problem, shown)
        # a learner of every round would take the rounds of a batch for consecutive ones
        size = 1 if isinstance(self.learner, EveryRoundLearner) else max(2**20 // self.problem.n_arms, 1)
        if len(shown) <= size:  # nothing to cut and join, which takes time that a single decision has not
            return self.learner.chosen(self.problem, self.state, shown, GivenUniforms(np.array(uniforms)))
        parts = [
            self.learner.chosen(
                self.problem, self.state, shown[i : i + size], GivenUniforms(np.array(uniforms[i : i + size]))
            )
            for i in range(0, len(shown), size)
        ]
        return Decisions.concatenate(parts)

    def probabilities(self, shown: Shown) -> RoundsByArms:
        """p: the probability of each arm in each round."""
        if not len(shown):
            return np.empty((0, self.problem.n_arms))
        return np.array(self.decide(shown, np.zeros(len(shown))).probabilities)
