"""SquareCB.G: its probabilities are the program's, its gamma as documented, and it learns."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, SettingError
from graphbandit.planning.squarecb_formulas import inverse_gap_weighting
from graphbandit.rounds.shown import Shown
from tests.learners.playing import state_after
from tests.references.squarecb import value


def instance_of(graph, n_arms=6):
    return gb.environments.paper(n_arms=n_arms, graph=graph, reward_scale=4.0).instance(seed=2)


def test_probabilities_are_the_optimum_of_each_rounds_program():
    instance, learner = instance_of("random"), gb.SquareCBG()
    state, start = state_after(learner, instance, 5)
    part = instance.rounds(start, start + 8)
    decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    values = instance.problem(None).function_class.predict(state.model, part.contexts)
    gamma = 10.0 * 32**0.5
    np.testing.assert_allclose(decisions.gamma, gamma)
    for t in range(8):
        answer = gb.planning.solve_squarecb_program(part.graphs[t], -values[t], gamma)
        np.testing.assert_array_equal(decisions.probabilities[t], answer.probabilities)
        reached = value(-values[t], part.graphs[t].to_dense(), gamma, decisions.probabilities[t])
        assert reached == pytest.approx(answer.objective, rel=1e-9, abs=1e-12)
        assert decisions.best[t] == np.argmax(values[t])
        np.testing.assert_allclose(decisions.gaps[t], values[t].max() - values[t])
    assert decisions.duality_gap.max() <= 1e-8
    assert (decisions.solver == gb.rounds.SOLVERS.index("interior-point")).all()


def test_with_self_loops_only_it_is_inverse_gap_weighting():
    instance, learner = instance_of("bandit"), gb.SquareCBG(gamma=30.0)
    state, start = state_after(learner, instance, 4)
    part = instance.rounds(start, start + 5)
    decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    for t in range(5):
        np.testing.assert_allclose(
            decisions.probabilities[t], inverse_gap_weighting(decisions.gaps[t], 30.0), atol=1e-4
        )


def test_the_first_epoch_reveals_as_much_as_can_be():
    """All losses equal: gamma is 1, a star's hub has most mass, its leaves share the rest, and nothing is better."""
    instance, learner = instance_of("star"), gb.SquareCBG()
    state = learner.init(instance.problem(None))
    part = instance.rounds(0, 2)
    decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    assert (decisions.gamma == 1.0).all()
    for p, graph in zip(decisions.probabilities, part.graphs, strict=True):
        matrix = graph.to_dense()
        hub = int(matrix.sum(axis=1).argmax())
        leaves = np.delete(p, hub)
        assert p[hub] > 0.5
        np.testing.assert_allclose(leaves, leaves[0], atol=1e-9)
        reached = value(np.zeros(6), matrix, 1.0, p)
        for moved in (-0.01, 0.01):
            other = p + np.where(np.arange(6) == hub, moved, -moved / 5)
            assert reached < value(np.zeros(6), matrix, 1.0, other)


def test_single_decisions_and_batches_are_the_same_bits():
    instance, learner = instance_of("random"), gb.SquareCBG()
    state, start = state_after(learner, instance, 4)
    part = instance.rounds(start, start + 6)
    whole = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(9))
    rng = np.random.default_rng(9)
    for t in range(6):
        one = learner.decide(state, Shown(part.contexts[t : t + 1], part.graphs[t : t + 1]), rng)
        np.testing.assert_array_equal(one.probabilities[0], whole.probabilities[t])
        assert one.action[0] == whole.action[t]


def test_it_learns_more_than_chance():
    environment = gb.environments.paper(n_arms=8, graph="star", reward_scale=4.0)
    learners = {"SquareCB.G": gb.SquareCBG(), "uniform": gb.learners.Uniform()}
    found = gb.simulate(learners, environment, rounds=512, repeats=4, seed=1).summary()
    assert found["SquareCB.G"].mean < 0.5 * found["uniform"].mean


def test_an_arm_that_nothing_reveals_is_named():
    instance, learner = instance_of("bandit"), gb.SquareCBG()
    graph = gb.FeedbackGraph.from_dense(np.diag([True] * 5 + [False]), require_loops=False)
    state = learner.init(instance.problem(None))
    contexts = instance.rounds(0, 1).contexts
    with pytest.raises(GraphError, match="arm 5 is revealed by no arm on offer in round 0"):
        learner.decide(state, Shown(contexts, gb.FeedbackGraphs.repeat(graph, 1)), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": 0.0}, "gamma is 0.0; expected a finite number above 0"),
        ({"gamma": "theory"}, "gamma is 'theory'; expected 'power' or a number above 0"),
        ({"gamma_scale": -1.0}, "gamma_scale is -1.0"),
        ({"gamma_exponent": 2.0}, "gamma_exponent is 2.0"),
        ({"epoch_growth": 1.0}, "epoch_growth is 1.0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(SettingError, match=message):
        gb.SquareCBG(**settings)
