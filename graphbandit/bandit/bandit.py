"""The everyday object: a learner, what it knows and its random stream, behind `decide` and `observe`."""

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphbandit.bandit.arm_changes import GraphAndRetired, retired_arms, with_more_arms
from graphbandit.bandit.bandit_log import BanditLog
from graphbandit.bandit.calls import (
    decide_given,
    decide_keyed,
    decide_plain,
    learnt_from_past,
    log_to,
    observe_rewards,
    take_rounds,
)
from graphbandit.bandit.decider import Decider
from graphbandit.bandit.decision_builder import DecisionBuilder
from graphbandit.bandit.given_arms import on_offer
from graphbandit.bandit.given_contexts import one_context
from graphbandit.bandit.given_graphs import Graph, graph_of
from graphbandit.bandit.given_rounds import RoundReader, given_rounds
from graphbandit.bandit.journal import Change, Journal
from graphbandit.bandit.keys import Keys, check_key, check_keys
from graphbandit.bandit.open_decisions import AnyDecision, OpenDecisions
from graphbandit.bandit.own_arms import check_own_arms
from graphbandit.bandit.saving import load_bandit, save_bandit
from graphbandit.bandit.taken_decisions import decided_elsewhere
from graphbandit.base.checks import setting_boolean, setting_integer
from graphbandit.base.choices import LogSync
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.base.signatures import Readable
from graphbandit.errors import InputError, NestedCallError, SettingError
from graphbandit.features import Tally
from graphbandit.function_classes.base import FunctionClass
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.shown import Shown


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

    __signature__ = Readable()

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
        limit = setting_integer("max_open", max_open, at_least=1)
        forget = None if forget_after is None else setting_integer("forget_after", forget_after, at_least=1)
        rng = stream(seed, "bandit")
        name = secrets.token_hex(8) if identity is None else identity
        graph_and_retired = GraphAndRetired(graph_of(problem, graph), None)
        open_decisions = OpenDecisions(name, Keys(setting_integer("max_keys", max_keys, at_least=0)), limit, forget)
        self._begin(Journal(Loop.start(learner, problem), open_decisions, graph_and_retired, Tally(), rng))
        self.log_to(log, sync=log_sync)

    def _begin(self, journal: Journal) -> None:
        self._journal, self._reader = journal, RoundReader()
        self._builder = DecisionBuilder(journal.open_decisions.identity)
        self._lock = threading.RLock()
        self._in_call: Callable[[], bool] = self._lock._is_owned  # type: ignore[attr-defined]  # threading uses it, too

    def __getstate__(self) -> Journal:
        with self._alone():
            return self._journal.copied()  # other threads may go on as soon as the lock is free

    def __setstate__(self, journal: Journal) -> None:
        self._begin(journal)

    def _alone(self) -> threading.RLock:
        """The lock, for a call that is not within another one of this thread, made by a signal handler or a tracer."""
        if self._in_call():
            raise NestedCallError(
                "another call of this bandit is running in this thread; expected it to end first: signal handlers may "
                "ask for rounds, state and open decisions, and change nothing"
            )
        return self._lock

    def _settled(self) -> Loop:
        """The loop, once what an interrupted call has left behind is done or undone."""
        journal = self._journal
        if journal.noted is None and journal.before is None:
            return journal.loop
        with self._lock:
            return journal.settled()

    def _read(self) -> Loop:
        """`_settled`; within another call of this thread, the loop as it is, as that call is still at work."""
        return self._journal.loop if self._in_call() else self._settled()

    def _number(self, decision: AnyDecision) -> int:
        """The id of a decision that this bandit has made."""
        rounds = self._settled().rounds
        return self._journal.open_decisions.number(decision, rounds)

    def __repr__(self) -> str:
        loop, n_open = self._read(), len(self._journal.open_decisions.opened)
        return f"Bandit({type(loop.learner).__name__}, rounds={loop.rounds}, open={n_open})"

    @property
    def learner(self) -> Learner[Any]:
        """The learner's settings."""
        return self._journal.loop.learner

    @property
    def problem(self) -> Problem:
        """The problem it was made for."""
        return self._journal.loop.problem

    @property
    def identity(self) -> str:
        """The name that its decisions and files carry."""
        return self._journal.open_decisions.identity

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
            return list(self._journal.open_decisions.opened)
        with self._lock:
            self._settled()
            return list(self._journal.open_decisions.opened)

    @property
    def forgotten(self) -> int:
        """How many decisions were forgotten because there were more than `max_open`, or because of `forget_after`."""
        self._read()
        return self._journal.open_decisions.forgotten

    @property
    def graph(self) -> Graph | None:
        """The graph of rounds that bring none."""
        return self._journal.graph

    @property
    def tally(self) -> Tally:
        """How many values of the contexts so far were unknown or missing, by column."""
        self._read()
        return self._journal.tally

    @property
    def postponed(self) -> int:
        """How many fits have failed and were put off to the next epoch."""
        return self._read().postponed

    def awaited(self, decision: AnyDecision) -> Int[np.ndarray, " awaited"]:
        """The arms whose rewards this decision still awaits."""
        with self._alone():
            return self._journal.open_decisions.entry(self._number(decision), decision).awaited

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
        journal, reader = self._journal, self._reader
        problem, default_graph = journal.loop.problem, journal.graph
        if key is None and available is None and arms is None:
            plain = reader.plain_graph(problem, default_graph if graph is None else graph)
            if plain is not None:
                contexts, _ = one_context(problem, context)
                with self._alone():
                    return decide_plain(journal, self._builder, contexts, plain)
        if key is not None:
            with self._alone():
                problem = journal.settled().problem
                known = journal.open_decisions.keys.get(check_key(key))
                if known is not None:
                    return known
                given = reader.read(problem, journal.graph, context, graph, available, arms)
                return decide_given(journal, self._builder, given, [key])[0]
        given = reader.read(problem, default_graph, context, graph, available, arms)
        with self._alone():
            return decide_given(journal, self._builder, given, [None])[0]

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
        problem, default_graph = self._journal.loop.problem, self._journal.graph
        given = given_rounds(problem, default_graph, contexts, graphs, available, arms, keys)
        n = len(given.contexts)
        named = None if keys is None else [check_key(key) for key in check_keys(keys, n)]
        with self._alone():
            if named is None:
                return decide_given(self._journal, self._builder, given, [None] * n)
            return decide_keyed(self._journal, self._builder, given, named)

    def observe(self, decision: AnyDecision, rewards: object, *, final: bool = False) -> None:
        """Hand back rewards of a decision: all at once or in parts, each arm once.

        - `decision`: the decision, its id, or its key.
        - `rewards`: a mapping or a pandas Series from arm (its name or number) to reward; may be empty. A Polars
          Series, which has no index, has one number for each of `Decision.revealed_arms` in their order, or null.
        - `final`: whether no more rewards will come; the decision is then closed even if it awaits some. False by
          default.
        """
        setting_boolean("final", final)
        with self._alone():
            observe_rewards(self._journal, decision, rewards, final=final)

    def probabilities(
        self, contexts: object = None, graphs: object = None, *, available: object = None, arms: object = None
    ) -> Float[np.ndarray, "n arms"]:
        """p: the probability of each arm in each of these rounds, if it were the next round. Changes nothing.

        If rounds bring their own arms, there is a column for each place, and places without an arm are 0.

        - `contexts`, `graphs`, `available`, `arms`: as in `decide_batch`, any number of rows.
        """
        problem, default_graph = self._journal.loop.problem, self._journal.graph
        given = given_rounds(problem, default_graph, contexts, graphs, available, arms)
        with self._alone():
            loop = self._settled()
            mask = on_offer(given.available, self._journal.retired)
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
        with self._alone():
            after, tally = learnt_from_past(
                self._settled(),
                contexts,
                cluster,
                rewards=rewards,
                actions=actions,
                probabilities=probabilities,
                graphs=graphs,
                available=available,
                arms=arms,
            )
            self._journal.do(Change(after, tally=self._journal.tally + tally))

    def refit(self) -> None:
        """Fit everything observed so far now, instead of when the epoch ends; the epoch then goes on.

        If the fit fails, it raises FitError and changes nothing. Learners of every round have learnt already.
        """
        with self._alone():
            self._journal.do(Change(self._settled().refit()))

    def add_arms(self, arms: Sequence[str] | int, *, arm_features: object = None, graph: object = None) -> None:
        """Add arms after the existing ones, or bring back retired arms with what is known of them.

        What is shared between arms is kept: one theta for all arms also applies to new ones, by their features. What
        belongs to only one arm starts fresh. Open decisions stay open, and epochs go on. Learners that cannot take
        more arms raise SettingError, and so do function classes made for a fixed number of arms: finite ones, and
        neural networks.

        - `arms`: their names; or how many there are, where arms have no names.
        - `arm_features`: their features, where arms have features: what `ArmFeatures.add` takes; None (default): none.
        - `graph`: the bandit's own graph from now on. None (default): the present graph, in which a new arm reveals
          only itself. Rounds that bring a graph must bring one of the new size.
        """
        with self._alone():
            loop, journal = self._settled(), self._journal
            opened = [entry.played for entry in journal.open_decisions.opened.values()]
            after, graph_and_retired = with_more_arms(
                loop, journal.graph_and_retired, arms, arm_features=arm_features, graph=graph, opened=opened
            )
            if journal.log is not None and after is not loop:
                journal.log.check_arms(after.problem)
            journal.do(Change(after, graph_and_retired=graph_and_retired))

    def retire_arms(self, arms: Sequence[str | int]) -> None:
        """Retire arms: they are not played again until `add_arms` brings them back.

        All arms keep their numbers. What is known of a retired arm is kept. If other arms reveal its rewards, they are
        still learnt, and open decisions still take them.
        """
        with self._alone():
            loop, journal = self._settled(), self._journal
            retired = retired_arms(loop.problem, arms, journal.retired)
            journal.do(Change(loop, graph_and_retired=GraphAndRetired(journal.graph, retired)))

    @property
    def retired(self) -> list[str | int]:
        """The arms that are retired, by name where arms have names."""
        with self._alone():
            names, mask = self._settled().problem.arms, self._journal.retired
            places = [] if mask is None else np.flatnonzero(mask).tolist()
            return [place if names is None else names[place] for place in places]

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
            snapshot, (graph, retired) = self._settled().snapshot(), self._journal.graph_and_retired
            return Decider(snapshot, identity=self.identity, graph=graph, retired=retired, name=name)

    def take(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Take over decisions that a decider of this bandit made, so that you can observe their rewards.

        Returns the decisions with their ids; a decision that was taken before keeps its id. The rounds count from now
        on, so the learner may end an epoch first.
        """
        given = decided_elsewhere(decisions, self.identity)
        with self._alone():
            return take_rounds(self._journal, self._builder, given)

    def forget(self, decision: AnyDecision) -> None:
        """Stop waiting for the rewards of a decision; rewards that have come are kept."""
        with self._alone():
            number = self._number(decision)
            self._journal.open_decisions.entry(number, decision)
            self._journal.do(Change(self._journal.loop, closed=(number,)))

    @property
    def log(self) -> Path | None:
        """The folder of the log it writes to."""
        log = self._journal.log
        return None if log is None else log.folder

    def log_to(self, folder: str | os.PathLike[str] | None, *, sync: LogSync = "file") -> None:
        """Write decisions and rewards to this log from now on, and close the one it wrote to before.

        Rewards of earlier decisions are not written to the new log, which does not have those decisions.

        - `folder`: the folder of the log, which is continued if it exists; None: no log is written from now on.
        - `sync`: as `log_sync` of `Bandit`, "file" by default.
        """
        with self._alone():
            log_to(self._journal, folder, sync)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically. A bandit loaded from it decides bit for bit as this one would.

        The rows of its log are flushed to disk first, so that a file never knows of rounds that the log lacks.
        """
        with self._alone():
            save_bandit(path, self._journal)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        features: object = None,
        arm_features: object = None,
        function_class: FunctionClass[Any, Any, Any] | None = None,
        classes: Sequence[type] = (),
        log: str | os.PathLike[str] | None = None,
        log_sync: LogSync = "file",
    ) -> "Bandit":
        """Load a bandit from a file.

        - `path`: the file that `save` wrote.
        - `features`, `arm_features`: a scikit-learn transformer is not in the file; hand in the same one again, or the
          features made of it. A transformer with another fit is refused. None (default): they are in the file.
        - `function_class`: a function class made of a Python callable is not in the file; hand in the same one again.
          A class of another kind, size or setting is refused. None (default): the class is in the file.
        - `classes`: your own dataclasses in the file, such as [MyLearner, MyState]; none by default. A file never
          imports code by itself.
        - `log`: the log that the bandit wrote when it was saved, to continue it; None (default): no log. Rounds that
          were logged after the file was saved stay there; ids in the log count on from its end.
        - `log_sync`: as in `Bandit`, "file" by default.
        """
        given = {"function_class": function_class, "features": features, "arm_features": arm_features}
        saved = load_bandit(path, given, classes)
        journal, loop = saved.journal(), saved.loop
        if log is not None:
            journal.log = BanditLog(log, loop.problem, loop.rounds, sync=log_sync, starts=saved.log)
        bandit = cls.__new__(cls)
        bandit._begin(journal)
        return bandit
