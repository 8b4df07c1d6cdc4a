"""The one loop: decide rounds, collect rewards, learn when an epoch ends. `Bandit` and `simulate` are built on it.

A `Loop` is a value. Every step gives the next one and leaves the old one as it is, so a step that fails, or is
interrupted, has changed nothing:

    loop = Loop.start(learner, problem)
    decisions, loop = loop.decide(shown, rng)           # any number of rounds; learns first where an epoch has ended
    loop = loop.observe(news)                           # rewards, whenever they come
    decisions, loop = loop.play(shown, graphs, rewards, rng)     # both at once, where all rewards are at hand

A learner learns as late as it can: when the first round after an epoch is decided. Rewards that come after their epoch
was learnt ride along with the next one. A learner of every round may learn `ahead`, once no more rewards can come.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.array_types import Contexts, RoundsByArms
from graphbandit.base.trusted import trusted, tuple_of
from graphbandit.errors import FitError, HorizonError, IgnoredSettingWarning, InputError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.base import Learner
from graphbandit.learners.epochs.gathered import learnt_from_data, postponed_with_data
from graphbandit.learners.every_round.base import EveryRoundLearner
from graphbandit.learners.played import NOTHING, Chain, News, Played, observations_of
from graphbandit.learners.problem import Problem
from graphbandit.learners.snapshot import Snapshot
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Graphs, Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class Loop:
    """A learner on its way through the rounds.

    - `learner`, `problem`, `state`: the algorithm, what it was told, and what it knows.
    - `rounds`: how many rounds have been decided, `learnt` of them are in the state.
    - `until`: the round at which the state must learn before it decides another.
    - `waiting`, `news`, `late`: rounds that are not learnt yet, rewards that are not, and the rounds of those that
      came late.
    - `unfitted`: the number of rounds after which a fit has failed; it is not tried again before there is more data.
    - `postponed`: how many fits were put off to the next epoch.
    - `fitting`: the last graphs that passed the check, so that they are not checked again.
    - `shape`: that of the context of a round, the same in all rounds; None before the first.
    """

    learner: Learner[Any]
    problem: Problem
    state: Any
    rounds: int = 0
    learnt: int = 0
    until: int
    waiting: Chain[Played] = NOTHING
    news: Chain[News] = NOTHING
    late: Chain[Played] = NOTHING
    unfitted: int | None = None
    postponed: int = 0
    fitting: Graphs | None = None
    shape: tuple[int, ...] | None = None

    @classmethod
    def start(cls, learner: Learner[Any], problem: Problem) -> "Loop":
        """Before the first round."""
        if problem.half_life is not None and not learner.forgets:
            warnings.warn(
                f"{type(learner).__name__} does not forget: a half_life of {problem.half_life:g} rounds changes "
                "nothing for it; IDSG() and the other learners of epochs do",
                IgnoredSettingWarning,
                stacklevel=3,
            )
        return cls.resumed(learner, problem, learner.init(problem), learnt=0)

    @classmethod
    def resumed(
        cls,
        learner: Learner[Any],
        problem: Problem,
        state: Any,
        *,
        learnt: int,
        waiting: Iterable[Played] = (),
        news: Iterable[News] = (),
        late: Iterable[Played] = (),
        unfitted: int | None = None,
        postponed: int = 0,
        opened: Iterable[Played] = (),
    ) -> "Loop":
        """The loop that goes on from a state in which `learnt` rounds are learnt; those that wait come next.

        `opened` are rounds whose rewards may still come.
        """
        rounds, late = Chain(waiting), Chain(late)
        shapes = (part.contexts.shape[1:] for part in (*rounds, *late, *opened))
        return cls(
            learner=learner,
            problem=problem,
            state=state,
            rounds=learnt + sum(len(part.actions) for part in rounds),
            learnt=learnt,
            until=learnt + learner.rounds_until_update(state),
            waiting=rounds,
            news=Chain(news),
            late=late,
            unfitted=unfitted,
            postponed=postponed,
            shape=next(shapes, None),
        )

    @property
    def left(self) -> int:
        """How many rounds can be decided before the learner has to learn."""
        return self.until - self.rounds

    @property
    def playable(self) -> int:
        """How many rounds `play` takes at a time: those of the epoch or, in a compiled loop, any number."""
        if self._compiled() is None:
            return self.left
        horizon = self.problem.horizon
        return 2**62 if horizon is None else horizon - self.rounds

    def _compiled(self) -> EveryRoundLearner[Any] | None:
        """The learner, if it learns in every round and a compiled loop can play many of them; a floor is not in it."""
        learner = self.learner
        return (
            learner if isinstance(learner, EveryRoundLearner) and not len(self.waiting) and not learner.floor else None
        )

    def decide(self, shown: Shown, rng: np.random.Generator) -> tuple[Decisions, "Loop"]:
        """Decide all of these rounds, one at least. Where an epoch ends, learn from the rewards that came, and go on.

        Raises FitError if the learner cannot learn; `postponing` gives the loop that then goes on without.
        """
        shape = shown.contexts.shape
        n, alike = shape[0], shape[1:] == self.shape
        if not alike or shown.graphs is not self.fitting or shown.graphs is None or self.problem.horizon is not None:
            self.check(shown)  # most rounds are like those before
        if n <= self.until - self.rounds:
            return self._decided(shown, rng)
        loop, parts, start, postponing = self, [], 0, False
        while True:
            if loop.until == loop.rounds:
                postponing = postponing or loop.unfitted == loop.rounds
                loop = loop._learn(postponing)
            left = loop.until - loop.rounds
            part = shown if start == 0 and n <= left else shown[start : start + left]
            made, loop = loop._decided(part, rng)
            if part is shown:
                return made, loop
            parts.append(made)
            start += len(part)
            if start == n:
                return Decisions.concatenate(parts), loop

    def observe(self, news: News, played: Played | None = None, *, ahead: bool = False) -> "Loop":
        """Take rewards in. Those of rounds that are learnt already need their round again, as it was `played`.

        - `ahead`: whether a learner of every round learns at once what it would learn before the next round anyway: no
          more rewards can come before then, and the next decision need not wait for it. False by default. A fit that
          fails is left to that decision.
        """
        late = self.late if played is None or played.first >= self.learnt else self.late.plus(played)
        more = self.news.plus(news)
        if ahead and self.until == self.rounds and self.rounds not in (self.problem.horizon, self.unfitted):
            try:
                if isinstance(self.learner, EveryRoundLearner):
                    return self._learnt(self.learner.update, late, more)
            except FitError:
                return self._with(news=more, late=late)
        return self._with(news=more, late=late)

    def play(
        self, shown: Shown, graphs: FeedbackGraphs, rewards: RoundsByArms, rng: np.random.Generator
    ) -> tuple[Decisions, "Loop"]:
        """Decide at most `playable` rounds and observe what the graphs reveal of `rewards`."""
        self.check(shown)
        learner = self._compiled()
        if learner is not None:
            decisions, state = learner.play(self.state, shown, rewards, rng)
            rounds = self.rounds + len(shown)
            until, shape = rounds + learner.rounds_until_update(state), shown.contexts.shape[1:]
            return decisions, self._with(state=state, rounds=rounds, learnt=rounds, until=until, shape=shape)
        decisions, loop = self._decided(shown, rng)
        rows, arms = np.nonzero(graphs._revealed(decisions.action))
        observation_probabilities = decisions.observation_probabilities[rows, arms]
        return decisions, loop.observe(
            News(rows + self.rounds, arms, rewards[rows, arms], observation_probabilities), ahead=True
        )

    def take(self, played: Played, news: News) -> "Loop":
        """Take in rounds that were decided elsewhere, numbered from `rounds` on, and their rewards.

        It learns where an epoch ends, as `decide` does, and puts a fit that fails off to the next epoch.
        """
        n, loop = len(played.actions), self
        self.check_horizon(n)
        self._check_shape(played.contexts)
        starts = np.searchsorted(news.rounds, np.arange(self.rounds, self.rounds + n + 1))
        while loop.rounds < self.rounds + n:
            loop = loop.ready()
            low = loop.rounds - self.rounds
            high = min(low + loop.left, n)
            waiting, shape = loop.waiting.plus(played.part(low, high)), played.contexts.shape[1:]
            loop = loop._with(rounds=self.rounds + high, waiting=waiting, shape=shape)
            if starts[high] > starts[low]:
                loop = loop.observe(news.part(int(starts[low]), int(starts[high])))
        return loop

    def take_data(self, data: Any, n: int) -> "Loop":
        """Take in n rounds, no more than are left in the epoch, whose rewards were added to the data in the state.

        The learner must be one that `gathers` data. A fit that fails is put off to the next epoch.
        """
        rounds, postponed = self.rounds + n, self.postponed
        try:
            state = learnt_from_data(self.learner, self.state, data, n)
        except FitError:
            state, postponed = postponed_with_data(self.state, data, n), postponed + 1
        until = rounds + self.learner.rounds_until_update(state)
        return self._with(state=state, rounds=rounds, learnt=rounds, until=until, postponed=postponed)

    def refit(self) -> "Loop":
        """Learn now from all rewards that came, in the middle of an epoch too, which then goes on."""
        if self.left == 0:
            self.check_horizon(1)
            return self._learn(False)
        one_round = self.until - self.learnt <= 1 and not self.learner.refits
        if one_round or not (len(self.news) or len(self.waiting)):
            return self  # nothing is new; or an epoch is one round and late rewards are learnt with the next
        observations = observations_of(self.late, self.waiting, self.news, self.problem.n_arms)
        state = self.learner.refit(self.state, observations)
        return self._with(state=state, learnt=self.rounds, waiting=NOTHING, news=NOTHING, late=NOTHING)

    def grown(self, problem: Problem) -> "Loop":
        """The loop with more arms, which were not on offer in the rounds before."""
        new = problem.n_arms - self.problem.n_arms

        def padded(part: Played) -> Played:
            mask = part.available
            if mask is None:
                mask = np.ones((len(part.actions), self.problem.n_arms), dtype=np.bool_)
            return part._replace(available=np.pad(mask, ((0, 0), (0, new))))

        state, waiting = self.learner.grown(self.state, problem), Chain(map(padded, self.waiting))
        shape = self.shape if self.shape is not None and len(self.shape) < 2 else None  # rows of all arms are more now
        return self._with(problem=problem, state=state, waiting=waiting, fitting=None, shape=shape)

    def snapshot(self) -> Snapshot:
        """What decides the next round."""
        loop = self.ready()
        return Snapshot(learner=loop.learner, problem=loop.problem, state=loop.state, learnt=loop.learnt)

    def ready(self) -> "Loop":
        """The loop with its learner ready to decide: if an epoch has ended, it learns, or puts a failing fit off."""
        if self.left > 0:
            return self
        self.check_horizon(1)
        try:
            return self._learn(self.unfitted == self.rounds)
        except FitError as error:
            return self.postponing(error)._learn(True)

    def postponing(self, error: FitError) -> "Loop":
        """The loop after this error: it puts the fit off to the next epoch and keeps the last good model until then."""
        return self._with(unfitted=error.after_round)

    def check(self, shown: Shown) -> None:
        """Raise unless these rounds fit the learner, the rounds before and the horizon. The door to `choose`."""
        problem, graphs = self.problem, shown.graphs
        if graphs is None or graphs is not self.fitting:  # many rounds have the same graph
            self.learner.check_shown(problem, shown)
        if problem.horizon is not None:
            self.check_horizon(len(shown))
        self._check_shape(shown.contexts)

    def check_horizon(self, n: int) -> None:
        """Raise HorizonError if n more rounds are too many."""
        horizon = self.problem.horizon
        if horizon is not None and self.rounds + n > horizon:
            raise HorizonError(
                f"round {self.rounds + n} was asked for, but the problem's horizon is {horizon}; "
                "Problem(horizon=None) has no end"
            )

    def _check_shape(self, contexts: Contexts) -> None:
        """Raise InputError if contexts have another shape than those before."""
        if self.shape is not None and contexts.shape[1:] != self.shape:
            raise InputError(f"the context has shape {contexts.shape[1:]}; expected {self.shape} as before")

    def _decided(self, shown: Shown, rng: np.random.Generator) -> tuple[Decisions, "Loop"]:
        """Decide rounds of the current epoch."""
        learner, state, rounds, contexts = self.learner, self.state, self.rounds, shown.contexts
        decisions = learner.chosen(self.problem, state, shown, rng)
        if "words" not in decisions.__dict__ or not learner.says_as_ours:
            decisions = learner.in_words(state, shown, decisions)
        fields = rounds, contexts, decisions.action, decisions.notes, shown.available
        played: Played = tuple_of(Played, fields)
        after = self.__dict__.copy()
        after["rounds"], after["waiting"] = rounds + len(contexts), self.waiting.plus(played)
        after["fitting"] = shown.graphs
        if self.shape is None:
            after["shape"] = contexts.shape[1:]
        return decisions, trusted(Loop, after)

    def _learn(self, postponing: bool) -> "Loop":
        """End the epoch."""
        if postponing:
            return self._learnt(self.learner.postpone, self.late, self.news)._with(postponed=self.postponed + 1)
        return self._learnt(self.learner.update, self.late, self.news)

    def _learnt(self, learn: Callable[[Any, Observations], Any], late: Chain[Played], news: Chain[News]) -> "Loop":
        """The loop after the rounds that wait and these rewards are learnt."""
        try:
            state = learn(self.state, observations_of(late, self.waiting, news, self.problem.n_arms))
        except FitError as error:
            error.after_round = self.rounds
            raise
        after = self.__dict__.copy()
        after["state"], after["learnt"] = state, self.rounds
        after["until"] = self.rounds + self.learner.rounds_until_update(state)
        after["waiting"] = after["news"] = after["late"] = NOTHING
        return trusted(Loop, after)

    def _with(self, **changes: Any) -> "Loop":
        """The loop with some fields changed; `dataclasses.replace` takes ten times as long."""
        return trusted(Loop, self.__dict__ | changes)
