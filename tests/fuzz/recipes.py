"""Arguments for any public function, from its annotations: one recipe a type. What has none fails a test."""

import collections.abc
import dataclasses
import inspect
import tempfile
import types
import typing
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

import graphbandit as gb
from graphbandit import environments, planning
from graphbandit.base.arm_names import ArmNames
from graphbandit.base.shapes import array_shape
from graphbandit.environments import Environment, Instance
from graphbandit.errors import GraphBanditError
from graphbandit.features import Encoder
from graphbandit.function_classes import Draws, FunctionClass
from graphbandit.graphs.sources import GraphSource
from graphbandit.learners import Learner
from graphbandit.learners.epochs.base import EndedEpoch
from graphbandit.learners.loop import Loop
from graphbandit.learners.snapshot import Snapshot
from graphbandit.rounds.shown import Shown
from tests.fuzz.subjects import CLASSES, LEARNERS, SLOW, D, Subject, drawn_learner, fits, subject
from tests.learners.playing import observed

N = 3
"""Rounds of a batch."""


class NoRecipe(Exception):  # noqa: N818
    """An annotation for which nobody has said how to make a value."""


class World:
    """Values that fit each other, from a learner that has played a little: its state, data, model, graphs, decisions.

    - `rng`: what everything is drawn from.
    - `kind`: a learner or function class that must be in it, if any.
    """

    def __init__(self, rng: np.random.Generator, kind: type | None = None) -> None:
        self.rng = rng
        self.subject = self._subject(kind)
        self.n_arms = self.subject.problem.n_arms
        self.graph = gb.graphs.erdos_renyi(self.n_arms, 0.4, rng=rng)
        self.bandit = self.subject.bandit(graph=self.graph)
        self.sizes = {
            "arms": self.n_arms, "n": N, "rounds": N, "functions": 5, "d": D, "draws": 4, "words": 1, "stored": 2,
            "observed": 4, "pairs": 4, "new": 4, "1": 1, "2": 2, "notes": 0, "rewards": 4, "awaited": 2,
        }  # fmt: skip
        for _ in range(int(rng.integers(1, 9))):
            decision = self.bandit.decide(self.contexts[0])
            self.bandit.observe(decision, {int(a): float(rng.random()) for a in decision.revealed})
        self.decision = self.bandit.decide(self.contexts[0])
        self.loop: Loop = self.bandit._settled()
        self.functions = self.subject.problem.function_class
        self.data: Any = getattr(self.loop.state, "data", None)
        self.model: Any = getattr(self.loop.state, "model", None)
        if self.functions is not None:
            data = self.functions.add(self.functions.empty(), self.observations)
            self.data, self.model = data, self.functions.fit(data)
            self.space = self.functions.version_space(data, float(rng.choice([0.0, 1.0, np.inf])))
            self.drawn: Draws | None = self.functions.draws(data, noise=0.5, count=4, rng=rng)

    def _subject(self, kind: type | None) -> Subject:
        quick = [one for one in CLASSES if one.__name__ not in SLOW]
        for _ in range(50):
            if kind is not None and issubclass(kind, FunctionClass):
                one = subject(gb.Greedy, kind, self.rng)
            else:
                learner = kind if kind is not None and kind in LEARNERS else LEARNERS[self.rng.integers(len(LEARNERS))]
                one = subject(learner, quick[self.rng.integers(len(quick))], self.rng)
            if fits(one):
                return one
        return subject(gb.Greedy, gb.LinearClass, self.rng)

    @property
    def contexts(self) -> np.ndarray:
        """Contexts of a batch."""
        return self.subject.contexts(self.rng, N, self.n_arms)

    @property
    def graphs(self) -> gb.FeedbackGraphs:
        """A graph for each of its rounds."""
        return gb.FeedbackGraphs.repeat(self.graph, N)

    @property
    def shown(self) -> Shown:
        """The batch."""
        return Shown(self.contexts, self.graphs, None)

    @property
    def observations(self) -> gb.Observations:
        """What was seen of it."""
        rounds = self.loop.learnt if hasattr(self, "loop") else 0
        decisions = self.loop.learner.chosen(self.loop.problem, self.loop.state, self.shown, self.rng)
        contexts, revealed = self.contexts, self.graphs.revealed(decisions.action)
        return observed(contexts, revealed, self.rng.random((N, self.n_arms)), decisions, rounds)

    def environment(self) -> Environment:
        """Some environment."""
        made = (
            lambda: environments.paper(n_arms=self.n_arms, graph="random", n_functions=4, dimension=2),
            lambda: environments.linear(n_arms=self.n_arms, dimension=2, graph="star"),
            lambda: environments.arms(n_arms=max(self.n_arms, 3), case="needle", gap=0.3),
        )
        return made[self.rng.integers(3)]()


