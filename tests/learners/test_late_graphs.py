"""Graphs that show only after the decision: counting edges, planning with them, and what is refused."""

import dataclasses

import numpy as np
import pytest

import graphbandit as gb
from graphbandit import environments
from graphbandit.errors import GraphError, InputError, SettingError
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Grid
from graphbandit.experiments.describe.learner_kinds import build_learner
from graphbandit.experiments.running.engines import InProcess
from graphbandit.experiments.running.runner import run
from graphbandit.rounds.shown import Shown
from graphbandit.simulate import run_repeat
from tests.helpers.bandits import content

K = 5


def small(**settings):
    base = environments.paper(n_arms=K, n_functions=8, dimension=3, graph="random", density=0.2, fixed_graph=True)
    return environments.probabilistic(base, probability=0.6, **settings)


def functions_of(n_arms=3):
    return gb.LinearClass(n_arms=n_arms, dimension=2)


def observations(rounds, actions, seen):
    """Rewards of 0.5 for the arms of `seen`, a list for each round."""
    rows = [i for i, arms in enumerate(seen) for _ in arms]
    arms = [a for arms in seen for a in arms]
    return gb.Observations(
        contexts=np.ones((len(rounds), 3, 2)),
        rounds=np.array(rounds),
        rows=np.array(rows, dtype=int),
        arms=np.array(arms, dtype=int),
        rewards=np.full(len(rows), 0.5),
        actions=None if actions is None else np.array(actions),
    )


@pytest.mark.parametrize("learner", [gb.IDSG(), gb.AdaCBG(epoch_growth=2.0)], ids=["IDSG", "AdaCBG"])
def test_edges_are_counted_play_by_play(learner):
    """A full run against a literal count of what each play revealed."""
    late = gb.learners.LateGraph(learner=learner, present=0.5, absent=2.0)
    environment = small(shown="nothing")
    (done,) = run_repeat([("late", late)], environment, rounds=100, repeat=0, seed=4, keep_decisions=True)
    decisions = gb.Decisions.concatenate(done.decisions)
    rounds = environment.instance(4).rounds(0, 100)
    plays, revealed = np.zeros(K), np.zeros((K, K))
    learnt, ends = 0, {0, *done.learnt}
    for t in range(100):
        if t in ends:
            for s in range(learnt, t):
                j = decisions.action[s]
                plays[j] += 1
                for a in range(K):
                    revealed[j, a] += rounds.graphs[s][j, a]
            learnt = t
            P = np.array(
                [[1.0 if j == a else (0.5 + revealed[j, a]) / (2.5 + plays[j]) for a in range(K)] for j in range(K)]
            )
        q = [sum(decisions.probabilities[t, j] * P[j, a] for j in range(K)) for a in range(K)]
        np.testing.assert_allclose(decisions.observation_probabilities[t], q, atol=1e-12)
    np.testing.assert_array_equal(done.state.plays, plays)
    np.testing.assert_array_equal(done.state.revealed, revealed)


def test_late_rewards_add_to_the_play_that_revealed_them():
    learner = gb.learners.LateGraph(learner=gb.IDSG(), loops=False)
    state = learner.init(gb.Problem(n_arms=3, function_class=functions_of(), noise=0.5))
    assert learner.rounds_until_update(state) == gb.IDSG().rounds_until_update(state.inner) == 1
    state = learner.update(state, observations([0], [1], [[1]]))
    state = learner.update(state, observations([0, 1], [1, 2], [[0], []]))
    assert state.plays.tolist() == [0, 1, 1]
    assert state.revealed.tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert state.rounds == 2
    expected = [[1 / 2, 1 / 2, 1 / 2], [2 / 3, 2 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]]
    np.testing.assert_allclose(learner.edge_probabilities(state.plays, state.revealed), expected)
    with pytest.raises(InputError, match="arm 1 was played 1 times and revealed arm 0 2 times"):
        learner.update(state, observations([0, 2], [1, 0], [[0], []]))


