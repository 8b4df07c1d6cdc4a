"""The kinds of environment and learner that an experiment may name, and how each is built from its settings.

A new learner or environment is made known to experiments here, and nowhere else.
"""

import difflib
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from graphbandit.base.checks import setting_choice
from graphbandit.environments import Environment, ProbabilisticEnvironment, SyntheticEnvironment, arms, linear, paper
from graphbandit.environments.classification import CLASS_GRAPHS
from graphbandit.environments.datasets import dataset_file
from graphbandit.environments.ratings import ITEM_GRAPHS
from graphbandit.errors import ExperimentError, SettingError
from graphbandit.experiments.describe.array_files import read_arrays
from graphbandit.experiments.describe.class_kinds import CLASSES, Contexts
from graphbandit.experiments.describe.dataset_files import read_classification, read_rating_environment
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.graphs.sources import SOURCES
from graphbandit.learners import (
    IDSG,
    IDSN,
    TSN,
    UCBN,
    AdaCB,
    AdaCBG,
    BootstrappedThompson,
    EpsilonGreedy,
    Exp3DOM,
    Exp3G,
    Exp3IX,
    Exp3LGCIX,
    Exp3LGCU,
    Exp3SET,
    ExploreThenCommit,
    Falcon,
    Greedy,
    LateGraph,
    Learner,
    LinTS,
    LinUCB,
    RegCB,
    RegCBG,
    SquareCB,
    SquareCBG,
    UCBMaxN,
    Uniform,
)

Value = bool | int | float | str
"""What a setting can be in a file; a list of them is an axis of a grid."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How to build one kind: `build(**settings)`.

    `without` names parameters of `build` that a file cannot give. `files` are settings that name a file, `datasets`
    those that name a data set, which may be in a file. `options`, if given, tells which further settings the settings
    given so far allow.
    """

    build: Callable[..., Any]
    without: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    datasets: frozenset[str] = frozenset()
    options: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def defaults(self, settings: Mapping[str, Value]) -> dict[str, Any]:
        """All settings that may stand beside these, with their defaults (`inspect.Parameter.empty`: required)."""
        known = _parameters(self.build, self.without)
        return known if self.options is None else {**known, **self.options({**known, **settings})}

    def complete(self, settings: Mapping[str, Value]) -> dict[str, Value | None]:
        """The settings with every default filled in: what determines the result."""
        return {**self.defaults(settings), **settings}

    def paths(self, settings: Mapping[str, Value]) -> dict[str, Path]:
        """The files that are read, by the setting that names them."""
        named = {name: Path(str(settings[name])) for name in sorted(self.files) if settings.get(name) is not None}
        for name in sorted(self.datasets):
            path = None if settings.get(name) is None else dataset_file(str(settings[name]))
            if path is not None:
                named[name] = path
        return named

    def check_names(self, settings: Mapping[str, Value], place: tuple[str, ...], kind: str) -> None:
        """Raise ExperimentError at the first setting that is not known, or about one that is missing."""
        known = self.defaults(settings)
        for name in settings:
            if name not in known:
                raise ExperimentError(f"unknown setting of kind {kind!r}; {expected(name, known)}", (*place, name))
        for name, default in known.items():
            if default is inspect.Parameter.empty and name not in settings:
                raise ExperimentError(f"{name} is missing; kind {kind!r} expects it", place)


def _parameters(build: Callable[..., Any], without: frozenset[str]) -> dict[str, Any]:
    parameters = inspect.signature(build).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is not p.VAR_KEYWORD and p.name not in without}


