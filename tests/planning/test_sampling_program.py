"""The sampling program: hand-worked answers, batches and threads, fallbacks, and the anytime form."""

from types import SimpleNamespace

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, SettingError, SolverError
from graphbandit.kernels.planning import program
from graphbandit.planning import Effort, fallback_count, sampled_rounds, uncertified_count
from graphbandit.planning.demands import paper_demand
from graphbandit.planning.sampling_program import solve
from graphbandit.rounds import SOLVERS

GAPS = np.array([0.1, 0.0, 1.0, 1.0, 1.0, 1.0])


def instance(kind, n_arms, seed, gamma=20.0, **options):
    """A graph, its baseline over all arms, and gaps."""
    rng = np.random.default_rng(seed)
    graph = gb.graphs.sources.graph_source(kind, n_arms, **options).draw(rng, 1)[0]
    values = rng.normal(size=n_arms)
    gaps = values.max() - values
    explored = gb.exploration_set(graph, np.ones(n_arms, dtype=bool), gaps)
    return graph, gb.planning.inverse_gap_baseline(explored, gaps, gamma), gaps


def test_star_by_hand():
    """Every leaf must be seen with 1/15; the hub shows all of them for 0.1 each time."""
    baseline = gb.planning.inverse_gap_baseline([1, 2, 3, 4, 5], GAPS, 10.0)
    np.testing.assert_allclose(baseline, [0, 11 / 15, 1 / 15, 1 / 15, 1 / 15, 1 / 15])
    answer = gb.solve_sampling_lp(gb.graphs.star(6, hub=0), baseline, GAPS)
    np.testing.assert_allclose(answer.probabilities, [1 / 15, 14 / 15, 0, 0, 0, 0], atol=1e-12)
    assert answer.objective == pytest.approx(0.1 / 15)


def test_two_arms_by_hand():
    """Without side observations the baseline is the only feasible cheapest answer."""
    graph, gaps = gb.graphs.bandit(2), [0.0, 0.5]
    baseline = gb.planning.inverse_gap_baseline([0, 1], gaps, 4.0)
    np.testing.assert_allclose(baseline, [3 / 4, 1 / 4])
    answer = gb.solve_sampling_lp(graph, baseline, gaps)
    np.testing.assert_allclose(answer.probabilities, [3 / 4, 1 / 4])
    # when playing 0 reveals 1 as well, there is nothing to explore
    told = gb.FeedbackGraph.from_dense([[1, 1], [0, 1]])
    assert gb.solve_sampling_lp(told, baseline, gaps).probabilities.tolist() == [1, 0]


def unsolved(*arguments):
    """In place of the compiled simplex: no point, no duals, no certificate."""
    for array in arguments[-3:]:
        if isinstance(array, np.ndarray):
            array[:] = 0.0
    return program.UNSOLVED, *[np.nan] * 4


def fail(monkeypatch):
    """The compiled simplex solves nothing."""
    monkeypatch.setattr(program, "answer_program", unsolved)
    monkeypatch.setattr("graphbandit.planning.sampling_program._answer", SimpleNamespace(call=unsolved))


def test_a_program_without_certificate_goes_to_highs_and_is_counted(monkeypatch):
    graph, baseline, gaps = instance("random", 12, 0)
    expected = gb.solve_sampling_lp(graph, baseline, gaps)
    fail(monkeypatch)
    before = fallback_count()
    answer = gb.solve_sampling_lp(graph, baseline, gaps)
    assert answer.solver == "highs"
    assert fallback_count() == before + 1
    assert answer.objective == pytest.approx(expected.objective, rel=1e-8)
    with pytest.raises(SolverError, match="no certified answer"):
        gb.solve_sampling_lp(graph, baseline, gaps, solver="simplex")


