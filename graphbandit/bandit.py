"""The everyday object: a learner, what it knows and its random stream, behind `decide` and `observe`."""

import math
import operator
import os
import reprlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from graphbandit.base import saved_files
from graphbandit.base.checks import LARGEST, available_array, contexts_array, numbers, setting_boolean
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.errors import (
    FitError,
    GraphError,
    HorizonError,
    InputError,
    ObservationError,
    SavedFileError,
    SettingError,
    UnknownDecisionError,
)
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decision, Decisions, split_decisions
from graphbandit.rounds.observations import Observations


@dataclass(frozen=True)
class _Played:
    """What a learner is told of a round beside its rewards."""

    context: Shaped[np.ndarray, "..."]
    action: int
    notes: Float[np.ndarray, " notes"]


@dataclass
class _Open:
    """A decision that still awaits rewards."""

    played: _Played
    revealed: Int[np.ndarray, " revealed"]
    propensities: Float[np.ndarray, " revealed"]
    seen: set[int]


class Bandit:
    """Decide rounds and hand rewards back, late, in any order, in parts, each at most once.

    Rewards count from the learner's next epoch on, whenever they come. Every decision carries its own propensities,
    so nothing is attributed to the wrong round. A failing call changes nothing. `decide` and `observe` may be
    called from several threads.

    The learner fits when the first round after an epoch is decided. If that fails, `decide` raises the FitError once
    and the bandit keeps its last good model: call again and it decides with that one for the next epoch, after
    which everything observed is fitted. No reward is lost.

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

    def __init__(self, learner: Learner[Any], problem: Problem, *, seed: int = 0) -> None:
        if not isinstance(learner, Learner):
            raise SettingError(f"learner is {learner!r}; expected a learner, as AdaCBG()")
        if not isinstance(problem, Problem):
            raise SettingError(f"problem is {problem!r}; expected a Problem")
        self._learner = learner
        self._problem = problem
        self._state = learner.init(problem)
        self._rng = stream(seed, "bandit")
        self._lock = threading.RLock()
        self._rounds = 0
        self._learnt = 0
        self._unlearnt: list[_Played] = []
        self._available: list[Bool[np.ndarray, " arms"] | None] = []
        self._open: dict[int, _Open] = {}
        self._news: list[tuple[int, int, float, float]] = []  # round, arm, reward, propensity
        self._late: dict[int, _Played] = {}
        self._unfitted: int | None = None  # the rounds after which the learner has failed to fit

    def __repr__(self) -> str:
        return f"Bandit({type(self._learner).__name__}, rounds={self._rounds}, open={len(self._open)})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @property
    def learner(self) -> Learner[Any]:
        """The learner's settings."""
        return self._learner

    @property
    def problem(self) -> Problem:
        """The problem it was made for."""
        return self._problem

    @property
    def state(self) -> Any:
        """What the learner knows now, as a value of its own kind."""
        return self._state

    @property
    def rounds(self) -> int:
        """How many rounds have been decided."""
        return self._rounds

    @property
    def open_decisions(self) -> list[int]:
        """The ids of all decisions that still await rewards, oldest first."""
        return sorted(self._open)

    def awaited(self, decision: Decision | SupportsIndex) -> Int[np.ndarray, " awaited"]:
        """The arms whose rewards this decision still awaits."""
        entry = self._open_entry(_id_of(decision))
        return np.array([a for a in entry.revealed if int(a) not in entry.seen], dtype=np.int64)

    def decide(
        self,
        context: npt.ArrayLike,
        graph: FeedbackGraph | ProbabilisticGraphs | None,
        *,
        available: npt.ArrayLike | None = None,
    ) -> Decision:
        """Decide one round: `context` as the function class takes it, without the axis of rounds.

        With the `ProbabilisticGraphs` of one round, rewards may come for every arm that the action may reveal; with
        None, for a learner that plans without a graph, for every arm.
        """
        contexts = contexts_array(numbers("the context", context)[None])
        if graph is None or isinstance(graph, ProbabilisticGraphs):
            return self._decide(contexts, graph, available)[0]
        if not isinstance(graph, FeedbackGraph):
            raise GraphError(
                f"graph is a {type(graph).__name__}; expected a FeedbackGraph, ProbabilisticGraphs of a round, or None"
            )
        return self._decide(contexts, FeedbackGraphs.repeat(graph, 1), available)[0]

    def decide_batch(
        self,
        contexts: npt.ArrayLike,
        graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraphs | None,
        *,
        available: npt.ArrayLike | None = None,
    ) -> list[Decision]:
        """Decide many rounds: the same decisions as one by one, with no reward coming in between."""
        rows = contexts_array(contexts)
        if isinstance(graphs, FeedbackGraph):
            graphs = FeedbackGraphs.repeat(graphs, len(rows))
        if graphs is not None and not isinstance(graphs, FeedbackGraphs | ProbabilisticGraphs):
            raise GraphError(
                f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs, a FeedbackGraph, ProbabilisticGraphs "
                "or None"
            )
        return self._decide(rows, graphs, available)

    def observe(self, decision: Decision | SupportsIndex, rewards: Mapping[int, float], *, final: bool = False) -> None:
        """Hand back rewards of a decision (or of its id): arm to reward, all at once or in parts, each arm once.

        `final`: no more will come, as `forget` says of a decision. It keeps decisions from staying open where not all
        that might have been revealed was.
        """
        setting_boolean("final", final)
        with self._lock:
            round_number = _id_of(decision)
            entry = self._open_entry(round_number)
            news = self._checked_rewards(round_number, entry, rewards)
            self._news.extend(news)
            if round_number < self._learnt and news:
                self._late[round_number] = entry.played
            entry.seen.update(arm for _, arm, _, _ in news)
            if final or len(entry.seen) == len(entry.revealed):
                del self._open[round_number]

    def forget(self, decision: Decision | SupportsIndex) -> None:
        """Wait no longer for the rewards of a decision; those that came stay."""
        with self._lock:
            number = _id_of(decision)
            self._open_entry(number)
            del self._open[number]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically; `load` goes on from it bit for bit as if never stopped."""
        with self._lock:
            open_ids = sorted(self._open)
            entries = [self._open[i] for i in open_ids]
            content = {
                "learner": self._learner,
                "problem": self._problem,
                "state": self._state,
                "generator": self._rng.bit_generator.state,
                "rounds": self._rounds,
                "learnt": self._learnt,
                **_columns("", self._unlearnt),
                "available": [None if mask is None else np.flatnonzero(mask) for mask in self._available],
                "open_ids": np.array(open_ids, dtype=np.int64),
                **_columns("open_", [entry.played for entry in entries]),
                "open_revealed": [entry.revealed for entry in entries],
                "open_propensities": [entry.propensities for entry in entries],
                "open_seen": [sorted(entry.seen) for entry in entries],
                "news_rounds": np.array([news[0] for news in self._news], dtype=np.int64),
                "news_arms": np.array([news[1] for news in self._news], dtype=np.int64),
                "news_rewards": np.array([news[2] for news in self._news], dtype=np.float64),
                "news_propensities": np.array([news[3] for news in self._news], dtype=np.float64),
                "late_rounds": np.array(sorted(self._late), dtype=np.int64),
                **_columns("late_", [self._late[i] for i in sorted(self._late)]),
                "unfitted": self._unfitted,
            }
            saved_files.write(path, "bandit", content)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, function_class: FunctionClass[Any, Any, Any] | None = None
    ) -> "Bandit":
        """The bandit that was saved there.

        A function class made of a Python callable is not in the file: hand in the same one again.
        """

        def replace(description: dict[str, Any]) -> FunctionClass[Any, Any, Any]:
            if function_class is None:
                raise SavedFileError(
                    f"{path} was saved with a function class that a file cannot hold, {description}; "
                    "expected the same one again as load(path, function_class=...)"
                )
            found = function_class.__external__() if hasattr(function_class, "__external__") else function_class
            if found != description:
                raise SavedFileError(f"function_class is {found!r}; expected the one saved in {path}, {description}")
            return function_class

        saved = saved_files.read(path, "bandit", replace)
        try:
            return cls._restore(saved)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise SavedFileError(f"{path} is damaged: {type(error).__name__}: {error}") from error

    @classmethod
    def _restore(cls, saved: dict[str, Any]) -> "Bandit":
        bandit = cls.__new__(cls)
        bandit._learner, bandit._problem, bandit._state = saved["learner"], saved["problem"], saved["state"]
        if not isinstance(bandit._learner, Learner) or not isinstance(bandit._problem, Problem):
            raise TypeError("no learner and problem in it")
        bandit._rng = np.random.Generator(np.random.PCG64())
        bandit._rng.bit_generator.state = saved["generator"]
        bandit._lock = threading.RLock()
        bandit._rounds, bandit._learnt = int(saved["rounds"]), int(saved["learnt"])
        bandit._unlearnt, opened, late = (_rows(saved, prefix) for prefix in ("", "open_", "late_"))
        if len({(row.context.shape, len(row.notes)) for row in (*bandit._unlearnt, *opened, *late)}) > 1:
            raise ValueError("its contexts have different shapes")
        n_arms = bandit._problem.n_arms
        bandit._available = [None if arms is None else _mask(arms, n_arms) for arms in saved["available"]]
        bandit._open = {
            int(number): _Open(played, revealed, propensities, {int(arm) for arm in seen})
            for number, played, revealed, propensities, seen in zip(
                saved["open_ids"],
                opened,
                saved["open_revealed"],
                saved["open_propensities"],
                saved["open_seen"],
                strict=True,
            )
        }
        names = ("news_rounds", "news_arms", "news_rewards", "news_propensities")
        bandit._news = [
            (int(t), int(arm), float(reward), float(propensity))
            for t, arm, reward, propensity in zip(*(saved[name] for name in names), strict=True)
        ]
        unfitted = saved.get("unfitted")  # files of version 0.1.0 have no such key
        bandit._unfitted = None if unfitted is None else int(unfitted)
        bandit._late = {int(t): played for t, played in zip(saved["late_rounds"], late, strict=True)}
        waiting = bandit._rounds - bandit._learnt
        if not waiting == len(bandit._unlearnt) == len(bandit._available):
            raise ValueError("its rounds and contexts do not fit each other")
        in_step = getattr(bandit._state, "rounds", bandit._learnt) == bandit._learnt
        if not in_step or not 0 <= waiting <= bandit._learner.rounds_until_update(bandit._state):
            raise ValueError("its rounds and its learner's state do not fit each other")
        known = {*range(bandit._learnt, bandit._rounds), *bandit._late}
        if not all(t in known and 0 <= arm < n_arms and 0 < q <= 1 + 1e-6 for t, arm, _, q in bandit._news):
            raise ValueError("its rounds and its rewards do not fit each other")
        if not all(0 <= row.action < n_arms for row in (*bandit._unlearnt, *opened, *late)):
            raise ValueError("its rounds and its arms do not fit each other")
        for number, entry in bandit._open.items():
            if not 0 <= number < bandit._rounds or not entry.seen <= {*entry.revealed.tolist()} <= {*range(n_arms)}:
                raise ValueError("its rounds and its open decisions do not fit each other")
            q = entry.propensities
            if q.shape != entry.revealed.shape or not ((q > 0) & (q <= 1 + 1e-6)).all():
                raise ValueError("its open decisions and their propensities do not fit each other")
        return bandit

    def _decide(
        self,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs | ProbabilisticGraphs | None,
        available: npt.ArrayLike | None,
    ) -> list[Decision]:
        """Decide part by part, an epoch each, and commit only when all went well."""
        n = len(contexts)
        masks = available_array(available, n, self._problem.n_arms)
        with self._lock:
            horizon = self._problem.horizon
            if horizon is not None and self._rounds + n > horizon:
                raise HorizonError(
                    f"round {self._rounds + n} was asked for, but the problem's horizon is {horizon}; "
                    "Problem(horizon=None) has no end"
                )
            if graphs is not None and len(graphs) != n:
                raise InputError(f"{n} contexts came with {len(graphs)} graphs; expected one graph a round")
            if n == 0:
                return []
            if self._unlearnt and contexts.shape[1:] != self._unlearnt[0].context.shape:
                raise InputError(
                    f"the context has shape {contexts.shape[1:]}; expected {self._unlearnt[0].context.shape} as before"
                )
            generator = self._rng.bit_generator.state
            state, learnt = self._state, self._learnt
            waiting = len(self._unlearnt)
            parts: list[Decisions] = []
            played: list[_Played] = []
            start = 0
            postponing = False
            try:
                while start < n:
                    left = self._learner.rounds_until_update(state) - waiting
                    if left == 0:
                        # what was not fitted is not tried again before there is more of it
                        postponing = postponing or self._unfitted == learnt + waiting
                        learn = self._learner.postpone if postponing else self._learner.update
                        try:
                            state = learn(state, self._observations(learnt, waiting, played, masks))
                        except FitError as error:
                            self._unfitted = learnt + waiting
                            error.add_note("The bandit keeps its last good model: decide again to go on with it.")
                            raise
                        learnt += waiting
                        waiting = 0
                        continue
                    part = slice(start, min(start + left, n))
                    mask = None if masks is None else np.ascontiguousarray(masks[part])
                    whole = part.stop - start == n
                    # a learner that cannot plan with probabilities, or with None, refuses them
                    shown: Any = graphs if whole or graphs is None else graphs[part]
                    rounds = (contexts if whole else contexts[part], shown)
                    made = self._learner.decide(state, *rounds, self._rng, available=mask)
                    parts.append(made)
                    notes = self._learner.notes(state, *rounds, made)
                    played += map(_Played, map(np.copy, rounds[0]), made.action.tolist(), notes)
                    waiting += part.stop - start
                    start = part.stop
                decisions = Decisions.concatenate(parts)
                ids = iter(range(self._rounds, self._rounds + n))
                single = list(split_decisions(decisions, ids, _may_reveal(graphs, decisions)))
            except BaseException:
                self._rng.bit_generator.state = generator
                raise
            self._commit(single, played, masks, state, learnt)
            return single

    def _commit(
        self,
        made: list[Decision],
        played: list[_Played],
        masks: Bool[np.ndarray, "n arms"] | None,
        state: Any,
        learnt: int,
    ) -> None:
        for i, decision in enumerate(made):
            self._unlearnt.append(played[i])
            self._available.append(None if masks is None else masks[i].copy())
            if len(decision.revealed):
                propensities = decision.observation_probabilities[decision.revealed]
                self._open[decision.id] = _Open(played[i], decision.revealed.copy(), propensities, set())
        self._rounds += len(made)
        if learnt > self._learnt:
            self._news.clear()
            self._late.clear()
            done = learnt - self._learnt
            del self._unlearnt[:done], self._available[:done]
            self._state, self._learnt = state, learnt

    def _observations(
        self, learnt: int, waiting: int, played: list[_Played], masks: Bool[np.ndarray, "n arms"] | None
    ) -> Observations:
        """The `waiting` rounds from `learnt` on and all news, by round and arm whatever order the news came in.

        Rounds that this bandit has not counted yet are the first of `played` and `masks`.
        """
        first_update = learnt == self._learnt  # the news is for the first of several in one batch
        late = sorted(self._late) if first_update else []
        known = self._unlearnt if first_update else []
        new = max(learnt - self._rounds, 0)
        rows = [*(self._late[t] for t in late), *known, *played[new : new + waiting - len(known)]]
        rounds = np.array([*late, *range(learnt, learnt + waiting)], dtype=np.int64)
        ordered = sorted(self._news) if first_update else []
        seen_rounds = np.array([t for t, _, _, _ in ordered], dtype=np.int64)
        return Observations(
            contexts=np.stack([row.context for row in rows]),
            rounds=rounds,
            rows=np.searchsorted(rounds, seen_rounds),
            arms=np.array([arm for _, arm, _, _ in ordered], dtype=np.int64),
            rewards=np.array([reward for _, _, reward, _ in ordered], dtype=np.float64),
            available=self._masks(rounds, learnt, masks),
            actions=np.array([row.action for row in rows], dtype=np.int64),
            propensities=np.array([propensity for _, _, _, propensity in ordered], dtype=np.float64),
            notes=np.stack([row.notes for row in rows]),
        )

    def _masks(
        self, rounds: Int[np.ndarray, " n"], learnt: int, masks: Bool[np.ndarray, "n arms"] | None
    ) -> Bool[np.ndarray, "n arms"] | None:
        """Which arms were on offer in these rounds; None if all were, in all of them."""

        def of(t: int) -> Bool[np.ndarray, " arms"] | None:
            if t < self._learnt:
                return None
            if t < self._rounds:
                return self._available[t - self._learnt]
            return None if masks is None else masks[t - self._rounds]

        found = [of(int(t)) for t in rounds]
        if all(mask is None for mask in found):
            return None
        everything = np.ones(self._problem.n_arms, dtype=np.bool_)
        return np.stack([everything if mask is None else mask for mask in found])

    def _open_entry(self, number: int) -> _Open:
        if not 0 <= number < self._rounds:
            so_far = f"ids so far are 0 to {self._rounds - 1}" if self._rounds else "there are no decisions yet"
            raise UnknownDecisionError(f"no decision has id {number}; {so_far}")
        if number not in self._open:
            raise ObservationError(
                f"decision {number} awaits no more rewards: all came, it revealed none, or it was forgotten"
            )
        return self._open[number]

    def _checked_rewards(
        self, number: int, entry: _Open, rewards: Mapping[int, float]
    ) -> list[tuple[int, int, float, float]]:
        if not isinstance(rewards, Mapping):
            raise ObservationError(f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward")
        propensity = dict(zip(entry.revealed.tolist(), entry.propensities.tolist(), strict=True))
        news: dict[int, tuple[int, int, float, float]] = {}
        for key, value in rewards.items():
            arm = _index(key)
            if arm is None:
                raise ObservationError(f"arm is {key!r}; expected a whole number")
            if arm not in propensity:
                shown = ", ".join(map(str, sorted(propensity)[:12])) + (", ..." if len(propensity) > 12 else "")
                raise ObservationError(f"decision {number} did not reveal arm {arm}; expected some of {shown}")
            if arm in entry.seen or arm in news:
                raise ObservationError(f"the reward of arm {arm} of decision {number} was given already")
            news[arm] = (number, arm, _reward(number, arm, value), propensity[arm])
        self._learner.check_rewards(np.array([reward for _, _, reward, _ in news.values()], dtype=np.float64))
        return list(news.values())


def _may_reveal(
    graphs: FeedbackGraphs | ProbabilisticGraphs | None, decisions: Decisions
) -> Bool[np.ndarray, "n arms"]:
    """Of which arms rewards may come: those revealed, or, where that is not known yet, all that may have been."""
    if isinstance(graphs, FeedbackGraphs):
        return graphs._revealed(decisions.action)
    likely = decisions.observation_probabilities > 0.0
    return likely if graphs is None else likely & (graphs.stored[graphs.index, decisions.action] > 0.0)


def _id_of(decision: Decision | SupportsIndex) -> int:
    number = decision.id if isinstance(decision, Decision) else _index(decision)
    if number is None:
        raise UnknownDecisionError(f"decision is {decision!r}; expected a Decision or its id, a whole number")
    return number


def _index(value: object) -> int | None:
    """`value` as a whole number, None if it is none."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _reward(number: int, arm: int, value: Any) -> float:
    try:
        reward = math.nan if isinstance(value, str | bytes) or np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        reward = math.nan
    if not abs(reward) <= LARGEST:
        raise ObservationError(
            f"the reward of arm {arm} of decision {number} is {reprlib.repr(value)}; "
            f"expected a finite number up to {LARGEST:g} in size"
        )
    return reward


def _columns(prefix: str, rows: list[_Played]) -> dict[str, Any]:
    """Rounds as arrays that a file can hold."""
    return {
        f"{prefix}contexts": np.stack([row.context for row in rows]) if rows else np.empty((0,)),
        f"{prefix}actions": np.array([row.action for row in rows], dtype=np.int64),
        f"{prefix}notes": np.stack([row.notes for row in rows]) if rows else np.empty((0, 0)),
    }


def _rows(saved: dict[str, Any], prefix: str) -> list[_Played]:
    """What `_columns` made arrays of."""
    contexts, notes = (contexts_array(saved[f"{prefix}{name}"]) for name in ("contexts", "notes"))
    if notes.ndim != 2:
        raise ValueError("its notes are no rows")
    return [
        _Played(context, int(action), note)
        for context, action, note in zip(contexts, saved[f"{prefix}actions"], notes, strict=True)
    ]


def _mask(arms: Int[np.ndarray, " some"], n_arms: int) -> Bool[np.ndarray, " arms"]:
    mask = np.zeros(n_arms, dtype=np.bool_)
    mask[arms] = True
    return mask
