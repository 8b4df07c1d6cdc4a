"""Where the graphs of the rounds come from: drawn in each round, taken from a pool, or always the same.

A source is a value that holds settings only. ``draw(rng, n)`` gives the graphs of n rounds; drawing a rounds and then b
rounds is the same as drawing a + b rounds. Each kind draws the graphs of the generator of the same name.

>>> source = graph_source("clique_group", n_arms=50)
>>> source
CliqueGroupSource(n_arms=50, n_cliques=5)
>>> source.draw(np.random.default_rng(0), 1000)
FeedbackGraphs(1000 rounds, n_arms=50, 1000 stored)
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphbandit import graphs
from graphbandit.base.checks import setting_choice
from graphbandit.base.similar_names import expected
from graphbandit.errors import SettingError
from graphbandit.graphs import generators
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators.bandit import bandit
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.networks.source import NetworkSource


@runtime_checkable
class GraphSource(Protocol):
    """Anything that draws the graphs of rounds."""

    @property
    def n_arms(self) -> int:
        """The number of arms of every graph drawn."""
        ...

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds, independent of each other."""
        ...


@dataclass(frozen=True)
class FixedSource:
    """The same graph in every round.

    >>> FixedSource(graphs.complete(3)).draw(np.random.default_rng(0), 5)
    FeedbackGraphs(5 rounds, n_arms=3, 1 stored)
    """

    graph: FeedbackGraph

    def __post_init__(self) -> None:
        if not isinstance(self.graph, FeedbackGraph):
            raise SettingError(f"graph is {self.graph!r}; expected a FeedbackGraph")

    @property
    def n_arms(self) -> int:
        """The number of arms of the graph."""
        return self.graph.n_arms

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graph, n times; `rng` is left alone."""
        # all draws share one store, so that batches are joined without copying
        return self._round[np.zeros(n, dtype=np.int32)]

    @cached_property
    def _round(self) -> FeedbackGraphs:
        return FeedbackGraphs.repeat(self.graph, 1)


@dataclass(frozen=True)
class PoolSource:
    """Each round one of the given graphs, drawn uniformly.

    >>> pool = PoolSource([graphs.complete(3), graphs.bandit(3)])
    >>> [graph.n_edges for graph in pool.draw(np.random.default_rng(0), 5)]
    [3, 3, 3, 9, 9]
    """

    graphs: FeedbackGraphs | Sequence[FeedbackGraph]

    def __post_init__(self) -> None:
        if not isinstance(self.graphs, FeedbackGraphs | Sequence):
            raise SettingError(f"graphs is {self.graphs!r}; expected FeedbackGraphs or a sequence of FeedbackGraph")
        if len(self.graphs) == 0:
            raise SettingError("graphs is empty; expected a pool of at least one")
        _ = self._pool  # refuses graphs that do not fit together

    @cached_property
    def _pool(self) -> FeedbackGraphs:
        return self.graphs if isinstance(self.graphs, FeedbackGraphs) else FeedbackGraphs.stack(self.graphs)

    @property
    def n_arms(self) -> int:
        """The number of arms of the graphs in the pool."""
        return self._pool.n_arms

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds; the pool is not copied."""
        return self._pool[rng.integers(len(self._pool), size=n)]


@dataclass(frozen=True, kw_only=True)
class GeneratedSource:
    """Each round a graph that a generator draws, one by one.

    - `generator`: takes `n_arms`, the options and `rng`.
    - `n_arms`: K.
    - `options`: further settings of the generator.
    """

    generator: Callable[..., FeedbackGraph]
    n_arms: int
    options: Mapping[str, Any]

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds."""
        drawn = [self.generator(self.n_arms, **self.options, rng=rng) for _ in range(n)]
        return FeedbackGraphs.stack(drawn) if drawn else FeedbackGraphs.repeat(bandit(self.n_arms), 0)


def _sources() -> dict[str, Callable[..., GraphSource]]:
    """For every generator that `graphbandit.graphs` exports, what makes its source: its own class, or a general one."""
    found: dict[str, Callable[..., GraphSource]] = {}
    for name in graphs.__all__:
        generator = getattr(graphs, name) if name != "sources" else None
        if inspect.isfunction(generator) and generator.__module__.startswith(f"{generators.__name__}."):
            kind = name.removesuffix("_graph")
            own = f"{kind.title().replace('_', '')}Source"
            found[kind] = getattr(sys.modules[generator.__module__], own, None) or _general_source(generator)
    return found


def _general_source(generator: Callable[..., FeedbackGraph]) -> Callable[..., GraphSource]:
    """A function that makes a source from the generator's settings; without an `rng` its graph is always the same."""
    known = inspect.signature(generator).parameters
    random = "rng" in known

    def build(*, n_arms: int, **options: Any) -> GraphSource:
        first = generator(n_arms, **options, **({"rng": np.random.default_rng(0)} if random else {}))  # checks them
        return (
            GeneratedSource(generator=generator, n_arms=first.n_arms, options=options) if random else FixedSource(first)
        )

    hints = typing.get_type_hints(generator)
    build.__annotations__ = {name: hints[name] for name in known if name in hints} | {"n_arms": int}
    build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=p.KEYWORD_ONLY) for p in known.values() if p.name != "rng"]
    )
    return build


SOURCES: dict[str, Callable[..., GraphSource]] = {**_sources(), "network": NetworkSource}
"""The kinds that `graph_source` knows by name: the generators, and subgraphs of a network."""


def graph_source(kind: str, n_arms: int, **options: Any) -> GraphSource:
    """The source of this kind, one of `SOURCES`, with its options.

    >>> graph_source("random", 50, density=0.1)
    RandomSource(n_arms=50, density=0.1)
    """
    setting_choice("kind", kind, list(SOURCES))
    check_options(kind, partial(SOURCES[kind], n_arms=n_arms), options)
    return SOURCES[kind](n_arms=n_arms, **options)


def check_options(
    kind: str, make: Callable[..., object], options: Mapping[str, Any], others: Iterable[str] = ()
) -> None:
    """Raise SettingError unless the kind of graph takes these options; `others` are settings beside them."""
    takes = inspect.signature(make).parameters
    known = [name for name, one in takes.items() if name != "n_arms" and one.kind is not one.VAR_KEYWORD]
    for name in options:
        if name not in known:
            own = f"the graph {kind!r} takes {', '.join(known) or 'no settings'}"
            hint = expected(name, [*others, *known])
            of_another = any(name in inspect.signature(each).parameters for each in SOURCES.values())
            hint = (
                f"{hint} ({own})"
                if hint.startswith("did you mean") and not of_another
                else f"expected another, as {own}"
            )
            raise SettingError(f"unknown setting {name!r}; {hint}")
    try:
        inspect.signature(make).bind(**options)
    except TypeError as error:
        raise SettingError(f"options of graph kind {kind!r} are {dict(options)!r}: {error}") from None
