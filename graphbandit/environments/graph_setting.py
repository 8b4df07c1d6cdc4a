"""The setting `graph` of an environment: the name of a kind of graph with its options, a graph, or a source."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import SOURCES, FixedSource, GraphSource, check_options, graph_source

GraphSetting = str | FeedbackGraph | GraphSource


def source_of(
    graph: GraphSetting,
    options: Mapping[str, Any],
    n_arms: int,
    own: Mapping[str, Callable[..., FeedbackGraph]] = MappingProxyType({}),
    profiles: Callable[[str], Float[np.ndarray, "arms d"]] | None = None,
    others: Iterable[str] = (),
) -> GraphSource:
    """The source of an environment's graphs.

    - `graph`, `options`: the setting, and the options of the kind that it names.
    - `n_arms`: the number of arms that the graphs must have.
    - `own`: the environment's own kinds of graph, each with one fixed graph; none by default.
    - `profiles`: gives what a kind of `own` needs to know about the arms, its first argument; None (default): none.
    - `others`: the environment's other settings, which an error may suggest; none by default.

    Raises SettingError for an unknown kind, for options that it does not have, and for a wrong number of arms.

    >>> source_of("random", {"density": 0.1}, 50)
    RandomSource(n_arms=50, density=0.1)
    """
    if not isinstance(graph, str | FeedbackGraph | GraphSource):
        raise SettingError(f"graph is {graph!r}; expected a graph kind's name, a FeedbackGraph or a source")
    if not isinstance(options, Mapping):
        raise SettingError(f"graph_options is {options!r}; expected a mapping")
    if options and not isinstance(graph, str):
        raise SettingError(f"graph_options is {dict(options)!r}; expected none unless graph is a name")
    source: GraphSource
    if isinstance(graph, GraphSource):
        source = graph
    elif isinstance(graph, FeedbackGraph):
        source = FixedSource(graph)
    elif graph in own and profiles is not None:
        check_options(graph, partial(own[graph], None), options, others)
        source = FixedSource(own[graph](profiles(graph), **options))
    else:
        setting_choice("graph", graph, [*own, *SOURCES])
        check_options(graph, partial(SOURCES[graph], n_arms=n_arms), options, others)
        source = graph_source(graph, n_arms, **options)
    if source.n_arms != n_arms:
        raise SettingError(f"graph has {source.n_arms} arms; expected n_arms = {n_arms}")
    return source
