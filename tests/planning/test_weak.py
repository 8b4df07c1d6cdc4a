"""AdaCB.G on graphs in which arms do not reveal themselves: its program, its factor, and what is refused."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, SettingError
from graphbandit.planning import scaling_count
from graphbandit.planning.certified_program import Program
from graphbandit.planning.sampling_program import solve_scaled
from graphbandit.rounds.decisions import ARRAYS
from graphbandit.rounds.shown import Shown
from tests.learners.playing import problem, run_package
from tests.planning.scaled import check_optimum


def loose(seed, n, n_arms, density):
    """Random graphs without regard to loops, in which every arm is revealed by some arm."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, n_arms, n_arms)) < density
    for t, a in np.argwhere(~dense.any(axis=1)):
        dense[t, rng.integers(n_arms), a] = True
    return gb.FeedbackGraphs.from_dense(dense, require_loops=False)


def greedy_cover(G, missing, offered):
    """How many arms reveal all of these, most first; 0 if some arm is revealed by none."""
    size = 0
    while missing:
        arm = max(offered, key=lambda j: (sum(G[j, a] for a in missing), -j))
        if not any(G[arm, a] for a in missing):
            return 0
        missing, size = {a for a in missing if not G[arm, a]}, size + 1
    return size


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("density", [0.12, 0.5])
@pytest.mark.parametrize("settings", [{}, {"gamma": "width"}, {"baseline": "inverse-gap"}, {"eta": 1e-6}])
def test_every_round_is_the_optimum_of_the_stated_program(density, settings, masked):
    """By inverse gaps alone; `test_doubt.py` has what doubt makes of them."""
    values, _, rewards, uniforms, masks = problem(4, 6, "random", functions=15, masked=masked)
    graphs = loose(7, len(values), 6, density)
    learner = gb.AdaCBG(epoch_growth=2.0, doubt=0.0, **settings, unrevealed="ignore")
    before = scaling_count()
    d, _ = run_package(learner, values, graphs, rewards, uniforms, masks, horizon=len(values), noise=0.7)
    scaled = 0
    for t in range(2, len(values)):
        G, best = graphs[t].to_dense(), d.best[t]
        offered = [a for a in range(6) if masks is None or masks[t, a]]
        candidates, size = np.flatnonzero(d.candidates[t]), int(d.exploration_set[t].sum())
        if learner.gamma_rule == "natural" and learner.baseline == "exploration-set":
            size = min(size, greedy_cover(G, set(candidates.tolist()), offered) or size)
        demand = {}
        for a in candidates:
            revealers = [j for j in offered if G[j, a]]
            if a != best and revealers:
                demand[a] = 1 / (size + d.gamma[t] * d.gaps[t, a])
            elif a == best and revealers and not G[a, a] and len(candidates) > 1:
                demand[a] = 1 / (size + d.gamma[t] * min(d.gaps[t, j] for j in revealers))
        p = d.probabilities[t]
        assert p.sum() == pytest.approx(1)
        np.testing.assert_allclose(d.observation_probabilities[t], p @ G, atol=1e-12)
        if not demand or d.gamma[t] == np.inf:
            assert p[best] == pytest.approx(1)
            assert d.coverage_factor[t] == 1
            continue
        if graphs[t].has_all_loops:
            continue
        check_optimum(d, t, G, demand, offered)
        scaled += d.coverage_factor[t] < 1
    assert scaling_count() - before == scaled
    assert scaled > 0 or density > 0.2 or "eta" not in settings


def test_a_factor_worked_out_by_hand():
    """Arm 1 is revealed by 0 alone, arm 2 by 1 alone: demands of 0.8 each fit into one unit of mass 0.625 times."""
    graph = gb.FeedbackGraph.from_edges([(0, 1), (1, 2), (2, 0)], 3, require_loops=False)
    everyone, gaps = np.ones(3, dtype=bool), np.array([0.0, 1, 2])
    answer, factor = solve_scaled(Program(graph, np.array([0, 0.8, 0.8]), gaps, 0, everyone), start=None)
    assert factor == pytest.approx(0.625, rel=1e-8)
    np.testing.assert_allclose(answer.probabilities, [0.5, 0.5, 0], atol=1e-8)
    answer, factor = solve_scaled(Program(graph, np.array([0, 0.3, 0.3]), gaps, 0, everyone), start=None)
    assert factor == 1
    np.testing.assert_allclose(answer.probabilities, [0.7, 0.3, 0], atol=1e-12)
    answer, factor = solve_scaled(Program(graph, np.zeros(3), gaps, 0, everyone), start=None)
    assert (factor, answer.probabilities.tolist()) == (1, [1, 0, 0])


def test_rounds_do_not_depend_on_what_else_is_in_the_batch():
    instance = gb.environments.paper(n_arms=6, graph="random", reward_scale=8.0).instance(1)
    learner, part = gb.AdaCBG(epoch_growth=2.0), instance.rounds(0, 64)
    state, start = learner.init(instance.problem(None)), 0
    for _ in range(5):
        these = part[start : start + learner.rounds_until_update(state)]
        seen = np.ones((len(these), 6), dtype=bool)
        news = gb.Observations.from_masks(these.contexts, seen, these.rewards / 9, first_round=start)
        state, start = learner.update(state, news), start + len(these)
    strong, weak = part[32:48].graphs, loose(0, 16, 6, 0.3)
    mixed = gb.FeedbackGraphs.stack([graph for pair in zip(strong, weak, strict=True) for graph in pair])
    contexts = np.repeat(part[32:48].contexts, 2, axis=0)
    whole = learner.decide(state, Shown(contexts, mixed), np.random.default_rng(0))
    rng = np.random.default_rng(0)
    for t in range(32):
        one = learner.decide(state, Shown(contexts[t : t + 1], mixed[t : t + 1]), rng)
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(one, name)[0], getattr(whole, name)[t], name)
    assert (whole.coverage_factor[::2] == 1).all()
    assert (whole.candidates.sum(axis=1) > 1).any()


