"""Logs with known truth: linear rewards, a contextual logging policy, a target, any graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.function_classes import LinearClass
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, bandit, clique_group, complete, erdos_renyi, star
from graphbandit.logs import Log
from graphbandit.logs.batch import times_graphs

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
    """f(x, a) = 2 + b'x + theta[a]'x with noise, x normal; softmax policies with a share of uniform play.

    `target_share` is the uniform share of the target policy, `logging_share` that of the logging policy.
    """

    graph: FeedbackGraph
    dimension: int = 5
    noise: float = 0.5
    steepness: float = 0.6
    logging_share: float = 0.4
    target_share: float = 0.0

    @property
    def n_arms(self) -> int:
        """K."""
        return self.graph.n_arms

    def _parameters(self, name: str) -> Float[np.ndarray, "d arms"]:
        return stream(0, "evaluation", name, self.n_arms).normal(size=(self.dimension, self.n_arms))

    def contexts(self, n: int, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        """Standard normal ones."""
        return rng.normal(size=(n, self.dimension))

    def means(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """f(x, a)."""
        common = np.sqrt(0.6 / self.dimension) * contexts.sum(axis=1, keepdims=True)
        return np.asarray(2.0 + common + 0.2 * contexts @ self._parameters("rewards"))

    def _softmax(self, contexts: Float[np.ndarray, "n d"], name: str, share: float) -> Float[np.ndarray, "n arms"]:
        scores = np.exp(self.steepness * contexts @ self._parameters(name) / np.sqrt(self.dimension))
        soft: Float[np.ndarray, "n arms"] = scores / scores.sum(axis=1, keepdims=True)
        return share / self.n_arms + (1 - share) * soft

    def logging(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """p(a | x)."""
        return self._softmax(contexts, "logging", self.logging_share)

    def target(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """pi(a | x)."""
        return self._softmax(contexts, "target", self.target_share)

    def log(self, n: int, rng: np.random.Generator) -> Log:
        """n rounds."""
        x = self.contexts(n, rng)
        p = self.logging(x)
        actions = _draw(p, rng.random((n, 1)))
        rewards = self.means(x) + self.noise * rng.normal(size=(n, self.n_arms))
        rewards[~FeedbackGraphs.repeat(self.graph, n).revealed(actions)] = np.nan
        return Log.from_arrays(contexts=x, graphs=self.graph, actions=actions, probabilities=p, rewards=rewards)

    @property
    def model(self) -> LinearClass:
        """The model of doubly robust estimators: ridge regression with lambda = 1, one for each arm."""
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
    """Rewards of 0 and 1 with mean 1 / (1 + exp(-theta[a]'x)); the log may be one of a learner that adapts.

    `adaptive`: every 25 rounds the arm of the highest mean so far becomes the one that is played unless a uniform draw
    (with probability `logging_share`) decides; contexts do not matter to it.

    `drift`: from the first context to the last, theta[a]'x rises by so much on either side of its middle.
    """

    dimension: int = 3
    adaptive: bool = False
    drift: float = 0.0

    def means(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """f(x, a) of contexts in the order of time."""
        n = len(contexts)
        bias = stream(0, "evaluation", "bias", self.n_arms).normal(size=self.n_arms)
        rise = self.drift * ((2 * np.arange(n) + 1) / n - 1)
        logits = contexts @ self._parameters("rewards") + bias + rise[:, None]
        found: Float[np.ndarray, "n arms"] = 1 / (1 + np.exp(-logits))
        return found

    def log(self, n: int, rng: np.random.Generator) -> Log:
        """n rounds."""
        x, k = self.contexts(n, rng), self.n_arms
        outcomes = (rng.random((n, k)) < self.means(x)).astype(np.float64)
        uniforms, reveals = rng.random((n, 1)), self.graph.to_dense()
        if not self.adaptive:
            p = self.logging(x)
            actions = _draw(p, uniforms)
        else:
            p, actions = np.empty((n, k)), np.empty(n, dtype=np.int64)
            sums, counts = np.full(k, 0.5), np.ones(k)
            for start in range(0, n, 25):
                part = slice(start, min(start + 25, n))
                p[part] = self.logging_share / k
                p[part, int(np.argmax(sums / counts))] += 1 - self.logging_share
                actions[part] = _draw(p[part], uniforms[part])
                seen = reveals[actions[part]]
                sums += (seen * outcomes[part]).sum(axis=0)
                counts += seen.sum(axis=0)
        rewards = np.where(reveals[actions], outcomes, np.nan)
        return Log.from_arrays(contexts=x, graphs=self.graph, actions=actions, probabilities=p, rewards=rewards)


def _draw(p: Float[np.ndarray, "n arms"], uniforms: Float[np.ndarray, "n 1"]) -> Int[np.ndarray, " n"]:
    return np.asarray(np.minimum((p.cumsum(axis=1) < uniforms).sum(axis=1), p.shape[1] - 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class HubProblem(LinearProblem):
    """A star whose hub is rarely played, and a target equal to the logging policy: where graph-IPS is a poor choice."""

    hub_probability: float = 0.05

    def logging(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """The hub with `hub_probability`, every other arm alike."""
        p = np.full((len(contexts), self.n_arms), (1 - self.hub_probability) / (self.n_arms - 1))
        p[:, 0] = self.hub_probability
        return p

    def target(self, contexts: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n arms"]:
        """The target policy plays as the logging policy does."""
        return self.logging(contexts)
