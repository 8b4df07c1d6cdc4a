"""The synthetic environment of the paper's experiments (its section 4), with every parameter open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_boolean, setting_integer, setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.environments.base import BLOCK, Environment, Instance, Rounds, check_repeat, from_blocks
from graphbandit.environments.graph_setting import source_of
from graphbandit.function_classes.bilinear import BilinearClass
from graphbandit.function_classes.finite import FiniteModel
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import FixedSource, GraphSource
from graphbandit.learners.problem import Problem


@dataclass(frozen=True, kw_only=True)
class SyntheticEnvironment(Environment):
    """`n_functions` bilinear functions in R^dimension, one of them the truth, and a feedback graph each round.

    f(x, a) = (x - x0)'(a - a0) / reward_scale with x0, a0 standard normal; contexts standard normal; arms uniform in
    [-1, 1]^dimension; reward f*(x, a) + noise N(0, 1). `graph` is the name of a graph kind (with `graph_options`), one
    graph, or a source of graphs; `fixed_graph` draws it once for a repeat instead of anew in each round.
    """

    n_arms: int = 50
    n_functions: int = 50
    dimension: int = 10
    noise: float = 1.0
    reward_scale: float = 1.0
    graph: str | FeedbackGraph | GraphSource = "random"
    graph_options: Mapping[str, Any] = field(default_factory=dict)
    fixed_graph: bool = False

    def __post_init__(self) -> None:
        for name in ("n_arms", "n_functions", "dimension"):
            setting_integer(name, getattr(self, name), at_least=1)
        setting_number("noise", self.noise, at_least=0.0)
        setting_number("reward_scale", self.reward_scale, above=0.0)
        setting_boolean("fixed_graph", self.fixed_graph)
        _ = self.source  # a graph that does not fit is refused here

    @property
    def source(self) -> GraphSource:
        """Where the graphs come from."""
        return source_of(self.graph, self.graph_options, self.n_arms)

    def instance(self, seed: int, repeat: int = 0) -> "SyntheticInstance":
        """Draw function class, truth, arms and, if it stays fixed, the graph."""
        check_repeat(seed, repeat)
        rng = stream(seed, "synthetic", repeat, "functions")
        shape = (self.n_functions, self.dimension)
        functions = BilinearClass(
            x0=rng.standard_normal(shape),
            a0=rng.standard_normal(shape),
            arms=rng.uniform(-1.0, 1.0, (self.n_arms, self.dimension)),
            scale=self.reward_scale,
        )
        source = self.source
        if self.fixed_graph:
            source = FixedSource(source.draw(stream(seed, "synthetic", repeat, "graph"), 1)[0])
        return SyntheticInstance(
            environment=self,
            seed=seed,
            repeat=repeat,
            functions=functions,
            truth=int(rng.integers(self.n_functions)),
            source=source,
        )


@dataclass(frozen=True, kw_only=True)
class SyntheticInstance(Instance):
    """One repeat: `functions` is F and `truth` the index of f* in it."""

    environment: SyntheticEnvironment
    seed: int
    repeat: int
    functions: BilinearClass
    truth: int
    source: GraphSource

    def problem(self, horizon: int | None) -> Problem:
        """F, the horizon and the noise are known to the learner."""
        return Problem(
            n_arms=self.environment.n_arms,
            function_class=self.functions,
            horizon=horizon,
            noise=self.environment.noise,
        )

    def means(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """f*(x, .)."""
        return self.functions.predict(FiniteModel(index=self.truth), contexts)

    def rounds(self, first: int, stop: int) -> Rounds:
        """The rounds first .. stop - 1, cut from the blocks that hold them."""
        return from_blocks(first, stop, self._block)

    def _block(self, number: int) -> Rounds:
        settings = self.environment

        def draws(purpose: str) -> np.random.Generator:
            return stream(self.seed, "synthetic", self.repeat, purpose, number)

        contexts = draws("contexts").standard_normal((BLOCK, settings.dimension))
        means = self.means(contexts)
        noise = settings.noise * draws("noise").standard_normal((BLOCK, settings.n_arms))
        return Rounds(
            contexts=contexts,
            graphs=self.source.draw(draws("graphs"), BLOCK),
            means=means,
            rewards=means + noise,
        )


def paper(
    *,
    n_arms: int = 50,
    graph: str | FeedbackGraph | GraphSource = "random",
    n_functions: int = 50,
    dimension: int = 10,
    noise: float = 1.0,
    reward_scale: float = 1.0,
    fixed_graph: bool = False,
    **graph_options: Any,
) -> SyntheticEnvironment:
    """The environment of the paper's experiments, as printed there unless told otherwise.

    `graph` is "star" (the paper's k-tree, a random hub each round), "clique_group" (5 cliques), "random"
    (density 0.05), "network" (subgraphs of the social network in ``file``, as the paper's of Flixster), "bandit",
    "complete", "erdos_renyi", "preferential_attachment", a `FeedbackGraph` or a graph source; further keywords go to
    the graph kind, as ``density`` or ``n_cliques``. `reward_scale=8` is close to the paper's figures.

    >>> paper(n_arms=20, graph="clique_group", n_cliques=4).source
    CliqueGroupSource(n_arms=20, n_cliques=4)
    """
    return SyntheticEnvironment(
        n_arms=n_arms,
        n_functions=n_functions,
        dimension=dimension,
        noise=noise,
        reward_scale=reward_scale,
        graph=graph,
        graph_options=graph_options,
        fixed_graph=fixed_graph,
    )
