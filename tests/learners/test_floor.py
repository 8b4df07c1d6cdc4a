"""A floor under the observation probabilities of any learner: it holds, costs little, and what is recorded is true."""

from typing import Any

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import SettingError
from graphbandit.learners.loop import Loop
from graphbandit.planning.floor import raised
from graphbandit.rounds.shown import Shown

ARMS, FLOOR = 6, 0.04

LEARNERS: dict[str, Any] = {
    "IDS.G": gb.IDSG(draws=30, floor=FLOOR),
    "AdaCB.G": gb.AdaCBG(floor=FLOOR),
    "AdaCB": gb.learners.AdaCB(floor=FLOOR),
    "greedy": gb.Greedy(floor=FLOOR),
    "SquareCB.G": gb.SquareCBG(floor=FLOOR),
    "LinUCB": gb.LinUCB(floor=FLOOR),
    "LinTS": gb.LinTS(floor=FLOOR),
    "EXP3.G": gb.learners.Exp3G(floor=FLOOR),
    "UCB-N": gb.learners.UCBN(floor=FLOOR),
}


def loop_of(learner: Any) -> Loop:
    functions = gb.LinearClass(n_arms=ARMS, dimension=2, parameters="per-arm")
    return Loop.start(learner, gb.Problem(n_arms=ARMS, function_class=functions, noise=0.3))


def rounds(n: int, graph: Any) -> tuple[Shown, np.ndarray]:
    rng = np.random.default_rng(3)
    contexts = rng.normal(size=(n, 2))
    rewards = np.clip(0.5 + 0.2 * contexts @ rng.normal(size=(2, ARMS)) + 0.1 * rng.normal(size=(n, ARMS)), 0.0, 1.0)
    return Shown(contexts, gb.FeedbackGraphs.repeat(graph, n)), rewards