def test_pending_rounds_of_a_batch_are_finished_and_say_so(monkeypatch):
    """Rounds that the kernel leaves open are solved, drawn and labelled by the fallback."""
    environment = gb.environments.paper(n_arms=15, graph="random", reward_scale=8.0)
    learner = gb.AdaCBG(radius="paper", coverage="paper", eta=1.0)
    expected = gb.simulate(learner, environment, rounds=64, keep_decisions=True).decisions["learner"][0]
    solved = []
    monkeypatch.setattr("graphbandit.planning.sampled_rounds.ROW_LIMIT", 0)
    monkeypatch.setattr(sampled_rounds, "solve", lambda *given, **named: solved.append(given) or solve(*given, **named))
    found = gb.simulate(learner, environment, rounds=64, keep_decisions=True).decisions["learner"][0]
    np.testing.assert_allclose(found.objective, expected.objective, atol=1e-12)
    np.testing.assert_array_equal(found.action, expected.action)
    assert len(solved) == (expected.solver == SOLVERS.index("simplex")).sum() > 0
    np.testing.assert_array_equal(found.solver, expected.solver)


@pytest.mark.parametrize("kind", ["preferential_attachment", "random", "star", "clique_group"])
@pytest.mark.parametrize("gamma", [1.0, 300.0, 1e5])
def test_anytime_answers_are_feasible_never_worse_than_the_baseline_and_honest(kind, gamma):
    graph, baseline, gaps = instance(kind, 150, 7, gamma)
    exact = gb.solve_sampling_lp(graph, baseline, gaps)
    scale = 1e-6 * gaps.max()
    last = np.inf
    for work in (0, 10**6, 10**8):
        answer = gb.solve_sampling_lp(graph, baseline, gaps, solver="anytime", effort=Effort(gap=1e-4, work=work))
        assert answer.solver == "anytime"
        assert answer.infeasibility <= 1e-9
        assert exact.objective - 1e-9 * gaps.max() <= answer.objective <= gaps @ baseline + 1e-12
        # the certified gap is no smaller than the true one, and closes with work
        assert (answer.objective - exact.objective) <= answer.duality_gap * max(answer.objective, scale) + 1e-12
        assert answer.duality_gap <= last + 1e-12
        last = answer.duality_gap
    assert last <= 0.05
    again = gb.solve_sampling_lp(graph, baseline, gaps, solver="anytime", effort=Effort(gap=1e-4, work=10**8))
    np.testing.assert_array_equal(again.probabilities, answer.probabilities)


def test_anytime_keeps_a_deadline_and_wants_a_start():
    graph, baseline, gaps = instance("random", 60, 1)
    hasty = gb.solve_sampling_lp(graph, baseline, gaps, solver="anytime", effort=Effort(gap=0.0, deadline=0.0))
    assert hasty.infeasibility <= 1e-9
    demand = paper_demand(graph, baseline, int(np.argmin(gaps)))
    with pytest.raises(InputError, match="baseline is None"):
        gb.solve_sampling_lp(graph, None, gaps, demand=demand, solver="anytime")
    with pytest.raises(SolverError, match="feasible"):
        gb.solve_sampling_lp(graph, np.eye(60)[int(np.argmin(gaps))], gaps, demand=demand, solver="anytime")


def test_large_programs_are_anytime_by_default():
    graph, baseline, gaps = instance("preferential_attachment", 5000, 2, 50.0, edges_per_arm=4)
    assert not graph.is_packed
    answer = gb.solve_sampling_lp(graph, baseline, gaps)
    assert answer.solver == "anytime"
    assert answer.infeasibility <= 1e-9
    assert answer.objective < 0.6 * (gaps @ baseline)
    assert 0 < answer.duality_gap < 0.6


