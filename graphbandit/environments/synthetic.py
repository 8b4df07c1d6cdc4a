"""The synthetic environment of the paper's experiments (its section 4); every parameter is a setting."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.environments.base import Rounds, check_repeat
from graphbandit.environments.blocks import BLOCK, BlockInstance, GraphEnvironment
from graphbandit.function_classes.bilinear import BilinearClass
from graphbandit.function_classes.finite_base import FiniteModel
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import GraphSource
from graphbandit.learners.problem import Problem


@dataclass(frozen=True, kw_only=True)
class SyntheticEnvironment(GraphEnvironment):
    """`n_functions` bilinear functions in R^dimension, one of which is the truth, and a feedback graph in each round.

    f(x, a) = (x - x0)'(a - a0) / reward_scale with x0 and a0 standard normal. Contexts are standard normal, arms are
    uniform in [-1, 1]^dimension, and the reward is f*(x, a) + noise N(0, 1).

    - `n_arms`: K, 50 by default.
    - `graph`: as in `paper`; "random" by default.
    - `graph_options`: settings of the kind of graph, such as ``{"density": 0.1}``; none by default.
    - `fixed_graph`: whether the graph is drawn once a repeat instead of in each round; False by default.
    - `n_functions`: |F|, 50 by default.
    - `dimension`: the length of a context and of an arm, 10 by default.
    - `noise`: the standard deviation of the rewards' noise, 1 by default.
    - `reward_scale`: what mean rewards are divided by, 1 by default.
    """

    n_functions: int = 50
    dimension: int = 10
    noise: float = 1.0
    reward_scale: float = 1.0

    def __post_init__(self) -> None:
        for name in ("n_arms", "n_functions", "dimension"):
            setting_integer(name, getattr(self, name), at_least=1)
        setting_number("noise", self.noise, at_least=0.0)
        setting_number("reward_scale", self.reward_scale, above=0.0)
        super().__post_init__()

    def instance(self, seed: int, repeat: int = 0) -> "SyntheticInstance":
        """Draw the function class, the truth, the arms and, if it is fixed, the graph."""
        check_repeat(seed, repeat)
        rng = stream(seed, "synthetic", repeat, "functions")
        shape = (self.n_functions, self.dimension)
        functions = BilinearClass(
            x0=rng.standard_normal(shape),
            a0=rng.standard_normal(shape),
            arms=rng.uniform(-1.0, 1.0, (self.n_arms, self.dimension)),
            scale=self.reward_scale,
        )
        return SyntheticInstance(
            environment=self,
            seed=seed,
            repeat=repeat,
            functions=functions,
            truth=int(rng.integers(self.n_functions)),
            source=self.source_of_repeat("synthetic", seed, repeat),
        )


@dataclass(frozen=True, kw_only=True)
class SyntheticInstance(BlockInstance):
    """One repeat; `functions` is F, and `truth` is the index of f* in it."""

    stream_name = "synthetic"

    environment: SyntheticEnvironment
    functions: BilinearClass
    truth: int
    source: GraphSource

    def problem(self, horizon: int | None) -> Problem:
        """The learner is told F, the horizon and the noise."""
        return Problem(
            n_arms=self.environment.n_arms,
            function_class=self.functions,
            horizon=horizon,
            noise=self.environment.noise,
        )

    def means(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """f*(x, .)."""
        return self.functions.predict(FiniteModel(index=self.truth), contexts)

    def _block(self, number: int) -> Rounds:
        settings = self.environment
        contexts = self.draws("contexts", number).standard_normal((BLOCK, settings.dimension))
        means = self.means(contexts)
        noise = settings.noise * self.draws("noise", number).standard_normal((BLOCK, settings.n_arms))
        return Rounds(
            contexts=contexts,
            graphs=self.source.draw(self.draws("graphs", number), BLOCK),
            means=means,
            rewards=means + noise,
        )


def paper(
    *,
    n_arms: int = 50,
    graph: str | FeedbackGraph | GraphSource = "random",
    fixed_graph: bool = False,
    n_functions: int = 50,
    dimension: int = 10,
    noise: float = 1.0,
    reward_scale: float = 1.0,
    **graph_options: Any,
) -> SyntheticEnvironment:
    """Make the environment of the paper's experiments, a `SyntheticEnvironment`. The defaults are those of the paper.

    - `n_arms`: K, 50 by default.
    - `graph`: "random" (default, density 0.05), "star" (the paper's k-tree, a random hub each round), "clique_group" (5
      cliques), "network" (subgraphs of the social network in ``file``, as the paper has for Flixster), "bandit",
      "complete", "erdos_renyi" or "preferential_attachment"; or a `FeedbackGraph`, or a source of graphs.
    - `fixed_graph`: whether the graph is drawn once a repeat instead of in each round; False by default.
    - `n_functions`: |F|, 50 by default.
    - `dimension`: the length of a context and of an arm, 10 by default.
    - `noise`: the standard deviation of the rewards' noise, 1 by default.
    - `reward_scale`: what mean rewards are divided by, 1 by default; 8 comes close to the paper's figures.
    - `**graph_options`: settings of the kind of graph, such as ``density=0.1`` or ``n_cliques=4``; none by default.

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