@pytest.mark.parametrize("name", LEARNERS)
def test_every_arm_is_observed_as_often_as_the_floor_says(name: str) -> None:
    loop, rng = loop_of(LEARNERS[name]), np.random.default_rng(0)
    shown, rewards = rounds(40, gb.graphs.star(ARMS, hub=2))
    done = 0
    while done < 40:
        loop = loop.ready()
        part = shown[done : done + min(loop.playable, 40 - done)]
        decisions, loop = loop.play(part, part.feedback_graphs, rewards[done : done + len(part)], rng)
        done += len(part)
        assert (decisions.observation_probabilities >= FLOOR - 1e-9).all()
        np.testing.assert_allclose(decisions.probabilities.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(
            decisions.observation_probabilities,
            decisions.probabilities @ gb.graphs.star(ARMS, hub=2).to_dense(),
            atol=1e-12,
        )
        drawn = decisions.probabilities[np.arange(len(part)), decisions.action]
        np.testing.assert_array_equal(drawn, decisions.probability)
        assert (drawn > 0).all()


def test_on_a_star_it_costs_plays_of_the_hub_alone() -> None:
    gaps, everyone = np.array([0.4, 0.0, 0.5, 0.1, 0.5, 0.5]), np.ones(ARMS, dtype=bool)
    star, own = gb.graphs.star(ARMS, hub=0), np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    p, share = raised(own, own @ star.to_dense(), gaps, FLOOR, graph=star, available=everyone)
    assert p is not None
    np.testing.assert_allclose(p, [FLOOR, 1.0 - FLOOR, 0, 0, 0, 0], atol=1e-9)
    assert share == 1.0


def test_the_answer_is_the_cheapest_of_all_mixtures() -> None:
    """Against many random mixtures of p with other distributions that keep the floor."""
    rng, raises, rivals = np.random.default_rng(1), 0, 0
    for _ in range(20):
        dense = np.eye(ARMS, dtype=bool) | (rng.random((ARMS, ARMS)) < 0.3)
        graph, gaps = gb.FeedbackGraph.from_dense(dense), rng.random(ARMS)
        own = rng.dirichlet(np.full(ARMS, 0.2))
        p, _ = raised(own, own @ dense, gaps, 0.1, graph=graph, available=np.ones(ARMS, dtype=bool))
        if p is None:
            assert (own @ dense >= 0.1).all()
            continue
        raises += 1
        assert (p @ dense >= 0.1 - 1e-9).all()
        added = float(np.maximum(p - own, 0.0) @ gaps)
        for other in rng.dirichlet(np.ones(ARMS), size=300):
            for weight in (0.3, 0.6, 1.0):
                mixed = (1.0 - weight) * own + weight * other
                if (mixed @ dense >= 0.1).all():
                    rivals += 1
                    assert weight * float(other @ gaps) >= added - 1e-6
    assert raises > 10
    assert rivals > 1000


def test_frequencies_are_the_recorded_probabilities() -> None:
    learner = gb.IDSG(floor=0.1)
    functions = gb.FiniteClass(lambda x: np.array([[[1.0, 0.0, 0.2]]]), n_functions=1, n_arms=3)
    loop = Loop.start(learner, gb.Problem(n_arms=3, function_class=functions, noise=0.1))
    counts, n = np.zeros(3), 500
    shown = Shown(np.zeros((1, 1)), gb.FeedbackGraphs.repeat(gb.graphs.bandit(3), 1))
    rng = np.random.default_rng(5)
    for _ in range(n):
        decisions = learner.decide(loop.state, shown, rng)
        counts[decisions.action] += 1
    p = decisions.probabilities[0]
    np.testing.assert_allclose(p, [0.8, 0.1, 0.1], atol=1e-9)
    assert (np.abs(counts / n - p) < 4 * np.sqrt(p * (1 - p) / n)).all()


def test_a_floor_that_the_graph_does_not_allow_is_scaled_and_told() -> None:
    loop, rng = loop_of(gb.Greedy(floor=0.5)), np.random.default_rng(0)
    shown, rewards = rounds(1, gb.graphs.bandit(ARMS))
    decisions, _ = loop.play(shown, shown.feedback_graphs, rewards, rng)
    np.testing.assert_allclose(decisions.coverage_factor, 2.0 / ARMS, rtol=1e-6)
    np.testing.assert_allclose(decisions.observation_probabilities, 1.0 / ARMS, rtol=1e-6)


def test_arms_that_nobody_reveals_and_arms_not_on_offer_are_left_out() -> None:
    dense = np.eye(4, dtype=bool)
    dense[3, 3] = False
    graph = gb.FeedbackGraph.from_dense(dense, require_loops=False)
    functions = gb.LinearClass(n_arms=4, dimension=1, parameters="per-arm")
    learner = gb.IDSG(floor=0.1)
    state = learner.init(gb.Problem(n_arms=4, function_class=functions, noise=0.3))
    shown = Shown(np.ones((1, 1)), gb.FeedbackGraphs.repeat(graph, 1), np.array([True, True, False, True]))
    decisions = learner.decide(state, shown, np.random.default_rng(0))
    q = decisions.observation_probabilities[0]
    assert (q[:2] >= 0.1 - 1e-9).all()
    assert decisions.probabilities[0, 2] == 0.0


def test_no_floor_changes_nothing_and_a_floor_that_holds_is_not_solved() -> None:
    shown, _ = rounds(5, gb.graphs.complete(ARMS))
    states = [loop_of(gb.learners.EpsilonGreedy(floor=floor)).state for floor in (None, 0.0, 0.5)]
    made = [
        gb.learners.EpsilonGreedy(floor=floor).choose(state, shown[:1], np.random.default_rng(2))
        for floor, state in zip((None, 0.0, 0.5), states, strict=True)
    ]
    decided = gb.learners.EpsilonGreedy(floor=0.5).decide(states[2], shown[:1], np.random.default_rng(2))
    for other in (*made[1:], decided):
        np.testing.assert_array_equal(made[0].probabilities, other.probabilities)
        np.testing.assert_array_equal(made[0].action, other.action)
        np.testing.assert_array_equal(made[0].solver, other.solver)


@pytest.mark.parametrize("floor", [-0.1, 1.5, "high", float("nan")])
def test_a_floor_is_a_probability(floor: Any) -> None:
    with pytest.raises(SettingError, match="floor is"):
        gb.IDSG(floor=floor)


def test_a_late_graph_has_its_floor_in_the_other_learner() -> None:
    with pytest.raises(SettingError, match="expected it in the other learner"):
        gb.learners.LateGraph(learner=gb.IDSG(), floor=0.1)
    learner = gb.learners.LateGraph(learner=gb.IDSG(floor=0.1))
    functions = gb.LinearClass(n_arms=3, dimension=1, parameters="per-arm")
    state = learner.init(gb.Problem(n_arms=3, function_class=functions, noise=0.3))
    decisions = learner.decide(state, Shown(np.ones((1, 1)), None), np.random.default_rng(0))
    assert (decisions.observation_probabilities >= 0.1 - 1e-9).all()
