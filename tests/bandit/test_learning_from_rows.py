"""Learning from what is already there, probabilities without side effects, and fitting at any time."""

import numpy as np
import pandas as pd
import pytest

import graphbandit as gb
from graphbandit.errors import FitError, GraphError, HorizonError, InputError, ObservationError, SettingError
from graphbandit.learners.played import News, Played
from tests.helpers.bandits import content, refuse

K, D, N = 4, 2, 50
RNG = np.random.default_rng(1)
CONTEXTS = RNG.normal(size=(N, D))
ACTIONS = RNG.integers(K, size=N)
REWARDS = RNG.normal(size=(N, K)) / 4 + CONTEXTS @ RNG.normal(size=(D, K))
ARMS = ["a", "b", "c", "d"]
GRAPH = gb.FeedbackGraph.from_edges([(a, (a + 1) % K) for a in range(K)], K, add_loops=True)
LEARNERS = {
    "IDS.G": gb.IDSG(draws=16, epoch_growth=2.0),
    "AdaCB.G": gb.AdaCBG(epoch_growth=2.0),
    "width": gb.AdaCBG(gamma="width", epoch_growth=2.0),
    "AdaCB": gb.learners.AdaCB(epoch_growth=2.0),
    "FALCON": gb.Falcon(),
    "greedy": gb.Greedy(),
    "uniform": gb.learners.Uniform(),
    "Thompson": gb.learners.BootstrappedThompson(epoch_growth=2.0),
    "SquareCB online": gb.learners.SquareCB(),
    "explore then commit": gb.learners.ExploreThenCommit(explore_rounds=7),
    "late graph": gb.learners.LateGraph(learner=gb.IDSG(draws=16, epoch_growth=2.0)),
    "UCB-N": gb.learners.UCBN(),
    "LinUCB": gb.LinUCB(alpha=1.0),
    "LinTS": gb.LinTS(),
}


def make(learner, horizon=None):
    functions = gb.LinearClass(n_arms=K, dimension=D, parameters="per-arm")
    problem = gb.Problem(arms=ARMS, function_class=functions, noise=0.5, horizon=horizon)
    return gb.Bandit(learner, problem, graph=GRAPH, identity="test")


def revealed_rewards():
    """What the cycle reveals of each play, nan elsewhere."""
    seen = GRAPH.to_dense()[ACTIONS]
    return np.where(seen, REWARDS, np.nan)


@pytest.mark.parametrize("name", LEARNERS)
def test_past_rows_are_rounds_in_any_form_and_portion(name, tmp_path):
    rewards = revealed_rewards()
    forms = {
        "array": lambda b: b.learn(CONTEXTS, rewards, actions=ACTIONS, graphs=GRAPH),
        "names and a frame": lambda b: b.learn(
            contexts=pd.DataFrame(CONTEXTS).to_numpy(),
            actions=[ARMS[a] for a in ACTIONS],
            rewards=pd.DataFrame(rewards[:, ::-1], columns=ARMS[::-1]),
        ),
    }
    found = []
    for learn in forms.values():
        bandit = make(LEARNERS[name])
        learn(bandit)
        assert bandit.rounds == N
        assert bandit.open_decisions == []
        found.append(content(bandit, tmp_path))
        loaded = gb.Bandit.load(tmp_path / "content.gb")
        assert content(loaded, tmp_path) == found[-1]
        assert loaded.decide([0.0, 0.0]).action == bandit.decide([0.0, 0.0]).action
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["IDS.G", "greedy", "FALCON", "UCB-N", "LinUCB", "SquareCB online"])
def test_past_rows_teach_what_the_same_rounds_would_have(name):
    """A bandit that was lived through the same rounds, as `take` and `observe` would have it."""
    bandit, lived = make(LEARNERS[name]), make(LEARNERS[name])
    rewards = revealed_rewards()
    bandit.learn(CONTEXTS[:16], rewards[:16], actions=ACTIONS[:16])
    for t in range(16):
        loop = lived._settled()
        arms = np.flatnonzero(np.isfinite(rewards[t]))
        played = Played(t, CONTEXTS[t : t + 1], ACTIONS[t : t + 1], np.empty((1, 0)), None)
        news = News(np.full(len(arms), t), arms, rewards[t, arms], np.ones(len(arms)))
        lived._journal.loop = loop.take(played, news)
    np.testing.assert_allclose(bandit.probabilities(CONTEXTS), lived.probabilities(CONTEXTS), rtol=1e-9, atol=1e-12)


def test_only_the_arm_played_and_rows_without_rewards():
    one, two = make(gb.Greedy()), make(gb.Greedy())
    rewards = REWARDS[np.arange(N), ACTIONS]
    rewards[3] = np.nan
    table = np.full((N, K), np.nan)
    table[np.arange(N), ACTIONS] = rewards
    one.learn(CONTEXTS, rewards, actions=ACTIONS, probabilities=np.full(N, 0.25))
    two.learn(CONTEXTS, table, actions=ACTIONS)
    assert one.state.data.count == two.state.data.count == N - 1
    np.testing.assert_array_equal(one.probabilities(CONTEXTS), two.probabilities(CONTEXTS))


