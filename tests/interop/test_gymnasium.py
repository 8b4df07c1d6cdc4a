"""Environments of Gymnasium, there and back."""

import sys

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, MissingExtraError, SettingError
from graphbandit.interop.gymnasium import from_gymnasium, to_gymnasium

gymnasium = pytest.importorskip("gymnasium")


def ours(n=20, **more):
    rng = np.random.default_rng(0)
    graphs = gb.FeedbackGraphs.from_dense((rng.random((n, 3, 3)) < 0.4) | np.eye(3, dtype=bool))
    return gb.environments.from_arrays(
        contexts=rng.normal(size=(n, 2)), graphs=graphs, rewards=rng.random((n, 3)), **more
    )


@pytest.mark.filterwarnings("ignore:.*Box observation space .*imum value is -?infinity")
def test_it_is_an_environment_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    env = to_gymnasium(gb.environments.linear(n_arms=3, dimension=2), rounds=300)
    check_env(env, skip_render_check=True)


def test_rounds_are_those_of_the_environment():
    environment = ours()
    env = to_gymnasium(environment, rounds=20)
    rounds = environment.instance(0).rounds(0, 20)
    shown, _ = env.reset(seed=0)
    for t in range(20):
        assert np.array_equal(shown["context"], rounds.contexts[t])
        assert np.array_equal(shown["graph"], rounds.graphs[t].to_dense())
        assert shown["available"].all()
        action = t % 3
        shown, reward, terminated, truncated, info = env.step(action)
        revealed = rounds.graphs[t].to_dense()[action]
        assert reward == rounds.rewards[t, action]
        assert np.array_equal(info["revealed"], revealed)
        assert info["rewards"] == {a: rounds.rewards[t, a] for a in np.flatnonzero(revealed)}
        assert info["regret"] == pytest.approx(rounds.means[t].max() - rounds.means[t, action])
        assert not terminated
        assert truncated == (t == 19)
    with pytest.raises(SettingError, match=r"expected reset\(\) before step"):
        env.step(0)


def test_blocks_and_repeats():
    environment = gb.environments.linear(n_arms=3, dimension=2)
    env = to_gymnasium(environment, rounds=600, seed=5)
    contexts = []
    shown, _ = env.reset()
    for _ in range(600):
        contexts.append(shown["context"])
        shown, *_ = env.step(0)
    assert np.array_equal(np.stack(contexts), environment.instance(5, 0).rounds(0, 600).contexts)
    assert np.array_equal(env.reset()[0]["context"], environment.instance(5, 1).rounds(0, 1).contexts[0])
    assert np.array_equal(env.reset(seed=5)[0]["context"], contexts[0])


def test_there_and_back():
    environment = ours()
    back = from_gymnasium(to_gymnasium(environment, rounds=20), rounds=20)
    one, other = (each.instance(0).rounds(0, 20) for each in (back, environment))
    assert np.array_equal(one.contexts, other.contexts)
    assert np.array_equal(one.rewards, other.rewards)
    assert one.graphs == other.graphs


def test_arms_on_offer():
    available = np.array([[True, True, False]] * 20)
    environment = ours(available=available)
    env = to_gymnasium(environment, rounds=20)
    shown, _ = env.reset()
    assert shown["available"].tolist() == [1, 1, 0]
    with pytest.raises(InputError, match="expected an arm that is available"):
        env.step(2)
    back = from_gymnasium(env, rounds=20).instance(0).rounds(0, 20)
    assert np.array_equal(back.available, available)
    assert np.array_equal(back.rewards[:, :2], environment.rewards[:, :2])


class Coins(gymnasium.Env):
    """A bandit of theirs: two coins, episodes of three tosses."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2, start=1)
    depends = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 3
        return self._shown(), {}

    def _shown(self):
        self.now = self.np_random.normal(size=1)
        return self.now

    def step(self, action):
        reward = float(self.now[0] * (1 if action == 1 else -1))
        self.left -= 1
        if self.depends and action == 2:
            self.np_random.normal()
        return self._shown(), reward, self.left == 0, False, {}


def test_an_environment_of_theirs():
    env = Coins()
    environment = from_gymnasium(env, rounds=10, seed=3, noise=0.5)
    rounds = environment.instance(0).rounds(0, 10)
    assert np.array_equal(rounds.rewards, np.hstack([rounds.contexts, -rounds.contexts]))
    assert rounds.graphs[0] == gb.graphs.bandit(2)
    assert not hasattr(env, "left")  # it was not touched
    functions = gb.LinearClass(n_arms=2, dimension=1, parameters="per-arm")
    learner = gb.learners.EpsilonGreedy(function_class=functions)
    runs = gb.simulate(learner, environment, rounds=10, seed=0, keep_decisions=True)
    lost = np.ptp(rounds.means[np.arange(10)], axis=1) * (
        rounds.means.argmax(axis=1) != runs.decisions["learner"][0].action
    )
    np.testing.assert_allclose(runs.regret["learner"][0], lost.cumsum())
    complete = from_gymnasium(env, rounds=4, graphs=gb.graphs.complete(2))
    assert complete.graphs[0] == gb.graphs.complete(2)


def test_what_is_no_bandit_is_refused():
    env = Coins()
    env.depends = True
    with pytest.raises(InputError, match="in round 0 the next observation depends on the action"):
        from_gymnasium(env, rounds=4)
    env = Coins()
    env.action_space = gymnasium.spaces.Box(0, 1)
    with pytest.raises(InputError, match="expected Discrete"):
        from_gymnasium(env, rounds=4)
    with pytest.raises(InputError, match="env is a str"):
        from_gymnasium("CartPole", rounds=4)
    with pytest.raises(SettingError, match="environment is a Coins"):
        to_gymnasium(Coins())


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'graphbandit\[gymnasium\]'"):
        to_gymnasium(ours())
