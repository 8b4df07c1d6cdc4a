"""What an environment offers: instances of a problem, and the rounds of each instance.

An environment is a frozen value of settings. `instance(seed, repeat)` draws one problem (the paper draws a new function
class for every repeat), and `Instance.rounds(first, stop)` returns its rounds: contexts, graphs, mean rewards and noisy
rewards of all arms. A round does not depend on the portions or the order in which rounds are read, so all learners of a
repeat face the same draws.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.errors import SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class Rounds:
    """Consecutive rounds of an instance.

    - `contexts`: one row per round.
    - `graphs`: the graphs that decide what is revealed. The learner is shown them too, unless `probabilistic` or
      `hidden` says otherwise.
    - `means`: `means[t, a]` is f*(x_t, a).
    - `rewards`: `rewards[t, a]` is the reward the learner sees if arm a is revealed in round t.
    - `available`: the available arms; None (default): all of them.
    - `probabilistic`: the edge probabilities that a learner is shown instead of the graphs; None (default): none.
    - `hidden`: whether a learner is shown no graph at all; False by default.
    """

    contexts: Shaped[np.ndarray, "n ..."]
    graphs: FeedbackGraphs
    means: Float[np.ndarray, "n arms"]
    rewards: Float[np.ndarray, "n arms"]
    available: Bool[np.ndarray, "n arms"] | None = None
    probabilistic: ProbabilisticGraphs | None = None
    hidden: bool = False

    @cached_property
    def shown(self) -> Shown:
        """What a learner is shown before it decides."""
        known = self.graphs if self.probabilistic is None else self.probabilistic
        return Shown(self.contexts, None if self.hidden else known, self.available)

    def __len__(self) -> int:
        return len(self.contexts)

    def __getitem__(self, part: slice | Int[np.ndarray, " some"]) -> "Rounds":
        return Rounds(
            contexts=self.contexts[part],
            graphs=self.graphs[part],
            means=self.means[part],
            rewards=self.rewards[part],
            available=None if self.available is None else self.available[part],
            probabilistic=None if self.probabilistic is None else self.probabilistic[part],
            hidden=self.hidden,
        )

    @classmethod
    def concatenate(cls, parts: "list[Rounds]") -> "Rounds":
        """Join several portions."""
        if len(parts) == 1:
            return parts[0]
        masks = [part.available for part in parts if part.available is not None]
        probabilistic = [part.probabilistic for part in parts if part.probabilistic is not None]
        return cls(
            contexts=np.concatenate([part.contexts for part in parts]),
            graphs=FeedbackGraphs.concatenate([part.graphs for part in parts]),
            means=np.concatenate([part.means for part in parts]),
            rewards=np.concatenate([part.rewards for part in parts]),
            available=np.concatenate(masks) if len(masks) == len(parts) else None,
            probabilistic=ProbabilisticGraphs.concatenate(probabilistic) if len(probabilistic) == len(parts) else None,
            hidden=any(part.hidden for part in parts),
        )

    def best_means(self, rounds: slice = slice(None)) -> Float[np.ndarray, " n"]:
        """max_a f*(x_t, a) over the available arms, for some of the rounds: regret is measured against it."""
        means = self.means[rounds]
        means = means if self.available is None else np.where(self.available[rounds], means, -np.inf)
        best: Float[np.ndarray, " n"] = means.max(axis=1)
        return best


def check_repeat(seed: int, repeat: int) -> None:
    """Raise SettingError unless these are a seed and the number of a repeat."""
    setting_integer("seed", seed, at_least=0)
    setting_integer("repeat", repeat, at_least=0)


def check_rounds(first: int, stop: int, *, at_most: int | None = None) -> None:
    """Raise SettingError unless there is at least one round in first .. stop - 1, and all of them exist."""
    setting_integer("first", first, at_least=0)
    setting_integer("stop", stop, at_least=first + 1, at_most=at_most)


class Instance(ABC):
    """One problem of an environment, and its rounds.

    - `first`, `stop`: the rounds first .. stop - 1 are asked for, counted from 0.
    """

    @abstractmethod
    def problem(self, horizon: int | None) -> Problem:
        """What a learner is told about the problem."""

    @abstractmethod
    def rounds(self, first: int, stop: int) -> Rounds:
        """The rounds first .. stop - 1."""


class Environment(ABC):
    """Settings of an environment.

    - `seed`, `repeat`: the seed, and the number of the repeat, 0 by default, of the problem that is asked for.
    """

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """K."""

    @property
    def n_rounds(self) -> int | None:
        """The number of rounds; None if there is no limit."""
        return None

    @abstractmethod
    def instance(self, seed: int, repeat: int = 0) -> Instance:
        """The problem of this repeat."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WrappedEnvironment(Environment):
    """An environment that changes the rounds of another one, and has as many arms and rounds."""

    environment: Environment

    def __post_init__(self) -> None:
        if not isinstance(self.environment, Environment):
            raise SettingError(
                f"environment is {self.environment!r}; expected an environment, such as environments.paper()"
            )

    @property
    def n_arms(self) -> int:
        """K."""
        return self.environment.n_arms

    @property
    def n_rounds(self) -> int | None:
        """The number of rounds of the other environment; None if there is no limit."""
        return self.environment.n_rounds
