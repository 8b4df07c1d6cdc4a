"""Covers: few arms that reveal all candidates, and what AdaCB.G does with them."""

import numpy as np

import graphbandit as gb
from graphbandit.graphs.parameters import greedy_cover
from graphbandit.planning.cover import cover_of
from graphbandit.rounds.shown import Shown


def test_a_cover_reveals_every_candidate_that_can_be_revealed() -> None:
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        dense = rng.random((8, 8)) < 0.25
        graph = gb.FeedbackGraph.from_dense(dense, require_loops=False)
        candidates, available = rng.random(8) < 0.6, rng.random(8) < 0.8
        candidates &= available
        chosen = cover_of(graph, candidates, available)
        if candidates.sum() <= 1:
            np.testing.assert_array_equal(chosen, candidates)
            continue
        possible = candidates & dense[available].any(axis=0)
        if possible.any():
            covered += 1
            assert not (chosen & ~available).any()
            assert dense[chosen].any(axis=0)[possible].all()
        assert (greedy_cover(graph, candidates, available)[0] == -1) == bool((candidates & ~possible).any())
    assert covered > 150


def test_told_nothing_the_first_round_on_a_star_plays_the_hub() -> None:
    functions = gb.LinearClass(n_arms=6, dimension=2, parameters="per-arm")
    learner = gb.AdaCBG()
    state = learner.init(gb.Problem(n_arms=6, function_class=functions))
    shown = Shown(np.ones((1, 2)), gb.FeedbackGraphs.repeat(gb.graphs.star(6, hub=4), 1))
    decisions = learner.decide(state, shown, np.random.default_rng(0))
    np.testing.assert_array_equal(decisions.probabilities[0], np.arange(6) == 4)
    np.testing.assert_array_equal(decisions.observation_probabilities, np.ones((1, 6)))
    # the paper's form plays its exploration set, which is the leaves
    paper = gb.AdaCBG.paper()
    decisions = paper.decide(
        paper.init(gb.Problem(n_arms=6, function_class=functions)), shown, np.random.default_rng(0)
    )
    assert decisions.exploration_set[0].sum() == 5


def test_demands_follow_the_cover_where_it_is_smaller_than_the_exploration_set() -> None:
    """On a star one arm covers all: q(a) >= 1 / (1 + gamma c(a)) for every candidate, gamma without |S|."""
    functions = gb.LinearClass(n_arms=5, dimension=1, parameters="per-arm")
    learner, rng, t = gb.AdaCBG(eta=1.0, doubt=0.0), np.random.default_rng(1), 0
    star, means = gb.graphs.star(5, hub=0), np.array([0.1, 0.5, 0.4, 0.3, 0.2])
    state = learner.init(gb.Problem(n_arms=5, function_class=functions, noise=0.5))
    asked = 0
    while t < 60:
        n = learner.rounds_until_update(state)
        shown = Shown(np.ones((n, 1)), gb.FeedbackGraphs.repeat(star, n))
        decisions = learner.decide(state, shown, rng)
        for k in range(n):
            rows = decisions.candidates[k] & (np.arange(5) != decisions.best[k])
            if state.difficulty > 0.0 and rows.any():
                wanted = 1.0 / (1.0 + decisions.gamma[k] * decisions.gaps[k][rows])
                assert (decisions.observation_probabilities[k][rows] >= wanted - 1e-9).all()
                asked += 1
        rewards = means + 0.5 * rng.normal(size=(n, 5))
        revealed = star.to_dense()[decisions.action]
        seen = gb.Observations.from_masks(np.ones((n, 1)), revealed, rewards, first_round=t)
        state, t = learner.update(state, seen), t + n
    assert asked > 10
