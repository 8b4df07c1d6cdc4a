"""Data sets in which every reward is known: their rows are played in random order again and again."""

from dataclasses import dataclass
from functools import lru_cache
from math import hypot
from typing import Any

import numpy as np

from graphbandit.base.checks import optional_number, setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.environments.base import Environment, Rounds, check_repeat
from graphbandit.environments.blocks import BLOCK, BlockInstance
from graphbandit.function_classes import FunctionClass, LinearClass
from graphbandit.graphs.sources import GraphSource
from graphbandit.learners.problem import Problem, check_function_class


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownRewardsEnvironment(Environment):
    """Rounds are the rows of a data set with the mean rewards of all arms; `classification` and `ratings` build it.

    Each repeat takes the rows in its own random order. After the last row it takes all rows in a new random order, so
    there is no last round. Regret is computed from these means.

    - `contexts`: (rows, d), the context of each row.
    - `means`: (rows, K), the mean rewards of each row.
    - `source`: where the graphs come from.
    - `arms`: the names of the K arms.
    - `reward_noise`: the standard deviation of the normal noise that is added to the rewards; 0 by default.
    - `noise`: the noise learners are told; None (default): sqrt((h - l)^2 / 4 + reward_noise^2), where l and h are the
      smallest and the largest of the means. A reward between l and h is sub-Gaussian with scale (h - l) / 2, whatever
      its distribution given the context.
    - `function_class`: the function class that learners are told; None (default): a linear function for each arm.
    """

    contexts: Float[np.ndarray, "rows d"]
    means: Float[np.ndarray, "rows arms"]
    source: GraphSource
    arms: tuple[str, ...]
    reward_noise: float = 0.0
    noise: float | None = None
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        setting_number("reward_noise", self.reward_noise, at_least=0.0)
        optional_number("noise", self.noise, at_least=0.0)
        if self.function_class is not None:
            check_function_class(self.function_class, self.n_arms)
            self.function_class.check_contexts(self.contexts)

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.means.shape[1])

    @property
    def n_rows(self) -> int:
        """The number of rounds until every row has been played once."""
        return len(self.contexts)

    @property
    def told_noise(self) -> float:
        """The sub-Gaussian scale that learners are told."""
        spread = float(self.means.max() - self.means.min()) / 2
        return hypot(spread, self.reward_noise) if self.noise is None else self.noise

    def instance(self, seed: int, repeat: int = 0) -> "KnownRewardsInstance":
        """The rows in the random orders of this repeat."""
        check_repeat(seed, repeat)
        return KnownRewardsInstance(environment=self, seed=seed, repeat=repeat)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownRewardsInstance(BlockInstance):
    """One repeat."""

    stream_name = "table"

    environment: KnownRewardsEnvironment

    def problem(self, horizon: int | None) -> Problem:
        """The function class and the noise of the environment; without a class, a linear function for each arm."""
        given, (_, dimension) = self.environment.function_class, self.environment.contexts.shape
        own = LinearClass(n_arms=self.environment.n_arms, dimension=dimension, parameters="per-arm")
        return Problem(
            n_arms=self.environment.n_arms,
            function_class=own if given is None else given,
            horizon=horizon,
            noise=self.environment.told_noise,
        )

    def _block(self, number: int) -> Rounds:
        given = self.environment
        rows = self.rows(number * BLOCK, (number + 1) * BLOCK)
        means = given.means[rows]
        rewards = means
        if given.reward_noise > 0:
            rewards = means + given.reward_noise * self.draws("noise", number).standard_normal(means.shape)
        return Rounds(
            contexts=given.contexts[rows],
            graphs=given.source.draw(self.draws("graphs", number), BLOCK),
            means=means,
            rewards=rewards,
        )

    def rows(self, first: int, stop: int) -> Int[np.ndarray, " n"]:
        """The rows of the rounds first .. stop - 1: round t has row t mod n of the order of pass t div n."""
        n = self.environment.n_rows
        orders = [_order(self.seed, self.repeat, lap, n) for lap in range(first // n, -(-stop // n))]
        start = first - first // n * n
        return np.concatenate(orders)[start : start + stop - first]


@lru_cache(maxsize=8)
def _order(seed: int, repeat: int, lap: int, n: int) -> Int[np.ndarray, " n"]:
    order = stream(seed, "table", repeat, "order", lap).permutation(n)
    order.flags.writeable = False
    return order
