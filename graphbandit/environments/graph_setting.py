"""The setting `graph` of an environment: the name of a kind with its options, one graph, or a source of graphs."""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import SOURCES, FixedSource, GraphSource, graph_source

GraphSetting = str | FeedbackGraph | GraphSource


def source_of(
    graph: GraphSetting,
    options: Mapping[str, Any],
    n_arms: int,
    own: Mapping[str, Callable[..., FeedbackGraph]] = MappingProxyType({}),
    profiles: Callable[[str], Float[np.ndarray, "arms d"]] | None = None,
) -> GraphSource:
    """Where the graphs come from; `own` are kinds of one fixed graph besides those of `graphs.sources`.

    A kind of `own` is called with `profiles(kind)`, what it needs to know of the arms, and the options.

    Raises SettingError for a kind that is not known, options that do not belong to it, or another number of arms.

    >>> source_of("random", {"density": 0.1}, 50)
    RandomSource(n_arms=50, density=0.1)
    """
    if not isinstance(graph, str | FeedbackGraph | GraphSource):
        raise SettingError(f"graph is {graph!r}; expected a graph kind's name, a FeedbackGraph or a source")
    if not isinstance(options, Mapping):
        raise SettingError(f"graph_options is {options!r}; expected a mapping")
    if options and not isinstance(graph, str):
        raise SettingError(f"graph_options is {dict(options)!r}; expected none unless graph is a name")
    source = _source(graph, options, n_arms, own, profiles)
    if source.n_arms != n_arms:
        raise SettingError(f"graph has {source.n_arms} arms; expected n_arms = {n_arms}")
    return source


def _source(
    graph: GraphSetting,
    options: Mapping[str, Any],
    n_arms: int,
    own: Mapping[str, Callable[..., FeedbackGraph]],
    profiles: Callable[[str], Float[np.ndarray, "arms d"]] | None,
) -> GraphSource:
    if isinstance(graph, FeedbackGraph):
        return FixedSource(graph)
    if not isinstance(graph, str):
        return graph
    if graph not in own or profiles is None:
        setting_choice("graph", graph, [*own, *SOURCES])
        return graph_source(graph, n_arms, **options)
    try:
        inspect.signature(own[graph]).bind(None, **options)
    except TypeError as error:
        raise SettingError(f"options of graph kind {graph!r} are {dict(options)!r}: {error}") from None
    return FixedSource(own[graph](profiles(graph), **options))
