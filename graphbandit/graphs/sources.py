"""Where the graphs of the rounds come from: drawn anew each round, out of a pool, or always the same.

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
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from graphbandit.base.checks import setting_choice, setting_integer, setting_number
from graphbandit.base.shapes import Int64, UInt64
from graphbandit.errors import SettingError
from graphbandit.graphs import generators
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.bits import WORD, n_words, pack_rows
from graphbandit.graphs.graph import PACKED_LIMIT, FeedbackGraph
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.graphs.user_input import checked_n_arms

_BLOCK = 2**19  # bytes of dense matrices held at once: what a core's cache takes


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

    >>> FixedSource(generators.complete(3)).draw(np.random.default_rng(0), 5)
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
        # one store for all draws, so that batches of them are joined without copying
        return self._round[np.zeros(n, dtype=np.int32)]

    @cached_property
    def _round(self) -> FeedbackGraphs:
        return FeedbackGraphs.repeat(self.graph, 1)


@dataclass(frozen=True)
class PoolSource:
    """Each round one of the given graphs, drawn uniformly.

    >>> pool = PoolSource([generators.complete(3), generators.bandit(3)])
    >>> [graph.n_edges for graph in pool.draw(np.random.default_rng(0), 5)]
    [3, 3, 3, 9, 9]
    """

    graphs: FeedbackGraphs | Sequence[FeedbackGraph]

    def __post_init__(self) -> None:
        if not isinstance(self.graphs, FeedbackGraphs | Sequence):
            raise SettingError(f"graphs is {self.graphs!r}; expected FeedbackGraphs or a sequence of FeedbackGraph")
        if len(self.graphs) == 0:
            raise SettingError("graphs is empty; expected a pool of at least one")
        _ = self._pool  # graphs that do not fit together are refused here

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
class StarSource:
    """Each round a star whose hub is drawn uniformly (`star`, the paper's k-tree)."""

    n_arms: int

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds; a hub that is drawn more than once has its star stored once."""
        hubs, index = np.unique(rng.integers(self.n_arms, size=n), return_inverse=True)
        if self.n_arms > PACKED_LIMIT:
            stars = tuple(generators.star(self.n_arms, hub) for hub in hubs)
            return FeedbackGraphs(self.n_arms, stars, index.astype(np.int32))
        words = np.tile(pack_rows(np.eye(self.n_arms, dtype=np.bool_)), (len(hubs), 1, 1))
        each = np.arange(len(hubs))
        words[each, hubs] = pack_rows(np.ones(self.n_arms, dtype=np.bool_))
        words[each, :, hubs // WORD] |= np.uint64(1) << (hubs % WORD).astype(np.uint64)[:, None]
        return FeedbackGraphs.from_words(words, self.n_arms, index)


@dataclass(frozen=True, kw_only=True)
class FreshSource(ABC):
    """A new graph each round: many small ones are drawn at once, packed; large ones are drawn one by one."""

    n_arms: int
    generator: ClassVar[Callable[..., FeedbackGraph]]
    """draws a single graph; its arguments are the settings of the source"""

    @abstractmethod
    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """The packed graphs of some rounds."""

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of n rounds."""
        if self.n_arms > PACKED_LIMIT:
            large = tuple(type(self).generator(**vars(self), rng=rng) for _ in range(n))
            return FeedbackGraphs(self.n_arms, large, np.arange(n, dtype=np.int32))
        drawn = np.empty((n, self.n_arms, n_words(self.n_arms)), dtype=np.uint64)
        step = max(1, _BLOCK // self.n_arms**2)
        for start in range(0, n, step):
            drawn[start : start + step] = self.words(rng, min(step, n - start))
        return FeedbackGraphs.from_words(drawn, self.n_arms)


# Each kind is its settings, their check, and how it draws many graphs at once.


@dataclass(frozen=True, kw_only=True)
class CliqueGroupSource(FreshSource):
    """Each round disjoint cliques with random members (`clique_group`)."""

    generator = generators.clique_group
    n_cliques: int = 5

    def __post_init__(self) -> None:
        generators.clique_labels(0, checked_n_arms(self.n_arms), self.n_cliques, None)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """From the labels of the arms."""
        from graphbandit.kernels.graphs.packing import join_cliques

        packed = np.empty((rounds, self.n_arms, n_words(self.n_arms)), dtype=np.uint64)
        join_cliques(generators.clique_labels(rounds, self.n_arms, self.n_cliques, rng), self.n_cliques, packed)
        return packed


@dataclass(frozen=True, kw_only=True)
class RandomSource(FreshSource):
    """Each round ceil(density K²) uniformly drawn pairs of arms, joined both ways (`random_graph`)."""

    generator = generators.random_graph
    density: float = 0.05

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        setting_number("density", self.density, at_least=0)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """From the pairs."""
        return _joined(self.n_arms, generators.uniform_pairs(rounds, self.n_arms, self.density, rng))


@dataclass(frozen=True, kw_only=True)
class ErdosRenyiSource(FreshSource):
    """Each round a directed graph with independent edges (`erdos_renyi`)."""

    generator = generators.erdos_renyi
    probability: float

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        generators.checked_probability(self.probability)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """From dense matrices."""
        return pack_rows(generators.bernoulli_matrices(rounds, self.n_arms, self.probability, rng))


@dataclass(frozen=True, kw_only=True)
class PreferentialAttachmentSource(FreshSource):
    """Each round a new Barabási-Albert graph (`preferential_attachment`)."""

    generator = generators.preferential_attachment
    edges_per_arm: int = 2

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        setting_integer("edges_per_arm", self.edges_per_arm, at_least=1)

    def words(self, rng: np.random.Generator, rounds: int) -> UInt64[np.ndarray, "rounds arms words"]:
        """From the pairs."""
        return _joined(self.n_arms, generators.attachment_pairs(rounds, self.n_arms, self.edges_per_arm, rng))


def _bandit_source(*, n_arms: int) -> FixedSource:
    return FixedSource(generators.bandit(n_arms))


def _complete_source(*, n_arms: int) -> FixedSource:
    return FixedSource(generators.complete(n_arms))


SOURCES: dict[str, Callable[..., GraphSource]] = {
    "star": StarSource,
    "clique_group": CliqueGroupSource,
    "random": RandomSource,
    "erdos_renyi": ErdosRenyiSource,
    "preferential_attachment": PreferentialAttachmentSource,
    "bandit": _bandit_source,
    "complete": _complete_source,
    "network": NetworkSource,
}
"""The kinds that `graph_source` knows by name."""


def graph_source(kind: str, n_arms: int, **options: Any) -> GraphSource:
    """The source of this kind, one of `SOURCES`, with its options.

    >>> graph_source("random", 50, density=0.1)
    RandomSource(n_arms=50, density=0.1)
    """
    setting_choice("kind", kind, list(SOURCES))
    try:
        _signature(kind).bind(n_arms=n_arms, **options)
    except TypeError as error:
        raise SettingError(f"options of graph kind {kind!r} are {options!r}: {error}") from None
    return SOURCES[kind](n_arms=n_arms, **options)


@cache
def _signature(kind: str) -> inspect.Signature:
    return inspect.signature(SOURCES[kind])


def _joined(n_arms: int, pairs: Int64[np.ndarray, "n pairs 2"]) -> UInt64[np.ndarray, "n arms words"]:
    """Self-loops, and the pairs joined in both directions."""
    from graphbandit.kernels.graphs.packing import join_pairs

    words = np.zeros((len(pairs), n_arms, n_words(n_arms)), dtype=np.uint64)
    join_pairs(pairs, words)
    return words
