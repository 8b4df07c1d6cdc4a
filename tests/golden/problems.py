"""Small environments that the cases play on, by name; each is built once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from graphbandit import environments, function_classes
from graphbandit.graphs import FeedbackGraphs, preferential_attachment

LARGE = 4200
"""More arms than graphs are packed for: they are lists there."""


def _paper(n_arms: int, graph: str, **settings: Any) -> Any:
    return environments.paper(
        n_arms=n_arms, graph=graph, n_functions=12, dimension=4, reward_scale=4.0, noise=0.5, **settings
    )


def _arrays(n_arms: int, *, seed: int, rounds: int = 160, **settings: Any) -> Any:
    """Linear means with a parameter for each arm, and noisy rewards."""
    rng = np.random.default_rng(seed)
    contexts = rng.standard_normal((rounds, 3))
    means = 0.5 + 0.2 * contexts @ rng.standard_normal((3, n_arms)) / np.sqrt(3)
    functions = function_classes.LinearClass(n_arms=n_arms, dimension=3, parameters="per-arm", intercept=True)
    return environments.from_arrays(
        contexts=contexts,
        means=means,
        rewards=means + 0.3 * rng.standard_normal(means.shape),
        function_class=functions,
        noise=0.3,
        **settings,
    )


def random_matrices(n: int, n_arms: int, density: float, seed: int, *, loops: bool) -> np.ndarray:
    """Directed graphs; without `loops`, every arm is revealed by some arm, the next one if by no other."""
    matrices = np.random.default_rng(seed).random((n, n_arms, n_arms)) < density
    arms = np.arange(n_arms)
    if loops:
        matrices[:, arms, arms] = True
    else:
        matrices[:, (arms + 1) % n_arms, arms] = True
        matrices[:, arms[::2], arms[::2]] = False
    return matrices


def _batch(*settings: Any, loops: bool) -> FeedbackGraphs:
    return FeedbackGraphs.from_dense(random_matrices(*settings, loops=loops), require_loops=False)


def _masks(rounds: int, n_arms: int, seed: int) -> np.ndarray:
    masks = np.random.default_rng(seed).random((rounds, n_arms)) < 0.6
    masks[np.arange(rounds), np.arange(rounds) % n_arms] = True
    return masks


def _still(**settings: Any) -> Any:
    return environments.linear(n_arms=6, dimension=3, arm_kind="per-arm", diversity=0.0, graph="star", **settings)


_BUILD: dict[str, Callable[[], Any]] = {
    "star": lambda: _paper(8, "star"),
    "cliques": lambda: _paper(12, "clique_group", n_cliques=4),
    "random": lambda: _paper(16, "random", density=0.08),
    "directed": lambda: _paper(10, "erdos_renyi", probability=0.2),
    "fixed graph": lambda: _paper(7, "random", density=0.1, fixed_graph=True),
    "linear, new arms": lambda: environments.linear(n_arms=8, dimension=3, graph="random", density=0.1),
    "linear, fixed arms": lambda: environments.linear(
        n_arms=7, dimension=3, arm_kind="fixed", arm_dimension=2, graph="clique_group", n_cliques=3
    ),
    "linear, one context": _still,
    "clicks": lambda: environments.linear(
        n_arms=6, dimension=3, link="logistic", signal=2.0, graph="star", feature_law="sphere"
    ),
    "counts": lambda: environments.linear(n_arms=5, dimension=2, link="poisson", graph="random", density=0.1),
    "needle": lambda: environments.arms(n_arms=8, case="needle", gap=0.3),
    "poor hub": lambda: environments.arms(n_arms=6, case="poor-hub", gap=0.3),
    "masks": lambda: _arrays(
        7,
        seed=1,
        graphs=_batch(160, 7, 0.2, 2, loops=True),
        available=_masks(160, 7, 3),
        shuffle=True,
    ),
    "weak": lambda: _arrays(6, seed=4, graphs=_batch(160, 6, 0.15, 5, loops=False)),
    "weak, masks": lambda: _arrays(6, seed=14, graphs=_batch(160, 6, 0.5, 5, loops=False), available=_masks(160, 6, 6)),
    "edge probabilities": lambda: environments.probabilistic(_paper(6, "random", density=0.2), probability=0.6),
    "edge probabilities, no loops": lambda: environments.probabilistic(
        _paper(5, "complete"), probability=0.5, concentration=2.0, keep_loops=False
    ),
    "hidden graph": lambda: environments.probabilistic(
        _paper(6, "random", density=0.2, fixed_graph=True), probability=0.8, shown="nothing"
    ),
    "probabilistic, graphs shown": lambda: environments.probabilistic(
        _paper(6, "random", density=0.2), probability=0.6, shown="graphs"
    ),
    "large": lambda: _arrays(
        LARGE,
        seed=7,
        rounds=16,
        graphs=preferential_attachment(LARGE, rng=np.random.default_rng(8)),
    ),
}

PROBLEMS = tuple(_BUILD)


@cache
def problem(name: str) -> Any:
    """The environment of this name."""
    return _BUILD[name]()
