"""The kinds of environment and learner that an experiment may name, and how each is built from its settings.

A new learner or environment is made known to experiments here, and nowhere else.
"""

import difflib
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphbandit.checks import setting_choice
from graphbandit.environments import Environment, paper
from graphbandit.errors import ExperimentError
from graphbandit.experiments.array_files import read_arrays
from graphbandit.graph_sources import SOURCES
from graphbandit.learners import AdaCBG, Falcon, Greedy, Learner, RegCBG, SquareCB, SquareCBG, Uniform

Value = bool | int | float | str
"""What a setting can be in a file; a list of them is an axis of a grid."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How to build one kind: `build(**settings)`.

    `without` names parameters of `build` that a file cannot give. `files` are settings that name a file. `options`,
    if given, tells which further settings the settings given so far allow.
    """

    build: Callable[..., Any]
    without: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    options: Callable[[Mapping[str, Value]], Mapping[str, Any]] | None = None

    def defaults(self, settings: Mapping[str, Value]) -> dict[str, Any]:
        """All settings that may stand beside these, with their defaults (`inspect.Parameter.empty`: required)."""
        known = _parameters(self.build, self.without)
        return known if self.options is None else {**known, **self.options({**known, **settings})}

    def complete(self, settings: Mapping[str, Value]) -> dict[str, Value]:
        """The settings with every default filled in: what determines the result."""
        return {**self.defaults(settings), **settings}

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


def _graph_options(settings: Mapping[str, Value]) -> Mapping[str, Any]:
    """Of the kind of graph that is named."""
    setting_choice("graph", settings["graph"], list(SOURCES))
    return _parameters(SOURCES[str(settings["graph"])], frozenset({"n_arms"}))


_OWN_CLASS = frozenset({"function_class"})

ENVIRONMENTS: dict[str, Kind] = {
    "paper": Kind(build=paper, options=_graph_options),
    "arrays": Kind(build=read_arrays, files=frozenset({"file"})),
}
"""Environments by kind."""

LEARNERS: dict[str, Kind] = {
    "AdaCBG": Kind(build=AdaCBG, without=_OWN_CLASS | {"effort"}),
    "Falcon": Kind(build=Falcon, without=_OWN_CLASS),
    "RegCBG": Kind(build=RegCBG, without=_OWN_CLASS),
    "SquareCB": Kind(build=SquareCB, without=_OWN_CLASS),
    "SquareCBG": Kind(build=SquareCBG, without=_OWN_CLASS),
    "Greedy": Kind(build=Greedy, without=_OWN_CLASS),
    "Uniform": Kind(build=Uniform),
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
    return environment


def build_learner(kind: str, settings: Mapping[str, Value]) -> Learner[Any]:
    """The learner."""
    learner: Learner[Any] = LEARNERS[kind].build(**settings)
    return learner


def identity(kind: str, settings: Mapping[str, Value], kinds: Mapping[str, Kind]) -> str:
    """What makes two points the same: the kind and all settings, with the content of files in place of their names."""
    known = kinds[kind]
    complete = {
        name: f"sha256:{_file_digest(str(value))}" if name in known.files else _plain(value)
        for name, value in known.complete(settings).items()
    }
    return json.dumps({"kind": kind, **complete}, sort_keys=True, ensure_ascii=False)


def _plain(value: Value) -> Value:
    """1 and 1.0 are the same setting."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _versions(kind: str, settings: Mapping[str, Value]) -> list[str]:
    """Of the files that are named: one that has changed is read again."""
    named = [Path(str(settings[name])) for name in ENVIRONMENTS[kind].files if name in settings]
    return [f"{path.stat().st_mtime_ns} {path.stat().st_size}" for path in named if path.exists()]


def _file_digest(file: str) -> str:
    status = Path(file).stat()
    return _digest(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _digest(file: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
