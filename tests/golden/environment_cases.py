"""Every environment: what its rounds hold. And where graphs come from: generators, sources, networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphbandit import environments, graphs
from graphbandit.environments import probabilistic
from graphbandit.graphs import FeedbackGraph, parameters, sample_subgraphs, social_network, sources
from tests.golden.played import Arrays, dense
from tests.golden.problems import LARGE, PROBLEMS, problem, random_matrices
from tests.golden.registry import Outcome, add

ROUNDS = 300
"""More than one block of rounds, so that drawing in portions is seen to make no difference."""


def _ratings() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(41)
    users, items = np.nonzero(rng.random((60, 30)) < 0.5)
    taste = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 30))
    return users, items, np.clip(np.round(3 + taste[users, items]), 1, 5)


def _labelled() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(42)
    y = rng.integers(6, size=80)
    return rng.standard_normal((80, 4)) + rng.standard_normal((6, 4))[y], y


def _dataset(name: str) -> tuple[np.ndarray, np.ndarray]:
    data: Any = environments.load_dataset(name)
    return data.X, data.y


def _base(**settings: Any) -> Any:
    return environments.paper(n_arms=6, n_functions=5, dimension=3, **settings)


def _classes(**settings: Any) -> Callable[[], Any]:
    return lambda: environments.classification(*_labelled(), **settings)


def _rated(**settings: Any) -> Callable[[], Any]:
    users, items, values = _ratings()
    return lambda: environments.ratings(users, items, values, n_arms=8, dimension=3, rank=2, **settings)


ENVIRONMENTS: dict[str, Callable[[], Any]] = {
    **{f"paper, {kind}": (lambda kind=kind, told=told: _base(graph=kind, **told)) for kind, told in {
        "star": {}, "clique_group": {"n_cliques": 2}, "random": {"density": 0.1}, "erdos_renyi": {"probability": 0.3},
        "preferential_attachment": {}, "bandit": {}, "complete": {}, "network": {"count": 7},
    }.items()},
    "paper, scaled": lambda: _base(graph="star", reward_scale=8.0, noise=0.3, fixed_graph=True),
    **{f"arms, {case}": (lambda case=case: environments.arms(n_arms=6, case=case, gap=0.3))
       for case in ("needle", "ladder", "lottery", "poor-hub", "shifting")},
    **{f"linear, {arms}, {features}": (
        lambda arms=arms, features=features: environments.linear(
            n_arms=5, dimension=3, arm_kind=arms, feature_law=features, diversity=0.7, signal=2.0
        )
    ) for arms in ("new", "fixed", "per-arm") for features in ("normal", "sphere")},
    **{f"linear, {link}": (lambda link=link: environments.linear(n_arms=5, dimension=3, link=link))
       for link in ("logistic", "poisson")},
    **{f"classification, {graph}": _classes(graph=graph) for graph in ("similarity", "confusion", "hierarchy", "star")},
    "classification, plain": _classes(
        standardise=False, intercept=True, right=2.0, wrong=-1.0, reward_noise=0.1, degree=1
    ),
    **{f"ratings, {graph}": _rated(graph=graph) for graph in ("similarity", "hierarchy")},
    "ratings, counts": _rated(counts=True, intercept=True),
    "ratings, zero": _rated(unrated="zero", reward_noise=0.2),
    **{f"data set {name}": (lambda name=name: environments.classification(*_dataset(name), graph="confusion"))
       for name in ("iris", "wine", "digits", "breast_cancer")},
    **{f"probabilistic, {shown}": (lambda shown=shown: probabilistic(_base(graph="star"), probability=0.4, shown=shown))
       for shown in ("probabilities", "nothing", "graphs")},
    "probabilistic, concentrated": lambda: probabilistic(_base(graph="complete"), probability=0.5, concentration=3.0),
    "probabilistic, matrix": lambda: probabilistic(
        _base(graph="complete"), probability=np.random.default_rng(43).random((6, 6)), keep_loops=False
    ),
}  # fmt: skip


def drawn(environment: Any, *, rounds: int, repeat: int, seed: int, chunk: int) -> Arrays:
    """The first rounds of an environment, drawn `chunk` at a time."""
    instance = environment.instance(seed, repeat)
    parts = [instance.rounds(first, min(first + chunk, rounds)) for first in range(0, rounds, chunk)]
    found = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("contexts", "means", "rewards")}
    found["graphs"] = np.concatenate([dense(part.graphs) for part in parts])
    if parts[0].available is not None:
        found["available"] = np.concatenate([part.available for part in parts])
    if parts[0].probabilistic is not None:
        found["edge_probabilities"] = np.concatenate(
            [np.stack([graph.matrix for graph in part.probabilistic]) for part in parts]
        )
    found["noise"] = np.array(np.nan if instance.problem(None).noise is None else instance.problem(None).noise)
    return found


def rounds_of(environment: Any, rounds: int, chunk: int) -> Outcome:
    """Two repeats."""
    arrays = {}
    for repeat in range(2):
        found = drawn(environment, rounds=rounds, repeat=repeat, seed=6, chunk=chunk)
        arrays |= {f"{name}, repeat {repeat}": array for name, array in found.items()}
    numbers = {
        "mean reward": float(arrays["rewards, repeat 0"].mean()),
        "mean of means": float(arrays["means, repeat 1"].mean()),
        "edges": float(arrays["graphs, repeat 0"].sum()),
    }
    return Outcome(arrays, numbers)


for _name, _build in ENVIRONMENTS.items():
    add(f"environments/{_name}", lambda chunk, build=_build: rounds_of(build(), ROUNDS, min(chunk, ROUNDS)))
for _name in PROBLEMS:
    if _name != "large":
        add(f"environments/problem, {_name}", lambda chunk, n=_name: rounds_of(problem(n), 96, min(chunk, 96)))


# Graphs

GENERATED: dict[str, dict[str, Any]] = {
    "bandit": {}, "complete": {}, "star": {}, "clique_group": {"n_cliques": 3}, "random_graph": {"density": 0.1},
    "erdos_renyi": {"probability": 0.2}, "preferential_attachment": {"edges_per_arm": 2},
}  # fmt: skip
DRAWN = ("star", "clique_group", "random_graph", "erdos_renyi", "preferential_attachment")


def parameters_of(graph: Any) -> dict[str, float]:
    """Of a graph."""
    independence = parameters.independence_number(graph)
    weak = parameters.weak_domination_number_bound(graph)
    degrees = parameters.degree_statistics(graph)
    return {
        "independence, least": float(independence.lower),
        "independence, most": float(independence.upper),
        "weak domination, least": float(weak.lower),
        "weak domination, most": float(weak.upper),
        "density": parameters.density(graph),
        "strong": float(parameters.observability(graph) == "strong"),
        **{f"degree {name}": float(value) for name, value in vars(degrees).items()},
    }


def generated(kind: str) -> Outcome:
    """Of few arms, then of many, and the parameters of both."""
    arrays, numbers = {}, {}
    for n_arms in (9, 70):
        told = dict(GENERATED[kind])
        if kind in DRAWN:
            told["rng"] = np.random.default_rng(51)
        graph = getattr(graphs, kind)(n_arms, **told)
        arrays[f"{n_arms} arms"] = dense(graph)
        found = parameters_of(graph)
        arrays[f"parameters of {n_arms}"] = np.array(list(found.values()))
        numbers[f"independence of {n_arms}"] = found["independence, least"]
    return Outcome(arrays, numbers)


def large(kind: str) -> Outcome:
    """A graph that is kept as lists."""
    told = dict(GENERATED[kind])
    if kind == "erdos_renyi":
        told["probability"] = 0.001
    if kind == "random_graph":
        told["density"] = 0.0005
    graph = getattr(graphs, kind)(LARGE, **told, rng=np.random.default_rng(52))
    pointers, arms = graph.csr()
    edges = np.concatenate([pointers.astype(np.int64), arms.astype(np.int64)])
    return Outcome({"edges": edges}, {"edges": float(len(edges) - LARGE - 1)})


def weak_parameters() -> Outcome:
    """Of graphs without all self-loops."""
    matrices = random_matrices(20, 8, 0.15, 53, loops=False)
    found = [list(parameters_of(FeedbackGraph.from_dense(matrix, require_loops=False)).values()) for matrix in matrices]
    return Outcome({"graphs": matrices, "parameters": np.array(found)}, {"sum": float(np.nansum(found))})


def source(kind: str, options: dict[str, Any]) -> Outcome:
    """The graphs of 60 rounds."""
    found = dense(sources.graph_source(kind, 12, **options).draw(np.random.default_rng(54), 60))
    return Outcome({"graphs": found}, {"edges": float(found.sum())})


def network(sampler: str) -> Outcome:
    """A generated social network, and connected components of it."""
    found = social_network(1500, rng=np.random.default_rng(55), largest_degree=80)
    parts = dense(sample_subgraphs(found, 12, 6, sampler=sampler, rng=np.random.default_rng(56)))
    edges = np.asarray(found.edges())
    return Outcome({"edges": edges, "parts": parts}, {"edges": float(len(edges)), "edges of parts": float(parts.sum())})


for _kind in GENERATED:
    add(f"graphs/generated/{_kind}", lambda chunk, kind=_kind: generated(kind))
for _kind in ("random_graph", "erdos_renyi", "preferential_attachment"):
    add(f"graphs/large/{_kind}", lambda chunk, kind=_kind: large(kind))
add("graphs/parameters of weak graphs", lambda chunk: weak_parameters())
for _kind, _options in {
    "star": {}, "clique_group": {"n_cliques": 3}, "random": {"density": 0.1}, "erdos_renyi": {"probability": 0.2},
    "preferential_attachment": {}, "bandit": {}, "complete": {}, "network": {"count": 5, "sampler": "bfs"},
}.items():  # fmt: skip
    add(f"graphs/source/{_kind}", lambda chunk, kind=_kind, told=_options: source(kind, told))
for _sampler in ("union-find", "random-walk", "bfs"):
    add(f"graphs/network/{_sampler}", lambda chunk, sampler=_sampler: network(sampler))