def edges_file() -> str:
    """A small network in a file."""
    path = Path(tempfile.gettempdir()) / "graphbandit-fuzz-edges.csv"
    if not path.exists():
        path.write_text("a,b\n" + "".join(f"{i},{(7 * i + 1) % 40}\n" for i in range(1, 40)))
    return str(path)


Recipe = collections.abc.Callable[[World], Any]

RECIPES: dict[Any, Recipe] = {
    gb.Problem: lambda w: w.subject.problem,
    gb.Bandit: lambda w: w.bandit,
    gb.Decision: lambda w: w.decision,
    gb.Decisions: lambda w: w.decision.batch,
    gb.Observations: lambda w: w.observations,
    gb.FeedbackGraph: lambda w: w.graph,
    gb.FeedbackGraphs: lambda w: w.graphs,
    gb.ProbabilisticGraph: lambda w: gb.ProbabilisticGraph(w.rng.uniform(0.1, 1, (w.n_arms, w.n_arms))),
    gb.ProbabilisticGraphs: lambda w: gb.ProbabilisticGraphs.from_graphs(w.graphs),
    gb.graphs.Network: lambda w: gb.graphs.Network.from_edges([(i, (7 * i + 1) % 40) for i in range(1, 40)]),
    gb.graphs.NetworkSource: lambda w: gb.graphs.NetworkSource(n_arms=w.n_arms, file=edges_file(), count=2),
    Shown: lambda w: w.shown,
    Snapshot: lambda w: w.loop.snapshot(),
    Loop: lambda w: w.loop,
    np.random.Generator: lambda w: w.rng,
    planning.Effort: lambda w: planning.Effort(),
    ArmNames: lambda w: ArmNames.of([f"arm {i}" for i in range(w.n_arms)]),
    Environment: World.environment,
    Instance: lambda w: w.environment().instance(0),
    environments.Rounds: lambda w: w.environment().instance(0).rounds(0, N),
    GraphSource: lambda w: gb.graphs.sources.graph_source("star", w.n_arms),
    EndedEpoch: lambda w: EndedEpoch(w.observations, N, w.data, w.data, w.observations),
    Draws: lambda w: w.drawn,
    Encoder: lambda w: gb.Features({"age": "number"}),
    slice: lambda w: slice(0, int(w.rng.integers(1, N))),
    types.NoneType: lambda w: None,
    bool: lambda w: bool(w.rng.integers(2)),
    str: lambda w: "text",
    type: lambda w: gb.Problem,
}
"""How to make a value of a type, and of those below it."""

