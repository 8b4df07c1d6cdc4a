"""Each generator has the property that defines it."""

from collections.abc import Callable
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from graphbandit import graphs as generators
from graphbandit.errors import GraphError, SettingError
from graphbandit.graphs.generators.preferential_attachment import PreferentialAttachmentSource
from graphbandit.graphs.graph import FeedbackGraph

RANDOM: dict[str, Callable[[int, np.random.Generator], FeedbackGraph]] = {
    "star": lambda k, rng: generators.star(k, rng=rng),
    "clique_group": lambda k, rng: generators.clique_group(k, min(k, 5), rng=rng),
    "random_graph": lambda k, rng: generators.random_graph(k, 0.05, rng=rng),
    "erdos_renyi": lambda k, rng: generators.erdos_renyi(k, 0.01, rng=rng),
    "preferential_attachment": lambda k, rng: generators.preferential_attachment(k, 3, rng=rng),
}


@pytest.mark.parametrize("kind", RANDOM)
@pytest.mark.parametrize("n_arms", [1, 2, 65, 300])
def test_same_seed_same_graph_all_loops(kind: str, n_arms: int) -> None:
    graph = RANDOM[kind](n_arms, default_rng(3))
    assert graph == RANDOM[kind](n_arms, default_rng(3))
    assert graph.n_arms == n_arms
    assert graph.has_all_loops
    assert graph.is_undirected or kind == "erdos_renyi"
    if n_arms >= 65:
        assert graph != RANDOM[kind](n_arms, default_rng(4))


def test_bandit_and_complete() -> None:
    np.testing.assert_array_equal(generators.bandit(6).to_dense(), np.eye(6, dtype=bool))
    assert generators.complete(6).to_dense().all()
    assert generators.complete(1) == generators.bandit(1)


def test_star_joins_the_hub_to_all() -> None:
    graph = generators.star(6, hub=2)
    assert graph.reveals(2).tolist() == graph.revealed_by(2).tolist() == [0, 1, 2, 3, 4, 5]
    assert graph.reveals(5).tolist() == [2, 5]
    assert graph.n_edges == 6 + 2 * 5
    assert generators.star(6) == generators.star(6, hub=0)
    rng = default_rng(0)
    assert len({generators.star(6, rng=rng) for _ in range(100)}) == 6


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.booleans())
def test_clique_group_is_disjoint_cliques_of_like_sizes(n_arms: int, n_cliques: int, shuffled: bool) -> None:
    n_cliques = min(n_arms, n_cliques)
    graph = generators.clique_group(n_arms, n_cliques, rng=default_rng(0) if shuffled else None)
    cliques = {tuple(graph.reveals(a).tolist()) for a in range(n_arms)}
    assert len(cliques) == n_cliques
    assert sorted(a for clique in cliques for a in clique) == list(range(n_arms))
    sizes = [len(clique) for clique in cliques]
    assert max(sizes) - min(sizes) <= 1
    if not shuffled:
        assert all(b - a == 1 for clique in cliques for a, b in pairwise(clique))


def test_clique_group_of_many_arms() -> None:
    graph = generators.clique_group(5001, 1000, rng=default_rng(0))
    assert not graph.is_packed
    members = graph.reveals(17)
    assert 17 in members
    assert len(members) in (5, 6)
    assert all(graph.reveals(a).tolist() == members.tolist() for a in members)
    assert graph.n_edges == 999 * 25 + 36


def test_random_graph_joins_the_drawn_pairs() -> None:
    graph = generators.random_graph(50, 0.05, rng=default_rng(1))
    pairs = default_rng(1).integers(50, size=(125, 2))
    expected = np.eye(50, dtype=bool)
    for i, j in pairs:
        expected[i, j] = expected[j, i] = True
    np.testing.assert_array_equal(graph.to_dense(), expected)
    assert generators.random_graph(10, 0, rng=default_rng(0)) == generators.bandit(10)
    # ceil: 0.011 * 100 is two pairs
    assert generators.random_graph(10, 0.011, rng=default_rng(1)).n_edges == 14


