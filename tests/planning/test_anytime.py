"""The anytime solver against the exact one, on graphs and costs of several kinds."""

import numpy as np
import pytest

from graphbandit import FeedbackGraph, graphs
from graphbandit.planning import Effort, exploration_set, inverse_gap_baseline, solve_sampling_lp

ARMS = 400


def directed(rng: np.random.Generator) -> FeedbackGraph:
    return FeedbackGraph.from_edges(rng.integers(0, ARMS, size=(4 * ARMS, 2)), ARMS, add_loops=True)


GRAPHS = {
    "social": lambda rng: graphs.preferential_attachment(ARMS, 5, rng=rng),
    "cliques": lambda rng: graphs.clique_group(ARMS, 20),
    "random": lambda rng: graphs.erdos_renyi(ARMS, 6 / ARMS, rng=rng),
    "directed": directed,
}
COSTS = {
    "even": lambda rng: rng.uniform(size=ARMS),
    "over many scales": lambda rng: np.exp(3.0 * rng.normal(size=ARMS)),
    "all the same": lambda rng: np.ones(ARMS),
}


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("sharp", [1.0, 300.0])
def test_the_certified_gap_holds_the_optimum_and_gets_small(name: str, costs: str, sharp: float) -> None:
    rng = np.random.default_rng([len(name), len(costs), int(sharp)])
    graph, gaps, best = GRAPHS[name](rng), COSTS[costs](rng), int(rng.integers(ARMS))
    gaps[best] = 0.0
    available = rng.uniform(size=ARMS) < 0.9
    available[best] = True
    explored = exploration_set(graph, available, gaps)
    gamma = sharp * len(explored) / gaps[available].mean()
    baseline = inverse_gap_baseline(explored, gaps, gamma, best=best)
    demand = np.where(available, 1.0 / (len(explored) + gamma * gaps), 0.0)
    demand[best] = 0.0
    exact = solve_sampling_lp(graph, baseline, gaps, demand=demand, available=available)
    found = solve_sampling_lp(
        graph, baseline, gaps, demand=demand, available=available, solver="anytime", effort=Effort(gap=0.02)
    )
    assert exact.is_exact
    assert found.is_feasible
    assert found.objective * (1.0 - found.duality_gap) <= exact.objective * (1.0 + 1e-9) <= found.objective * (1 + 2e-9)
    assert found.duality_gap <= 0.02


def test_nothing_asked_for_and_nothing_paid() -> None:
    graph, gaps = graphs.star(5), np.array([1.0, 0.0, 2.0, 2.0, 2.0])
    baseline = np.array([0.2, 0.8, 0.0, 0.0, 0.0])
    alone = solve_sampling_lp(graph, baseline, gaps, demand=np.zeros(5), solver="anytime")
    np.testing.assert_array_equal(alone.probabilities, [0, 1, 0, 0, 0])
    free = solve_sampling_lp(graph, baseline, np.zeros(5), demand=np.full(5, 0.1), solver="anytime")
    assert free.objective == free.duality_gap == 0.0
