"""Explore, then commit: uniform for a while, and then for ever what that while has taught."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.base import Learner, candidates_of, check_batch, function_class_of, predicted
from graphbandit.learners.epochs.schedule import EpochState, postponed
from graphbandit.learners.problem import Problem
from graphbandit.planning.draw import decisions_from_probabilities, uniform_over
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations


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
class ExploreThenCommit(Learner[CommitState]):
    """Uniform over all arms for N rounds, argmax_a fhat(x, a) ever after, fhat from these N rounds alone.

    N = `explore_rounds`, or ceil(T^(2/3)), the order that balances both phases (Lattimore & Szepesvari 2020, chapter 6;
    with contexts, Langford & Zhang 2008), which needs a horizon. It learns from every reward the graph
    reveals while it explores, and ignores the graph when choosing. Rewards of later rounds change nothing: those
    rounds are only counted, in epochs that double. Where no reward has come by the end of the N rounds, or the fit
    fails, it explores until the end of the next such epoch. Rewards of exploring rounds that come after the commit
    are learnt at the end of the epoch they come in.

    >>> ExploreThenCommit().exploring(Problem(n_arms=2, horizon=1000))
    100
    """

    explore_rounds: int | None = None
    function_class: FunctionClass[Any, Any, Any] | None = None

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
        functions = function_class_of(self.function_class, problem)
        return CommitState(problem=problem, rounds=0, epoch=1, data=functions.empty(), model=None, explored=0, fitted=0)

    def rounds_until_update(self, state: CommitState) -> int:
        """N at first, and then as many rounds as were played so far."""
        length = state.rounds if state.rounds else self.exploring(state.problem)
        horizon = state.problem.horizon
        return length if horizon is None else min(length, horizon - state.rounds)

    def decide(
        self,
        state: CommitState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Any arm, or the one that looks best."""
        n_arms = state.problem.n_arms
        functions = function_class_of(self.function_class, state.problem)
        left = self.rounds_until_update(state)
        available = check_batch(n_arms, left, contexts, graphs, available, loops=False)
        functions.check_contexts(contexts)
        offered = np.ones((len(contexts), n_arms), dtype=np.bool_) if available is None else available
        if state.model is None:
            # contexts the class cannot evaluate are refused now: at the update it would be too late
            candidates_of(functions, functions.version_space(state.data, math.inf), contexts, available)
            values = np.zeros(offered.shape)
        else:
            values = predicted(functions, state.model, contexts)
        best = np.argmax(np.where(offered, values, -np.inf), axis=1)
        played = offered if state.model is None else np.arange(n_arms) == best[:, None]
        return decisions_from_probabilities(
            uniform_over(played),
            graphs=graphs,
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            best=best,
            gaps=values[np.arange(len(best)), best][:, None] - values,
            available=available,
            exploration_set=np.array(played),
        )

    def update(self, state: CommitState, observations: Observations) -> CommitState:
        """fhat once there is a reward to learn from, and again after any late one of the exploring rounds."""
        functions = function_class_of(self.function_class, state.problem)
        after = self.postpone(state, observations)
        rewards = functions.n_observed(after.data)
        if rewards == state.fitted:
            return after
        return replace(after, model=functions.fit(after.data), fitted=rewards)

    def postpone(self, state: CommitState, observations: Observations) -> CommitState:
        """All that is to be learnt from, and fhat as it was; while there is none, exploring goes on."""
        functions = function_class_of(self.function_class, state.problem)
        after: CommitState = postponed(functions, state, observations, expected=self.rounds_until_update(state))
        if state.model is None:
            return replace(after, explored=after.rounds)
        return replace(after, data=functions.add(state.data, observations.between(0, state.explored)))
