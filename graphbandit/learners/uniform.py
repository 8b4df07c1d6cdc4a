"""Uniform: every available arm with the same probability, always. Any learner must beat it."""

from dataclasses import dataclass, replace

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import EndedEpoch, EpochLearner, EpochState
from graphbandit.learners.problem import Problem
from graphbandit.planning.sampled_rounds import UNIFORM, sample_rounds
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


@savable
@dataclass(frozen=True, kw_only=True)
class Uniform(EpochLearner[EpochState]):
    """p(a) = 1/K. Learns nothing and needs no function class; its epochs only count rounds.

    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> Bandit(Uniform(), Problem(n_arms=4)).decide([], graphs.star(4, hub=0)).probabilities
    array([0.25, 0.25, 0.25, 0.25])
    """

    growth = 2.0
    """Epochs that double."""

    def init(self, problem: Problem) -> EpochState:
        """Nothing is known, nor will be."""
        return EpochState(problem=problem, rounds=0, epoch=1, data=None, model=None)

    def choose(self, state: EpochState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """The same distribution in every round."""
        shape = len(shown), state.problem.n_arms
        return sample_rounds(
            UNIFORM,
            values=np.zeros(shape),
            candidates=None,
            graphs=shown.feedback_graphs,
            uniforms=rng.random(len(shown)),
            epoch=state.epoch,
            available=shown.available,
        )

    def words(self, state: EpochState, shown: Shown, made: Decisions) -> Words:
        """Nothing: it has no opinion."""
        return {}

    def grown(self, state: EpochState, problem: Problem) -> EpochState:
        """As many arms as there are."""
        return replace(state, problem=problem)

    def ended(
        self, state: EpochState, observations: Observations, *, split: int, length: int | None = None
    ) -> EndedEpoch:
        """Rounds, and no data."""
        rounds = self.rounds_until_update(state) if length is None else length
        return EndedEpoch(observations, rounds, None, None, observations)

    def learnt(self, state: EpochState, ended: EndedEpoch) -> EpochState:
        """Count the rounds."""
        return replace(state, rounds=state.rounds + ended.length, epoch=state.epoch + 1)
