"""The sampling program: hand-worked answers, batches and threads, fallbacks, and the anytime form."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, SolverError
from graphbandit.kernels.planning import program
from graphbandit.planning import sampling_program as sampling_lp
from graphbandit.planning.anytime import Effort

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


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_batches_equal_single_programs_in_any_number_of_threads(threads):
    n, n_arms = 40, 25
    graphs = gb.graphs.sources.graph_source("random", n_arms, density=0.04).draw(np.random.default_rng(3), n)
    rng = np.random.default_rng(4)
    values = rng.normal(size=(n, n_arms))
    gaps = values.max(axis=1, keepdims=True) - values
    baselines = np.stack(
        [
            gb.planning.inverse_gap_baseline(
                gb.exploration_set(graphs[t], np.ones(n_arms, dtype=bool), gaps[t]), gaps[t], 9.0
            )
            for t in range(n)
        ]
    )
    answers = gb.planning.solve_sampling_lps(graphs, baselines, gaps, threads=threads)
    assert len(answers) == n
    for t in range(n):
        single = gb.solve_sampling_lp(graphs[t], baselines[t], gaps[t])
        np.testing.assert_array_equal(answers.probabilities[t], single.probabilities)
        np.testing.assert_allclose(answers.observation_probabilities[t], single.observation_probabilities)
        assert answers.duality_gap[t] <= 1e-9
    demands = np.full((n, n_arms), 1 / (2 * n_arms))
    tight = gb.planning.solve_sampling_lps(graphs, baselines, gaps, demands=demands, threads=threads)
    demands[np.arange(n), np.argmin(gaps, axis=1)] = 0
    assert (tight.observation_probabilities >= demands - 1e-9).all()
    assert tight.duality_gap.max() <= 1e-9


def test_a_program_without_certificate_goes_to_highs_and_is_counted(monkeypatch):
    graph, baseline, gaps = instance("random", 12, 0)
    expected = gb.solve_sampling_lp(graph, baseline, gaps)
    monkeypatch.setattr(program, "solve_program", lambda *arguments: (program.UNSOLVED, np.nan, np.nan))
    before = sampling_lp.fallback_count()
    answer = gb.solve_sampling_lp(graph, baseline, gaps)
    assert answer.solver == "highs"
    assert sampling_lp.fallback_count() == before + 1
    assert answer.objective == pytest.approx(expected.objective, rel=1e-8)
    with pytest.raises(SolverError, match="no certified answer"):
        gb.solve_sampling_lp(graph, baseline, gaps, solver="simplex")


def test_pending_rounds_of_a_batch_are_finished_and_say_so(monkeypatch):
    """Rounds that the kernel leaves open are solved, drawn and labelled by the fallback."""
    environment = gb.environments.paper(n_arms=15, graph="random", reward_scale=8.0)
    learner = gb.AdaCBG(radius="paper", coverage="paper", eta=1.0)
    expected = gb.simulate(learner, environment, rounds=64, keep_decisions=True).decisions["learner"][0]
    monkeypatch.setattr("graphbandit.planning.sampling.ROW_LIMIT", 0)
    found = gb.simulate(learner, environment, rounds=64, keep_decisions=True).decisions["learner"][0]
    np.testing.assert_allclose(found.objective, expected.objective, atol=1e-12)
    np.testing.assert_array_equal(found.action, expected.action)
    assert (found.solver >= 0).all()


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
    demand = sampling_lp.paper_demand(graph, baseline, int(np.argmin(gaps)))
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
    before = sampling_lp.fallback_count()
    with pytest.raises(SolverError, match="no solution"):
        gb.solve_sampling_lp(graph, None, gaps, demand=np.full(4, 0.6))
    assert sampling_lp.fallback_count() == before
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
        learner = gb.AdaCBG(radius="paper", coverage=coverage, eta=1.0)
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
    from graphbandit.kernels.planning.program import program_workspace, solve_program

    for seed in range(20):
        graph, baseline, gaps = instance("erdos_renyi", 40, seed, probability=0.08)
        best = int(np.argmin(gaps))
        demand = sampling_lp.paper_demand(graph, baseline, best)
        out, into = graph.csr(), graph.in_csr()
        answers = []
        for stored in (graph.words, (out.indptr, out.indices, into.indptr, into.indices)):
            p, y = np.empty(40), np.empty(40)
            scratch, marks = np.empty(40, dtype=np.int32), np.full(40, -1, dtype=np.int32)
            everyone, work = np.ones(40, dtype=bool), program_workspace(40, 3000)
            status, objective, _ = solve_program(stored, demand, gaps, best, everyone, 3000, scratch, marks, work, p, y)
            assert status == 0
            assert (marks == -1).all()
            answers.append((objective, p))
        assert answers[0][0] == pytest.approx(answers[1][0], rel=1e-12)
        np.testing.assert_allclose(answers[0][1], answers[1][1], atol=1e-12)