def test_postponed_rounds_are_counted_too():
    learner = gb.learners.LateGraph(learner=gb.AdaCBG(epoch_growth=2.0))
    state = learner.init(gb.Problem(n_arms=3, function_class=functions_of(), noise=0.5))
    after = learner.postpone(state, observations([0, 1], [0, 0], [[0, 1], [0]]))
    assert after.plays.tolist() == [2, 0, 0]
    assert after.revealed[0].tolist() == [2, 1, 0]
    assert after.inner.model is None


@pytest.mark.parametrize("learner", [gb.IDSG(), gb.AdaCBG(epoch_growth=2.0)], ids=["IDSG", "AdaCBG"])
def test_a_strong_prior_plans_with_that_graph(learner):
    """With the prior at its limit every edge is there, and decisions are those on the complete graph."""
    base = environments.paper(n_arms=K, n_functions=8, dimension=3, graph="complete")
    late = gb.learners.LateGraph(learner=learner, present=1e300, absent=0.0)
    known = run_repeat([("x", learner)], base, rounds=64, repeat=0, seed=1, keep_decisions=True)
    hidden = run_repeat(
        [("x", late)], environments.probabilistic(base, probability=1.0, shown="nothing"),
        rounds=64, repeat=0, seed=1, keep_decisions=True,
    )  # fmt: skip
    one, two = (gb.Decisions.concatenate(runs[0].decisions) for runs in (known, hidden))
    for name in one.round(0):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_the_graph_that_is_shown_is_not_looked_at():
    late = gb.learners.LateGraph(learner=gb.IDSG())
    runs = {
        shown: run_repeat([("late", late)], small(shown=shown), rounds=60, repeat=0, seed=2)[0].regret
        for shown in ("graphs", "probabilities", "nothing")
    }
    np.testing.assert_array_equal(runs["graphs"], runs["nothing"])
    np.testing.assert_array_equal(runs["probabilities"], runs["nothing"])


def test_the_estimate_comes_close_to_the_probabilities():
    late = gb.learners.LateGraph(learner=gb.IDSG())
    environment = small(shown="nothing")
    (done,) = run_repeat([("late", late)], environment, rounds=800, repeat=0, seed=0)
    state = done.state
    odds = dataclasses.replace(environment, shown="probabilities").instance(0).rounds(0, 1).probabilistic[0].matrix
    often = state.plays >= 50
    assert often.any()
    estimate = late.edge_probabilities(state.plays, state.revealed)
    spread = 5 * 0.5 / np.sqrt(state.plays[often])[:, None]
    assert (np.abs(estimate - odds)[often] <= spread + 1 / 50).all()


def test_regret_is_close_to_that_with_known_probabilities():
    kind = {"graph": "clique_group", "n_cliques": 2, "fixed_graph": True}
    base = environments.linear(n_arms=8, dimension=3, arms="per-arm", **kind)

    def final(learner, shown):
        environment = environments.probabilistic(base, probability=0.5, shown=shown)
        return gb.simulate(learner, environment, rounds=500, repeats=4, seed=3).regret["learner"]

    known = final(gb.IDSG(), "probabilities")
    late = final(gb.learners.LateGraph(learner=gb.IDSG()), "nothing")
    blind = final(gb.learners.Uniform(), "graphs")
    assert late[:, -1].mean() <= 1.6 * known[:, -1].mean()
    assert late[:, -1].mean() < 0.3 * blind[:, -1].mean()
    # once the edges are learnt, both lose about the same
    assert (late[:, -1] - late[:, 250]).mean() <= 1.5 * (known[:, -1] - known[:, 250]).mean() + 2


