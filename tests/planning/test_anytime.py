"""The anytime solver against the exact one, on graphs and costs of several kinds."""

import threading

import numpy as np
import pytest
from numba import njit

from graphbandit import FeedbackGraph, graphs
from graphbandit.kernels.planning.ordering import sort_by, sort_many_by
from graphbandit.planning import Effort, exploration_set, inverse_gap_baseline, solve_sampling_lp
from graphbandit.planning.anytime import both

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


def large(seed: int) -> tuple[FeedbackGraph, np.ndarray, np.ndarray, np.ndarray, int]:
    """A program of 8,000 arms: graph, baseline, gaps, who may be played, best."""
    rng = np.random.default_rng(seed)
    graph, gaps = graphs.preferential_attachment(8000, 7, rng=rng), rng.uniform(0.1, 1.0, size=8000)
    best = int(rng.integers(8000))
    gaps[best] = 0.0
    available = rng.uniform(size=8000) < 0.95
    available[best] = True
    explored = exploration_set(graph, available, gaps)
    return graph, inverse_gap_baseline(explored, gaps, 20.0 * len(explored), best=best), gaps, available, best


@pytest.mark.parametrize("work", [0, 10**7])
def test_the_certificate_of_a_large_answer_follows_from_the_matrix_alone(work: int) -> None:
    graph, baseline, gaps, available, best = large(1)
    found = solve_sampling_lp(
        graph, baseline, gaps, best=best, available=available, solver="anytime", effort=Effort(gap=0.0, work=work)
    )
    matrix, p, y = graph.to_sparse().astype(np.float64), found.probabilities, found.duals
    demand = np.zeros(8000)
    for j in np.flatnonzero(baseline):
        demand[graph.reveals(j)] = np.maximum(demand[graph.reveals(j)], baseline[j])
    demand[best] = 0.0
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert (p[~available] == 0.0).all()
    assert (matrix.T @ p >= demand - 1e-9).all()
    assert y.min() >= 0.0
    bound = demand @ y + (gaps - matrix @ y)[available].min()
    assert bound <= gaps @ p
    assert found.duality_gap == pytest.approx((gaps @ p - bound) / (gaps @ p), rel=1e-6)
    assert found.duality_gap <= (0.4 if work == 0 else 0.1)


def test_two_threads_and_one_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, baseline, gaps, available, best = large(2)
    found = []
    for edges in (0, 10**9):
        monkeypatch.setattr("graphbandit.planning.anytime.AT_ONCE", edges)
        found.append(
            solve_sampling_lp(graph, baseline, gaps, best=best, available=available, effort=Effort(work=10**7))
        )
    np.testing.assert_array_equal(found[0].probabilities, found[1].probabilities)
    np.testing.assert_array_equal(found[0].duals, found[1].duals)


def test_work_bounds_the_walks_after_the_first_answer() -> None:
    graph, baseline, gaps, available, best = large(3)
    looks = []
    for answers in (1, 2, 5):
        effort = Effort(gap=0.0, work=answers * 10 * graph.n_edges)
        answer = solve_sampling_lp(graph, baseline, gaps, best=best, available=available, effort=effort)
        less = Effort(gap=0.0, work=effort.work + 10 * graph.n_edges - 1)
        again = solve_sampling_lp(graph, baseline, gaps, best=best, available=available, effort=less)
        np.testing.assert_array_equal(answer.probabilities, again.probabilities)
        looks.append(answer.duality_gap)
    assert looks[0] > looks[1] > looks[2]


@njit
def sorted_both_ways(keys, merged, counted, other):
    sort_by(keys, merged, other, keys.shape[0])
    sort_many_by(keys, counted, other, keys.shape[0])


@pytest.mark.parametrize("n", [1, 2, 100, 5000])
def test_many_numbers_are_sorted_as_few_are(n: int) -> None:
    rng = np.random.default_rng(n)
    for keys in (
        rng.uniform(size=n),
        rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, size=n),
        0.0 * rng.integers(-1, 2, size=n),
        rng.integers(-3, 4, size=n).astype(np.float64),
        np.where(rng.uniform(size=n) < 0.5, np.inf, -np.inf),
    ):
        orders = np.tile(np.arange(n, dtype=np.int32), (3, 1))
        sorted_both_ways(keys, orders[0], orders[1], orders[2])
        np.testing.assert_array_equal(orders[0], np.argsort(keys, kind="stable"))
        np.testing.assert_array_equal(orders[1], orders[0])


@pytest.mark.parametrize("at_once", [True, False])
def test_both_results_come_and_no_thread_stays(at_once):
    here = threading.get_ident()
    assert both(threading.get_ident, lambda: 2, at_once=at_once) == (here, 2)
    second = both(lambda: None, threading.get_ident, at_once=at_once)[1]
    assert (second != here) == at_once
    assert not at_once or second not in {thread.ident for thread in threading.enumerate()}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("place", [0, 1])
def test_an_error_of_either_arrives(at_once, place):
    def fails():
        raise LookupError("not found")

    tasks = [lambda: 1, lambda: 2]
    tasks[place] = fails
    with pytest.raises(LookupError, match="not found"):
        both(*tasks, at_once=at_once)
