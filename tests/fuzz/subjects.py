"""Who is tried: every learner with every function class, found by looking, with settings drawn at random."""

import dataclasses
import inspect
import math
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

import numpy as np

import graphbandit as gb
from graphbandit import function_classes, learners
from graphbandit.errors import GraphBanditError, InputError, SettingError
from graphbandit.function_classes import FunctionClass
from graphbandit.learners import Learner
from tests.fuzz.driver import Case, Refused

D = 3
FUNCTIONS = 5


def concrete(base: type, module: Any) -> list[type]:
    """The public classes of a room that can be made, below this one."""
    found = [getattr(module, name) for name in module.__all__]
    return [one for one in found if inspect.isclass(one) and issubclass(one, base) and not inspect.isabstract(one)]


LEARNERS = [one for one in concrete(Learner, learners) if one is not Learner]
CLASSES = [one for one in concrete(FunctionClass, function_classes) if one is not FunctionClass]


# Function classes

Made = tuple[Any, tuple[int, ...]]
"""A function class, and the shape of its contexts."""


def grid(contexts: np.ndarray) -> np.ndarray:
    """The functions of the finite class, of four arms."""
    if contexts.shape[1:] != (D,):
        raise InputError(f"the context has shape {contexts.shape[1:]}; expected ({D},)")
    weights = np.linspace(-1, 1, D * FUNCTIONS * 4).reshape(D, FUNCTIONS * 4)
    # a matrix product would sum in an order that depends on the number of rows
    scaled = np.tanh((contexts[:, :, None] * weights).sum(axis=1))
    return scaled.reshape(len(contexts), FUNCTIONS, 4)


def module() -> Any:
    """A small network of four arms."""
    import torch

    return torch.nn.Sequential(torch.nn.Linear(D, 7), torch.nn.Tanh(), torch.nn.Linear(7, 4))


def _sizes(rng: np.random.Generator, n_arms: int) -> dict[str, Any]:
    """Where parameters are, as a class of linear functions takes it."""
    kind = rng.integers(3)
    if kind == 0:
        return {"parameters": "shared"}
    if kind == 1:
        return {"parameters": "per-arm"}
    return {"arm_features": rng.normal(size=(n_arms, 2)) / 2}


def _linear(kind: Any, drawn: Callable[[np.random.Generator], dict[str, Any]]) -> Callable[..., Made]:
    """How to make a class of linear functions, with settings drawn after the places of its parameters."""

    def made(rng: np.random.Generator, n_arms: int) -> Made:
        settings = _sizes(rng, n_arms)
        shape = (n_arms, D) if settings.get("parameters") == "shared" else (D,)
        return kind(n_arms=n_arms, dimension=D, **drawn(rng), **settings), shape

    return made


def _bilinear(rng: np.random.Generator, n_arms: int) -> Made:
    x0, a0 = rng.normal(size=(2, FUNCTIONS, D))
    return function_classes.BilinearClass(x0=x0, a0=a0, arms=rng.normal(size=(n_arms, D))), (D,)


def _regressor(rng: np.random.Generator, n_arms: int) -> Made:
    from sklearn.linear_model import Ridge

    resampling = str(rng.choice(["bootstrap", "perturbed"]))
    settings = {"arm_contexts": True} if rng.random() < 0.3 else {"per_arm": bool(rng.integers(2))}
    made = gb.RegressorClass(Ridge(1.0), n_arms=n_arms, dimension=D, members=3, resampling=resampling, **settings)
    return made, (n_arms, D) if "arm_contexts" in settings else (D,)


def _reduction(rng: np.random.Generator, n_arms: int) -> Made:
    from sklearn.linear_model import Ridge

    settings: dict[str, Any] = {"members": 3, "entropy": 2.0, "tolerance": 0.2}
    return function_classes.ReductionClass(Ridge(1.0), n_arms=n_arms, dimension=D, **settings), (D,)


def _torch() -> Any:
    return gb.TorchClass(module, n_arms=4, dimension=D, members=2, passes=3)


RECIPES: dict[str, Callable[[np.random.Generator, int], Made]] = {
    "BilinearClass": _bilinear,
    "FiniteClass": lambda rng, n_arms: (gb.FiniteClass(grid, n_functions=FUNCTIONS, n_arms=4), (D,)),
    "GeneralizedLinearClass": _linear(
        gb.GeneralizedLinearClass, lambda rng: {"link": str(rng.choice(["identity", "logistic", "poisson"]))}
    ),
    "KernelClass": _linear(
        gb.KernelClass,
        lambda rng: {"n_features": 8, "kernel": str(rng.choice(["rbf", "laplacian", "matern-3/2", "matern-5/2"]))},
    ),
    "LastLayerClass": lambda rng, n_arms: (function_classes.LastLayerClass(_torch()), (D,)),
    "LinearClass": _linear(gb.LinearClass, lambda rng: {"intercept": bool(rng.integers(2))}),
    "ReductionClass": _reduction,
    "RegressorClass": _regressor,
    "TorchClass": lambda rng, n_arms: (_torch(), (D,)),
}
"""How to make each function class; a test fails where one is missing."""

FOUR_ARMS = ("FiniteClass", "LastLayerClass", "TorchClass")
SLOW = ("LastLayerClass", "ReductionClass", "RegressorClass", "TorchClass")


# Learners


def drawn_learner(kind: type, rng: np.random.Generator) -> Learner[Any]:
    """A learner with settings drawn from what its fields say; the defaults where they do not go together."""
    needed = _needed(kind, rng)
    given = dict(needed)
    for one in dataclasses.fields(kind):
        if not one.init or one.name in given or rng.random() < 0.5:
            continue
        choice = _setting(one, rng)
        if choice is not None:
            given[one.name] = choice
    try:
        return kind(**given)
    except SettingError:
        return kind(**needed)


