"""Graph parameters against brute force, known values and each other."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbandit import graphs as generators
from graphbandit.errors import GraphBanditError, SettingError
from graphbandit.graphs import parameters
from graphbandit.graphs.graph import FeedbackGraph
from tests.graphs.real_networks import social_graph

MATRICES = st.tuples(st.integers(1, 12), st.floats(0, 1), st.integers(0, 10**6)).map(
    lambda drawn: np.random.default_rng(drawn[2]).random((drawn[0], drawn[0])) < drawn[1]
)


def build(matrix: np.ndarray) -> FeedbackGraph:
    return FeedbackGraph.from_dense(matrix, require_loops=False)


def undirected(graph: nx.Graph) -> FeedbackGraph:
    return FeedbackGraph.from_networkx(nx.convert_node_labels_to_integers(graph), add_loops=True)


def independence_by_brute_force(matrix: np.ndarray) -> int:
    joined = (matrix | matrix.T) & ~np.eye(len(matrix), dtype=bool)
    neighbours = [int(sum(1 << int(a) for a in np.flatnonzero(row))) for row in joined]
    size_of = {0: 0}  # every independent set is one with its last arm more
    for arm, around in enumerate(neighbours):
        size_of |= {chosen | 1 << arm: size + 1 for chosen, size in size_of.items() if not chosen & around}
    return max(size_of.values())


@settings(deadline=None)
@given(MATRICES)
def test_independence_number_is_that_of_brute_force(matrix: np.ndarray) -> None:
    truth = independence_by_brute_force(matrix)
    assert parameters.independence_number(build(matrix)).value == truth
    for limits in ({"exact_limit": 0}, {"node_budget": 0}, {"node_budget": 1}):
        bounds = parameters.independence_number(build(matrix), **limits)
        assert bounds.lower <= truth <= bounds.upper


@pytest.mark.parametrize(
    ("graph", "alpha"),
    [
        (generators.star(50), 49),
        (generators.clique_group(50, 5, rng=np.random.default_rng(0)), 5),
        (generators.complete(50), 1),
        (generators.bandit(50), 50),
        (generators.bandit(1), 1),
        (undirected(nx.cycle_graph(51)), 25),
        (undirected(nx.path_graph(51)), 26),
        (undirected(nx.grid_2d_graph(9, 9)), 41),
        (undirected(nx.petersen_graph()), 4),
        (undirected(nx.dodecahedral_graph()), 8),
        (undirected(nx.hypercube_graph(6)), 32),
        (undirected(nx.paley_graph(37).to_undirected()), 4),
        (undirected(nx.disjoint_union_all([nx.petersen_graph()] * 12)), 48),
        (FeedbackGraph.from_edges([(0, 1), (1, 2), (2, 0)], 3, require_loops=False), 1),
    ],
)
def test_known_independence_numbers(graph: FeedbackGraph, alpha: int) -> None:
    assert parameters.independence_number(graph) == parameters.Bounds(alpha, alpha)


@pytest.mark.parametrize("seed", range(4))
def test_independence_number_of_the_papers_random_graphs(seed: int) -> None:
    """Equals the largest clique of the complement, by NetworkX."""
    graph = generators.random_graph(50, 0.05, rng=np.random.default_rng(seed))
    complement = nx.from_numpy_array(~graph.to_dense())
    _, size = nx.max_weight_clique(complement, weight=None)
    assert parameters.independence_number(graph).value == size


def test_a_hundred_arms_are_exact() -> None:
    graph = generators.random_graph(100, 0.05, rng=np.random.default_rng(0))
    assert parameters.independence_number(graph) == parameters.Bounds(33, 33)


def test_an_exhausted_budget_leaves_bounds() -> None:
    graph = generators.random_graph(100, 0.05, rng=np.random.default_rng(0))
    coarse, finer = (parameters.independence_number(graph, node_budget=n) for n in (0, 500))
    assert coarse.lower <= finer.lower <= 33 <= finer.upper <= coarse.upper
    assert not finer.exact
    assert repr(finer) == f"Bounds({finer.lower} to {finer.upper}, not exact)"
    with pytest.raises(GraphBanditError, match=rf"known as Bounds\({finer.lower} to {finer.upper}, not exact\) only"):
        _ = finer.value
    with pytest.raises(SettingError, match="node_budget is -1"):
        parameters.independence_number(graph, node_budget=-1)


def test_independence_of_social_graphs() -> None:
    assert parameters.independence_number(social_graph("lastfm_asia")) == parameters.Bounds(4177, 4177)
    bounds = parameters.independence_number(social_graph("snap_ego_facebook"))
    assert 1000 < bounds.lower <= bounds.upper < 1150


def test_independence_of_a_large_social_graph() -> None:
    assert parameters.independence_number(social_graph("github_social")).exact


def test_observability_of_arms() -> None:
    # arm 0 has a loop, 1 is revealed by all others, 2 by one of them, 3 by none
    graph = FeedbackGraph.from_edges([(0, 0), (0, 1), (2, 1), (3, 1), (1, 2)], 4, require_loops=False)
    assert parameters.strongly_observable_arms(graph).tolist() == [True, True, False, False]
    assert parameters.observable_arms(graph).tolist() == [True, True, True, False]
    assert parameters.observability(graph) == "unobservable"


@pytest.mark.parametrize(
    ("graph", "kind"),
    [
        (generators.bandit(1), "strong"),
        (generators.random_graph(20, rng=np.random.default_rng(0)), "strong"),
        (build(~np.eye(4, dtype=bool)), "strong"),
        (build(np.eye(4, k=1) + np.eye(4, k=-3) > 0), "weak"),
        (build(np.eye(4, k=1) > 0), "unobservable"),
        (build(np.zeros((1, 1), dtype=bool)), "unobservable"),
    ],
)
def test_observability(graph: FeedbackGraph, kind: str) -> None:
    assert parameters.observability(graph) == kind


@settings(deadline=None)
@given(MATRICES)
def test_weak_domination_is_bounded_on_both_sides(matrix: np.ndarray) -> None:
    graph = build(matrix)
    weak = parameters.observable_arms(graph) & ~parameters.strongly_observable_arms(graph)
    truth = next(
        size
        for size in range(len(matrix) + 1)
        for arms in combinations(range(len(matrix)), size)
        if matrix[list(arms)].any(axis=0)[weak].all()
    )
    bounds = parameters.weak_domination_number_bound(graph)
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper <= truth * (1 + np.log(max(weak.sum(), 1)))


def test_weak_domination_known_values() -> None:
    assert parameters.weak_domination_number_bound(generators.star(9)) == parameters.Bounds(0, 0)
    one_tells_all = np.zeros((9, 9), dtype=bool)
    one_tells_all[0] = True
    one_tells_all[0, 3] = False
    one_tells_all[1, 3] = True
    assert parameters.weak_domination_number_bound(build(one_tells_all)).upper == 2


def test_weak_domination_of_a_social_graph_without_loops() -> None:
    without_loops = social_graph("lastfm_asia").edges()
    graph = FeedbackGraph.from_edges(
        without_loops[without_loops[:, 0] != without_loops[:, 1]], 7624, require_loops=False
    )
    bounds = parameters.weak_domination_number_bound(graph)
    assert 0 < bounds.lower < bounds.upper < 1.2 * bounds.lower


@settings(deadline=None)
@given(MATRICES)
def test_density_and_degrees(matrix: np.ndarray) -> None:
    graph, n_arms = build(matrix), len(matrix)
    degrees = parameters.degree_statistics(graph)
    assert (degrees.min_out, degrees.max_out) == (matrix.sum(axis=1).min(), matrix.sum(axis=1).max())
    assert (degrees.min_in, degrees.max_in) == (matrix.sum(axis=0).min(), matrix.sum(axis=0).max())
    assert degrees.mean == pytest.approx(matrix.sum(axis=0).mean())
    pairs = n_arms * (n_arms - 1)
    assert parameters.density(graph) * pairs == pytest.approx((matrix & ~np.eye(n_arms, dtype=bool)).sum())
