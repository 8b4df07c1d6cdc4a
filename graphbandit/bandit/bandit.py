"""The everyday object: a learner, what it knows and its random stream, behind `decide` and `observe`."""

import copy
import math
import os
import secrets
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from graphbandit.bandit.bandit_log import BanditLog, LogSync, is_log, stage_taken
from graphbandit.bandit.catalogue import Catalogue, retired_arms, with_more_arms
from graphbandit.bandit.decider import Decider, may_reveal
from graphbandit.bandit.decision_maker import Maker, made_round, this_process
from graphbandit.bandit.given_arms import available_of, on_offer
from graphbandit.bandit.given_contexts import contexts_of, one_context
from graphbandit.bandit.given_graphs import Graph, graph_of, graphs_of
from graphbandit.bandit.given_rewards import rewards_in_order, rewards_of
from graphbandit.bandit.keys import Keys, check_key, check_keys
from graphbandit.bandit.learning_from_rows import past_rounds
from graphbandit.bandit.open_decisions import OpenDecision, whole_number
from graphbandit.bandit.own_arms import RoundArms, check_own_arms, given_rounds, own_rounds, with_own_arms
from graphbandit.bandit.saving import SavedBandit, load_bandit, save_bandit
from graphbandit.bandit.taken_decisions import check_taken, take
from graphbandit.base.checks import setting_boolean, setting_integer
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.base.values import trusted, tuple_of
from graphbandit.errors import (
    FitError,
    ForgottenDecisionsWarning,
    InputError,
    NestedCallError,
    ObservationError,
    SettingError,
    UnknownDecisionError,
)
from graphbandit.features import NOTHING, Tally
from graphbandit.features.tables import is_series
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.learners.base import GivenUniforms, Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import Played
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Graphs, Shown

_NOTHING_OPENED: Mapping[int, OpenDecision] = MappingProxyType({})


class _Change(NamedTuple):
    """What a call changes in a bandit. It counts as done once it is noted down; doing it twice is the same as once."""

    loop: Loop
    opened: Mapping[int, OpenDecision] = _NOTHING_OPENED
    keyed: tuple[Decision, ...] = ()
    closed: tuple[int, ...] = ()
    forgotten: int = 0
    tally: Tally | None = None
    seen: Collection[int] = ()
    of: OpenDecision | None = None
    catalogue: Catalogue | None = None
    logged: bool = False


class _Once(NamedTuple):
    """The last graph, which was found to fit, as a batch of one round."""

    graph: FeedbackGraph
    batch: FeedbackGraphs
    plain: bool
    """whether it is packed, and contexts come without features"""


