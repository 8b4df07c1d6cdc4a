"""Where the service meets the library: a bandit's learner, its decisions, its state and its snapshots."""

import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import msgspec
import numpy as np

from graphbandit import function_classes, learners
from graphbandit.bandit.decider import uniform
from graphbandit.bandit.decision_builder import may_reveal
from graphbandit.bandit.given_arms import stacked_masks
from graphbandit.bandit.given_graphs import Graph, graph_batch
from graphbandit.base import saved_files
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.base.similar_names import expected
from graphbandit.errors import ConfigurationError, GraphBanditError, InputError, SavedFileError
from graphbandit.features import Features, Tally
from graphbandit.graphs import FeedbackGraph, ProbabilisticGraph
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.learners.problem import Problem
from graphbandit.learners.savable_classes import load_savable_classes
from graphbandit.learners.snapshot import Snapshot as LearnerSnapshot
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.encoding import Declared, Hashed, declared
from graphbandit.service.graphs import BanditGraphs
from graphbandit.service.json_logging import learning
from graphbandit.service.messages import some
from graphbandit.service.rows import DecisionBody


@dataclass(frozen=True)
class Snapshot:
    """What a learner knows, and the hash that names it.

    `position`: rows of the log up to here have been read. `learnt`: decisions that started up to here are in `state`.
    """

    hash: str
    state: Any
    position: int
    learnt: int
    rounds: int


@dataclass(frozen=True)
class Asked:
    """A request for one decision, checked and encoded."""

    key: str
    context: Float[np.ndarray, "..."]
    graph: Graph
    available: Bool[np.ndarray, " slots"] | None
    names: tuple[str, ...]
    tally: Tally


@dataclass(frozen=True)
class Decided:
    """One decision, the row of a batch of them, and the slots of the arms whose rewards may come."""

    batch: Decisions
    row: int
    revealed: Int[np.ndarray, " revealed"]


