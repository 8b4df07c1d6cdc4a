"""Poor answers of a program made feasible, and HiGHS on the parts that matter, against dense matrices."""

import numpy as np
import pytest
from scipy.optimize import linprog

import graphbandit as gb
from graphbandit.errors import SolverError
from graphbandit.planning.certified_program import Program
from graphbandit.planning.highs import highs_program, largest_factor
from graphbandit.planning.repair import filled, lowered, repaired

K = 9


def some_program(seed, *, weighted=False, share=0.5):
    """A program whose demands are `share` of what a random distribution observes."""
    rng = np.random.default_rng(seed)
    matrix = ((rng.random((K, K)) < 0.3) | np.eye(K, dtype=bool)).astype(float)
    if weighted:
        matrix *= rng.uniform(0.2, 1.0, (K, K))
    available = rng.random(K) < 0.8
    best = int(rng.integers(K))
    available[best] = True
    gaps = rng.random(K)
    gaps[best] = 0.0
    demand = share * (rng.dirichlet(np.ones(K) * available + 1e-9) * available @ matrix) * (rng.random(K) < 0.7)
    demand[best] = 0.0
    graph = matrix if weighted else gb.FeedbackGraph.from_dense(matrix.astype(bool))
    return Program(graph, demand, gaps, best, available), matrix, rng


def optimum(program, matrix):
    bounds = [(0.0, None if offered else 0.0) for offered in program.available]
    found = linprog(program.gaps, -matrix.T, -program.demand, np.ones((1, K)), [1.0], bounds)
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("weighted", [False, True], ids=["edges", "edge probabilities"])
@pytest.mark.parametrize("seed", range(12))
def test_any_point_and_any_duals_become_an_honest_answer(seed, weighted):
    program, matrix, rng = some_program(seed, weighted=weighted)
    exact = optimum(program, matrix)
    answer = repaired(program, [rng.dirichlet(np.full(K, 0.2))], [rng.normal(size=K)])
    p = answer.probabilities
    assert p.sum() == pytest.approx(1.0)
    assert (p >= 0).all()
    assert (p[~program.available] == 0).all()
    assert (p @ matrix >= program.demand - 1e-9).all()
    assert answer.objective == pytest.approx(program.gaps @ p)
    assert answer.objective - answer.duality_gap - 1e-9 <= exact <= answer.objective + 1e-9
    best = repaired(program, *([one] for one in highs_program(program)))
    assert best.objective == pytest.approx(exact, abs=1e-9)
    assert best.duality_gap < 1e-8


def test_filling_takes_the_cheapest_arm_for_each_row_and_lowering_the_smallest_demand():
    """Arm 1 reveals 2 and 3; arm 2 reveals itself at half the cost. Arm 1 may cost no less than arm 0, the best."""
    graph = gb.FeedbackGraph.from_edges([(1, 2), (1, 3)], 4, add_loops=True)
    demand, gaps = np.array([0.0, 0.0, 0.2, 0.1]), np.array([0.0, 0.6, 0.3, 0.9])
    program = Program(graph, demand, gaps, 0, np.ones(4, dtype=bool))
    np.testing.assert_allclose(filled(program, np.array([1.0, 0, 0, 0])), [0.7, 0.1, 0.2, 0.0])
    np.testing.assert_allclose(lowered(program, np.array([0.0, -1.0, 0.3, 0.5])), [0.0, 0.0, 0.3, 0.3])


@pytest.mark.parametrize("weighted", [False, True], ids=["edges", "edge probabilities"])
def test_the_largest_share_of_demands_that_are_too_high(weighted):
    program, matrix, _ = some_program(3, weighted=weighted)
    program = program.scaled(20.0)
    rows, columns = program.demand > 0, program.available
    # max s: p observes s times the demands, written as a minimum over (p, s)
    asked = np.hstack([-matrix.T[rows][:, columns], program.demand[rows, None]])
    costs, mass = np.append(np.zeros(columns.sum()), -1.0), np.append(np.ones(columns.sum()), 0.0)
    exact = -linprog(costs, asked, np.zeros(rows.sum()), mass[None], [1.0]).fun
    factor, p = largest_factor(program)
    assert exact < 1.0
    assert factor == pytest.approx(exact)
    assert ((p @ matrix)[rows] >= (factor - 1e-9) * program.demand[rows]).all()
    with pytest.raises(SolverError, match=f"only {factor:.6g} of the demands"):
        repaired(program, [p], [])
