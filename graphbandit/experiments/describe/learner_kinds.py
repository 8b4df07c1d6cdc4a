"""The kinds of learner that an experiment may name: every learner of `graphbandit.learners`, by its class's name.

A learner that is exported there is known here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from graphbandit import learners
from graphbandit.base.checks import setting_choice
from graphbandit.environments import Environment
from graphbandit.errors import SettingError
from graphbandit.experiments.describe.class_kinds import CLASS_KINDS, Contexts
from graphbandit.experiments.describe.kinds import CLASS, Kind, Value, own_builder, parameters, required
from graphbandit.experiments.describe.own_kinds import Kinds, is_address
from graphbandit.learners import IDSG, AdaCBG, LateGraph, Learner


def build_learner(kind: str, settings: Mapping[str, Value], environment: Environment | None = None) -> Learner[Any]:
    """Build a learner; a function class that it names is made to fit the contexts of the environment."""
    own: dict[str, Any] = dict(settings)
    name = own.pop(CLASS, None)
    if name is not None:
        if environment is None:
            raise SettingError(f"function_class is {name!r}; expected an environment that it is made for")
        build = CLASS_KINDS[str(name)]
        options = {key: own.pop(key) for key in parameters(build) if key in own}
        instance = environment.instance(0)
        shape = instance.rounds(0, 1).contexts.shape[1:]
        own[CLASS] = build(contexts=Contexts.of(instance.problem(None), shape), **options)
    learner = LEARNER_KINDS[kind].build(**own)
    if not isinstance(learner, Learner):
        raise SettingError(f"kind is {kind!r}, which makes a {type(learner).__name__}; expected a Learner")
    return learner


def _kind(build: Callable[..., Learner[Any]], *without: str) -> Kind:
    """The kind of a learner; if it takes a function class, the settings may name one and give its options."""
    has_class = CLASS in inspect.signature(build).parameters
    return Kind(build=build, without=frozenset(without), options=_class_options if has_class else None)


def _class_options(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The setting `function_class`, and the options of the class it names."""
    name = settings.get(CLASS)
    if name is None:
        return {CLASS: None}
    if not is_address(name):
        setting_choice(CLASS, name, list(CLASS_KINDS))
    return {CLASS: None, **parameters(CLASS_KINDS[name])}


def _late(build: Callable[..., Learner[Any]], *without: str) -> Kind:
    """The kind of `LateGraph` around a learner: the graph is not shown before the decision."""
    return Kind(build=partial(_late_graph, build), options=_kind(build, *without).defaults)


def _late_graph(
    build: Callable[..., Learner[Any]],
    *,
    prior_present: float = 1.0,
    prior_absent: float = 1.0,
    loops: bool = True,
    **settings: Any,
) -> LateGraph:
    return LateGraph(learner=build(**settings), prior_present=prior_present, prior_absent=prior_absent, loops=loops)


def _exported() -> dict[str, Kind]:
    """Every exported learner that can be built from what a file can hold."""
    found: dict[str, Kind] = {}
    for name in learners.__all__:
        cls = getattr(learners, name)
        is_learner = inspect.isclass(cls) and issubclass(cls, Learner) and not inspect.isabstract(cls)
        if is_learner and required(cls) <= set(parameters(cls)):
            found[name] = _kind(cls)
    return found


def _own(where: str) -> Kind:
    """The kind of your own learner: a class, or a function that makes one."""
    return _kind(own_builder(where, Learner, "learners"))


LEARNER_KINDS: Kinds[Kind] = Kinds(
    {
        **_exported(),
        "LateIDSG": _late(IDSG),
        "LateAdaCBG": _late(AdaCBG, "coverage", "linear_program"),  # it always plans with edge probabilities
    },
    own=_own,
)
"""Learners by kind."""
