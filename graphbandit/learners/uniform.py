"""Uniform: every available arm with the same probability, for ever. The floor that any learner must beat."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.base import Learner, check_batch
from graphbandit.learners.epochs.schedule import EpochSchedule, EpochState, rounds_left
from graphbandit.learners.problem import Problem
from graphbandit.planning.sampling import SamplingRule, sample_rounds
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations


@savable
@dataclass(frozen=True, kw_only=True)
class Uniform(Learner[EpochState]):
    """p(a) = 1/K. Learns nothing and needs no function class; its epochs only count rounds.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> Bandit(Uniform(), Problem(n_arms=4)).decide([], graphs.star(4, hub=0)).probabilities
    array([0.25, 0.25, 0.25, 0.25])
    """

    def init(self, problem: Problem) -> EpochState:
        """Nothing is known, nor will be."""
        return EpochState(problem=problem, rounds=0, epoch=1, data=None, model=None)

    def rounds_until_update(self, state: EpochState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return rounds_left(EpochSchedule(), state.problem, state.rounds, state.epoch)

    def decide(
        self,
        state: EpochState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """The same distribution in every round."""
        n, n_arms = len(contexts), state.problem.n_arms
        left = self.rounds_until_update(state)
        available = check_batch(n_arms, left, contexts, graphs, available, loops=False)
        everything = np.ones((n, n_arms), dtype=np.bool_) if available is None else np.array(available)
        return sample_rounds(
            SamplingRule(explore_all=True, coverage="none", rate=0.0),
            values=np.zeros((n, n_arms)),
            candidates=everything,
            graphs=graphs,
            uniforms=rng.random(n),
            epoch=state.epoch,
            available=available,
        )

    def update(self, state: EpochState, observations: Observations) -> EpochState:
        """Count the rounds."""
        rounds = state.rounds + self.rounds_until_update(state)
        return EpochState(problem=state.problem, rounds=rounds, epoch=state.epoch + 1, data=None, model=None)