def test_all_is_fitted_at_once_and_estimates_are_right():
    bandit = make(gb.Greedy())
    bandit.learn(CONTEXTS, REWARDS)
    assert bandit.state.data.count == N * K
    truth = np.linalg.solve(CONTEXTS.T @ CONTEXTS + np.eye(D), CONTEXTS.T @ REWARDS)
    best = (CONTEXTS @ truth).argmax(axis=1)
    np.testing.assert_array_equal(bandit.probabilities(CONTEXTS).argmax(axis=1), best)


@pytest.mark.parametrize("name", LEARNERS)
def test_probabilities_are_those_of_the_next_decision_and_change_nothing(name, tmp_path):
    bandit = make(LEARNERS[name])
    for t in range(23):
        before = content(bandit, tmp_path)
        found = bandit.probabilities(CONTEXTS, available=[True, True, t % 2 == 0, True])
        assert found.shape == (N, K)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert content(bandit, tmp_path) == before
        decision = bandit.decide(CONTEXTS[t], available=[True, True, t % 2 == 0, True])
        assert decision.probabilities.tobytes() == found[t].tobytes()
        bandit.observe(decision, {arm: float(REWARDS[t, arm]) for arm in decision.revealed.tolist()})
    assert bandit.probabilities(np.empty((0, D))).shape == (0, K)


@pytest.mark.parametrize("name", ["IDS.G", "AdaCB.G", "width", "AdaCB", "FALCON", "greedy", "Thompson", "late graph"])
def test_refit_fits_everything_at_once_and_the_epoch_goes_on(name, tmp_path):
    bandit, plain = make(LEARNERS[name]), make(LEARNERS[name])
    for b in (bandit, plain):
        b.learn(CONTEXTS[:20], REWARDS[:20], actions=ACTIONS[:20])
        for t in range(20, 23):
            decision = b.decide(CONTEXTS[t])
            b.observe(decision, {arm: float(REWARDS[t, arm]) for arm in decision.revealed.tolist()})
    inner = bandit.state.inner if name == "late graph" else bandit.state
    count, epoch = inner.data.count, inner.epoch
    bandit.refit()
    inner = bandit.state.inner if name == "late graph" else bandit.state
    assert inner.data.count == count + 6
    assert inner.epoch == epoch
    assert inner.rounds == 23
    left = bandit.learner.rounds_until_update(bandit.state)
    assert left == plain.learner.rounds_until_update(plain.state) - 3
    before = content(bandit, tmp_path)
    bandit.refit()
    assert content(bandit, tmp_path) == before, "nothing is new"
    loaded = gb.Bandit.load(tmp_path / "content.gb")
    for b in (bandit, loaded):
        for t in range(23, 40):
            decision = b.decide(CONTEXTS[t])
            b.observe(decision, {arm: float(REWARDS[t, arm]) for arm in decision.revealed.tolist()})
    assert content(bandit, tmp_path) == content(loaded, tmp_path)


@pytest.mark.parametrize("name", ["UCB-N", "LinUCB", "SquareCB online"])
def test_learners_of_every_round_have_nothing_to_refit(name):
    bandit = make(LEARNERS[name])
    first = bandit.decide(CONTEXTS[0])
    bandit.observe(bandit.decide(CONTEXTS[1]), {})
    bandit.refit()
    before = bandit.probabilities(CONTEXTS)
    bandit.observe(first, {int(first.revealed[0]): 1.0})
    bandit.refit()
    assert bandit.decide(CONTEXTS[1]).probabilities.tobytes() == before[1].tobytes()


def test_a_refit_that_fails_changes_nothing(monkeypatch, tmp_path):
    bandit = make(gb.Greedy())
    bandit.learn(CONTEXTS[:5], REWARDS[:5])
    decision = bandit.decide(CONTEXTS[5])
    bandit.observe(decision, {int(decision.revealed[0]): 1.0})
    before = content(bandit, tmp_path)

    def fail(*_):
        raise FitError("no fit today")

    with monkeypatch.context() as patch:
        patch.setattr(gb.LinearClass, "fit", fail)
        with pytest.raises(FitError, match="no fit today"):
            bandit.refit()
    assert content(bandit, tmp_path) == before


