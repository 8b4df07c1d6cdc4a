"""Arms without contexts, in cases that separate learners: close arms, lotteries, poor hubs, shifting levels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor, log
from typing import Any, Literal, get_args

import numpy as np

from graphbandit.base.checks import setting_choice, setting_integer, setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.environments.base import Environment, Rounds, check_repeat
from graphbandit.environments.blocks import BLOCK, BlockInstance
from graphbandit.environments.graph_setting import GraphSetting, source_of
from graphbandit.errors import SettingError
from graphbandit.function_classes import LinearClass
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import FixedSource, GraphSource
from graphbandit.learners.problem import Problem

Case = Literal["needle", "ladder", "lottery", "poor-hub", "shifting"]

PHASE = 1.6
"""The factor by which the phases of the case "shifting" grow."""


@dataclass(frozen=True, kw_only=True)
class ArmsEnvironment(Environment):
    """K arms whose rewards are 0 or 1 and whose order never changes; the context is always the number 1.

    The best arm is drawn once a repeat. The cases, with g = `gap`:

    - "needle": the best arm has mean 1/2 + g/2, all others 1/2 - g/2.
    - "ladder": means go from 1/2 + g/2 down to 1/2 - g/2 in equal steps.
    - "lottery": the best arm pays 1 with probability 1/4 + g and 0 otherwise; all others always pay exactly 1/4. A
      learner that trusts the first few rewards may leave the best arm forever.
    - "poor-hub": like "needle", but arm 0 has the lowest mean, 1/2 - g, and is the only arm that reveals others; it
      reveals all of them. So the most informative arm is not worth playing.
    - "shifting": the best arm has mean g and all others 0, and in every other phase all means are higher by (1 - g)/2.
      Each phase is 1.6 times as long as the one before: a stochastically constrained adversary (Zimmert & Seldin
      2021). The gap is g in every round, but averages over time say little.

    - `n_arms`: K, 20 by default.
    - `case`: "needle" (default), "ladder", "lottery", "poor-hub" or "shifting".
    - `gap`: how much better the best arm is, 0.2 by default; at most 0.5 in "lottery" and "poor-hub", 1 elsewhere.
    - `graph`: as in `paper`; None (default): "random", or the own graph of "poor-hub".
    - `graph_options`: settings of the kind of graph, such as ``{"density": 0.1}``; none by default.
    """

    n_arms: int = 20
    case: Case = "needle"
    gap: float = 0.2
    graph: GraphSetting | None = None
    graph_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        setting_integer("n_arms", self.n_arms, at_least=2)
        setting_choice("case", self.case, get_args(Case))
        largest = 0.5 if self.case in ("lottery", "poor-hub") else 1.0
        if setting_number("gap", self.gap, above=0.0) > largest:
            raise SettingError(f"gap is {self.gap!r}; expected at most {largest:g} in the case {self.case!r}")
        if self.case == "poor-hub" and (self.graph is not None or self.graph_options):
            raise SettingError(f"graph is {self.graph!r}; expected none in the case 'poor-hub', which has its own")
        _ = self.source  # refuses a graph that does not fit

    @property
    def source(self) -> GraphSource:
        """Where the graphs come from."""
        if self.case != "poor-hub":
            graph = "random" if self.graph is None else self.graph
            return source_of(graph, self.graph_options, self.n_arms, others=("n_arms", "case", "gap"))
        matrix = np.eye(self.n_arms, dtype=np.bool_)
        matrix[0] = True
        return FixedSource(FeedbackGraph.from_dense(matrix))

    def instance(self, seed: int, repeat: int = 0) -> "ArmsInstance":
        """Draw which arm is the best."""
        check_repeat(seed, repeat)
        order = stream(seed, "arms", repeat, "order").permutation(self.n_arms)
        if self.case == "poor-hub":
            order = np.concatenate([[0], order[order != 0]])
        return ArmsInstance(environment=self, seed=seed, repeat=repeat, order=order)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmsInstance(BlockInstance):
    """One repeat; `order` lists the arms by their means, the best one last."""

    stream_name = "arms"

    environment: ArmsEnvironment
    order: Int[np.ndarray, " arms"]

    def problem(self, horizon: int | None) -> Problem:
        """A mean for each arm, and rewards in [0, 1]."""
        functions = LinearClass(n_arms=self.environment.n_arms, dimension=1, parameters="per-arm")
        return Problem(n_arms=self.environment.n_arms, function_class=functions, horizon=horizon, noise=0.5)

    @property
    def means(self) -> Float[np.ndarray, " arms"]:
        """The means of the arms; in the case "shifting", those of the low phases."""
        n, gap, case = self.environment.n_arms, self.environment.gap, self.environment.case
        if case == "ladder":
            ascending = np.linspace(0.5 - gap / 2, 0.5 + gap / 2, n)
        else:
            base = {"lottery": 0.25, "shifting": 0.0}.get(case, 0.5 - gap / 2)
            ascending = np.full(n, base)
            ascending[-1] = base + gap
            if case == "poor-hub":
                ascending[0] = 0.5 - gap
        means = np.empty(n)
        means[self.order] = ascending
        return means

    def _block(self, number: int) -> Rounds:
        settings = self.environment
        means = np.tile(self.means, (BLOCK, 1))
        if settings.case == "shifting":
            numbers = range(number * BLOCK + 1, (number + 1) * BLOCK + 1)
            odd = np.array([floor(log(t) / log(PHASE)) % 2 for t in numbers])
            means += (0.5 * (1.0 - settings.gap) * odd)[:, None]
        rewards = (self.draws("rewards", number).random(means.shape) < means).astype(np.float64)
        if settings.case == "lottery":
            rewards[:, self.order[:-1]] = 0.25
        return Rounds(
            contexts=np.ones((BLOCK, 1)),
            graphs=settings.source.draw(self.draws("graphs", number), BLOCK),
            means=means,
            rewards=rewards,
        )


def arms(
    *,
    n_arms: int = 20,
    case: Case = "needle",
    gap: float = 0.2,
    graph: GraphSetting | None = None,
    **graph_options: Any,
) -> ArmsEnvironment:
    """Make an `ArmsEnvironment`, whose docstring explains the cases.

    - `n_arms`: K, 20 by default.
    - `case`: "needle" (default), "ladder", "lottery", "poor-hub" or "shifting".
    - `gap`: how much better the best arm is, 0.2 by default; at most 0.5 in "lottery" and "poor-hub", 1 elsewhere.
    - `graph`: as in `paper`; None (default): "random", or the own graph of "poor-hub".
    - `**graph_options`: settings of the kind of graph, such as ``density=0.1``; none by default.

    >>> arms(n_arms=3, case="lottery", gap=0.1).instance(seed=0).means
    array([0.35, 0.25, 0.25])
    """
    return ArmsEnvironment(n_arms=n_arms, case=case, gap=gap, graph=graph, graph_options=graph_options)
