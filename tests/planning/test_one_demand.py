"""Programs with one demand are answered without the simplex: with the same bits."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.base.program_constants import ROW_LIMIT
from graphbandit.errors import SolverError
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.kernels.graphs.incidence import Incidence
from graphbandit.kernels.planning import program
from graphbandit.kernels.planning.simplex import OPTIMAL, solve_covering_lp
from graphbandit.kernels.planning.simplex_workspace import scratch
from tests.helpers.lp_instances import FAMILIES, CoveringLP, random_costs, random_graph

COSTS = ("normal", "ties", "zeros", "equal", "spread", "nearly")


def by_simplex(edges, demanded, demand, gaps, best, available):
    """The answer of the simplex for the arms that matter: the best, and those on offer that reveal the demanded."""
    columns = np.flatnonzero(available & (edges[:, demanded] | (np.arange(len(edges)) == best)))
    place = int(np.flatnonzero(columns == best)[0])
    lp = CoveringLP(edges[columns, demanded][None], np.array([demand]), gaps[columns], place)
    p, y = np.empty(len(columns)), np.empty(1)
    status, objective, gap, _ = solve_covering_lp(
        Incidence(*lp.incidence()), lp.c, lp.b, place, p, y, scratch(len(columns), 1)
    )
    probabilities, duals = np.zeros(len(edges)), np.zeros(len(edges))
    probabilities[columns], duals[demanded] = p, y[0]
    return status, objective, gap, probabilities, duals


@pytest.mark.parametrize("listed", [False, True])
def test_it_is_the_simplex_s_answer_to_the_last_bit(listed, monkeypatch):
    if listed:
        monkeypatch.setattr("graphbandit.graphs.graph.PACKED_LIMIT", 0)
    rng, solvers, met = np.random.default_rng(4), program.solvers(ROW_LIMIT), 0
    for trial in range(600):
        n_arms = int(rng.choice([2, 3, 10, 64, 65, 130]))
        edges, kind = random_graph(FAMILIES[trial % len(FAMILIES)], n_arms, rng), COSTS[trial % len(COSTS)]
        gaps = random_costs(kind if kind != "nearly" else "equal", n_arms, rng)
        if kind == "nearly":  # within the tolerance of ties
            gaps *= 1.0 + 1e-13 * rng.random(n_arms)
        best = int(rng.integers(n_arms))
        gaps -= gaps.min()
        gaps[best] = 0.0
        available = rng.random(n_arms) < 0.8
        demanded = int(rng.choice([a for a in range(n_arms) if a != best]))
        available[best] = available[demanded] = True
        demand = np.zeros(n_arms)
        demand[demanded] = rng.choice([1.0, 0.5, 1e-9, rng.random()])
        graph = kernel_graph(gb.FeedbackGraph.from_dense(edges))
        assert (graph.words.shape[1] == 0) == listed
        p, y = np.empty(n_arms), np.empty(n_arms)
        asked = program.Program(graph, demand, gaps, best, available)
        found = program.solve_program(asked, solvers, program.room(n_arms, ROW_LIMIT), p, y)
        expected = by_simplex(edges, demanded, demand[demanded], gaps, best, available)
        assert (found[0] == program.SOLVED) == (expected[0] == OPTIMAL)
        if expected[0] != OPTIMAL:
            assert kind == "nearly"  # gaps that differ by rounding alone
            continue
        assert found[1:] == expected[1:3], (kind, trial)
        np.testing.assert_array_equal(p, expected[3])
        np.testing.assert_array_equal(y, expected[4])
        met += p[best] < 1.0
    assert met > 100


def test_what_nobody_on_offer_reveals_is_refused_by_the_simplex():
    graph, available, demand = gb.graphs.bandit(3), np.array([True, False, True]), np.array([0.0, 0.5, 0.0])
    with pytest.raises(SolverError, match="no solution"):
        gb.solve_sampling_lp(graph, None, np.array([0.0, 1.0, 1.0]), available=available, demand=demand)