BY_NAME: dict[str, Recipe] = {
    "contexts": lambda w: w.contexts,
    "context": lambda w: w.contexts[0],
    "rewards": lambda w: {int(a): 0.5 for a in w.decision.revealed},
    "available": lambda w: np.ones(w.n_arms, dtype=bool),
    "candidates": lambda w: w.rng.random(w.n_arms) < 0.7,
    "gaps": lambda w: _gaps(w, w.n_arms),
    "baseline": lambda w: np.full(w.n_arms, 1 / w.n_arms),
    "probabilities": lambda w: np.full((N, w.n_arms), 1 / w.n_arms),
    "losses": lambda w: w.rng.random(w.n_arms),
    "demand": lambda w: np.full(w.n_arms, 0.1 / w.n_arms),
    "weights": lambda w: np.full(w.n_arms, 1 / w.n_arms),
    "matrix": lambda w: np.eye(w.n_arms) > 0,
    "edges": lambda w: [(0, 1), (1, 0)],
    "actions": lambda w: w.rng.integers(w.n_arms, size=N),
    "function": lambda w: getattr(w.functions, "_function", None),
    "networks": lambda w: getattr(w.functions, "_networks", None),
    "n_arms": lambda w: w.n_arms,
    "best": lambda w: int(w.rng.integers(w.n_arms)),
    "decision": lambda w: w.decision,
    "decisions": lambda w: [w.bandit.decider().decide(w.contexts[0])],
    "path": lambda w: "no-such-file.gb",
    "file": lambda w: "no-such-file.csv",
    "folder": lambda w: "no-such-folder",
    "delta": lambda w: 0.1,
    "probability": lambda w: 0.3,
    "density": lambda w: 0.2,
}
"""For arguments that take anything, or any array, by what they are called."""


def _gaps(world: World, n: int) -> np.ndarray:
    values = world.rng.random(n)
    return np.asarray(values - values.min())