@pytest.mark.parametrize("learner", [gb.IDSG(), gb.AdaCBG(epoch_growth=2.0, gamma="width")], ids=["IDSG", "AdaCBG"])
def test_a_bandit_without_graphs_saves_and_loads(learner, tmp_path):
    problem = gb.Problem(n_arms=3, function_class=functions_of(), noise=0.5)
    one = gb.Bandit(gb.learners.LateGraph(learner=learner), problem, seed=1)
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(24, 3, 2))
    for t in range(12):
        decision = one.decide(contexts[t], None)
        assert decision.revealed.tolist() == [0, 1, 2]
        one.observe(decision, {decision.action: 1.0, 0: 0.5}, final=t != 3)
    assert one.open_decisions == [3]
    one.save(tmp_path / "bandit")
    two = gb.Bandit.load(tmp_path / "bandit")
    assert two.learner == one.learner
    later = []
    for each in (one, two):
        each.observe(3, {int(each.awaited(3)[0]): 0.25})
        later.append(each.decide_batch(contexts[12:], None))
    np.testing.assert_array_equal(one.state.plays, two.state.plays)
    np.testing.assert_array_equal(one.state.revealed, two.state.revealed)
    assert one.state.plays.sum() == one.state.rounds
    assert one.state.revealed[:, 0].sum() == 12
    for first, second in zip(*later, strict=True):
        np.testing.assert_array_equal(first.probabilities, second.probabilities)
        assert first.action == second.action


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learner": gb.Falcon()}, "learner is Falcon.*; expected one that plans with the probabilities"),
        ({"learner": gb.AdaCBG(epoch_growth=2.0, coverage="paper", gamma="natural")}, "tight coverage"),
        ({"learner": None}, "learner is None"),
        ({"present": 0.0}, "present is 0.0"),
        ({"absent": -1.0}, "absent is -1.0"),
        ({"absent": float("nan")}, "absent is nan"),
        ({"loops": 1}, "loops is 1"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        gb.learners.LateGraph(**{"learner": gb.IDSG(), **settings})


def test_bad_input_is_refused():
    learner = gb.learners.LateGraph(learner=gb.IDSG())
    state = learner.init(gb.Problem(n_arms=3, function_class=functions_of(), noise=0.5))
    with pytest.raises(InputError, match="expected their actions"):
        learner.update(state, observations([0], None, [[1]]))
    with pytest.raises(InputError, match="the actions are 3 to 3"):
        learner.update(state, observations([0], [3], [[1]]))
    with pytest.raises(InputError, match="contexts is a list"):
        learner.decide(state, Shown([[1.0]], None), np.random.default_rng(0))
    with pytest.raises(InputError, match=r"plays has shape \(2,\)"):
        dataclasses.replace(state, plays=np.zeros(2, dtype=int))


def test_a_late_graph_of_another_size_is_refused_and_leaves_no_round_behind(tmp_path):
    problem = gb.Problem(n_arms=3, function_class=functions_of(), noise=0.5)
    one = gb.Bandit(gb.learners.LateGraph(learner=gb.IDSG()), problem)
    context = np.zeros((3, 2))
    one.decide(context, None)
    before = content(one, tmp_path)
    for size in (2, 5):
        with pytest.raises(GraphError, match=f"the graphs have {size} arms; expected 3"):
            one.decide(context, gb.graphs.complete(size))
        with pytest.raises(GraphError, match=f"the graphs have {size} arms; expected 3"):
            one.decide(context, gb.ProbabilisticGraph(np.eye(size)))
    with pytest.raises(GraphError, match="available has 2 arms; expected 3"):
        one.decide(context, None, available=[True, True])
    with pytest.raises(InputError, match="available is a single value"):
        one.decide(context, None, available=0.5)
    assert content(one, tmp_path) == before
    assert gb.Bandit.load(tmp_path / "content.gb").rounds == 1


def test_learners_of_experiment_files(tmp_path):
    built = build_learner("LateIDSG", {"draws": 50, "absent": 4.0, "loops": False})
    assert built == gb.learners.LateGraph(learner=gb.IDSG(draws=50), absent=4.0, loops=False)
    assert build_learner("LateAdaCBG", {"eta": 2.0}) == gb.learners.LateGraph(learner=gb.AdaCBG(eta=2.0))
    hidden = {"n_arms": K, "n_functions": 8, "edge_probability": 0.5, "shown": "nothing"}
    experiment = Experiment(
        name="late",
        rounds=32,
        repeats=1,
        environments={"hidden": Grid("paper", hidden)},
        learners={"late": Grid("LateIDSG", {"absent": [1.0, 4.0]}), "linear": Grid("LateAdaCBG", {"eta": 2.0})},
    )
    results = run(experiment, out=tmp_path / "results", engine=InProcess())
    assert len(results.runs) == 3
