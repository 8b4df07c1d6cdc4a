"""Explore, then commit: play uniformly for a while, then always the arm that looks best from these rounds."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.saved_files import savable
from graphbandit.errors import SettingError
from graphbandit.learners.base import Learner
from graphbandit.learners.epochs.base import AnyFunctionClass, EndedEpoch, EpochLearner, EpochState, estimator
from graphbandit.learners.epochs.deciding import decided
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.drawn_arms import uniform_over
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class CommitState(EpochState):
    """`explored` is how many rounds were uniform, `fitted` how many of their rewards made the estimate."""

    explored: int
    fitted: int

    def __post_init__(self) -> None:
        super().__post_init__()
        setting_integer("explored", self.explored, at_least=0, at_most=self.rounds)
        setting_integer("fitted", self.fitted, at_least=0)


@savable
@dataclass(frozen=True, kw_only=True)
class ExploreThenCommit(EpochLearner[CommitState]):
    """Plays uniformly over all arms for N rounds, and argmax_a fhat(x, a) ever after; fhat is fitted to these N rounds
    alone.

    It learns from every reward the graph reveals while it explores, and ignores the graph when choosing. Rewards of
    later rounds change nothing: those rounds are only counted, in epochs that double. Where no reward has come by the
    end of the N rounds, or the fit fails, it explores until the end of the next such epoch. Rewards of exploring
    rounds that come after the commit are learnt at the end of the epoch they come in. So the problem's `longest_epoch`
    and `half_life` change nothing, and `refit` is refused: a fit is the commitment.

    - `explore_rounds`: N. None (default): ceil(T^(2/3)), the order that balances both phases (Lattimore & Szepesvari
      2020, chapter 6; with contexts, Langford & Zhang 2008), which needs a horizon.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> ExploreThenCommit().exploring(Problem(n_arms=2, horizon=1000))
    100
    """

    explore_rounds: int | None = None
    function_class: AnyFunctionClass | None = None

    forgets = False
    """No: it learns once."""

    refits = False
    """No: a fit is the commitment."""

    def __post_init__(self) -> None:
        if self.explore_rounds is not None:
            setting_integer("explore_rounds", self.explore_rounds, at_least=1)

    def exploring(self, problem: Problem) -> int:
        """N, at most the horizon."""
        if self.explore_rounds is not None:
            return min(self.explore_rounds, problem.horizon or self.explore_rounds)
        if problem.horizon is None:
            raise SettingError("explore_rounds is None, and so is the problem's horizon; expected one of them")
        return math.ceil(round(math.pow(problem.horizon, 2 / 3), 9))

    def init(self, problem: Problem) -> CommitState:
        """No data, no estimate."""
        self.exploring(problem)
        data = self.no_data(problem)
        return CommitState(problem=problem, rounds=0, epoch=1, data=data, model=None, explored=0, fitted=0)

    def rounds_until_update(self, state: CommitState) -> int:
        """N at first, and then as many rounds as were played so far."""
        length = state.rounds if state.rounds else self.exploring(state.problem)
        horizon = state.problem.horizon
        return length if horizon is None else min(length, horizon - state.rounds)

    def prepared(self, state: CommitState) -> Any:
        """The estimate, ready to be asked."""
        return estimator(self.functions(state.problem), state.model)

    def choose(self, state: CommitState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Any arm, or the one that looks best."""
        values = self.of_epoch(state)(shown.contexts, shown.available)
        n_arms, best = values.shape[1], shown.best_offered(values)
        played = shown.offered(n_arms) if state.model is None else np.arange(n_arms) == best[:, None]
        return decided(uniform_over(played), values, state, shown, rng, exploration_set=np.array(played))

    def refit(self, state: CommitState, observations: Observations) -> CommitState:
        """Refused: an estimate before the end of the exploring rounds would commit to it."""
        return Learner.refit(self, state, observations)

    def grown(self, state: CommitState, problem: Problem) -> CommitState:
        """Refused: arms that come after the exploring rounds would never be explored."""
        return Learner.grown(self, state, problem)

    def ended(
        self, state: CommitState, observations: Observations, *, split: int, length: int | None = None
    ) -> EndedEpoch:
        """All data while exploring; afterwards only late rewards of the exploring rounds are added."""
        ended = super().ended(state, observations, split=split, length=length)
        if state.model is None:
            return ended
        late = observations.between(0, state.explored)
        return ended._replace(data=self.functions(state.problem).add(state.data, late))

    def learnt(self, state: CommitState, ended: EndedEpoch) -> CommitState:
        """fhat once there is a reward to learn from, and again after any late one of the exploring rounds."""
        after, functions = self._after(state, ended), self.functions(state.problem)
        rewards = functions.n_observed(after.data)
        if rewards == state.fitted:
            return after
        return replace(after, model=functions.fit(after.data), fitted=rewards)

    def postpone(self, state: CommitState, observations: Observations) -> CommitState:
        """All data that counts, and fhat as it was; while there is no fhat, exploring goes on."""
        return self._after(state, self.ended(state, observations, split=state.rounds))

    @staticmethod
    def _after(state: CommitState, ended: EndedEpoch) -> CommitState:
        rounds = state.rounds + ended.length
        explored = rounds if state.model is None else state.explored
        return replace(state, rounds=rounds, epoch=state.epoch + 1, data=ended.data, explored=explored)