class Core:
    """A bandit's settings made into the library's objects. It holds no state: every method is a function."""

    def __init__(self, name: str, settings: BanditSettings) -> None:
        self.name, self.settings = name, settings
        self.slots = settings.slots
        self.slot = {arm: i for i, arm in enumerate(settings.names)}
        self._features = self._declared("features")
        self._known = frozenset(self._features.column_names)
        self._own: Hashed | Declared | None = None
        if settings.own_arms and not settings.arm_features:
            self._own = Hashed(settings.hashed or 64, self.slots)
        offered = self._mask([i for arm, i in self.slot.items() if arm not in settings.retired])
        self._offered = None if offered.all() else offered  # by default; None: all slots are
        self.learner = self._learner()
        if settings.own_arms and not self.learner.takes_own_arms:
            known = type(self.learner).__name__
            why = f'is {known}, which knows arms by their numbers; expected one as IDSG, as arms = "request"'
            raise ConfigurationError(f"bandits.{name}.learner", why)
        if settings.half_life is not None and not self.learner.forgets:
            why = f"is {settings.half_life:g}, but {type(self.learner).__name__} does not forget; expected none"
            raise ConfigurationError(f"bandits.{name}.half_life", why)
        self.problem = self._problem()
        if settings.arm_features:
            shape = self.problem.function_class
            assert isinstance(shape, function_classes.LinearClass | function_classes.GeneralizedLinearClass)
            self._own = Declared(self.problem, shape.dimension)
        self._graphs = BanditGraphs(name, settings, plans_with_probabilities=self.learner.plans_with_probabilities)
        try:
            self._empty = self.learner.init(self.problem)
        except GraphBanditError as error:
            raise ConfigurationError(f"bandits.{name}.learner", str(error)) from None

    # what a bandit is made of

    def _learner(self) -> Learner[Any]:
        field = f"bandits.{self.name}.learner"
        given = self.settings.learner
        table = {"kind": given} if isinstance(given, str) else dict(given)
        kind = getattr(learners, str(table.pop("kind", "")), None)
        if not (isinstance(kind, type) and issubclass(kind, Learner)) or kind is Learner:
            known = {n: getattr(learners, n) for n in learners.__all__ if isinstance(getattr(learners, n), type)}
            names = [n for n, found in known.items() if issubclass(found, Learner) and not inspect.isabstract(found)]
            raise ConfigurationError(field, f"is {given!r}; {expected(str(given), names)}")
        _check_settings(field, kind, table)
        try:
            learner: Learner[Any] = kind(**table)
        except (GraphBanditError, TypeError) as error:
            raise ConfigurationError(field, str(error)) from None
        return learner

    def _declared(self, setting: Literal["features", "arm_features"]) -> Features:
        try:
            return declared(getattr(self.settings, setting))
        except GraphBanditError as error:
            raise ConfigurationError(f"bandits.{self.name}.{setting}", str(error)) from None

    def _problem(self) -> Problem:
        settings, field = self.settings, f"bandits.{self.name}.function_class"
        given = settings.function_class
        table = {"kind": given} if isinstance(given, str) else dict(given)
        kind = table.pop("kind", None)
        if kind not in ("linear", "logistic"):
            raise ConfigurationError(field, f'is {given!r}; expected "linear" or "logistic"')
        shape: Any = function_classes.LinearClass if kind == "linear" else function_classes.GeneralizedLinearClass
        ours = {"n_arms", "dimension", *(["link"] if kind == "logistic" else [])}
        if not (settings.own_arms or settings.arm_features):
            ours.add("parameters")  # the service says which
        _check_settings(field, shape, table, ours)
        known: dict[str, Any] = {name: getattr(settings, name) for name in ("noise", "half_life", "longest_epoch")}
        arm_features = self._declared("arm_features") if settings.arm_features else None
        try:
            make = partial(shape, **table) if kind == "linear" else partial(shape, link=kind, **table)
            if arm_features is not None:
                return Problem(
                    capacity=self.slots,
                    features=self._features,
                    arm_features=arm_features,
                    function_class=make,
                    **known,
                )
            if self._own is None:
                functions = make(n_arms=self.slots, dimension=self._features.size, parameters="per-arm")
            else:
                functions = make(n_arms=self.slots, dimension=self._own.size)
            return Problem(n_arms=self.slots, function_class=functions, **known)
        except (GraphBanditError, TypeError) as error:
            raise ConfigurationError(field, str(error)) from None

    def _mask(
        self, slots: list[int] | slice, offered: Bool[np.ndarray, " slots"] | None = None
    ) -> Bool[np.ndarray, " slots"]:
        """The mask of these slots, without those that are not on offer."""
        mask = np.zeros(self.slots, dtype=np.bool_)
        mask[slots] = True
        return mask if offered is None else mask & offered

    # from a request to what is asked

    def asked(
        self,
        key: str,
        context: Any,
        arms: Sequence[tuple[str, Any]] | None,
        graph: Any,
        available: Sequence[str] | None,
    ) -> Asked:
        """Check and encode one request; errors say what is wrong with it."""
        if self._own is None:
            if arms is not None:
                raise FieldError("arms", 'came with the request; expected arms only where arms = "request"')
            names, place, offered = self.settings.names, self.slot, self._offered
            encoded, tally = _named("context", self._encode, context)
        else:
            if not arms:
                raise FieldError("arms", 'is missing; expected arms in every request, as arms = "request"')
            names = tuple(name for name, _ in arms)
            if len(set(names)) < len(names):
                raise FieldError("arms", "has a name twice; expected different names")
            if len(names) > self.slots:
                raise FieldError("arms", f"has {len(names)} arms; expected at most {self.slots}, the capacity")
            place = {name: i for i, name in enumerate(names)}
            rows, of_arms = _named("arms", self._own.rows, [features for _, features in arms])
            encoded, tally = _named("context", self._own.paired, context, rows)
            tally = of_arms + tally
            offered = self._mask(slice(len(names)))
        mask = offered
        if available is not None:
            for arm in available:
                if arm not in place:
                    raise FieldError("available", f"has {arm!r}, which is not an arm; expected some of {some(names)}")
            mask = self._mask([place[arm] for arm in available], offered)
            if not mask.any():
                raise FieldError("available", "leaves no arm to play; expected one that is not retired")
        return Asked(key, encoded, _named("graph", self._graphs.asked, graph, names), mask, names, tally)

    def asked_before(self, key: str, body: DecisionBody) -> Asked:
        """The request behind a logged decision."""
        features = None if body.arm_features is None else msgspec.json.decode(body.arm_features)
        arms = None if body.arms is None else list(zip(body.arms, features or [], strict=True))
        graph = None if body.graph is None else msgspec.json.decode(body.graph)
        return self.asked(key, msgspec.json.decode(body.context), arms, graph, body.available)

    def offered_before(self, body: DecisionBody) -> Bool[np.ndarray, " slots"] | None:
        """Which arms a logged decision could play; None if all."""
        offered = self._offered if body.arms is None else self._mask(slice(len(body.arms)))
        if body.available is None:
            return offered
        place = self.slot if body.arms is None else {name: i for i, name in enumerate(body.arms)}
        return self._mask([place[arm] for arm in body.available], offered)

    def encode(self, context: Any, features: Sequence[Any] | None) -> Float[np.ndarray, "..."]:
        """The context of a logged decision as an array."""
        if self._own is not None:
            return self._own.paired(context, self._own.rows(features or [])[0])[0]  # type: ignore[arg-type]
        return self._encode(context)[0]

    def _encode(self, context: Any) -> tuple[Float[np.ndarray, " d"], Tally]:
        if not isinstance(context, dict):
            raise InputError(f"the context is {type(context).__name__}; expected an object")
        if not context.keys() <= self._known:
            unknown = next(column for column in context if column not in self._known)
            expected = ", ".join(map(repr, self._features.column_names)) or "none, as no features are declared"
            raise InputError(f"it has {unknown!r}, which is not a feature; expected {expected}")
        return self._features.encode_counted(context)

    # deciding

    def decide(self, snapshot: Snapshot, asked: Sequence[Asked]) -> list[Decided]:
        """Decide each as if it were alone: the draw depends on the snapshot and the key, the rest on the state."""
        made: dict[int, Decided] = {}
        for kind in (FeedbackGraph, ProbabilisticGraph):
            rows = [i for i, one in enumerate(asked) if isinstance(one.graph, kind)]
            if rows:
                made.update(zip(rows, self._decide(snapshot, [asked[i] for i in rows]), strict=True))
        return [made[i] for i in range(len(asked))]

    def _decide(self, snapshot: Snapshot, asked: Sequence[Asked]) -> list[Decided]:
        contexts = np.stack([one.context for one in asked])
        graphs = graph_batch([one.graph for one in asked])
        masks = stacked_masks([one.available for one in asked], self.slots)
        draws = np.array([uniform(snapshot.hash, one.key) for one in asked])
        frozen = LearnerSnapshot(
            learner=self.learner, problem=self.problem, state=snapshot.state, learnt=snapshot.rounds
        )
        decisions = frozen.decide(Shown(contexts, graphs, masks), draws)
        return [Decided(decisions, i, revealed) for i, revealed in enumerate(may_reveal(graphs, decisions))]

    def best(self, state: Any, contexts: Sequence[Float[np.ndarray, "..."]]) -> Int[np.ndarray, " n"]:
        """The slot of the arm that a state thinks best in each context; not for arms that come with the request."""
        graph, names = self._graphs.asked(None, self.settings.names), self.settings.names
        asked = [Asked("", context, graph, self._offered, names, Tally()) for context in contexts]
        return np.array([made.batch.best[made.row] for made in self.decide(Snapshot("", state, 0, 0, 0), asked)])

    # learning

    def initial(self) -> Snapshot:
        """What is known before the first row of the log."""
        return self.named(Snapshot("", self._empty, 0, 0, 0))[0]

    @property
    def context_shape(self) -> tuple[int, ...]:
        """The shape of an encoded context."""
        return (self._features.size,) if self._own is None else (self.slots, self._own.size)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the numbers of an encoded context are."""
        return self._features.feature_names

    def loop(self, snapshot: Snapshot) -> Loop:
        """The loop that goes on from a snapshot."""
        return Loop.resumed(self.learner, self.problem, snapshot.state, learnt=snapshot.rounds)

    def learnt(self, loop: Loop, played: Played, late: Sequence[Played], news: News) -> Loop:
        """The loop after the rounds of an epoch. If the learner cannot fit, its next fit uses their data."""
        with learning(self.name, self.settings.names):
            return Loop.resumed(
                self.learner,
                self.problem,
                loop.state,
                learnt=loop.rounds,
                waiting=[played],
                news=[news],
                late=late,
                postponed=loop.postponed,
            ).ready()

    def check_rewards(self, rewards: Sequence[float]) -> None:
        """Raise ObservationError at a reward that the learner cannot take."""
        self.learner.check_rewards(np.array(rewards, dtype=np.float64))

    # snapshots

    def named(self, snapshot: Snapshot) -> tuple[Snapshot, bytes]:
        """The snapshot with its name, and its bytes: the saved-file format, named by SHA-256."""
        content = {name: getattr(snapshot, name) for name in ("state", "position", "learnt", "rounds")}
        data = saved_files.to_bytes("snapshot", {"bandit": self.name, **content})
        return Snapshot(hashlib.sha256(data).hexdigest(), **content), data

    def restore(self, data: bytes, name: str) -> Snapshot:
        """The snapshot of this name, saved as these bytes; SavedFileError if they have changed."""

        def replace(description: dict[str, Any]) -> Any:
            raise SavedFileError(f"the snapshot holds {description}, which a file cannot hold")

        load_savable_classes()
        found = hashlib.sha256(data).hexdigest()
        if found != name:
            raise SavedFileError(f"the snapshot {name[:12]} has the SHA-256 {found[:12]}; expected its own name")
        saved = saved_files.from_bytes(data, "snapshot", replace)
        if saved.get("bandit") != self.name:
            raise SavedFileError(f"the snapshot is of {saved.get('bandit')!r}; expected {self.name!r}")
        return Snapshot(name, saved["state"], saved["position"], saved["learnt"], saved["rounds"])


class FieldError(InputError):
    """A field of a request is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _check_settings(field: str, kind: type, table: Mapping[str, Any], ours: Collection[str] = ()) -> None:
    """Raise ConfigurationError at a setting that this learner or class does not have, or that the service sets."""
    known = [name for name in inspect.signature(kind).parameters if name not in ours]
    for name in table:
        if name in ours:
            can = ", ".join(map(repr, known))
            raise ConfigurationError(f"{field}.{name}", f"follows from the rest of the configuration; expected {can}")
        if name not in known:
            raise ConfigurationError(f"{field}.{name}", f"is not known; {expected(name, known)}")


def _named(field: str, encode: Callable[..., Any], *values: Any) -> Any:
    """What the function makes of a field's values; its errors name the field."""
    try:
        return encode(*values)
    except FieldError:
        raise
    except (GraphBanditError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FieldError(field, str(error)) from None