def _options_of_graph(kinds: Mapping[str, Callable[..., Any]]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """The options of the kind of graph that is named, one of these."""

    def options(settings: Mapping[str, Any]) -> Mapping[str, Any]:
        setting_choice("graph", settings["graph"], list(kinds))
        return _parameters(kinds[str(settings["graph"])], _GIVEN)

    return options


_GIVEN = frozenset({"n_arms", "profiles", "confusion"})  # what the environment itself tells a kind of graph
_GENERATED = {name: source for name, source in SOURCES.items() if name != "network"}  # its file would be a second one
_OWN_CLASS = frozenset({"function_class"})


def _options_of_arms(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the kind of graph that is named, if one is: "random" otherwise."""
    graph = "random" if settings["graph"] is None else settings["graph"]
    return {} if settings["case"] == "poor-hub" else _options_of_graph(SOURCES)({**settings, "graph": graph})


def _options_of_class(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of the kind of function class that is named, if one is."""
    if settings["function_class"] is None:
        return {}
    setting_choice("function_class", settings["function_class"], list(CLASSES))
    return _parameters(CLASSES[str(settings["function_class"])], frozenset({"contexts"}))


def _of_functions(build: Callable[..., Learner[Any]], *without: str) -> Kind:
    """A learner that has a function class: the problem's own, or one that it names."""
    return Kind(build=build, without=frozenset(without), options=_options_of_class)


def _late(build: Callable[..., Learner[Any]], *without: str) -> Kind:
    """A learner of graphs that are not shown before the decision, around this one; its settings, and the prior's."""
    return Kind(build=partial(_late_graph, build), options=_of_functions(build, *without).defaults)


def _late_graph(
    build: Callable[..., Learner[Any]],
    *,
    present: float = 1.0,
    absent: float = 1.0,
    loops: bool = True,
    **settings: Any,
) -> LateGraph:
    return LateGraph(learner=build(**settings), present=present, absent=absent, loops=loops)


def _environment(own: Kind) -> Kind:
    """An environment's kind; its edges may have probabilities."""
    build = partial(_perhaps_uncertain, own.build)
    return Kind(build=build, files=own.files, datasets=own.datasets, options=own.defaults)


def _perhaps_uncertain(
    build: Callable[..., Environment],
    *,
    edge_probability: float | None = None,
    edge_concentration: float | None = None,
    keep_loops: bool | None = None,
    shown: str | None = None,
    **settings: Any,
) -> Environment:
    """The environment, with edge probabilities if any of these settings is given."""
    given: dict[str, Any] = {"concentration": edge_concentration, "keep_loops": keep_loops, "shown": shown}
    told = {name: value for name, value in given.items() if value is not None}
    if edge_probability is None and not told:
        return build(**settings)
    probability = 1.0 if edge_probability is None else edge_probability
    return ProbabilisticEnvironment(environment=build(**settings), probability=probability, **told)


_SURE: dict[str, Kind] = {
    "paper": Kind(build=paper, files=frozenset({"file"}), options=_options_of_graph(SOURCES)),
    "arms": Kind(build=arms, files=frozenset({"file"}), options=_options_of_arms),
    "arrays": Kind(build=read_arrays, files=frozenset({"file"})),
    "linear": Kind(build=linear, without=_OWN_CLASS, files=frozenset({"file"}), options=_options_of_graph(SOURCES)),
    "classification": Kind(
        build=read_classification,
        files=frozenset({"file"}),
        datasets=frozenset({"data"}),
        options=_options_of_graph(CLASS_GRAPHS | _GENERATED),
    ),
    "ratings": Kind(
        build=read_rating_environment,
        files=frozenset({"file"}),
        datasets=frozenset({"data"}),
        options=_options_of_graph(ITEM_GRAPHS | _GENERATED),
    ),
}
"""Environments whose graphs are known."""

ENVIRONMENTS: dict[str, Kind] = {name: _environment(kind) for name, kind in _SURE.items()}
"""Environments by kind."""

LEARNERS: dict[str, Kind] = {
    "AdaCBG": _of_functions(AdaCBG, "effort"),
    "AdaCB": _of_functions(AdaCB),
    "IDSG": _of_functions(IDSG),
    "LateIDSG": _late(IDSG),
    "LateAdaCBG": _late(AdaCBG, "effort", "coverage", "linear_program"),
    "RegCB": _of_functions(RegCB),
    "BootstrappedThompson": _of_functions(BootstrappedThompson),
    "EpsilonGreedy": _of_functions(EpsilonGreedy),
    "ExploreThenCommit": _of_functions(ExploreThenCommit),
    "Falcon": _of_functions(Falcon),
    "RegCBG": _of_functions(RegCBG),
    "Greedy": _of_functions(Greedy),
    "SquareCB": _of_functions(SquareCB),
    "SquareCBG": _of_functions(SquareCBG),
    "Uniform": Kind(build=Uniform),
    "UCBN": Kind(build=UCBN),
    "UCBMaxN": Kind(build=UCBMaxN),
    "TSN": Kind(build=TSN),
    "IDSN": Kind(build=IDSN),
    "Exp3SET": Kind(build=Exp3SET),
    "Exp3DOM": Kind(build=Exp3DOM),
    "Exp3G": Kind(build=Exp3G),
    "Exp3IX": Kind(build=Exp3IX),
    "LinUCB": Kind(build=LinUCB, without=frozenset({"arm_features"})),
    "LinTS": Kind(build=LinTS, without=frozenset({"arm_features"})),
    "Exp3LGCU": Kind(build=Exp3LGCU),
    "Exp3LGCIX": Kind(build=Exp3LGCIX),
}
"""Learners by kind."""


def expected(wrong: str, known: Iterable[str]) -> str:
    """What to write instead: the nearest known name if one is near, else all of them.

    >>> expected("ssed", ["rounds", "seed"])
    "did you mean 'seed'?"
    """
    names = list(known)
    near = difflib.get_close_matches(wrong, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"expected one of {', '.join(map(repr, names))}" if names else "it has no settings"


def build_environment(kind: str, settings: Mapping[str, Value]) -> Environment:
    """The environment; of a few that were built last, the same object."""
    return _built_environment(kind, json.dumps(dict(settings)), tuple(_versions(kind, settings)))


@lru_cache(maxsize=16)
def _built_environment(kind: str, settings: str, versions: tuple[str, ...]) -> Environment:
    environment: Environment = ENVIRONMENTS[kind].build(**json.loads(settings))
    base = environment.environment if isinstance(environment, ProbabilisticEnvironment) else environment
    if isinstance(base, SyntheticEnvironment) and isinstance(base.source, NetworkSource):
        _ = base.source.pool  # whatever is wrong with a network is told now, and not by every run
    return environment


def build_learner(kind: str, settings: Mapping[str, Value], environment: Environment | None = None) -> Learner[Any]:
    """The learner; a function class that it names is made to fit the contexts of the environment."""
    own: dict[str, Any] = dict(settings)
    name = own.pop("function_class", None)
    if name is not None:
        if environment is None:
            raise SettingError(f"function_class is {name!r}; expected an environment that it is made for")
        build = CLASSES[str(name)]
        options = {key: own.pop(key) for key in _parameters(build, frozenset()) if key in own}
        instance = environment.instance(0)
        shape = instance.rounds(0, 1).contexts.shape[1:]
        own["function_class"] = build(contexts=Contexts.of(instance.problem(None), shape), **options)
    learner: Learner[Any] = LEARNERS[kind].build(**own)
    return learner


def identity(kind: str, settings: Mapping[str, Value], kinds: Mapping[str, Kind]) -> str:
    """What makes two points the same: the kind and all settings, with the content of files in place of their names."""
    known = kinds[kind]
    complete = {name: _plain(value) for name, value in known.complete(settings).items() if value is not None}
    for name, path in known.paths(settings).items():
        content = f"sha256:{_file_digest(str(path))}"
        complete[name] = f"{complete[name]} {content}" if name in known.datasets else content  # a file may hold several
    return json.dumps({"kind": kind, **complete}, sort_keys=True, ensure_ascii=False)


def _plain(value: Value | None) -> Value | None:
    """1 and 1.0 are the same setting."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _versions(kind: str, settings: Mapping[str, Value]) -> list[str]:
    """Of the files that are named: one that has changed is read again."""
    named = ENVIRONMENTS[kind].paths(settings).values()
    return [f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in named if path.exists()]


def _file_digest(file: str) -> str:
    status = Path(file).stat()
    return _digest(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _digest(file: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
