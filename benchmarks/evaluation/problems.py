"""Problems that write logs whose true values are known: a logging policy, a target policy, and any graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.function_classes import LinearClass
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, bandit, clique_group, complete, erdos_renyi, star
from graphbandit.graphs.products import times_graphs
from graphbandit.logs import Log

GRAPHS: dict[str, Callable[[int], FeedbackGraph]] = {
    "loops": bandit,
    "star": lambda k: star(k, hub=0),
    "cliques of 4": lambda k: clique_group(k, k // 4),
    "random 15 %": lambda k: erdos_renyi(k, 0.15, rng=stream(0, "evaluation", "random graph", k)),
    "complete": complete,
}
"""The five kinds of graph of the table."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearProblem:
    """f(x, a) = 2 + b'x + theta[a]'x plus noise, with x normal; both policies are softmax policies.

    `logging_share` is the share of uniform play in the logging policy.
    """

    graph: FeedbackGraph
    dimension: int = 5
    noise: float = 0.5
    steepness: float = 0.6
    logging_share: float = 0.4

    @property
    def n_arms(self) -> int:
        """K."""
        return self.graph.n_arms

    def _parameters(self, name: str) -> Float[np.ndarray, "d arms"]:
        return stream(0, "evaluation", name, self.n_arms).normal(size=(self.dimension, self.n_arms))

    def contexts(self, n: int, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        """Draw standard normal contexts."""
        return rng.normal(size=(n, self.dimension))

    def means(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """f(x, a)."""
        common = np.sqrt(0.6 / self.dimension) * contexts.sum(axis=1, keepdims=True)
        return np.asarray(2.0 + common + 0.2 * contexts @ self._parameters("rewards"))

    def _softmax(self, contexts: Float[np.ndarray, "n d"], name: str) -> Float[np.ndarray, "n arms"]:
        scores = np.exp(self.steepness * contexts @ self._parameters(name) / np.sqrt(self.dimension))
        soft: Float[np.ndarray, "n arms"] = scores / scores.sum(axis=1, keepdims=True)
        return soft

    def logging(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """p(a | x)."""
        share = self.logging_share
        return share / self.n_arms + (1 - share) * self._softmax(contexts, "logging")

    def target(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """pi(a | x)."""
        return self._softmax(contexts, "target")

    def log(self, n: int, rng: np.random.Generator) -> Log:
        """Play n rounds with the logging policy."""
        x = self.contexts(n, rng)
        p = self.logging(x)
        actions = drawn_arms(p, rng.random((n, 1)))
        rewards = self.means(x) + self.noise * rng.normal(size=(n, self.n_arms))
        rewards[~FeedbackGraphs.repeat(self.graph, n).revealed(actions)] = np.nan
        return Log.from_arrays(contexts=x, graphs=self.graph, actions=actions, probabilities=p, rewards=rewards)

    @property
    def model(self) -> LinearClass:
        """The model of doubly robust estimators: a ridge regression with lambda = 1 for each arm."""
        return LinearClass(
            n_arms=self.n_arms, dimension=self.dimension, parameters="per-arm", intercept=True, ridge=1.0
        )

    def truth(self, n: int = 400_000) -> tuple[float, float]:
        """The target's value, and the variance bound times n: Var(V(x)) + E sum_a pi(a)^2 noise^2 / q(a)."""
        x = self.contexts(n, stream(0, "evaluation", "truth"))
        pi, p = self.target(x), self.logging(x)
        values = (pi * self.means(x)).sum(axis=1)
        q = times_graphs(p, FeedbackGraphs.repeat(self.graph, n))
        return float(values.mean()), float(values.var() + (pi * pi / q).sum(axis=1).mean() * self.noise**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClickProblem(LinearProblem):
    """Rewards of 0 and 1 with mean 1 / (1 + exp(-theta[a]'x)).

    - `adaptive`: whether the logging policy adapts. It then ignores contexts and plays the arm of the highest mean so
      far, chosen anew every 25 rounds, or a uniformly drawn arm with probability `logging_share`. False by default.
    - `drift`: theta[a]'x rises from its value minus `drift` at the first context to plus `drift` at the last; 0 by
      default.
    """

    dimension: int = 3
    adaptive: bool = False
    drift: float = 0.0

    def means(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """f(x, a) for contexts in the order of time."""
        n = len(contexts)
        bias = stream(0, "evaluation", "bias", self.n_arms).normal(size=self.n_arms)
        rise = self.drift * ((2 * np.arange(n) + 1) / n - 1)
        logits = contexts @ self._parameters("rewards") + bias + rise[:, None]
        found: Float[np.ndarray, "n arms"] = 1 / (1 + np.exp(-logits))
        return found

    def log(self, n: int, rng: np.random.Generator) -> Log:
        """Play n rounds with the logging policy."""
        x, k = self.contexts(n, rng), self.n_arms
        outcomes = (rng.random((n, k)) < self.means(x)).astype(np.float64)
        uniforms, reveals = rng.random((n, 1)), self.graph.to_dense()
        if not self.adaptive:
            p = self.logging(x)
            actions = drawn_arms(p, uniforms)
        else:
            p, actions = np.empty((n, k)), np.empty(n, dtype=np.int64)
            sums, counts = np.full(k, 0.5), np.ones(k)
            for start in range(0, n, 25):
                part = slice(start, min(start + 25, n))
                p[part] = self.logging_share / k
                p[part, int(np.argmax(sums / counts))] += 1 - self.logging_share
                actions[part] = drawn_arms(p[part], uniforms[part])
                revealed = reveals[actions[part]]
                sums += (revealed * outcomes[part]).sum(axis=0)
                counts += revealed.sum(axis=0)
        rewards = np.where(reveals[actions], outcomes, np.nan)
        return Log.from_arrays(contexts=x, graphs=self.graph, actions=actions, probabilities=p, rewards=rewards)


def drawn_arms(p: Float[np.ndarray, "n arms"], uniforms: Float[np.ndarray, "n 1"]) -> Int[np.ndarray, " n"]:
    """The arm of each round, drawn from its probabilities with one uniform number."""
    return np.asarray(np.minimum((p.cumsum(axis=1) < uniforms).sum(axis=1), p.shape[1] - 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class HubProblem(LinearProblem):
    """A star whose hub is rarely played, and a target equal to the logging policy: where graph-IPS is a poor choice."""

    hub_probability: float = 0.05

    def logging(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """The hub with `hub_probability`; all other arms are equally likely."""
        p = np.full((len(contexts), self.n_arms), (1 - self.hub_probability) / (self.n_arms - 1))
        p[:, 0] = self.hub_probability
        return p

    def target(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """The probabilities of the logging policy."""
        return self.logging(contexts)
