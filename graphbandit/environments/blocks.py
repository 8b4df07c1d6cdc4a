"""Environments that draw their rounds in blocks: rounds do not depend on the portions in which they are read."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from graphbandit.base.checks import setting_boolean
from graphbandit.base.seeds import stream
from graphbandit.environments.base import Environment, Instance, Rounds, check_rounds
from graphbandit.environments.graph_setting import GraphSetting, source_of
from graphbandit.graphs.sources import FixedSource, GraphSource

BLOCK = 256
"""The number of rounds in a block; each block has random streams of its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockInstance(Instance):
    """One repeat of an environment whose rounds are drawn in blocks."""

    stream_name: ClassVar[str]
    """The name of this environment in the names of its random streams."""

    environment: Environment
    seed: int
    repeat: int

    def rounds(self, first: int, stop: int) -> Rounds:
        """The rounds first .. stop - 1, cut from their blocks."""
        check_rounds(first, stop, at_most=self.environment.n_rounds)
        numbers = range(first // BLOCK, -(-stop // BLOCK))
        return Rounds.concatenate([self._block(b)[max(first - b * BLOCK, 0) : stop - b * BLOCK] for b in numbers])

    def draws(self, purpose: str, number: int) -> np.random.Generator:
        """The random stream for one purpose in one block."""
        return stream(self.seed, self.stream_name, self.repeat, purpose, number)

    @abstractmethod
    def _block(self, number: int) -> Rounds:
        """The rounds number * BLOCK .. (number + 1) * BLOCK - 1."""


@dataclass(frozen=True, kw_only=True)
class GraphEnvironment(Environment):
    """An environment whose graphs are a setting.

    - `n_arms`: K, 50 by default.
    - `graph`: the name of a kind of graph, one graph, or a source of graphs; "random" by default.
    - `graph_options`: settings of the kind of graph, such as ``{"density": 0.1}``; none by default.
    - `fixed_graph`: whether the graph is drawn once a repeat instead of in each round; False by default.
    """

    n_arms: int = 50
    graph: GraphSetting = "random"
    graph_options: Mapping[str, Any] = field(default_factory=dict)
    fixed_graph: bool = False

    def __post_init__(self) -> None:
        setting_boolean("fixed_graph", self.fixed_graph)
        _ = self.source  # refuses a graph that does not fit

    @property
    def source(self) -> GraphSource:
        """Where the graphs come from."""
        return source_of(self.graph, self.graph_options, self.n_arms, others=self._own_settings)

    @property
    def _own_settings(self) -> list[str]:
        return [one.name for one in fields(self) if one.name != "graph_options"]

    def source_of_repeat(self, name: str, seed: int, repeat: int) -> GraphSource:
        """Where the graphs of one repeat come from; a fixed graph is drawn once."""
        if not self.fixed_graph:
            return self.source
        return FixedSource(self.source.draw(stream(seed, name, repeat, "graph"), 1)[0])
