"""A kind of environment or learner: how it is built, and which settings a file may give it.

`LEARNER_KINDS` and `ENVIRONMENT_KINDS` list the kinds, in the files of those names.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphbandit.base.similar_names import expected
from graphbandit.environments.named_datasets import dataset_file
from graphbandit.errors import ExperimentError, SettingError
from graphbandit.experiments.describe.own_kinds import found_at

Value = bool | int | float | str
"""The value of a setting in a file; a list of values is an axis of a grid."""

FILE, DATASET, GRAPH, CLASS = "file", "data", "graph", "function_class"
"""Settings with a special meaning: the name of a file, the name of a data set (which may be in a file), a kind of
graph, and a kind of function class (without one, a learner uses the problem's own)."""


def own_builder(where: str, base: type, room: str) -> Callable[..., Any]:
    """The class or function at an address; a class must derive from `base`, which is in the package `room`."""
    build: Callable[..., Any] = found_at(where)
    if inspect.isclass(build) and not issubclass(build, base):
        raise SettingError(f"{where!r} is {build!r}; expected a subclass of graphbandit.{room}.{base.__name__}")
    if inspect.isabstract(build):
        lacks = ", ".join(sorted(getattr(build, "__abstractmethods__", ())))
        raise SettingError(f"{where!r} is abstract; expected the methods {lacks}")
    check_writable(where, build)
    return build


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of environment or learner.

    - `build`: makes one, as ``build(**settings)``. Those of its parameters that a file can hold are the settings.
    - `passes_to`: the function that `build` passes further keywords to; its parameters are settings, too.
    - `without`: parameters that are not settings.
    - `options`: from the settings so far to the further settings that they allow, with their defaults.
    """

    build: Callable[..., Any]
    passes_to: Callable[..., Any] | None = None
    without: frozenset[str] = frozenset()
    options: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def defaults(self, settings: Mapping[str, Value]) -> dict[str, Any]:
        """All settings allowed together with these, with their defaults (`inspect.Parameter.empty`: required)."""
        known = {**(parameters(self.passes_to) if self.passes_to else {}), **parameters(self.build)}
        known = {name: default for name, default in known.items() if name not in self.without}
        return known if self.options is None else {**known, **self.options({**known, **settings})}

    def complete(self, settings: Mapping[str, Value]) -> dict[str, Value | None]:
        """The settings with every default filled in; they determine the result."""
        return {**self.defaults(settings), **settings}

    def check(self, settings: Mapping[str, Value], place: tuple[str, ...], kind: str) -> None:
        """Raise ExperimentError for the first setting that is unknown, or for one that is missing."""
        known = self.defaults(settings)
        for name in settings:
            if name not in known:
                raise ExperimentError(
                    f"unknown setting {name!r} of kind {kind!r}; {expected(name, known)}", (*place, name)
                )
        for name in (FILE, DATASET):
            if not isinstance(settings.get(name, ""), str):
                what = "a file" if name == FILE else "a data set"
                raise ExperimentError(f"{name} is {settings[name]!r}; expected the name of {what}", (*place, name))
        for name, default in known.items():
            if default is inspect.Parameter.empty and name not in settings:
                raise ExperimentError(f"{name} is missing; kind {kind!r} expects it", place)


def files_of(settings: Mapping[str, Value]) -> dict[str, Path]:
    """The files that are read, by the setting that names them."""
    named = {FILE: Path(str(settings[FILE]))} if settings.get(FILE) is not None else {}
    path = dataset_file(str(settings[DATASET])) if settings.get(DATASET) is not None else None
    return named if path is None else {**named, DATASET: path}


@functools.cache
def parameters(build: Callable[..., Any]) -> Mapping[str, Any]:
    """The parameters of a function or class that a file can give, with their defaults.

    A file can give texts, numbers, booleans, choices of these, and the kind of a graph.
    """
    if isinstance(build, functools.partial):
        return parameters(build.func)
    hints = hints_of(build)
    found = inspect.signature(build).parameters.values()
    return {
        p.name: p.default
        for p in found
        if p.kind is not p.VAR_KEYWORD and (p.name == GRAPH or _can_be_written(hints.get(p.name)))
    }


def hints_of(build: Callable[..., Any]) -> dict[str, Any]:
    """The types of the parameters of a function or class, by name."""
    return typing.get_type_hints(build.__init__ if inspect.isclass(build) else build)


def required(build: Callable[..., Any]) -> set[str]:
    """The parameters that have no default."""
    found = inspect.signature(build).parameters.values()
    return {p.name for p in found if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}


def check_writable(where: str, build: Callable[..., Any], *, without: frozenset[str] = frozenset()) -> None:
    """Raise SettingError unless the user's own code can be called with what a file can hold."""
    try:
        lacking = sorted(required(build) - set(parameters(build)) - without)
    except Exception as error:  # annotations that cannot be read
        raise SettingError(
            f"{where!r} has settings that cannot be read: {type(error).__name__}: {error}; expected annotations of "
            "text, numbers or booleans"
        ) from error
    if lacking:
        raise SettingError(
            f"{where!r} needs {lacking[0]}, which a file cannot give; expected settings of text, numbers or booleans, "
            "annotated as such, or with a default"
        )


def _can_be_written(hint: Any) -> bool:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(hint) if member is not types.NoneType]
        return bool(members) and all(map(_can_be_written, members))
    return typing.get_origin(hint) is Literal or hint in (bool, int, float, str)
