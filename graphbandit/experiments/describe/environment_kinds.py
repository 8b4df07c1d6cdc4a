"""The kinds of environment that an experiment may name. To add one, add a line to `ENVIRONMENT_KINDS`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from graphbandit.base.checks import setting_choice
from graphbandit.environments import (
    Environment,
    ProbabilisticEnvironment,
    arms,
    classification,
    linear,
    paper,
    ratings,
    units,
)
from graphbandit.environments.classification import CLASS_GRAPHS
from graphbandit.environments.ratings import ITEM_GRAPHS
from graphbandit.errors import SettingError
from graphbandit.experiments.describe.array_files import read_arrays
from graphbandit.experiments.describe.data_kinds import read_classification, read_rating_environment
from graphbandit.experiments.describe.kinds import GRAPH, Kind, Value, files_of, own_builder, parameters
from graphbandit.experiments.describe.own_kinds import Kinds
from graphbandit.graphs.sources import SOURCES

Graphs = Mapping[str, Callable[..., Any]]

_GENERATED = {name: source for name, source in SOURCES.items() if name != "network"}  # a network has a file of its own


def build_environment(kind: str, settings: Mapping[str, Value]) -> Environment:
    """Build an environment. The last few are kept in memory until a file that they read changes."""
    named = files_of(settings).values()
    versions = [f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in named if path.exists()]
    return _built(kind, json.dumps(dict(settings)), tuple(versions))


@lru_cache(maxsize=16)
def _built(kind: str, settings: str, versions: tuple[str, ...]) -> Environment:
    environment = ENVIRONMENT_KINDS[kind].build(**json.loads(settings))
    if not isinstance(environment, Environment):
        raise SettingError(f"kind is {kind!r}, which makes a {type(environment).__name__}; expected an Environment")
    environment.instance(0).rounds(0, 1)  # so that errors in its graphs are raised now and not in every run
    return environment


def _kind(
    build: Callable[..., Environment], graphs: Graphs, passes_to: Callable[..., Environment] | None = None
) -> Kind:
    """The kind of an environment, with the settings of its graph, of edge probabilities, and of `units`."""
    own = Kind(build=build, passes_to=passes_to, options=partial(_graph_options, graphs) if graphs else None)
    return Kind(build=partial(_wrapped, build), options=own.defaults)


def _graph_options(graphs: Graphs, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of the kind of graph that is named; the number of arms is a setting of the environment."""
    if settings.get("case") == "poor-hub":  # the one case of `arms` that has its own graph
        return {}
    graph = "random" if settings[GRAPH] is None else settings[GRAPH]
    setting_choice(GRAPH, graph, list(graphs))
    return {name: default for name, default in parameters(graphs[graph]).items() if name != "n_arms"}


def _wrapped(
    build: Callable[..., Environment],
    *,
    offset: float | None = None,
    factor: float | None = None,
    tell_noise: bool | None = None,
    tell_bound: bool | None = None,
    half_life: float | None = None,
    longest_epoch: int | None = None,
    edge_probability: float | None = None,
    edge_concentration: float | None = None,
    keep_loops: bool | None = None,
    shown: str | None = None,
    **settings: Any,
) -> Environment:
    """The environment, with edge probabilities and wrapped by `units` if any of their settings is given."""
    environment = build(**settings)
    edges = _given(probability=edge_probability, concentration=edge_concentration, keep_loops=keep_loops, shown=shown)
    if edges:
        environment = ProbabilisticEnvironment(environment=environment, **{"probability": 1.0, **edges})
    told = _given(offset=offset, factor=factor, tell_noise=tell_noise, tell_bound=tell_bound)
    told |= _given(half_life=half_life, longest_epoch=longest_epoch)
    return units(environment, **told) if told else environment


def _given(**settings: Any) -> dict[str, Any]:
    """The settings that are given."""
    return {name: value for name, value in settings.items() if value is not None}


def _own(where: str) -> Kind:
    """The kind of your own environment: a class, or a function that makes one."""
    return _kind(own_builder(where, Environment, "environments"), {})


ENVIRONMENT_KINDS: Kinds[Kind] = Kinds(
    {
        "paper": _kind(paper, SOURCES),
        "arms": _kind(arms, SOURCES),
        "arrays": _kind(read_arrays, {}),
        "linear": _kind(linear, SOURCES),
        "classification": _kind(read_classification, CLASS_GRAPHS | _GENERATED, passes_to=classification),
        "ratings": _kind(read_rating_environment, ITEM_GRAPHS | _GENERATED, passes_to=ratings),
    },
    own=_own,
)
"""The kinds of environment by name."""