def test_a_learner_s_effort_reaches_its_programs():
    """All 4,500 arms are candidates: more than the exact solver takes on, so effort decides how near it comes."""
    n_arms, rng = 4500, np.random.default_rng(0)
    graph = gb.graphs.preferential_attachment(n_arms, 3, rng=rng)
    functions = gb.function_classes.BilinearClass(
        x0=rng.normal(size=(5, 3)), a0=rng.normal(size=(5, 3)), arms=rng.uniform(-1, 1, (n_arms, 3)), scale=8.0
    )
    problem = gb.Problem(n_arms=n_arms, function_class=functions, noise=1.0)
    found = []
    for effort in (Effort(work=0), Effort(gap=0.05, work=10**9)):
        bandit = gb.Bandit(gb.AdaCBG(candidate_set=False, effort=effort), problem)
        decisions = [bandit.decide(context, graph) for context in np.random.default_rng(1).normal(size=(3, 3))]
        assert decisions[-1].solver == "anytime"
        found.append(decisions[-1].duality_gap)
    assert found[1] <= 0.05 < found[0]


def test_demands_that_cannot_be_met_are_told_apart_from_failures():
    graph, _, gaps = instance("bandit", 4, 0)
    before = fallback_count()
    with pytest.raises(SolverError, match="no solution"):
        gb.solve_sampling_lp(graph, None, gaps, demand=np.full(4, 0.6))
    assert fallback_count() == before
    with pytest.raises(InputError, match=r"demand has -0\.5 at arm"):
        gb.solve_sampling_lp(graph, None, gaps, demand=np.full(4, -0.5))


def test_large_sparse_graphs_with_few_candidates_are_exact():
    """A decision on 20,000 arms: only the part of the program near the candidates is built."""
    n_arms, rng = 20_000, np.random.default_rng(0)
    graph = gb.graphs.preferential_attachment(n_arms, 5, rng=rng)
    functions = gb.function_classes.BilinearClass(
        x0=rng.normal(size=(20, 4)), a0=rng.normal(size=(20, 4)), arms=rng.uniform(-1, 1, (n_arms, 4)), scale=8.0
    )
    for coverage in ("tight", "paper"):
        learner = gb.AdaCBG(
            radius="paper", coverage=coverage, gamma="natural" if coverage == "tight" else "paper", eta=1.0
        )
        bandit = gb.Bandit(learner, gb.Problem(n_arms=n_arms, function_class=functions, noise=1.0))
        for _ in range(4):
            decision = bandit.decide(rng.normal(size=4), graph)
            bandit.observe(decision, {int(a): float(rng.normal()) for a in decision.revealed})
        assert decision.solver == "simplex"
        assert decision.duality_gap <= 1e-9
        others = np.setdiff1d(decision.candidates, [decision.best])
        wanted = 1 / (len(decision.exploration_set) + decision.gamma * decision.gaps[others])
        assert (decision.observation_probabilities[others] >= wanted - 1e-9).all()


def test_packed_and_sparse_graphs_give_the_same_program():
    """The same round through both kinds of storage."""
    from graphbandit.graphs.kernel_forms import kernel_graph, listed_graph

    for seed in range(20):
        graph, baseline, gaps = instance("erdos_renyi", 40, seed, probability=0.08)
        best = int(np.argmin(gaps))
        demand = paper_demand(graph, baseline, best)
        answers = []
        for stored in (kernel_graph(graph), listed_graph(graph)):
            room, solvers, everyone = program.room(40, 3000), program.solvers(3000), np.ones(40, dtype=bool)
            p, y, q = np.empty((3, 40))
            found = program.answer_program(
                program.Program(stored, demand, gaps, best, everyone), solvers, room, p, y, q
            )
            assert found[0] == program.SOLVED
            assert (room.indices[40:80] == -1).all()  # the marks
            answers.append((found, p.tolist(), y.tolist(), q.tolist()))
        assert answers[0] == answers[1]


# --- Arms that nearly tie: no solver reaches 1e-9, and yet there is an answer ----------------------------------------


def check_feasible(answer, graph, demand, gaps):
    """A distribution that meets the demands, and whose certified gap holds."""
    p = answer.probabilities
    assert p.min() >= 0
    assert abs(p.sum() - 1) <= 1e-9
    assert (graph.to_dense().T @ p >= np.asarray(demand) - 1e-9).all()
    assert 0 <= answer.duality_gap < 1e-3


