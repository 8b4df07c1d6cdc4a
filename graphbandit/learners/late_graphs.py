"""Learning without seeing the graph beforehand: edge probabilities are estimated from the rewards that come."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmsByArms
from graphbandit.base.checks import setting_boolean, setting_number
from graphbandit.base.declared import Declared
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import InputError, SettingError
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LateGraphState(Declared):
    """What `LateGraph` knows.

    - `inner`: what the other learner knows.
    - `plays`: how often each arm j was played.
    - `revealed`: [j, a], how often playing j revealed a.
    """

    inner: Any
    plays: ArmIndices
    revealed: Int[np.ndarray, "arms arms"]

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = (self.revealed < 0) | (self.revealed > self.plays[:, None])
        if wrong.any():
            j, a = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"arm {j} was played {self.plays[j]} times and revealed arm {a} {self.revealed[j, a]} times; "
                "expected it at most once a play"
            )

    @property
    def problem(self) -> Problem:
        """The problem of the other learner's state."""
        problem: Problem = self.inner.problem
        return problem

    @property
    def rounds(self) -> int:
        """The rounds that are learnt."""
        return int(self.inner.rounds)


@savable
@dataclass(frozen=True, kw_only=True)
class LateGraph(Learner[LateGraphState]):
    """Runs another learner where no graph is shown before a decision: only the rewards after it tell of the edges.

    It plans with edge probabilities, estimated from how often each edge was there so far. That of the edge from j to a
    is the mean of a Beta posterior,

        P[j, a] = (prior_present + how often j revealed a) / (prior_present + prior_absent + how often j was played).

    A play of j updates row j. This is right for a graph that stays and for graphs that are drawn anew each round: the
    expected observations are linear in the edges, so it makes no difference how edges of a round depend on each other.
    It is wrong for graphs that depend on the context.

    If a graph is shown, it must have the right size, and is ignored. An arm counts as revealed when its
    reward comes, late or not, and as not revealed if it never comes. The `observation_probabilities` of the decisions
    follow from the same estimate.

    - `learner`: one that plans with edge probabilities: IDSG, or AdaCBG with tight coverage.
    - `prior_present`, `prior_absent`: the counts before any play, 1 and 1 by default; a larger `prior_absent` expects
      sparser graphs.
    - `loops`: whether every arm surely reveals itself, so that P[a, a] = 1; True by default.
    - `floor`: a setting of `learner`, and not of this one; None (default): no floor.

    >>> from graphbandit import IDSG
    >>> learner = LateGraph(learner=IDSG(), prior_absent=3.0)
    >>> learner.edge_probabilities(np.array([0, 4]), np.array([[0, 0], [2, 4]]))
    array([[1.   , 0.25 ],
           [0.375, 1.   ]])
    """

    learner: Learner[Any]
    prior_present: float = 1.0
    prior_absent: float = 1.0
    loops: bool = True

    plans_with_probabilities = True
    """Yes, though it does not look at them."""

    plans_without_graphs = True
    """Yes: with the probabilities it estimates."""

    def __post_init__(self) -> None:
        if not isinstance(self.learner, Learner) or not self.learner.plans_with_probabilities:
            raise SettingError(
                f"learner is {self.learner!r}; expected one that plans with the probabilities of edges: "
                "IDSG, or AdaCBG with tight coverage and its linear program"
            )
        if self.floor:
            raise SettingError(f"floor is {self.floor!r}; expected it in the other learner, whose edges are estimated")
        setting_number("prior_present", self.prior_present, above=0.0)
        setting_number("prior_absent", self.prior_absent, at_least=0.0)
        setting_boolean("loops", self.loops)

    def init(self, problem: Problem) -> LateGraphState:
        """The other learner's, and no play yet."""
        k = problem.n_arms
        plays, revealed = np.zeros(k, dtype=np.int64), np.zeros((k, k), dtype=np.int64)
        return LateGraphState(inner=self.learner.init(problem), plays=plays, revealed=revealed)

    def edge_probabilities(self, plays: ArmIndices, revealed: Int[np.ndarray, "arms arms"]) -> ArmsByArms:
        """P, given counts.

        - `plays`: [j], how often j was played.
        - `revealed`: [j, a], how often playing j revealed a.
        """
        before = self.prior_present + self.prior_absent
        probabilities: ArmsByArms = (self.prior_present + revealed) / (before + plays)[:, None]
        if self.loops:
            np.fill_diagonal(probabilities, 1.0)
        return probabilities

    def rounds_until_update(self, state: LateGraphState) -> int:
        """As many as the other learner has."""
        return self.learner.rounds_until_update(state.inner)

    @property
    def forgets(self) -> bool:
        """As the learner inside."""
        return self.learner.forgets

    def choose(self, state: LateGraphState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """The other learner's decisions for the estimated probabilities; the graphs shown are not looked at."""
        probabilities = self.edge_probabilities(state.plays, state.revealed)
        planned = shown.with_graphs(ProbabilisticGraphs.repeat(probabilities, len(shown)))
        return self.learner.chosen(state.problem, state.inner, planned, rng)

    @property
    def draws_once(self) -> bool:
        """Whether the other learner does."""
        return self.learner.draws_once

    @property
    def late_words(self) -> bool:
        """Whether the other learner works its words out late."""
        return self.learner.late_words

    def words(self, state: LateGraphState, shown: Shown, made: Decisions) -> Words:
        """The other learner's."""
        return self.learner.words(state.inner, shown, made)

    def update(self, state: LateGraphState, observations: Observations) -> LateGraphState:
        """What the other learner learns, and the counts of edges."""
        return self._counted(state, observations, self.learner.update(state.inner, observations))

    def postpone(self, state: LateGraphState, observations: Observations) -> LateGraphState:
        """What the other learner postpones; the counts of edges need no fit."""
        return self._counted(state, observations, self.learner.postpone(state.inner, observations))

    def grown(self, state: LateGraphState, problem: Problem) -> LateGraphState:
        """The other learner's, and no play of the new arms yet."""
        new = problem.n_arms - len(state.plays)
        inner = self.learner.grown(state.inner, problem)
        plays, revealed = np.pad(state.plays, (0, new)), np.pad(state.revealed, ((0, new), (0, new)))
        return LateGraphState(inner=inner, plays=plays, revealed=revealed)

    @property
    def refits(self) -> bool:
        """If the other learner does."""
        return self.learner.refits

    def refit(self, state: LateGraphState, observations: Observations) -> LateGraphState:
        """What the other learner learns in the middle of its epoch, and the counts of edges."""
        return self._counted(state, observations, self.learner.refit(state.inner, observations))

    @property
    def n_notes(self) -> int:
        """As many as the other learner's."""
        return self.learner.n_notes

    def check_rewards(self, rewards: Float[np.ndarray, " rewards"]) -> None:
        """What the other learner takes."""
        self.learner.check_rewards(rewards)

    def _counted(self, state: LateGraphState, observations: Observations, inner: Any) -> LateGraphState:
        """A round counts as a play when it is learnt; late rewards of it add to what that play revealed."""
        actions, n_arms = observations.actions, len(state.plays)
        if actions is None or actions.shape != observations.rounds.shape:
            raise InputError("the observations do not say which arm was played in each round; expected their actions")
        if not ((actions >= 0) & (actions < n_arms)).all():
            raise InputError(f"the actions are {actions.min()} to {actions.max()}; expected arms 0 to {n_arms - 1}")
        plays, revealed = state.plays.copy(), state.revealed.copy()
        np.add.at(plays, actions[observations.rounds >= state.rounds], 1)
        np.add.at(revealed, (actions[observations.rows], observations.arms), 1)
        return LateGraphState(inner=inner, plays=plays, revealed=revealed)
