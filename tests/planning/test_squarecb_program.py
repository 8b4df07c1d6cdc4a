"""SquareCB.G's program: against Clarabel, by hand, and by its certificates."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, SettingError
from graphbandit.planning import squarecb_formulas as closed
from graphbandit.planning.squarecb_program import solve_squarecb_program, solve_squarecb_programs, squarecb_bound
from tests.references.squarecb import KINDS, clarabel_value, some_instance, value

INSTANCES = int(os.environ.get("GRAPHBANDIT_TEST_SQUARECB", "60"))
"""How many random programs are compared with Clarabel; 500 take some minutes."""


def graph_of(dense):
    return gb.FeedbackGraph.from_dense(dense, require_loops=False)


def test_the_same_values_as_clarabel():
    """Never above Clarabel's; where it stopped short of the optimum, our p says so by the statement of the program."""
    rng = np.random.default_rng(1)
    stopped_short = 0
    for _ in range(INSTANCES):
        losses, graph, gamma = some_instance(rng)
        answer = solve_squarecb_program(graph_of(graph), losses, gamma)
        theirs, _ = clarabel_value(losses, graph, gamma)
        assert answer.objective <= theirs + 1e-8, (len(losses), gamma)
        if answer.objective < theirs - 1e-8:
            stopped_short += 1
            assert value(losses, graph, gamma, answer.probabilities) < theirs - 1e-8, (len(losses), gamma)
    assert stopped_short <= 0.01 * INSTANCES


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_feasible_and_certified(kind):
    """At any gamma, by the statement of the program and the bound of its certificate, both written down anew."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(25):
        losses, dense, _ = some_instance(rng, kind=kind)
        gamma, graph = float(10 ** rng.uniform(-1, 5)), graph_of(dense)
        answer = solve_squarecb_program(graph, losses, gamma)
        p = answer.probabilities
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1, abs=1e-14)
        assert answer.objective == pytest.approx(value(losses, dense, gamma, p), abs=1e-11 * max(gamma, 1) / gamma)
        assert answer.z == pytest.approx(answer.objective - p @ losses, abs=1e-12)
        np.testing.assert_allclose(answer.observation_probabilities, dense.T.astype(float) @ p, atol=1e-14)
        bound = literal_bound(losses, dense, gamma, answer.weights, answer.outer_slopes, answer.inner_slopes)
        scale = max(answer.objective, 1 / gamma)
        assert bound <= answer.objective + 1e-12 * scale
        assert (answer.objective - bound) / scale <= 5e-9
        assert answer.duality_gap <= 5e-9


def literal_bound(losses, graph, gamma, w, r, rho):
    """min over the arms of what the quadratics' tangents leave, in the statement's own units."""
    lowest = np.inf
    for j in range(len(losses)):
        p = np.eye(len(losses))[j]
        q = graph.T.astype(float) @ p
        total = p @ losses
        for a in range(len(losses)):
            # constraint a, weighted by w(a), at the vertex p: sum_b u^2 / q(b) >= sum_b 2 s u - s^2 q(b)
            for b in range(len(losses)):
                u, slope = (1 - p[a], r[a]) if a == b else (p[b], rho[b])
                total += w[a] * (2 * slope * u - slope**2 * q[b]) / gamma
            total -= w[a] * losses[a]
        lowest = min(lowest, total)
    return lowest


@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.floats(-1, 4))
@settings(max_examples=60, deadline=None)
def test_no_distribution_is_better_and_no_bound_is_above(n_arms, seed, exponent):
    rng = np.random.default_rng(seed)
    losses, dense, _ = some_instance(rng, n_arms=n_arms)
    gamma, graph = 10.0**exponent, graph_of(dense)
    answer = solve_squarecb_program(graph, losses, gamma)
    slack = 1e-8 * max(answer.objective, 1 / gamma)
    for concentration in (0.1, 1.0, 10.0):
        p = rng.dirichlet(np.full(n_arms, concentration))
        assert value(losses, dense, gamma, p) >= answer.objective - slack
        r, rho = rng.random((2, n_arms)) * n_arms
        assert squarecb_bound(graph, losses, gamma, p, r, rho) <= answer.objective + slack
        assert squarecb_bound(graph, losses, gamma, p, r, rho) == pytest.approx(
            literal_bound(losses, dense, gamma, p, r, rho), rel=1e-9, abs=1e-9
        )


@given(st.integers(2, 8), st.integers(0, 2**32 - 1), st.floats(-100, 100))
@settings(max_examples=30, deadline=None)
def test_a_shift_of_the_losses_and_the_unit_of_gamma_change_nothing(n_arms, seed, shift):
    losses, dense, gamma = some_instance(np.random.default_rng(seed), n_arms=n_arms, largest_gamma=100.0)
    answer = solve_squarecb_program(graph_of(dense), losses, gamma)
    shifted = solve_squarecb_program(graph_of(dense), losses + shift, gamma)
    halved = solve_squarecb_program(graph_of(dense), losses / 2, 2 * gamma)
    assert shifted.objective == pytest.approx(answer.objective, rel=1e-8, abs=1e-8 / gamma)
    assert shifted.z == pytest.approx(answer.z - shift, abs=1e-6)
    assert halved.objective == pytest.approx(answer.objective / 2, rel=1e-8, abs=1e-8 / gamma)


@pytest.mark.parametrize(
    "dense", [[[1, 0], [0, 1]], [[1, 1], [0, 0]], [[1, 1], [0, 1]], [[0, 1], [1, 0]], [[1, 1], [1, 1]]]
)
@pytest.mark.parametrize(("gap", "gamma"), [(0.0, 1.0), (0.3, 2.0), (-0.3, 2.0), (0.7, 40.0), (-0.7, 40.0)])
def test_two_arms_by_minimising_over_one_number(dense, gap, gamma):
    losses, graph = np.array([0.0, gap]), np.array(dense, dtype=bool)
    best = minimize_scalar(
        lambda x: value(losses, graph, gamma, np.array([x, 1 - x])),
        bounds=(1e-9, 1 - 1e-9),
        method="bounded",
        options={"xatol": 1e-13},
    ).fun
    edge = min(value(losses, graph, gamma, np.array([x, 1.0 - x])) for x in (0.0, 1.0))
    found = solve_squarecb_program(graph_of(graph), losses, gamma).objective
    assert found == pytest.approx(min(best, edge), abs=1e-8)


def test_two_arms_by_hand():
    """Self-loops only, c = gamma gap = 3/2: lambda solves 1 / x + 1 / (x + 3/2) = 1, so 3/2, and p = (2/3, 1/3)."""
    answer = solve_squarecb_program(gb.graphs.bandit(2), [0.2, 0.7], 3.0)
    np.testing.assert_allclose(answer.probabilities, [2 / 3, 1 / 3], atol=1e-5)
    assert answer.objective == pytest.approx(1 / 3, abs=1e-9)
    assert answer.z == pytest.approx((1.5 - 1) / 3 - 0.2, abs=1e-5)


def test_the_complete_graph_by_hand():
    """q = 1: at gap c >= 2 / gamma all mass on the best costs nothing; at no gap it is uniform, of value (1 - 1/K)."""
    graph = gb.graphs.complete(4)
    apart = solve_squarecb_program(graph, [0.0, 0.5, 0.5, 1.0], 8.0)
    assert apart.objective == pytest.approx(0, abs=1e-9)
    assert apart.probabilities[0] == pytest.approx(1, abs=1e-6)
    equal = solve_squarecb_program(graph, np.zeros(4), 8.0)
    np.testing.assert_allclose(equal.probabilities, 0.25, atol=1e-5)
    assert equal.objective == pytest.approx((1 - 1 / 4) / 8, abs=1e-10)


def test_closed_forms_are_feasible_and_no_better_than_the_optimum():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(2, 12))
        losses, gamma = rng.random(n), float(10 ** rng.uniform(0, 4))
        every = np.ones((n, n), dtype=bool)
        cases = [
            (closed.complete_graph, every, 2.0, losses),
            (closed.cops_and_robbers, ~np.eye(n, dtype=bool), 2.0, losses),
            (closed.inventory, np.tril(every), 6.0, losses),
            (closed.apple_tasting, np.array([[True, True], [False, False]]), 2.0, losses[:2]),
        ]
        for form, dense, constant, estimates in cases:
            p = form(estimates, gamma)
            assert p.min() >= 0
            assert p.sum() == pytest.approx(1, abs=1e-12)
            reached = value(estimates, dense, gamma, p)
            optimum = solve_squarecb_program(graph_of(dense), estimates, gamma).objective
            assert optimum <= reached + 1e-9 / gamma, form.__name__
            assert reached <= constant / gamma * (1 + 1e-9), form.__name__


def test_inverse_gap_weighting_is_the_optimum_of_self_loops():
    rng = np.random.default_rng(4)
    for n in (1, 2, 7, 40):
        losses, gamma = rng.random(n), float(10 ** rng.uniform(0, 4))
        p = closed.inverse_gap_weighting(losses, gamma)
        assert value(losses, np.eye(n, dtype=bool), gamma, p) == pytest.approx((n - 1) / gamma, rel=1e-9, abs=1e-12)
        answer = solve_squarecb_program(gb.graphs.bandit(n), losses, gamma)
        assert answer.objective == pytest.approx((n - 1) / gamma, rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(answer.probabilities, p, atol=1e-4)


def test_arms_not_on_offer_play_no_part():
    rng = np.random.default_rng(5)
    losses, dense, gamma = some_instance(rng, n_arms=12, kind="directed")
    offered = rng.random(12) < 0.6
    answer = solve_squarecb_program(graph_of(dense), losses, gamma, available=offered)
    part = solve_squarecb_program(graph_of(dense[np.ix_(offered, offered)]), losses[offered], gamma)
    assert answer.probabilities[~offered].max() == 0
    np.testing.assert_array_equal(answer.probabilities[offered], part.probabilities)
    assert answer.objective == part.objective
    bound = squarecb_bound(
        graph_of(dense), losses, gamma, answer.weights, answer.outer_slopes, answer.inner_slopes, available=offered
    )
    assert bound == pytest.approx(answer.objective, rel=1e-8, abs=1e-8 / gamma)


def test_one_arm_costs_nothing_even_if_nothing_reveals_it():
    answer = solve_squarecb_program(graph_of([[False]]), [0.4], 3.0)
    assert (answer.probabilities[0], answer.objective, answer.duality_gap, answer.z) == (1.0, 0.0, 0.0, -0.4)


def test_batches_of_any_size_are_the_same_bits():
    rng = np.random.default_rng(6)
    dense = rng.random((9, 8, 8)) < 0.4
    dense |= np.eye(8, dtype=bool)
    graphs = gb.FeedbackGraphs.from_dense(dense)
    losses, gammas = rng.random((9, 8)), 10 ** rng.uniform(0, 3, 9)
    whole = solve_squarecb_programs(graphs, losses, gammas)
    for t in range(9):
        one = solve_squarecb_program(graphs[t], losses[t], gammas[t])
        np.testing.assert_array_equal(one.probabilities, whole.probabilities[t])
        assert one.objective == whole.objective[t]
        assert one.iterations == whole.iterations[t]
    assert len(whole) == 9


def test_large_graphs_are_solved_on_the_arms_on_offer():
    n = 5000
    graph = gb.FeedbackGraph.from_edges([(0, 1), (0, 2), (0, 3), (7, 0)], n, add_loops=True)
    offered = np.zeros(n, dtype=bool)
    offered[[0, 1, 2, 3, 4999]] = True
    losses = np.linspace(0, 1, n)
    answer = solve_squarecb_program(graph, losses, 20.0, available=offered)
    small = np.eye(5, dtype=bool)
    small[0, 1:4] = True
    alone = solve_squarecb_program(graph_of(small), losses[offered], 20.0)
    np.testing.assert_array_equal(answer.probabilities[offered], alone.probabilities)
    graphs = gb.FeedbackGraphs.repeat(graph, 2)
    batch = solve_squarecb_programs(graphs, np.stack([losses] * 2), [20.0, 20.0], available=np.stack([offered] * 2))
    np.testing.assert_array_equal(batch.probabilities[1], answer.probabilities)
    with pytest.raises(InputError, match="5000 arms are on offer; expected at most 2000"):
        solve_squarecb_program(graph, losses, 20.0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"gamma": 0.0}, SettingError, "gamma is 0.0; expected a finite number above 0"),
        ({"gamma": -1.0}, SettingError, "gamma is -1.0"),
        ({"gamma": np.nan}, SettingError, "gamma is nan"),
        ({"gamma": "much"}, SettingError, "gamma is 'much'"),
        ({"losses": [0.0, np.nan]}, InputError, r"losses has nan at \[1\]"),
        ({"losses": [0.0, np.inf]}, InputError, r"losses has inf at \[1\]"),
        ({"losses": [0.0, 1e200]}, InputError, r"losses has 1e\+200 at \[1\]"),
        ({"losses": [0.0, 1.0, 2.0]}, InputError, r"losses has shape \(3,\); expected \(2,\)"),
        ({"graph": np.eye(2)}, GraphError, "graph is a ndarray; expected a FeedbackGraph"),
        ({"available": [False, False]}, InputError, "offers no arm"),
        ({"available": [1, 0]}, InputError, "expected booleans"),
        ({"graph": graph_of([[1, 0], [0, 0]])}, GraphError, "arm 1 is revealed by no arm on offer"),
    ],
)
def test_bad_input(change, error, message):
    good = {"losses": [0.0, 1.0], "graph": gb.graphs.bandit(2), "gamma": 2.0}
    with pytest.raises(error, match=message):
        solve_squarecb_program(**{**good, **change})


def test_an_arm_that_only_arms_not_on_offer_reveal_is_named():
    graph = graph_of([[1, 0, 1], [0, 1, 0], [0, 0, 0]])
    with pytest.raises(GraphError, match="arm 2 is revealed by no arm on offer"):
        solve_squarecb_program(graph, [0.0, 0.1, 0.2], 2.0, available=[False, True, True])


def test_bad_batches():
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 3)
    with pytest.raises(InputError, match=r"losses has shape \(2, 2\) and gammas \(3,\); expected \(3, 2\) and \(3,\)"):
        solve_squarecb_programs(graphs, np.zeros((2, 2)), np.ones(3))
    with pytest.raises(InputError, match=r"gammas has -1.0 at round 1"):
        solve_squarecb_programs(graphs, np.zeros((3, 2)), [1.0, -1.0, 1.0])
    with pytest.raises(GraphError, match="graphs is a FeedbackGraph; expected FeedbackGraphs"):
        solve_squarecb_programs(graphs[0], np.zeros((3, 2)), np.ones(3))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ((closed.apple_tasting, [0.0, 1.0, 2.0], 1.0), InputError, "losses has 3 arms; expected 2"),
        ((closed.cops_and_robbers, [0.0], 1.0), InputError, "expected at least two"),
        ((closed.inventory, [0.0, np.nan], 1.0), InputError, "losses has nan"),
        ((closed.inverse_gap_weighting, [0.0, 1.0], 0.0), SettingError, "gamma is 0.0"),
        ((closed.complete_graph, [[0.0, 1.0]], 1.0), InputError, "losses has shape"),
    ],
)
def test_bad_input_of_closed_forms(change, error, message):
    form, losses, gamma = change
    with pytest.raises(error, match=message):
        form(losses, gamma)


def test_a_bound_needs_a_distribution():
    with pytest.raises(InputError, match=r"weights has smallest entry 0.5 and sum 1.2"):
        squarecb_bound(gb.graphs.bandit(2), [0.0, 1.0], 2.0, [0.5, 0.7], [1.0, 1.0], [1.0, 1.0])


@pytest.mark.parametrize("kind", ["complete", "complement", "star", "random"])
@pytest.mark.parametrize("gamma", [1e6, 1e8, 1e10, 1e20, 1e90])
def test_no_gamma_is_too_large_for_an_answer(kind, gamma):
    """Where rounding spoils the method there is still a feasible p; its certified gap says how good it is."""
    rng = np.random.default_rng(3)
    for _ in range(8):
        n = int(rng.integers(2, 9))
        dense = {
            "complete": np.ones((n, n)),
            "complement": 1.0 - np.eye(n),
            "star": np.maximum(np.eye(n), (np.arange(n)[:, None] == 0) | (np.arange(n) == 0)),
            "random": np.maximum(np.eye(n), rng.random((n, n)) < 0.3),
        }[kind]
        graph, losses = gb.FeedbackGraph.from_dense(dense, require_loops=False), rng.random(n)
        before = gb.planning.uncertified_count()
        answer = solve_squarecb_program(graph, losses, gamma)
        assert answer.probabilities.min() >= 0
        assert answer.probabilities.sum() == pytest.approx(1, abs=1e-9)
        assert (answer.observation_probabilities > 0).all()
        assert 0 <= answer.duality_gap <= 1
        assert np.isfinite(answer.objective)
        assert gb.planning.uncertified_count() - before == (answer.duality_gap > 1e-6)