def _needed(kind: type, rng: np.random.Generator) -> dict[str, Any]:
    """Settings that keep it quick, or that it cannot do without."""
    names = {one.name for one in dataclasses.fields(kind)}
    given: dict[str, Any] = {"draws": 12} if "draws" in names else {}
    if kind is learners.ExploreThenCommit:
        given["explore_rounds"] = int(rng.integers(1, 12))
    if kind is learners.LateGraph:
        given["learner"] = gb.IDSG(draws=12) if rng.random() < 0.5 else gb.AdaCBG()
    return given


def _setting(one: "dataclasses.Field[Any]", rng: np.random.Generator) -> Any:
    """Another value for a field: a word of its Literal, the other truth value, a number near the default."""
    options = [one.type, *get_args(one.type)]
    words = [word for option in options if get_origin(option) is Literal for word in get_args(option)]
    if words and rng.random() < 0.8:
        return words[rng.integers(len(words))]
    if isinstance(one.default, bool):
        return not one.default
    if isinstance(one.default, float) and one.name not in ("low", "high"):
        return float(one.default * rng.choice([0.5, 1.5]))
    return None


# Pairs


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """A learner on a problem, the shape of its contexts, and the function class that a file cannot hold, if any."""

    learner: Learner[Any]
    problem: gb.Problem
    shape: tuple[int, ...]
    external: Any
    name: str

    def bandit(self, **settings: Any) -> gb.Bandit:
        """A new bandit, always of the same identity."""
        return gb.Bandit(self.learner, self.problem, identity="fuzz", **settings)

    def load(self, path: Any) -> gb.Bandit:
        """The bandit in a file."""
        return gb.Bandit.load(path, function_class=self.external)

    def contexts(self, rng: np.random.Generator, n: int, n_arms: int) -> np.ndarray:
        """Contexts of n rounds."""
        shape = (n_arms, *self.shape[1:]) if len(self.shape) == 2 else self.shape
        return rng.uniform(-1, 1, size=(n, *shape))


def pair(number: int, rng: np.random.Generator) -> Subject:
    """The pair of this number, of all learners and all classes and none; slow classes come seldom."""
    n = len(LEARNERS)
    step = next(step for step in range(5 * n // 8, 2 * n) if math.gcd(step, n) == 1)  # all of them, in a mixed order
    kind = LEARNERS[number * step % n]
    round_ = number // n
    quick = [one for one in CLASSES if one.__name__ not in SLOW]
    slow = [one for one in CLASSES if one.__name__ in SLOW]
    places = [*quick, None, *quick, slow[(round_ // 11 + number) % len(slow)]]
    return subject(kind, places[(round_ + number) % len(places)], rng)


def subject(kind: type, functions: type | None, rng: np.random.Generator) -> Subject:
    """This learner on a problem with this class, settings of both drawn at random."""
    n_arms = 4 if functions is not None and functions.__name__ in FOUR_ARMS else int(rng.integers(2, 7))
    made, shape = (None, (D,)) if functions is None else RECIPES[functions.__name__](rng, n_arms)
    horizon = None if rng.random() < 0.7 else 400
    noise = 0.5 if rng.random() < 0.6 else None
    settings: dict[str, Any] = {}
    if rng.random() < 0.15:
        settings["half_life"] = 20.0
    if rng.random() < 0.15:
        settings["longest_epoch"] = int(rng.integers(1, 9))
    problem = gb.Problem(n_arms=n_arms, function_class=made, horizon=horizon, noise=noise, **settings)
    external = made if made is not None and not dataclasses.is_dataclass(made) else None
    learner = drawn_learner(kind, rng)
    return Subject(learner, problem, shape, external, f"{learner!r} on {made!r}")


def fits(one: Subject) -> bool:
    """Whether this learner takes this problem and contexts of this shape at all: the first round says so."""
    try:
        rng = np.random.default_rng(0)
        one.bandit().decide(one.contexts(rng, 1, one.problem.n_arms)[0], gb.graphs.complete(one.problem.n_arms))
    except GraphBanditError:
        return False
    return True


def fitting_pair(case: Case) -> Subject:
    """The pair of this case; Refused if its learner does not take its problem."""
    one = pair(case.number, case.rng)
    if not fits(one):
        raise Refused("pairs that a learner refuses")
    return one


def graph(one: Subject, rng: np.random.Generator, n_arms: int, loops: bool = False) -> Any:
    """A graph that this learner can plan with: of certain or uncertain edges, with loops or without, or none."""
    learner = one.learner
    if learner.plans_without_graphs and rng.random() < 0.7:
        return None
    matrix = rng.random((n_arms, n_arms)) < rng.choice([0.1, 0.4, 0.9])
    if learner.needs_loops or rng.random() < 0.6 or loops:
        np.fill_diagonal(matrix, True)
    else:
        arms = np.arange(n_arms)
        matrix[(arms + 1) % n_arms, arms] = True  # every arm is revealed by another one at least
    if learner.plans_with_probabilities and not learner.plans_without_graphs and rng.random() < 0.2:
        return gb.ProbabilisticGraph(np.where(matrix, rng.uniform(0.05, 1.0, matrix.shape), 0.0))
    return gb.FeedbackGraph.from_dense(matrix, require_loops=False)


def mask(rng: np.random.Generator, n_arms: int, graph: Any) -> np.ndarray | None:
    """Arms on offer, or None for all; only where each of them reveals itself, so that all can be learnt about."""
    if rng.random() < 0.6 or not isinstance(graph, gb.FeedbackGraph) or not graph.has_all_loops:
        return None
    offered = rng.random(n_arms) < 0.6
    offered[rng.integers(n_arms)] = True
    return np.asarray(offered)