BAD = {
    "no contexts": (lambda b: b.learn(None, REWARDS), InputError, "context is None; expected 2 numbers"),
    "contexts: wrong shape": (lambda b: b.learn(np.ones((N, 3)), REWARDS), InputError, "shape"),
    "contexts: NaN": (lambda b: b.learn(np.full((N, D), np.nan), REWARDS), InputError, "nan"),
    "rewards: none": (lambda b: b.learn(CONTEXTS), InputError, "rewards"),
    "rewards: wrong shape": (lambda b: b.learn(CONTEXTS, REWARDS[:, :2]), InputError, "expected (50,) or (50, 4)"),
    "rewards: infinite": (lambda b: b.learn(CONTEXTS, np.full((N, K), np.inf)), ObservationError, "inf at [0, 0]"),
    "rewards: text": (lambda b: b.learn(CONTEXTS, ["high"] * N, actions=ACTIONS), InputError, "expected numbers"),
    "rewards: unknown column": (
        lambda b: b.learn(CONTEXTS, pd.DataFrame({"z": np.ones(N)}), actions=ACTIONS),
        InputError,
        "the columns of rewards[0]: no arm is called 'z'",
    ),
    "actions: none": (lambda b: b.learn(CONTEXTS, REWARDS[:, 0]), InputError, "expected the arm of each reward"),
    "actions: too few": (lambda b: b.learn(CONTEXTS, REWARDS, actions=[1]), InputError, "1 arms for 50 contexts"),
    "actions: out of range": (lambda b: b.learn(CONTEXTS, REWARDS, actions=[4] * N), InputError, "actions[0] is 4"),
    "actions: unknown name": (
        lambda b: b.learn(CONTEXTS, REWARDS, actions=["q"] * N),
        InputError,
        "no arm is called 'q'",
    ),
    "actions: a table": (lambda b: b.learn(CONTEXTS, REWARDS, actions=REWARDS), InputError, "expected one arm a round"),
    "actions: not on offer": (
        lambda b: b.learn(CONTEXTS, REWARDS, actions=[1] * N, available=["a"]),
        InputError,
        "actions[0] is arm 'b', which was not available",
    ),
    "probabilities: shape": (
        lambda b: b.learn(CONTEXTS, REWARDS[:, 0], actions=[0] * N, probabilities=[0.5]),
        InputError,
        "probabilities have shape (1,)",
    ),
    "probabilities: negative": (
        lambda b: b.learn(CONTEXTS, REWARDS[:, 0], actions=[0] * N, probabilities=[-0.5] * N),
        InputError,
        "probabilities have -0.5",
    ),
    "probabilities: zero": (
        lambda b: b.learn(CONTEXTS, REWARDS[:, 0], actions=[0] * N, probabilities=[0.0] * N),
        InputError,
        "revealed with probability 0",
    ),
    "probabilities: sum": (
        lambda b: b.learn(
            CONTEXTS, REWARDS, actions=[0] * N, graphs=gb.graphs.complete(K), probabilities=[[1] * K] * N
        ),
        InputError,
        "sum to 4; expected 1",
    ),
    "probabilities: not of all arms": (
        lambda b: b.learn(CONTEXTS, REWARDS, actions=[0] * N, probabilities=[0.5] * N),
        InputError,
        "arms beside the one played",
    ),
    "graphs: not revealed": (
        lambda b: b.learn(CONTEXTS, REWARDS, actions=[0] * N, graphs=gb.graphs.bandit(K)),
        ObservationError,
        "rewards[0] has arm 'b', which arm 'a' does not reveal",
    ),
    "graphs: too few": (
        lambda b: b.learn(CONTEXTS, REWARDS, actions=[0] * N, graphs=gb.FeedbackGraphs.repeat(GRAPH, 3)),
        InputError,
        "3 graphs of 4 arms; expected 50 of 4",
    ),
    "horizon": (lambda b: b.learn(np.zeros((101, D)), np.zeros((101, K))), HorizonError, "horizon is 100"),
    "probabilities of: one context": (lambda b: b.probabilities([0.0, 0.0]), InputError, "shape"),
    "probabilities of: NaN": (lambda b: b.probabilities([[np.nan, 0.0]]), InputError, "nan"),
    "probabilities of: graphs of other arms": (lambda b: b.probabilities(CONTEXTS, np.eye(2)), GraphError, "2 arms"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_a_refused_call_changes_nothing(call, error, message, tmp_path):
    bandit = make(gb.Greedy(), horizon=100)
    bandit.learn(CONTEXTS[:6], REWARDS[:6])
    refuse(bandit, call, error, message, tmp_path)


def test_learners_that_cannot_learn_from_others_say_so():
    for learner in (gb.learners.Exp3IX(), gb.learners.Exp3LGCU()):
        with pytest.raises(SettingError, match="needs its own notes"):
            make(learner).learn(CONTEXTS, REWARDS.clip(0, 1), actions=ACTIONS)
    with pytest.raises(InputError, match="LateGraph expects the arm that was played"):
        make(LEARNERS["late graph"]).learn(CONTEXTS, REWARDS)
    commit = make(LEARNERS["explore then commit"])
    commit.decide(CONTEXTS[0])
    commit.observe(0, {}, final=True)
    with pytest.raises(SettingError, match="learns only at the end of an epoch"):
        commit.refit()