@pytest.mark.parametrize("n_arms", [400, 5000])
def test_erdos_renyi_has_independent_directed_edges(n_arms: int) -> None:
    probability = 0.01
    graph = generators.erdos_renyi(n_arms, probability, rng=default_rng(0))
    pairs = n_arms * (n_arms - 1)
    deviation = np.sqrt(pairs * probability * (1 - probability))
    assert abs(graph.n_edges - n_arms - pairs * probability) < 4 * deviation
    # an edge and its reverse are independent
    both = graph.to_sparse().astype(int)
    mutual = (both.multiply(both.T).sum() - n_arms) / 2
    assert abs(mutual - pairs / 2 * probability**2) < 4 * np.sqrt(pairs / 2 * probability**2)


@pytest.mark.parametrize("n_arms", [30, 5000])
def test_erdos_renyi_at_the_ends(n_arms: int) -> None:
    assert generators.erdos_renyi(n_arms, 0, rng=default_rng(0)) == generators.bandit(n_arms)
    assert generators.erdos_renyi(n_arms, 1e-300, rng=default_rng(0)) == generators.bandit(n_arms)
    if n_arms <= 30:
        assert generators.erdos_renyi(n_arms, 1, rng=default_rng(0)) == generators.complete(n_arms)


def test_preferential_attachment_step_by_step() -> None:
    """The vectorised draws are those of the loop over arms that Batagelj & Brandes write."""
    n_arms, draws = 60, 3
    places = default_rng(8).random((n_arms - 1) * draws)
    ends: list[int] = []
    pairs = []
    for v in range(1, n_arms):
        before = list(ends)
        for i in range(draws):
            k = (v - 1) * draws + i
            joined = before[int(places[k] * len(before))] if before else 0
            pairs.append([v, joined])
            ends += [v, joined]
    source = PreferentialAttachmentSource(n_arms=n_arms, edges_per_arm=draws)
    np.testing.assert_array_equal(source.pairs(default_rng(8), 1)[0], pairs)


def test_preferential_attachment_is_connected_and_heavy_tailed() -> None:
    graph = generators.preferential_attachment(3000, 2, rng=default_rng(0))
    degrees = np.diff(graph.csr().indptr) - 1
    assert nx.is_strongly_connected(graph.to_networkx())
    assert 1 <= degrees.min() <= degrees.mean() <= 4
    assert degrees.max() > 50  # about 20 if earlier arms were drawn uniformly


def test_preferential_attachment_of_many_arms() -> None:
    graph = generators.preferential_attachment(100_000, 7, rng=default_rng(0))
    assert graph.is_undirected
    assert 0.99 < (graph.n_edges - 100_000) / (2 * 7 * 100_000) < 1


def test_bad_options_are_refused() -> None:
    rng = default_rng(0)
    cases = [
        (lambda: generators.bandit(0), GraphError, "n_arms is 0; expected a whole number of at least 1"),
        (lambda: generators.complete(2.5), GraphError, r"n_arms is 2\.5"),
        (lambda: generators.star(5, 5), SettingError, r"hub is 5; expected an arm of 0 \.\. 4"),
        (lambda: generators.star(5, -1), SettingError, "hub is -1"),
        (lambda: generators.star(5, 1, rng=rng), SettingError, "hub is 1 and rng is given too"),
        (lambda: generators.clique_group(5, 6), SettingError, "n_cliques is 6; expected at most 5"),
        (lambda: generators.clique_group(5, 0), SettingError, "n_cliques is 0"),
        (lambda: generators.random_graph(5, -0.1, rng=rng), SettingError, r"density is -0\.1"),
        (lambda: generators.random_graph(5, np.nan, rng=rng), SettingError, "density is nan"),
        (lambda: generators.erdos_renyi(5, 1.5, rng=rng), SettingError, r"probability is 1\.5; expected .* 0 to 1"),
        (lambda: generators.preferential_attachment(5, 0, rng=rng), SettingError, "edges_per_arm is 0"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()
