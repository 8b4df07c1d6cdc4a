"""The everyday object: a learner, what it knows and its random stream, behind `decide` and `observe`."""

import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import contexts_array, numbers, setting_boolean, setting_integer
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Int, Shaped
from graphbandit.errors import FitError, GraphError, ObservationError, SettingError, UnknownDecisionError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph, ProbabilisticGraphs
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import Played
from graphbandit.learners.problem import Problem
from graphbandit.open_decisions import OpenDecision, whole_number
from graphbandit.rounds.decision import Decision, split_decisions
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Graphs, Shown
from graphbandit.saving import SavedBandit, load_bandit, save_bandit


class _Change(NamedTuple):
    """What a call does to a bandit. It is done once it is noted down; doing it twice is the same as once."""

    loop: Loop
    opened: Mapping[int, OpenDecision] = MappingProxyType({})
    seen: Collection[int] = ()
    of: OpenDecision | None = None
    closed: tuple[int, ...] = ()
    forgotten: int = 0


class Bandit:
    """Decide rounds and hand rewards back, late, in any order, in parts, each at most once.

    Rewards count from the learner's next epoch on, whenever they come. Every decision carries its own propensities,
    so nothing is attributed to the wrong round. A call that fails or is interrupted, by Ctrl-C or otherwise, has either
    changed nothing or done all it was asked for. `decide` and `observe` may be called from several threads.

    The learner fits when the first round after an epoch is decided. If that fails, `decide` raises the FitError once
    and the bandit keeps its last good model: call again and it decides with that one for the next epoch, after
    which everything observed is fitted. No reward is lost.

    - `learner`: the algorithm and its settings.
    - `problem`: what the learner is told.
    - `seed`: names the random stream that arms are drawn from.
    - `max_open`: how many decisions may await rewards, 100,000 by default; beyond, the oldest are forgotten and
      counted.
    - `forget_after`: forget decisions that still await rewards this many rounds later; None (default): never.
    - `identity`: a name that decisions and files carry, so that no other bandit takes this one's decisions; None
      (default): one drawn at random.

    >>> from graphbandit import AdaCBG, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    >>> bandit = Bandit(AdaCBG(), Problem(n_arms=3, function_class=functions, noise=0.5), seed=0)
    >>> decision = bandit.decide([0.9, 0.5, 0.2], graphs.complete(3))
    >>> decision
    Decision(id=0, action=0, probability=1, best=0, epoch=1)
    >>> bandit.observe(decision, {0: 1.0, 2: 0.3})
    >>> bandit.awaited(decision)
    array([1])
    """

    def __init__(
        self,
        learner: Learner[Any],
        problem: Problem,
        *,
        seed: int = 0,
        max_open: int = 100_000,
        forget_after: int | None = None,
        identity: str | None = None,
    ) -> None:
        if not isinstance(learner, Learner):
            raise SettingError(f"learner is {learner!r}; expected a learner, as AdaCBG()")
        if not isinstance(problem, Problem):
            raise SettingError(f"problem is {problem!r}; expected a Problem")
        if identity is not None and (not isinstance(identity, str) or not identity):
            raise SettingError(f"identity is {identity!r}; expected a name, or None for one drawn at random")
        self._max_open = setting_integer("max_open", max_open, at_least=1)
        self._forget_after = None if forget_after is None else setting_integer("forget_after", forget_after, at_least=1)
        self._rng = stream(seed, "bandit")
        self._identity = secrets.token_hex(8) if identity is None else identity
        self._begin(Loop.start(learner, problem), OrderedDict(), 0)

    def _begin(self, loop: Loop, opened: "OrderedDict[int, OpenDecision]", forgotten: int) -> None:
        self._loop, self._open, self._forgotten = loop, opened, forgotten
        self._lock = threading.RLock()
        self._change: _Change | None = None  # a change that is decided on but may not be done
        self._before: Mapping[str, Any] | None = None  # where the random stream was when a call began that is not done
        self._once: tuple[FeedbackGraph, FeedbackGraphs] | None = None  # the last graph, as a batch of one round

    def __repr__(self) -> str:
        loop = self._settled()
        return f"Bandit({type(loop.learner).__name__}, rounds={loop.rounds}, open={len(self._open)})"

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            self._settled()
            return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_once")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock(), _once=None)

    @property
    def learner(self) -> Learner[Any]:
        """The learner's settings."""
        return self._loop.learner

    @property
    def problem(self) -> Problem:
        """The problem it was made for."""
        return self._loop.problem

    @property
    def identity(self) -> str:
        """The name that its decisions and files carry."""
        return self._identity

    @property
    def state(self) -> Any:
        """What the learner knows now, as a value of its own kind."""
        return self._settled().state

    @property
    def rounds(self) -> int:
        """How many rounds have been decided."""
        return self._settled().rounds

    @property
    def open_decisions(self) -> list[int]:
        """The ids of all decisions that still await rewards, oldest first."""
        with self._lock:
            self._settled()
            return list(self._open)

    @property
    def forgotten(self) -> int:
        """How many decisions were forgotten because there were more than `max_open`, or because of `forget_after`."""
        self._settled()
        return self._forgotten

    @property
    def postponed(self) -> int:
        """How many fits have failed and were put off to the next epoch."""
        return self._settled().postponed

    def awaited(self, decision: Decision | SupportsIndex) -> Int[np.ndarray, " awaited"]:
        """The arms whose rewards this decision still awaits."""
        with self._lock:
            return self._entry(self._number(decision)).awaited

    def decide(
        self,
        context: npt.ArrayLike | None,
        graph: FeedbackGraph | ProbabilisticGraph | None,
        *,
        available: npt.ArrayLike | None = None,
    ) -> Decision:
        """Decide one round.

        - `context`: as the function class takes it, without the axis of rounds; None for learners without contexts.
        - `graph`: a graph; or a `ProbabilisticGraph`, with which rewards may come for every arm that the action may
          reveal; or None, for a learner that plans without a graph, with which they may for every arm.
        - `available`: the arms on offer, a mask over all arms; None (default): all of them.
        """
        row = np.empty(0) if context is None else numbers("the context", context)
        contexts = np.array(row[None])  # the bandit's own: whoever handed it in may change it
        if isinstance(graph, FeedbackGraph):
            once = self._once
            if once is None or once[0] is not graph:
                self._once = once = (graph, FeedbackGraphs.repeat(graph, 1))
            return self._decide(contexts, once[1], available)[0]
        if isinstance(graph, ProbabilisticGraph):
            return self._decide(contexts, ProbabilisticGraphs.repeat(graph, 1), available)[0]
        if graph is not None:
            raise GraphError(
                f"graph is a {type(graph).__name__}; expected a FeedbackGraph, a ProbabilisticGraph, or None"
            )
        return self._decide(contexts, None, available)[0]

    def decide_batch(
        self,
        contexts: npt.ArrayLike,
        graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraph | ProbabilisticGraphs | None,
        *,
        available: npt.ArrayLike | None = None,
    ) -> list[Decision]:
        """Decide many rounds: the same decisions as one by one, with no reward coming in between.

        - `contexts`: one row a round.
        - `graphs`: one graph a round, or the same for all.
        - `available`: the arms on offer, a mask over all arms, or one a round; None (default): all of them.
        """
        rows = np.array(contexts_array(contexts))
        if isinstance(graphs, FeedbackGraph):
            graphs = FeedbackGraphs.repeat(graphs, len(rows))
        if isinstance(graphs, ProbabilisticGraph):
            graphs = ProbabilisticGraphs.repeat(graphs, len(rows))
        if graphs is not None and not isinstance(graphs, FeedbackGraphs | ProbabilisticGraphs):
            raise GraphError(
                f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs, ProbabilisticGraphs, "
                "one graph for all rounds, or None"
            )
        return self._decide(rows, graphs, available)

    def observe(self, decision: Decision | SupportsIndex, rewards: Mapping[int, float], *, final: bool = False) -> None:
        """Hand back rewards of a decision: all at once or in parts, each arm once.

        - `decision`: the decision, or its id.
        - `rewards`: arm to reward; may be empty.
        - `final`: no more will come, as `forget` says of a decision. It keeps decisions from staying open where not all
          that might have been revealed was.
        """
        setting_boolean("final", final)
        if not isinstance(rewards, Mapping):
            raise ObservationError(f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward")
        with self._lock:
            number = self._number(decision)
            if not rewards and number not in self._open:
                return  # nothing was revealed, or nothing is awaited any more
            entry = self._entry(number)
            news = entry.news(rewards)
            loop = self._loop
            if len(news.arms):
                loop.learner.check_rewards(np.array(news.rewards))
                loop = loop.observe(news, entry.played)
            ends = final or len(entry.seen) + len(news.arms) == len(entry.revealed)
            self._do(_Change(loop, seen=news.arms, of=entry, closed=(number,) if ends else ()))

    def forget(self, decision: Decision | SupportsIndex) -> None:
        """Wait no longer for the rewards of a decision; those that came stay."""
        with self._lock:
            number = self._number(decision)
            self._entry(number)
            self._do(_Change(self._loop, closed=(number,)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically; `load` goes on from it bit for bit as if never stopped."""
        with self._lock:
            loop = self._settled()
            save_bandit(
                path,
                SavedBandit(
                    identity=self._identity,
                    loop=loop,
                    generator=self._rng.bit_generator.state,
                    opened=self._open,
                    forgotten=self._forgotten,
                    max_open=self._max_open,
                    forget_after=self._forget_after,
                ),
            )

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, function_class: FunctionClass[Any, Any, Any] | None = None
    ) -> "Bandit":
        """The bandit that was saved there.

        - `function_class`: a function class made of a Python callable is not in the file; hand in the same one again.
        """
        saved = load_bandit(path, function_class)
        bandit = cls.__new__(cls)
        bandit._identity, bandit._max_open, bandit._forget_after = saved.identity, saved.max_open, saved.forget_after
        bandit._rng = np.random.Generator(np.random.PCG64())
        bandit._rng.bit_generator.state = saved.generator
        bandit._begin(saved.loop, OrderedDict(saved.opened), saved.forgotten)
        return bandit

    def _decide(
        self, contexts: Shaped[np.ndarray, "n ..."], graphs: Graphs | None, available: npt.ArrayLike | None
    ) -> list[Decision]:
        """Decide, and note the change down only when all of it is known."""
        shown = Shown(contexts, graphs, available)
        with self._lock:
            loop = self._settled()
            if not len(shown):
                return []
            self._before = self._rng.bit_generator.state
            try:
                decisions, after = loop.decide(shown, self._rng)
            except FitError as error:
                error.add_note("The bandit keeps its last good model: decide again to go on with it.")
                self._loop = loop.postponing(error)
                raise
            revealed = list(_may_reveal(graphs, decisions))
            made = list(split_decisions(decisions, loop.rounds, revealed, self._identity))
            opened = {one.id: entry for one in made if (entry := _opened(one, contexts)) is not None}
            outdated = self._outdated(opened, after.rounds)
            self._do(_Change(after, opened=opened, closed=outdated, forgotten=len(outdated)))
            return made

    def _outdated(self, opened: dict[int, OpenDecision], rounds: int) -> tuple[int, ...]:
        """The decisions to be forgotten once these are open, oldest first."""
        excess = len(self._open) + len(opened) - self._max_open
        oldest = -1 if self._forget_after is None else rounds - self._forget_after
        found: list[int] = []
        for ids in (self._open, opened):
            for number in ids:
                if len(found) >= excess and number >= oldest:
                    return tuple(found)
                found.append(number)
        return tuple(found)

    def _do(self, change: _Change) -> None:
        """Note a change down, from which moment on it has happened, and do it."""
        if change.forgotten:
            change = change._replace(forgotten=self._forgotten + change.forgotten)
        self._change = change
        self._settled()

    def _settled(self) -> Loop:
        """The loop, once what an interrupted call has left behind is done or undone."""
        if self._change is None and self._before is None:
            return self._loop
        with self._lock:
            change = self._change
            if change is not None:
                self._open.update(change.opened)
                if change.of is not None:
                    change.of.seen.update(change.seen)
                for number in change.closed:
                    self._open.pop(number, None)
                self._forgotten = change.forgotten or self._forgotten
                self._loop = change.loop
                self._before = None
                self._change = None
            elif self._before is not None:
                self._rng.bit_generator.state = self._before
                self._before = None
            return self._loop

    def _number(self, decision: Decision | SupportsIndex) -> int:
        """The id of a decision that this bandit has made."""
        rounds = self._settled().rounds
        number = decision.id if isinstance(decision, Decision) else whole_number(decision)
        if number is None:
            raise UnknownDecisionError(f"decision is {decision!r}; expected a Decision or its id, a whole number")
        if isinstance(decision, Decision) and decision.bandit != self._identity:
            raise UnknownDecisionError(
                f"decision {number} was made by bandit {decision.bandit!r}; expected one of bandit {self._identity!r}"
            )
        if not 0 <= number < rounds:
            so_far = f"ids so far are 0 to {rounds - 1}" if rounds else "there are no decisions yet"
            raise UnknownDecisionError(f"no decision has id {number}; {so_far}")
        return number

    def _entry(self, number: int) -> OpenDecision:
        if number not in self._open:
            raise ObservationError(
                f"decision {number} awaits no more rewards: all came, it revealed none, or it was forgotten"
            )
        return self._open[number]


def _may_reveal(graphs: Graphs | None, decisions: Decisions) -> Iterator[Int[np.ndarray, " revealed"]]:
    """Of which arms rewards may come: those revealed, or, where that is not known yet, all that may have been."""
    if isinstance(graphs, FeedbackGraphs):
        masks = graphs._revealed(decisions.action)
    else:
        masks = decisions.observation_probabilities > 0.0
        if graphs is not None:
            masks &= graphs.stored[graphs.index, decisions.action] > 0.0
    return (mask.nonzero()[0] for mask in masks)


def _opened(decision: Decision, contexts: Shaped[np.ndarray, "n ..."]) -> OpenDecision | None:
    """The decision as one that awaits rewards, None if it reveals nothing. It keeps nothing else of its batch alive."""
    revealed, batch, row = decision.revealed, decision.batch, decision.row
    if not len(revealed):
        return None
    if len(contexts) == 1:
        played = Played(decision.id, contexts, batch.action, batch.notes, None)
    else:
        context, action, notes = (rows[row : row + 1].copy() for rows in (contexts, batch.action, batch.notes))
        played = Played(decision.id, context, action, notes, None)
    return OpenDecision(played, revealed.copy(), batch.observation_probabilities[row, revealed])
