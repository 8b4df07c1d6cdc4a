"""Sources draw what the generators draw, as a stream of rounds."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import default_rng

from graphbandit import graphs as generators
from graphbandit.errors import GraphError, SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators import base as generator_base
from graphbandit.graphs.generators.clique_group import CliqueGroupSource
from graphbandit.graphs.generators.random_graph import RandomSource
from graphbandit.graphs.generators.star import StarSource
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.sources import (
    SOURCES,
    FixedSource,
    GraphSource,
    PoolSource,
    graph_source,
)

OPTIONS = {
    "erdos_renyi": {"probability": 0.1},
    "preferential_attachment": {"edges_per_arm": 3},
    "network": {"count": 9, "sampler": "bfs"},
}

SINGLE: dict[str, Callable[[int, np.random.Generator], FeedbackGraph]] = {
    "star": lambda k, rng: generators.star(k, rng=rng),
    "clique_group": lambda k, rng: generators.clique_group(k, rng=rng),
    "random": lambda k, rng: generators.random_graph(k, rng=rng),
    "erdos_renyi": lambda k, rng: generators.erdos_renyi(k, 0.1, rng=rng),
    "preferential_attachment": lambda k, rng: generators.preferential_attachment(k, 3, rng=rng),
    "bandit": lambda k, rng: generators.bandit(k),
    "complete": lambda k, rng: generators.complete(k),
    "network": lambda k, rng: graph_source("network", k, **OPTIONS["network"]).pool[int(rng.integers(9))],
}


def a_source(kind: str, n_arms: int) -> GraphSource:
    return graph_source(kind, n_arms, **OPTIONS.get(kind, {}))


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("n_arms", [7, 70])
def test_a_batch_is_the_generator_round_by_round(kind: str, n_arms: int) -> None:
    batch = a_source(kind, n_arms).draw(default_rng(0), 20)
    rng = default_rng(0)
    assert batch == FeedbackGraphs.stack(SINGLE[kind](n_arms, rng) for _ in range(20))
    assert (len(batch), batch.n_arms, batch.has_all_loops) == (20, n_arms, True)


@pytest.mark.parametrize("kind", SOURCES)
def test_neither_the_size_of_batches_nor_of_blocks_matters(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = a_source(kind, 20)
    whole = source.draw(default_rng(0), 50)
    rng = default_rng(0)
    assert FeedbackGraphs.concatenate([source.draw(rng, n) for n in (1, 0, 30, 19)]) == whole
    monkeypatch.setattr(generator_base, "_BLOCK", 1000)
    assert source.draw(default_rng(0), 50) == whole


@pytest.mark.parametrize("kind", SOURCES)
def test_large_graphs(kind: str) -> None:
    options = {
        "random": {"density": 1e-4},
        "erdos_renyi": {"probability": 1e-4},
        "clique_group": {"n_cliques": 500},
        "network": {"count": 2},
    }
    source = graph_source(kind, 5000, **options.get(kind, {})) if kind != "complete" else a_source(kind, 200)
    batch = source.draw(default_rng(0), 3)
    assert batch == source.draw(default_rng(0), 3)
    assert (len(batch), batch.n_arms, batch.has_all_loops) == (3, source.n_arms, True)
    assert len(source.draw(default_rng(0), 0)) == 0


def test_a_star_is_stored_once() -> None:
    batch = StarSource(n_arms=5).draw(default_rng(0), 1000)
    assert len(batch.stored) == 5
    hubs = [int(np.argmax([len(graph.reveals(a)) for a in range(5)])) for graph in batch]
    assert np.bincount(hubs).min() > 150


def test_fixed_and_pool_share_their_store() -> None:
    fixed = FixedSource(generators.star(6))
    rng = default_rng(0)
    assert fixed.draw(rng, 4).stored is fixed.draw(rng, 9).stored
    assert rng.integers(100) == default_rng(0).integers(100)
    pool = PoolSource([generators.star(6, hub) for hub in (0, 1, 2)])
    draws = pool.draw(default_rng(0), 3000)
    assert draws.stored is pool.draw(default_rng(0), 5).stored
    assert np.bincount(draws.index).min() > 900
    assert pool.n_arms == fixed.n_arms == 6


def test_a_pool_may_be_a_batch_and_weighs_repeats() -> None:
    graphs = FeedbackGraphs.stack([generators.bandit(3)] * 9 + [generators.complete(3)])
    drawn = PoolSource(graphs).draw(default_rng(0), 1000)
    assert 50 < sum(graph == generators.complete(3) for graph in drawn) < 150


def test_sources_are_values() -> None:
    assert graph_source("random", 50) == RandomSource(n_arms=50, density=0.05)
    assert graph_source("clique_group", 50, n_cliques=2) == CliqueGroupSource(n_arms=50, n_cliques=2)
    assert FixedSource(generators.star(4)) == FixedSource(generators.star(4))
    assert graph_source("bandit", 4) == FixedSource(generators.bandit(4))


def test_bad_settings_are_refused() -> None:
    cases = [
        (lambda: graph_source("tree", 5), SettingError, "kind is 'tree'; expected one of 'bandit', 'clique_group'"),
        (
            lambda: graph_source("star", 5, density=1),
            SettingError,
            "unknown setting 'density'; expected another, as the graph 'star' takes ",
        ),
        (lambda: graph_source("erdos_renyi", 5), SettingError, "'erdos_renyi' are {}: missing .* 'probability'"),
        (lambda: graph_source("star", 0), GraphError, "n_arms is 0"),
        (lambda: graph_source("clique_group", 4), SettingError, "n_cliques is 5; expected at most 4"),
        (lambda: graph_source("random", 4, density=-1), SettingError, "density is -1"),
        (lambda: graph_source("erdos_renyi", 4, probability=2), SettingError, "probability is 2"),
        (lambda: graph_source("preferential_attachment", 4, edges_per_arm=0), SettingError, "edges_per_arm is 0"),
        (lambda: PoolSource([]), SettingError, "graphs is empty"),
        (lambda: PoolSource([generators.star(3), generators.star(4)]), GraphError, "graph 1 has 4 arms"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()