def arguments(function: Any, world: World) -> dict[str, Any]:
    """Arguments for all parameters that need one, and for some that do not."""
    hints, given = hints_of(function), {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is not parameter.empty and world.rng.random() < 0.5:
            continue
        given[name] = value(hints.get(name, Any), name, world, f"{function.__qualname__}({name})")
    return given


def hints_of(function: Any) -> dict[str, Any]:
    """The annotations of a function or of a class's constructor."""
    target = function.__init__ if inspect.isclass(function) else inspect.unwrap(function)
    names: dict[str, Any] = dict.fromkeys(("torch", "pa", "Figure", "Axes", "TransformerFeatures", "Progress"), Any)
    names["torch"] = types.SimpleNamespace(nn=types.SimpleNamespace(Module=object))
    if (
        inspect.isclass(function)
        and dataclasses.is_dataclass(function)
        and "__init__" not in vars(function).get("__annotations__", {})
    ):
        own = typing.get_type_hints(function, include_extras=True, localns=names)
        try:
            return {**own, **typing.get_type_hints(target, include_extras=True, localns=names)}
        except NameError:
            return own
    return typing.get_type_hints(target, include_extras=True, localns=names)


def value(hint: Any, name: str, world: World, where: str) -> Any:
    """A value for an annotation."""
    rng = world.rng
    shape = array_shape(hint)
    if shape is not None:
        return array(*shape, name, world)
    origin, options = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        return value(options[0], name, world, where)
    if "_SupportsArray" in repr(hint) or hint is np.ndarray:
        return BY_NAME.get(name, lambda w: w.rng.random(w.n_arms))(world)
    if origin in (Union, types.UnionType):
        return value(options[rng.integers(len(options))], name, world, where)
    if origin is Literal:
        return options[rng.integers(len(options))]
    if isinstance(hint, TypeVar):
        known = {
            "State": world.loop.state,
            "Data": world.data,
            "Model": world.model,
            "Space": getattr(world, "space", None),
        }
        return known.get(hint.__name__, 0.5 if rng.random() < 0.5 else rng.random(3))
    if hint is int or hint is typing.SupportsIndex:
        return BY_NAME[name](world) if name in ("n_arms", "best") else int(rng.integers(1, 4))
    if hint is float:
        return (
            float(BY_NAME[name](world)) if name in ("delta", "probability", "density") else float(rng.uniform(0.1, 2.0))
        )
    if hint in (Any, object, inspect.Parameter.empty):
        return BY_NAME.get(name, lambda w: w.contexts)(world)
    return _of_type(hint, origin, options, name, world, where)


def _of_type(hint: Any, origin: Any, options: tuple[Any, ...], name: str, world: World, where: str) -> Any:
    kind = origin or hint
    if kind in (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection):
        if kind is tuple and options and options[-1] is not ...:
            return tuple(value(option, name, world, where) for option in options)
        item = options[0] if options else Any
        return [value(item, name, world, where) for _ in range(world.n_arms if item is str else 2)]
    if kind in (dict, collections.abc.Mapping):
        return {"a": value(options[1], name, world, where)} if options else {}
    if kind is collections.abc.Callable:
        return BY_NAME["function"](world) if name == "function" else lambda *_: 0.5
    if isinstance(kind, type):
        if kind in RECIPES:
            return RECIPES[kind](world)
        if kind is Path or "PathLike" in repr(kind):
            return "no-such-file"
        found = _lying_about(kind, world)
        if found is not None:
            return found
        if issubclass(kind, Learner):
            return drawn_learner(kind, world.rng) if kind in LEARNERS else world.subject.learner
        if issubclass(kind, FunctionClass):
            return world.functions
        if kind.__module__.startswith("graphbandit"):
            return instance(kind, world)
    raise NoRecipe(f"{where}: {hint}; expected a recipe for it in tests/fuzz/recipes.py")


def _lying_about(kind: type, world: World) -> Any:
    """Something of this type in the state of the learner that has played."""
    if getattr(kind, "_is_protocol", False):
        return None
    seen = [
        world.loop.state,
        world.data,
        world.model,
        getattr(world, "space", None),
        world.decision.batch,
        world.drawn if world.functions is not None else None,
    ]
    for one in seen:
        if isinstance(one, kind):
            return one
        for field in dataclasses.fields(one) if dataclasses.is_dataclass(one) else ():
            if isinstance(getattr(one, field.name, None), kind):
                return getattr(one, field.name)
    return None


def instance(kind: type, world: World) -> Any:
    """An instance of a class of the package: one that is there, or one made from its annotations."""
    if kind in RECIPES:
        return RECIPES[kind](world)
    if issubclass(kind, Learner) and kind in LEARNERS:
        return world.subject.learner if type(world.subject.learner) is kind else drawn_learner(kind, world.rng)
    if issubclass(kind, FunctionClass) and type(world.functions) is kind:
        return world.functions
    found = _lying_about(kind, world)
    if found is not None:
        return found
    if issubclass(kind, Environment):
        tried = (world.environment() for _ in range(20))
        found = next((one for one in tried if isinstance(one, kind)), None)
        if found is not None:
            return found
    for _ in range(5):
        try:
            return kind(**arguments(kind, world))
        except (GraphBanditError, TypeError, ValueError, AttributeError, IndexError):
            continue
    return None


def array(kind: str, axes: str, name: str, world: World) -> np.ndarray:
    """An array as it is declared, by its axes; what it holds follows from its name."""
    names = axes.split()
    if names == ["n", "..."]:
        return world.contexts
    lengths = tuple(1 if one in ("...", "_") else world.sizes.get(one.lstrip("*"), 2) for one in names)
    rng = world.rng
    if name in BY_NAME and kind in ("Float", "Bool", "Shaped"):
        made = np.asarray(BY_NAME[name](world))
        if made.shape == lengths:
            return made
    if kind == "Bool":
        return np.asarray(rng.random(lengths) < 0.7)
    if kind in ("Int", "Int32", "Int64"):
        return rng.integers(world.n_arms, size=lengths).astype(np.int32 if kind == "Int32" else np.int64)
    if kind in ("UInt8", "UInt64"):
        return rng.integers(200, size=lengths).astype(kind.lower())
    return rng.random(lengths)