def never_seen():
    return gb.FeedbackGraph.from_edges([(0, 0), (1, 1), (2, 0)], 3, require_loops=False)


def test_an_arm_nobody_reveals_is_named_or_ignored():
    instance = gb.environments.paper(n_arms=3, graph="bandit").instance(0)
    graphs, contexts = gb.FeedbackGraphs.repeat(never_seen(), 1), instance.rounds(0, 1).contexts
    state = gb.AdaCBG(epoch_growth=2.0).init(instance.problem(None))
    rng = np.random.default_rng(0)
    with pytest.raises(GraphError, match=r"round 0 of the batch no arm on offer reveals arm 2; .*unrevealed='ignore'"):
        gb.AdaCBG(epoch_growth=2.0).decide(state, Shown(contexts, graphs), rng)
    assert rng.random() == np.random.default_rng(0).random()
    gb.AdaCBG(epoch_growth=2.0, unrevealed="ignore").decide(state, Shown(contexts, graphs), rng)
    without = np.array([[True, True, False]])
    gb.AdaCBG(epoch_growth=2.0).decide(state, Shown(contexts, graphs, without), rng)
    alone = np.array([[False, False, True]])
    with pytest.raises(GraphError, match="reveals arm 2"):
        gb.AdaCBG(epoch_growth=2.0).decide(state, Shown(contexts, graphs, alone), rng)


def test_paper_coverage_asks_for_loops_as_ever():
    instance = gb.environments.paper(n_arms=3, graph="bandit").instance(0)
    graphs, contexts = gb.FeedbackGraphs.repeat(never_seen(), 1), instance.rounds(0, 1).contexts
    for learner in (
        gb.AdaCBG(epoch_growth=2.0, coverage="paper", gamma="natural"),
        gb.AdaCBG(epoch_growth=2.0, linear_program=False),
    ):
        with pytest.raises(GraphError, match="self-loop of arm 2"):
            learner.decide(learner.init(instance.problem(None)), Shown(contexts, graphs), np.random.default_rng(0))
    with pytest.raises(SettingError, match="unrevealed is 'maybe'"):
        gb.AdaCBG(epoch_growth=2.0, unrevealed="maybe")


def test_a_best_arm_that_does_not_reveal_itself_is_still_looked_at():
    """Functions (1, 0) and (-1, 0): only arm 0 tells them apart, and only arm 1 reveals it."""
    values = np.array([[1.0, 0.0], [-1.0, 0.0]])
    functions = gb.FiniteClass(lambda x: np.broadcast_to(values, (len(x), 2, 2)), n_functions=2, n_arms=2)
    graph = gb.FeedbackGraph.from_edges([(0, 1), (1, 0)], 2, require_loops=False)
    learner, graphs = gb.AdaCBG(epoch_growth=2.0, doubt=0.0), gb.FeedbackGraphs.repeat(graph, 2)
    state = learner.init(gb.Problem(n_arms=2, function_class=functions, noise=1.0))
    nothing = gb.Observations.from_masks(np.zeros((2, 1)), np.zeros((2, 2), dtype=bool), np.zeros((2, 2)))
    state = learner.update(state, nothing)
    decisions = learner.decide(state, Shown(np.zeros((2, 1)), graphs), np.random.default_rng(0))
    gamma = decisions.gamma[0]
    np.testing.assert_allclose(decisions.probabilities[0], [gamma / (1 + gamma), 1 / (1 + gamma)])
    assert decisions.coverage_factor.tolist() == [1, 1]


def test_a_scaled_decision_says_so():
    values = np.array([[0.0, 1.0, 0.9], [0.0, 0.9, 1.0]])
    functions = gb.FiniteClass(lambda x: np.broadcast_to(values, (len(x), 2, 3)), n_functions=2, n_arms=3)
    graph = gb.FeedbackGraph.from_edges([(0, 1), (1, 2), (2, 0)], 3, require_loops=False)
    learner = gb.AdaCBG(epoch_growth=2.0, eta=1e-3, doubt=0.0)
    bandit = gb.Bandit(learner, gb.Problem(n_arms=3, function_class=functions, noise=1.0))
    decisions = [bandit.decide([0.0], graph) for _ in range(3)]
    assert decisions[0].coverage_factor == 1
    assert "coverage" not in decisions[0].explain()
    # S = {1}, which reveals 2; 1 asks for 1 / (1 + gamma) through arm 0, 2 for 1 / (1 + 0.1 gamma) through arm 1
    gamma = decisions[2].gamma
    asked = 1 / (1 + gamma) + 1 / (1 + 0.1 * gamma)
    assert decisions[2].coverage_factor == pytest.approx(min(1.0, 1 / asked), rel=1e-8)
    assert decisions[2].coverage_factor < 1
    assert f"coverage              {decisions[2].coverage_factor:.4g} of what" in decisions[2].explain()
