"""A bandit whose rounds bring graphs with edge probabilities."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, ObservationError, SettingError


def bandit(learner):
    functions = gb.LinearClass(n_arms=3, dimension=2)
    return gb.Bandit(learner, gb.Problem(n_arms=3, function_class=functions, noise=0.5), seed=1)


@pytest.mark.parametrize("learner", [gb.IDSG(), gb.AdaCBG(epoch_growth=2.0)], ids=["IDSG", "AdaCBG"])
def test_a_bandit_with_probabilities(learner, tmp_path):
    matrix = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.25], [0.5, 0.0, 1.0]])
    graphs = gb.ProbabilisticGraphs.repeat(matrix, 20)
    rng, one = np.random.default_rng(0), bandit(learner)
    contexts = rng.normal(size=(20, 3, 2))
    for t in range(10):
        decision = one.decide(contexts[t], graphs[t])
        assert decision.revealed.tolist() == np.flatnonzero(matrix[decision.action]).tolist()
        np.testing.assert_allclose(decision.observation_probabilities, decision.probabilities @ matrix)
        hidden = int(np.flatnonzero(matrix[decision.action] == 0)[0])
        with pytest.raises(ObservationError, match=f"did not reveal arm {hidden}"):
            one.observe(decision, {hidden: 1.0})
        one.observe(decision, {decision.action: 0.5}, final=t % 2 == 0)
    assert one.open_decisions == [1, 3, 5, 7, 9]
    one.save(tmp_path / "bandit")
    two = gb.Bandit.load(tmp_path / "bandit")
    later = [each.decide_batch(contexts[10:], graphs[10:]) for each in (one, two)]
    for first, second in zip(*later, strict=True):
        np.testing.assert_array_equal(first.probabilities, second.probabilities)
        assert first.action == second.action


def test_a_bandit_refuses_graphs_that_do_not_fit():
    one = bandit(gb.IDSG())
    with pytest.raises(GraphError, match="there is no graph"):
        one.decide(np.zeros((3, 2)), None)
    with pytest.raises(GraphError, match="graph is a str; expected a FeedbackGraph, a Prob"):
        one.decide(np.zeros((3, 2)), "complete")
    with pytest.raises(GraphError, match="graph is a ProbabilisticGraphs; expected a FeedbackGraph, a ProbabilisticGr"):
        one.decide(np.zeros((3, 2)), gb.ProbabilisticGraphs.repeat(np.eye(3), 2))
    with pytest.raises(InputError, match="1 contexts came with 2 graphs"):
        one.decide_batch(np.zeros((1, 3, 2)), gb.ProbabilisticGraphs.repeat(np.eye(3), 2))
    with pytest.raises(GraphError, match="the graphs have 2 arms; expected 3"):
        one.decide(np.zeros((3, 2)), gb.ProbabilisticGraph(np.eye(2)))
    decision = one.decide(np.zeros((3, 2)), gb.graphs.bandit(3))
    with pytest.raises(SettingError, match="final is 1"):
        one.observe(decision, {}, final=1)
    assert one.rounds == 1