@pytest.mark.parametrize("tie", [1e-9, 1e-11, 1e-12, 1e-13, 1e-15])
def test_arms_that_nearly_tie_are_no_reason_to_refuse(tie):
    graph = gb.FeedbackGraph.from_edges([(0, 2)], 3, add_loops=True)
    demand, gaps = [0, 0, 1e-4], [1.0, 0.0, 1 - tie]
    before = uncertified_count()
    answer = gb.solve_sampling_lp(graph, None, gaps, demand=demand)
    check_feasible(answer, graph, demand, gaps)
    assert answer.objective == pytest.approx(1e-4, rel=1e-6)
    assert uncertified_count() - before == (answer.duality_gap > 1e-9)


def test_nearly_tied_programs_of_every_kind_have_answers():
    """Gaps that differ by rounding, demands over twelve orders of magnitude: all feasible, all with a gap."""
    rng = np.random.default_rng(0)
    for _ in range(150):
        n_arms = int(rng.integers(2, 9))
        dense = (rng.random((n_arms, n_arms)) < 0.4) | np.eye(n_arms, dtype=bool)
        graph = gb.FeedbackGraph.from_dense(dense)
        gaps = rng.choice([0.0, 1.0, 1e-3], size=n_arms) + rng.choice([0.0, 1e-12, 1e-14, 1e-10], size=n_arms)
        gaps -= gaps.min()
        explored = gb.exploration_set(graph, np.ones(n_arms, dtype=bool), gaps)
        baseline = gb.planning.inverse_gap_baseline(explored, gaps, float(10 ** rng.uniform(0, 12)))
        answer = gb.solve_sampling_lp(graph, baseline, gaps)
        check_feasible(answer, graph, answer.demand, gaps)
        assert answer.objective <= gaps @ baseline + 1e-9 * max(gaps.max(), 1e-300)


def test_without_any_solver_the_baseline_is_played(monkeypatch):
    graph, baseline, gaps = instance("random", 12, 0)
    exact = gb.solve_sampling_lp(graph, baseline, gaps)

    def refuse(*_):
        raise SolverError("the sampling program has no solution: so it says")

    fail(monkeypatch)
    monkeypatch.setattr("graphbandit.planning.sampling_program.highs_program", refuse)
    before = uncertified_count()
    answer = gb.solve_sampling_lp(graph, baseline, gaps)
    assert answer.solver == "anytime"
    assert uncertified_count() == before + 1
    assert answer.infeasibility <= 1e-9
    assert exact.objective <= answer.objective + 1e-12 <= gaps @ baseline + 2e-12
    assert answer.objective - exact.objective <= answer.duality_gap * answer.objective + 1e-12
    # without a baseline, a feasible point is looked for
    found = gb.solve_sampling_lp(graph, None, gaps, demand=answer.demand)
    assert found.infeasibility <= 1e-9


def test_public_functions_check_before_a_kernel_sees_it():
    everyone, gaps = np.ones(3, dtype=bool), [0.0, 0.5, 1.0]
    for bad in ({"best": 10**9}, {"best": -1}, {"best": True}, {"candidates": np.ones(9, dtype=bool)}):
        told = {"candidates": everyone, "best": 0} | bad
        with pytest.raises(InputError):
            gb.planning.tight_demand(told["candidates"], gaps, best=told["best"], size=2, gamma=1.0)
    for bad in ({"size": 0}, {"size": 1.5}, {"gamma": -1.0}, {"gamma": np.nan}):
        with pytest.raises(SettingError):
            gb.planning.tight_demand(everyone, gaps, **({"best": 0, "size": 2, "gamma": 1.0} | bad))
    for bad in ([0.0, np.nan, 1.0], [[0.0], [0.5, 1.0]], []):
        with pytest.raises(InputError, match="gaps has"):
            gb.planning.tight_demand(everyone, bad, best=0, size=2, gamma=1.0)
    with pytest.raises(SettingError, match="effort"):
        gb.solve_sampling_lp(gb.graphs.bandit(3), [1, 0, 0], gaps, effort=3)