class Bandit:
    """Decides rounds and takes back their rewards: late, in any order, in parts, each at most once.

    The learner uses each reward from its next epoch on, however late it comes. Every decision carries its own
    propensities, so no reward is credited to the wrong round. A call that fails or is interrupted, by Ctrl-C or
    otherwise, has either changed nothing or done everything. You may call `decide` and `observe` from several threads.

    The learner fits when the first round after an epoch is decided. If the fit fails, `decide` raises a FitError once.
    If you call it again, the bandit decides the next epoch with its last good model, and then fits everything observed.
    No reward is lost.

    - `learner`: the algorithm and its settings.
    - `problem`: what the learner is told.
    - `seed`: names the random stream that arms are drawn from, 0 by default.
    - `max_open`: how many decisions may await rewards, 100,000 by default; if there are more, the oldest are
      forgotten and counted, with a warning the first time.
    - `forget_after`: forget decisions that still await rewards this many rounds later; None (default): never.
    - `graph`: the graph of rounds that bring none: a graph, a square array or frame, or a NetworkX graph; None
      (default): none.
    - `max_keys`: how many decisions are remembered by their keys after they await no more rewards, 10,000 by default;
      decisions that still await some are always remembered. Each takes some 60 bytes for each arm.
    - `identity`: a name that decisions and files carry, so that no other bandit takes this one's decisions; None
      (default): one drawn at random.
    - `log`: the folder of a log; every decision and reward is written to it before the call returns. None (default): no
      log. An existing log is continued.
    - `log_sync`: "file" (default): rows survive a kill of the process; "append": each call flushes them to disk, so
      that they survive a loss of power, too.

    If two processes load the same file, both hand out the same ids. Each decision says which of them made it and
    carries a seal of its round, so a bandit refuses the other's decisions; an id alone does not say whose it is. Use
    keys, or `decider` and `take`, to decide in several processes.

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
        graph: object = None,
        max_open: int = 100_000,
        forget_after: int | None = None,
        max_keys: int = 10_000,
        identity: str | None = None,
        log: str | os.PathLike[str] | None = None,
        log_sync: LogSync = "file",
    ) -> None:
        if not isinstance(learner, Learner):
            raise SettingError(f"learner is {learner!r}; expected a learner, such as IDSG()")
        if not isinstance(problem, Problem):
            raise SettingError(f"problem is {problem!r}; expected a Problem")
        if identity is not None and (not isinstance(identity, str) or not identity):
            raise SettingError(f"identity is {identity!r}; expected a name, or None for one drawn at random")
        check_own_arms(learner, problem, graph)
        self._max_open = setting_integer("max_open", max_open, at_least=1)
        self._forget_after = None if forget_after is None else setting_integer("forget_after", forget_after, at_least=1)
        self._rng = stream(seed, "bandit")
        self._identity = secrets.token_hex(8) if identity is None else identity
        self._graph = graph_of(problem, graph)
        keys = Keys(setting_integer("max_keys", max_keys, at_least=0))
        self._begin(Loop.start(learner, problem), OrderedDict(), keys, 0, Tally())
        self.log_to(log, sync=log_sync)

    def _begin(
        self, loop: Loop, opened: "OrderedDict[int, OpenDecision]", keys: Keys, forgotten: int, tally: Tally
    ) -> None:
        self._loop, self._open, self._keys, self._forgotten, self._tally = loop, opened, keys, forgotten, tally
        self._retired: Bool[np.ndarray, " arms"] | None = None
        self._draws_once = loop.learner.draws_once
        self._checks_rewards = type(loop.learner).check_rewards is not Learner.check_rewards
        self._copy = secrets.token_hex(4)
        self._decides: Maker | None = None
        self._log: BanditLog | None = None
        self._make_lock()
        self._change: _Change | None = None  # a change that is decided on but may not be done
        # where the random stream was when a call began that is not done; _ONE: before the number that is kept, if any
        self._before: Mapping[str, Any] | None = None
        self._keep_numbers()
        self._once: _Once | None = None

    def _make_lock(self) -> None:
        self._lock = threading.RLock()
        self._in_call: Callable[[], bool] = self._lock._is_owned  # type: ignore[attr-defined]  # threading uses it, too

    def _check_alone(self) -> None:
        """Raise within another call of this thread, which a signal handler or a tracer has interrupted."""
        if self._in_call():
            raise NestedCallError(
                "another call of this bandit is running in this thread; expected it to end first: signal handlers may "
                "ask for rounds, state and open decisions, and change nothing"
            )

    def _alone(self) -> threading.RLock:
        """The lock, for a call that is not within another one."""
        self._check_alone()
        return self._lock

    def _read(self) -> Loop:
        """`_settled`; within another call of this thread, the loop as it is, as that call is still at work."""
        return self._loop if self._in_call() else self._settled()

    def _keep_numbers(self) -> None:
        """Make room for the number that draws the arm of a single round; it is nan unless a round is being decided."""
        self._uniform = np.array([np.nan])
        self._given = GivenUniforms(self._uniform)

    def __repr__(self) -> str:
        loop = self._read()
        return f"Bandit({type(loop.learner).__name__}, rounds={loop.rounds}, open={len(self._open)})"

    def __getstate__(self) -> dict[str, Any]:
        with self._alone():
            self._settled()
            # a copy writes to no log: the folder is this one's
            state = {name: value for name, value in self.__dict__.items() if name not in _OF_THIS_COPY}
            # what changes is copied here: other threads may go on as soon as the lock is free
            state["_open"] = OrderedDict((number, entry.copied()) for number, entry in self._open.items())
            state["_keys"], state["_rng"] = self._keys.copied(), copy.deepcopy(self._rng)
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _copy=secrets.token_hex(4), _decides=None)
        self.__dict__.update(_once=None, _log=None)
        self._make_lock()
        self._keep_numbers()

    @property
    def _maker(self) -> Maker:
        """Who decides, this copy in this process: a process that was forked is another one."""
        maker, arms = self._decides, self._loop.problem.arms
        if maker is None or maker.process != this_process[0] or maker.arms is not arms:
            process = this_process[0]
            maker = self._decides = Maker(process, self._identity, f"{self._copy}-{process}", arms)
        return maker

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
        return self._read().state

    @property
    def rounds(self) -> int:
        """How many rounds have been decided."""
        return self._read().rounds

    @property
    def open_decisions(self) -> list[int]:
        """The ids of all decisions that still await rewards, oldest first."""
        if self._in_call():
            return list(self._open)
        with self._lock:
            self._settled()
            return list(self._open)

    @property
    def forgotten(self) -> int:
        """How many decisions were forgotten because there were more than `max_open`, or because of `forget_after`."""
        self._read()
        return self._forgotten

    @property
    def graph(self) -> Graph | None:
        """The graph of rounds that bring none."""
        return self._graph

    @property
    def tally(self) -> Tally:
        """How many values of the contexts so far were unknown or missing, by column."""
        self._read()
        return self._tally

    @property
    def postponed(self) -> int:
        """How many fits have failed and were put off to the next epoch."""
        return self._read().postponed

    def awaited(self, decision: Decision | SupportsIndex | str) -> Int[np.ndarray, " awaited"]:
        """The arms whose rewards this decision still awaits."""
        with self._alone():
            return self._entry(self._number(decision), decision).awaited

    def decide(
        self,
        context: object = None,
        graph: object = None,
        *,
        available: object = None,
        key: str | None = None,
        arms: object = None,
    ) -> Decision:
        """Decide one round.

        - `context`: what the problem's features read, as a dictionary, a row of a frame or a frame of one row; without
          features, an array as the function class takes it; None (default): for learners without contexts.
        - `graph`: a graph, a square array or frame, or a NetworkX graph; or a `ProbabilisticGraph`, with which rewards
          may come for every arm that the action may reveal; None (default): the bandit's own graph. If there is none
          either, a learner that plans without a graph takes rewards of every arm.
        - `available`: the arms on offer, a list of names or numbers, or a mask over all arms; None (default): all.
        - `key`: your name for this decision; None (default): none. The same key gives the same decision again, whatever
          else you hand in, for as long as it is remembered: while it awaits rewards, and after that until `max_keys`
          others have ended.
        - `arms`: with `Problem(capacity=...)`, the round's own arms and their features: a frame with a column `arm`, a
          list of dictionaries, a mapping from name to dictionary, or an array. `graph` and `available` are then about
          these arms; without a graph, every arm reveals only itself. None (default): the arms of the problem.
        """
        if self._in_call():
            self._check_alone()
        once = self._once
        plain = once is not None and once.plain and key is None and available is None and arms is None
        if once is not None and plain and once.graph is (self._graph if graph is None else graph):
            return self._decide_plain(one_context(self._loop.problem, context), once.batch)
        if key is not None:
            with self._lock:
                self._settled()
                known = self._keys.get(check_key(key))
                return self._decide_one(context, graph, available, key, arms) if known is None else known
        return self._decide_one(context, graph, available, None, arms)

    def _decide_one(self, context: object, graph: object, available: object, key: str | None, arms: object) -> Decision:
        problem = self._loop.problem
        contexts, tally = contexts_of(problem, context, many=False)
        if arms is not None or problem.capacity is not None:
            own = own_rounds(problem, contexts, [arms], [graph], [available], tally)
            return self._decide(own.contexts, own.graphs, own.available, [key], own.tally, own.arms)[0]
        once, given = self._once, self._graph if graph is None else graph
        if once is None or once.graph is not given:
            one = self._graph if graph is None else graph_of(problem, graph)
            if not isinstance(one, FeedbackGraph):
                return self._decide(contexts, graphs_of(problem, one, 1), available, [key], tally)[0]
            batch = FeedbackGraphs.repeat(one, 1)
            plain = batch.is_packed and problem.features is None
            self._once = once = tuple_of(_Once, (one, batch, plain))
        if once.plain and key is None and available is None:
            return self._decide_plain(contexts, once.batch)
        return self._decide(contexts, once.batch, available, [key], tally)[0]

    def _decide_plain(self, contexts: Shaped[np.ndarray, "1 ..."], graphs: FeedbackGraphs) -> Decision:
        """`_decide` for one round with all arms, a packed graph, no key and no log: it has less to do."""
        with self._lock:
            if self._log is not None or self._retired is not None:
                return self._decide(contexts, graphs, None, [None], NOTHING)[0]
            loop = self._loop if self._change is None and self._before is None else self._settled()
            shown = trusted(Shown, {"contexts": contexts, "graphs": graphs, "available": None})
            try:
                decisions, after = loop.decide(shown, self._stream(loop, 1))
            except FitError as error:
                self._postpone(loop, error)
                raise
            action, played = decisions.action.item(), after.waiting.last
            assert played is not None  # the round just decided
            played.actions.setflags(write=False)  # the decision has them, too
            played.notes.setflags(write=False)
            revealed = graphs.first_revealed(action)
            made, entry = made_round(self._maker, played, decisions, 0, action, revealed, None, None)
            opened = _NOTHING_OPENED if entry is None else {played.first: entry}
            if self._forget_after is not None or len(self._open) >= self._max_open:
                outdated = self._outdated(opened, after.rounds)
                self._do(_Change(after, opened, closed=outdated, forgotten=len(outdated)))
                return made
            # what `_settle` does, and would do again if this were interrupted
            self._change = tuple_of(_Change, (after, opened, (), (), 0, None, (), None, None, False))
            if entry is not None:
                self._open[played.first] = entry
            self._loop = after
            self._uniform[0] = math.nan
            self._before = self._change = None
            return made

    def decide_batch(
        self,
        contexts: object = None,
        graphs: object = None,
        *,
        available: object = None,
        keys: Sequence[str] | None = None,
        arms: object = None,
    ) -> list[Decision]:
        """Decide many rounds: the same decisions as one by one, if no reward came in between.

        - `contexts`: one row a round: a frame, a list of dictionaries, or an array; None (default): for learners
          without contexts. `graphs`, `available` or `keys` then say how many rounds there are; if none does, one.
        - `graphs`: one graph for each round, as a batch or a list of what `decide` takes, or one for all; None
          (default): the bandit's own.
        - `available`: the arms on offer, as in `decide`, or a list with those of each round; None (default): all.
        - `keys`: your name for each decision, as in `decide`; None (default): none.
        - `arms`: with `Problem(capacity=...)`, the arms of each round, a list of what `decide` takes; `graphs` and
          `available` are then lists, too. None (default): the arms of the problem.
        """
        self._check_alone()
        problem = self._loop.problem
        rows, batch, available, own, tally = given_rounds(problem, self._graph, contexts, graphs, available, arms, keys)
        if keys is None:
            return self._decide(rows, batch, available, [None] * len(rows), tally, own)
        named = [check_key(key) for key in check_keys(keys, len(rows))]
        with self._lock:
            self._settled()
            new = {key: row for row, key in reversed(list(enumerate(named))) if key not in self._keys}
            chosen = sorted(new.values())
            mask = available_of(problem, available)
            if len(chosen) < len(rows):
                rows, tally = rows[chosen], tally if len(chosen) else Tally()
                batch = None if batch is None else batch[np.array(chosen, dtype=np.int64)]
                mask = mask[chosen] if mask is not None and mask.ndim == 2 else mask
                own = None if own is None else [own[row] for row in chosen]
            made = self._decide(rows, batch, mask, [named[row] for row in chosen], tally, own)
            found = dict(zip((named[row] for row in chosen), made, strict=True))
            return [found[key] if key in found else self._known(key) for key in named]

    def _known(self, key: str) -> Decision:
        decision = self._keys.get(key)
        assert decision is not None  # it was there, and nothing has happened since
        return decision

    def observe(self, decision: Decision | SupportsIndex | str, rewards: object, *, final: bool = False) -> None:
        """Hand back rewards of a decision: all at once or in parts, each arm once.

        - `decision`: the decision, its id, or its key.
        - `rewards`: a mapping or a pandas Series from arm (its name or number) to reward; may be empty. A Polars
          Series, which has no index, has one number for each of `Decision.revealed_arms` in their order, or null.
        - `final`: whether no more rewards will come; the decision is then closed even if it awaits some. False by
          default.
        """
        if self._in_call():
            self._check_alone()
        setting_boolean("final", final)
        problem = self._loop.problem
        arms = problem if problem.capacity is None else self._round_arms(decision)
        ordered = type(rewards) is not dict and is_series(rewards, "polars")  # it has no index
        given = {} if ordered else rewards_of(arms, rewards)
        with self._lock:
            number = self._number(decision)
            if ordered:
                given = rewards_in_order(rewards, self._entry(number, decision).revealed)
            if not given and number not in self._open:
                return  # nothing was revealed, or nothing is awaited any more
            entry = self._open.get(number) or self._entry(number, decision)
            news = entry.news(given, arms.arms)
            loop, logged = self._loop, False
            ends = final or len(entry.seen) + len(news.arms) == len(entry.revealed)
            if len(news.arms):
                if self._checks_rewards:
                    loop.learner.check_rewards(np.array(news.rewards))
                # it may learn at once where nothing else is awaited
                loop = loop.observe(news, entry.played, ahead=ends and len(self._open) == 1)
                logged = self._log is not None and self._log.stage_rewards(number, news)
            closed = (number,) if ends else ()
            changes = loop, _NOTHING_OPENED, (), closed, 0, None, news.arms, entry, None, logged
            self._change = change = tuple_of(_Change, changes)
            self._settle(change)

    def _round_arms(self, decision: Decision | SupportsIndex | str) -> RoundArms:
        """The arms of a round that has brought its own."""
        with self._lock:
            entry = self._open.get(self._number(decision))
            if entry is not None and entry.arms is not None:
                return entry.arms
            return RoundArms(self._loop.problem.n_arms, decision.arms if isinstance(decision, Decision) else None)

    def probabilities(
        self, contexts: object = None, graphs: object = None, *, available: object = None, arms: object = None
    ) -> Float[np.ndarray, "n arms"]:
        """p: the probability of each arm in each of these rounds, if it were the next round. Changes nothing.

        If rounds bring their own arms, there is a column for each place, and places without an arm are 0.

        - `contexts`, `graphs`, `available`, `arms`: as in `decide_batch`, any number of rows.
        """
        problem = self._loop.problem
        given = given_rounds(problem, self._graph, contexts, graphs, available, arms)
        with self._alone():
            loop = self._settled()
            mask = on_offer(available_of(problem, given.available), self._retired)
        return loop.snapshot().probabilities(Shown(given.contexts, given.graphs, mask))

    def learn(
        self,
        contexts: object = None,
        rewards: object = None,
        *,
        actions: object = None,
        probabilities: object = None,
        graphs: object = None,
        available: object = None,
        arms: object = None,
        cluster: object = None,
    ) -> None:
        """Learn from past rows, which count as rounds, and fit them at once.

        Epochs end as they would have with these rounds. A fit that fails on the way is put off to the next epoch.
        `learn(log)` takes everything from a `Log`, or the folder of one, batch by batch: rewards, graphs, the arms on
        offer, and the probabilities, for learners that weight rewards by them.

        - `contexts`: one row a round, as in `decide_batch`; or a log, and nothing else but `cluster`; None (default):
          for learners without contexts, as many rounds as there are actions or rewards.
        - `rewards`: those of the arms played, shape (n,); or of all arms, an array of shape (n, arms) or a frame whose
          columns are arms, nan where nothing is known. The default, None, is for a log, which has them.
        - `actions`: the arms played, by name or number; None (default): `rewards` has all arms, and the learner does
          not ask which arm was played.
        - `probabilities`: of the arms played, (n,), or of all arms, (n, arms), as the system that played had them; None
          (default): not known. Learners of the package that accept past rows without a log do not depend on them.
        - `graphs`: which arms each play revealed, one graph a round or one for all; None (default): not checked.
        - `available`: the arms that were on offer then, as in `decide_batch`; None (default): all.
        - `arms`: with `Problem(capacity=...)`, the arms of each round, as in `decide_batch`; `rewards` may then be a
          list of mappings from arm to reward. None (default): the arms of the problem.
        - `cluster`: a Dask client or the address of a scheduler, which computes sums over partitions of the log and
          merges them. The learner must have epochs, and the class must keep sums, such as `LinearClass`. None
          (default): this process learns.
        """
        if is_log(contexts):
            if any(value is not None for value in (rewards, actions, probabilities, graphs, available, arms)):
                raise InputError(
                    "rewards, actions, probabilities, graphs, available or arms came with a log, which has them"
                )
            from graphbandit.bandit.learning_from_logs import learnt_from_log

            with self._alone():
                self._do(_Change(learnt_from_log(self._settled(), contexts, cluster)))
            return
        if cluster is not None:
            raise SettingError("cluster came without a log; expected learn(log, cluster=...)")
        with self._alone():
            loop = self._settled()
            past, news, tally = past_rounds(
                loop.learner,
                loop.problem,
                loop.rounds,
                contexts=contexts,
                actions=actions,
                rewards=rewards,
                probabilities=probabilities,
                graphs=graphs,
                available=available,
                arms=arms,
            )
            if not len(past.actions):
                return
            after = loop.take(past, news)
            if after.learner.refits and after.left > 0:
                after = after.refit()
            self._do(_Change(after, tally=self._tally + tally))

    def refit(self) -> None:
        """Fit everything observed so far now, instead of when the epoch ends; the epoch then goes on.

        If the fit fails, it raises FitError and changes nothing. Learners of every round have learnt already.
        """
        with self._alone():
            self._do(_Change(self._settled().refit()))

    def add_arms(self, arms: Sequence[str] | int, *, arm_features: object = None, graph: object = None) -> None:
        """Add arms after the existing ones, or bring back retired arms with what is known of them.

        What is shared between arms is kept: one theta for all arms also applies to new ones, by their features. What
        belongs to only one arm starts fresh. Open decisions stay open, and epochs go on. Learners that cannot take
        more arms raise SettingError, and so do function classes made for a fixed number of arms: finite ones, and
        networks.

        - `arms`: their names; or how many there are, where arms have no names.
        - `arm_features`: their features, where arms have features: what `ArmFeatures.add` takes; None (default): none.
        - `graph`: the bandit's own graph from now on. None (default): the present graph, in which a new arm reveals
          only itself. Rounds that bring a graph must bring one of the new size.
        """
        with self._alone():
            loop, before = self._settled(), Catalogue(self._graph, self._retired)
            opened = [entry.played for entry in self._open.values()]
            after, catalogue = with_more_arms(loop, before, arms, arm_features=arm_features, graph=graph, opened=opened)
            if self._log is not None and after is not loop:
                self._log.check_arms(after.problem)
            self._do(_Change(after, catalogue=catalogue))

    def retire_arms(self, arms: Sequence[str | int]) -> None:
        """Retire arms: they are not played again until `add_arms` brings them back.

        All arms keep their numbers. What is known of a retired arm is kept. If other arms reveal its rewards, they are
        still learnt, and open decisions still take them.
        """
        with self._alone():
            loop = self._settled()
            retired = retired_arms(loop.problem, arms, self._retired)
            self._do(_Change(loop, catalogue=Catalogue(self._graph, retired)))

    @property
    def retired(self) -> list[str | int]:
        """The arms that are retired, by name where arms have names."""
        with self._alone():
            problem = self._settled().problem
            places = [] if self._retired is None else np.flatnonzero(self._retired).tolist()
            return [place if problem.arms is None else problem.arms[place] for place in places]

    def decider(self, *, name: str | None = None) -> Decider:
        """A read-only copy that decides as the bandit would now. It may be sent to other processes.

        Hand its decisions to `take`.

        - `name`: determines the draw, together with a decision's key; None (default): the bandit's identity and the
          rounds it has learnt from. If the name is the hash of a snapshot of the decision service, and the state is the
          same, it decides as the service does.
        """
        if name is not None and (not isinstance(name, str) or not name):
            raise InputError(f"name is {name!r}; expected a text, or None for the bandit's own")
        with self._alone():
            loop = self._settled()
            return Decider(
                loop.snapshot(), identity=self._identity, graph=self._graph, retired=self._retired, name=name
            )

    def take(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Take over decisions that a decider of this bandit made, so that you can observe their rewards.

        Returns the decisions with their ids; a decision that was taken before keeps its id. The rounds count from now
        on, so the learner may end an epoch first.
        """
        if not isinstance(decisions, Iterable):
            raise InputError(f"decisions is a {type(decisions).__name__}; expected a list of decisions of a Decider")
        given = list(decisions)
        for decision in given:
            check_taken(decision, self._identity)
        with self._alone():
            after, made, opened = take(self._settled(), self._keys, given, self._maker.copy)
            outdated = self._outdated(opened, after.rounds)
            keyed = tuple(one.detached() for one in made.values())
            new = {str(one.key): one for one in reversed(given) if str(one.key) in made}
            logged = stage_taken(self._log, self._graph, [(made[key].id, new[key]) for key in made])
            self._do(_Change(after, opened, keyed, outdated, len(outdated), logged=logged))
            return [made[key] if (key := str(one.key)) in made else self._known(key) for one in given]

    def forget(self, decision: Decision | SupportsIndex | str) -> None:
        """Stop waiting for the rewards of a decision; rewards that have come are kept."""
        with self._alone():
            number = self._number(decision)
            self._entry(number, decision)
            self._do(_Change(self._loop, closed=(number,)))

    @property
    def log(self) -> Path | None:
        """The folder of the log it writes to."""
        return None if self._log is None else self._log.folder

    def log_to(self, folder: str | os.PathLike[str] | None, *, sync: LogSync = "file") -> None:
        """Write decisions and rewards to this log from now on, and close the one it wrote to before.

        Rewards of earlier decisions are not written to the new log, which does not have those decisions.

        - `folder`: the folder of the log, which is continued if it exists; None: no log is written from now on.
        - `sync`: as `log_sync` of `Bandit`, "file" by default.
        """
        with self._alone():
            loop, before = self._settled(), self._log
            same = before is not None and folder is not None and before.folder.resolve() == Path(folder).resolve()
            if before is not None and same:
                before.close()
            self._log = None if folder is None else BanditLog(folder, loop.problem, loop.rounds, sync=sync)
            if before is not None and not same:
                before.close()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically. A bandit loaded from it decides bit for bit as this one would.

        The rows of its log are flushed to disk first, so that a file never knows of rounds that the log lacks.
        """
        with self._alone():
            loop = self._settled()
            if self._log is not None:
                self._log.sync()
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
                    graph=self._graph,
                    retired=self._retired,
                    tally=self._tally,
                    keys=self._keys,
                    log=None if self._log is None else self._log.starts,
                ),
            )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        function_class: FunctionClass[Any, Any, Any] | None = None,
        features: object = None,
        arm_features: object = None,
        classes: Sequence[type] = (),
        log: str | os.PathLike[str] | None = None,
        log_sync: LogSync = "file",
    ) -> "Bandit":
        """Load a bandit from a file.

        - `path`: the file that `save` wrote.
        - `function_class`: a function class made of a Python callable is not in the file; hand in the same one again.
          A class of another kind, size or setting is refused. None (default): the class is in the file.
        - `features`, `arm_features`: a scikit-learn transformer is not in the file; hand in the same one again, or the
          features made of it. A transformer with another fit is refused. None (default): they are in the file.
        - `classes`: your own dataclasses in the file, such as [MyLearner, MyState]; none by default. A file never
          imports code by itself.
        - `log`: the log that the bandit wrote when it was saved, to continue it; None (default): no log. Rounds that
          were logged after the file was saved stay there; ids in the log count on from its end.
        - `log_sync`: as in `Bandit`, "file" by default.
        """
        given = {"function_class": function_class, "features": features, "arm_features": arm_features}
        saved = load_bandit(path, given, classes)
        bandit = cls.__new__(cls)
        bandit._identity, bandit._max_open, bandit._forget_after = saved.identity, saved.max_open, saved.forget_after
        bandit._rng = np.random.Generator(np.random.PCG64())
        bandit._rng.bit_generator.state = saved.generator
        bandit._graph = saved.graph
        bandit._begin(saved.loop, OrderedDict(saved.opened), saved.keys, saved.forgotten, saved.tally)
        bandit._retired = saved.retired
        if log is not None:
            bandit._log = BanditLog(log, saved.loop.problem, saved.loop.rounds, sync=log_sync, starts=saved.log)
        return bandit

    def _decide(
        self,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: Graphs | None,
        available: object,
        keys: Sequence[str | None],
        tally: Tally,
        own: Sequence[RoundArms] | None = None,
    ) -> list[Decision]:
        """Decide, and note the change down only once all of it is known."""
        mask = None if available is None else available_of(self._loop.problem, available)
        with self._lock:
            loop, n = self._settled(), len(contexts)
            if self._retired is not None:
                mask = on_offer(mask, self._retired)
            # the numbers of contexts without features have been looked at
            plain = mask is None and own is None and loop.problem.features is None
            if plain and isinstance(graphs, FeedbackGraphs) and len(graphs.index) == n:
                shown = Shown.checked(contexts, graphs)
            else:
                shown = Shown(contexts, graphs, mask)
            if not n:
                return []
            try:
                decisions, after = loop.decide(shown, self._stream(loop, n))
            except FitError as error:
                self._postpone(loop, error)
                raise
            made, opened = self._made(decisions, loop, may_reveal(graphs, decisions), keys, contexts, own)
            keyed = () if keys == [None] else tuple(one.detached() for one in made if one.key is not None)
            outdated = self._outdated(opened, after.rounds)
            total = None if tally is NOTHING else self._tally + tally
            if self._log is not None:
                self._log.stage_decisions(loop.rounds, contexts, graphs, shown.available, decisions, keys)
            self._do(_Change(after, opened, keyed, outdated, len(outdated), total, logged=self._log is not None))
            return made

    def _postpone(self, loop: Loop, error: FitError) -> None:
        """Put the fit off to the next epoch, and have the error say so."""
        error.add_note("The bandit keeps its last good model: decide again to go on with it.")
        self._loop = loop.postponing(error)

    def _stream(self, loop: Loop, n: int) -> np.random.Generator:
        """What the arms of n rounds are drawn from, so that it can be undone until the change is noted down."""
        if n > 1 or not self._draws_once:
            self._before = self._rng.bit_generator.state
            return self._rng
        self._before = _ONE
        self._rng.random(out=self._uniform)  # an interrupt comes before or after it
        return self._given

    def _made(
        self,
        batch: Decisions,
        loop: Loop,
        revealed: Iterable[Int[np.ndarray, " revealed"]],
        keys: Sequence[str | None],
        contexts: Shaped[np.ndarray, "n ..."],
        own: Sequence[RoundArms] | None,
    ) -> tuple[list[Decision], dict[int, OpenDecision]]:
        """The rounds of a batch as single decisions of consecutive ids, and those of them that await rewards."""
        made, opened, maker = [], {}, self._maker
        for row, (action, shown, key) in enumerate(zip(batch.action.tolist(), revealed, keys, strict=True)):
            its, part = None if own is None else own[row], slice(row, row + 1)
            # it keeps nothing else of the batch alive
            rows = [array[part].copy() for array in (contexts, batch.action, batch.notes)]
            played = Played(loop.rounds + row, rows[0], rows[1], rows[2], None)
            one, entry = made_round(maker, played, batch, row, action, shown, key, its)
            made.append(one if its is None else with_own_arms(one, its))
            if entry is not None:
                opened[played.first] = entry
        return made, opened

    def _outdated(self, opened: Mapping[int, OpenDecision], rounds: int) -> tuple[int, ...]:
        """The decisions to be forgotten once these are open, oldest first."""
        excess = len(self._open) + len(opened) - self._max_open
        if excess <= 0 and self._forget_after is None:
            return ()
        oldest = -1 if self._forget_after is None else rounds - self._forget_after
        found: list[int] = []
        for number in chain(self._open, opened):
            if len(found) >= excess and number >= oldest:
                break
            found.append(number)
        if found and found[-1] >= oldest and not self._forgotten:
            warnings.warn(
                f"more than max_open = {self._max_open} decisions await rewards, so the oldest are forgotten from now "
                "on; hand rewards back with observe(), close decisions with observe(..., final=True), or set max_open",
                ForgottenDecisionsWarning,
                stacklevel=2,
            )
        return tuple(found)

    def _do(self, change: _Change) -> None:
        """Note a change down, from which moment on it has happened, and do it."""
        if change.forgotten:
            change = change._replace(forgotten=self._forgotten + change.forgotten)
        self._change = change
        self._settle(change)

    def _settle(self, change: _Change) -> None:
        """Do what is noted down, all of it, or the rest of it if a call was interrupted."""
        after, opened, keyed, closed, forgotten, tally, seen, of, catalogue, logged = change
        self._open.update(opened)
        for decision in keyed:
            self._keys.add(decision, awaits=decision.id in opened)
        if of is not None:
            of.seen.update(seen)
        for number in closed:
            self._open.pop(number, None)
            self._keys.end(number)
        if forgotten:
            self._forgotten = forgotten
        if catalogue is not None:
            self._graph, self._retired = catalogue
            self._once = None
        if tally is not None:
            self._tally = tally
        if logged and self._log is not None:
            self._log.commit()
        self._loop = after
        self._uniform[0] = math.nan
        self._before = None
        self._change = None

    def _settled(self) -> Loop:
        """The loop, once what an interrupted call has left behind is done or undone."""
        if self._change is None and self._before is None:
            return self._loop
        with self._lock:
            if self._change is not None:
                self._settle(self._change)
            elif self._before is not None:
                if self._before is _ONE:
                    self._before = self._rng.bit_generator.state if np.isnan(self._uniform[0]) else _one_back(self._rng)
                self._uniform[0] = np.nan
                self._rng.bit_generator.state = self._before
                self._before = None
            return self._loop

    def _number(self, decision: Decision | SupportsIndex | str) -> int:
        """The id of a decision that this bandit has made."""
        rounds = self._settled().rounds
        if type(decision) is Decision and decision.bandit == self._identity:
            known = self._open.get(decision.id)
            if known is not None and decision.sealed is known:  # by far the most common: its own, still open
                return decision.id
        if isinstance(decision, str):
            return self._keys.number(decision)
        number = decision.id if isinstance(decision, Decision) else whole_number(decision)
        if number is None:
            raise UnknownDecisionError(
                f"decision is {decision!r}; expected a Decision, its id, a whole number, or its key"
            )
        if isinstance(decision, Decision):
            if decision.bandit != self._identity:
                raise UnknownDecisionError(
                    f"decision {number} was made by bandit {decision.bandit!r}; "
                    f"expected one of bandit {self._identity!r}"
                )
            if number == -1 and decision.key is not None:
                if decision.key not in self._keys:
                    raise UnknownDecisionError(
                        f"decision {decision.key!r} is a decider's; expected it to be taken first, by take([decision])"
                    )
                return self._keys.number(decision.key)
        if not 0 <= number < rounds:
            so_far = f"ids so far are 0 to {rounds - 1}" if rounds else "there are no decisions yet"
            raise UnknownDecisionError(f"no decision has id {number}; {so_far}")
        entry = self._open.get(number)
        if isinstance(decision, Decision) and entry is not None and not entry.is_of(decision):
            raise UnknownDecisionError(
                f"decision {number} is not the one that this bandit has made under this id; "
                "expected one of its own: another copy of it goes on from the same file"
            )
        return number

    def _entry(self, number: int, decision: object = None) -> OpenDecision:
        if number in self._open:
            return self._open[number]
        why = "all came, it revealed none, or it was closed by forget() or final=True"
        if isinstance(decision, Decision):
            why = (
                "all came, or it was closed by forget() or final=True" if len(decision.revealed) else "it revealed none"
            )
        if self._forgotten and why != "it revealed none":
            why += f", or is one of the {self._forgotten} forgotten because of max_open or forget_after"
        raise ObservationError(f"decision {number} awaits no more rewards: {why}")


_OF_THIS_COPY = ("_lock", "_in_call", "_once", "_log", "_uniform", "_given")
"""What copies of a bandit have of their own."""

_ONE: Mapping[str, Any] = MappingProxyType({})


def _one_back(rng: np.random.Generator) -> Mapping[str, Any]:
    """Where the random stream was before its last uniform number."""
    back = np.random.PCG64()
    back.state = rng.bit_generator.state  # type: ignore[assignment]
    back.advance(-1)
    return {**rng.bit_generator.state, "state": back.state["state"]}
