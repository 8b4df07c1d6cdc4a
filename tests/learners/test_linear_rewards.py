"""LinUCB, LinTS, EXP3-LGC-U and EXP3-LGC-IX against literal references with dense matrices."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

import graphbandit as gb
from graphbandit.errors import InputError, SettingError
from graphbandit.kernels.learners.counter_random import fill_normals
from graphbandit.rounds.shown import Shown

K, D, ROUNDS = 5, 3, 80


def rounds(shared, seed=0):
    rng = np.random.default_rng(seed)
    contexts = rng.standard_normal((ROUNDS, K, D) if shared else (ROUNDS, D))
    theta = rng.standard_normal(D) if shared else rng.standard_normal((K, D))
    means = np.einsum("tad,d->ta", contexts, theta) if shared else np.einsum("td,ad->ta", contexts, theta)
    dense = (rng.random((ROUNDS, K, K)) < 0.3) | np.eye(K, dtype=bool)
    available = rng.random((ROUNDS, K)) < 0.8
    available[:, 1] = True
    return contexts, dense, means + 0.5 * rng.standard_normal((ROUNDS, K)), available


def features(contexts, t, intercept):
    rows = np.broadcast_to(contexts[t], (K, D)) if contexts.ndim == 2 else contexts[t]
    return np.hstack([rows, np.ones((K, 1))]) if intercept else rows


class Regressions:
    """One for all arms, or one an arm, with the inverse worked out anew each time."""

    def __init__(self, shared, d, ridge):
        self.shared, self.ridge = shared, ridge
        self.V = [ridge * np.eye(d) for _ in range(1 if shared else K)]
        self.b = [np.zeros(d) for _ in self.V]

    def add(self, arm, phi, reward):
        i = 0 if self.shared else arm
        self.V[i] += np.outer(phi, phi)
        self.b[i] += reward * phi

    def estimate(self, arm, phi):
        i = 0 if self.shared else arm
        inverse = np.linalg.inv(self.V[i])
        grown = np.linalg.slogdet(self.V[i])[1] - len(phi) * np.log(self.ridge)
        return phi @ inverse @ self.b[i], np.sqrt(phi @ inverse @ phi), grown


@pytest.mark.parametrize("alpha", [None, 0.6])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_lin_ucb_against_a_literal_reference(shared, intercept, alpha):
    contexts, dense, rewards, available = rounds(shared)
    learner = gb.LinUCB(alpha=alpha, intercept=intercept, ridge=0.7, delta=0.2, norm_bound=1.5)
    state = learner.init(gb.Problem(n_arms=K, noise=0.5))
    graphs = gb.FeedbackGraphs.from_dense(dense)
    decisions, state = learner.play(state, Shown(contexts, graphs, available), rewards, np.random.default_rng(0))
    book = Regressions(shared, D + intercept, 0.7)
    for t in range(ROUNDS):
        phi, bounds, means = features(contexts, t, intercept), np.empty(K), np.empty(K)
        for a in range(K):
            means[a], width, grown = book.estimate(a, phi[a])
            failure = 0.2 if shared else 0.2 / K
            radius = 0.5 * np.sqrt(2 * np.log(1 / failure) + grown) + np.sqrt(0.7) * 1.5
            bounds[a] = means[a] + (radius if alpha is None else alpha) * width
        assert decisions.action[t] == np.argmax(np.where(available[t], bounds, -np.inf))
        best = np.argmax(np.where(available[t], means, -np.inf))
        assert decisions.best[t] == best
        np.testing.assert_allclose(decisions.gaps[t], means[best] - means, atol=1e-9)
        for a in np.flatnonzero(dense[t, decisions.action[t]]):
            book.add(a, phi[a], rewards[t, a])
    for factor, V in zip(state.factors, book.V, strict=True):
        np.testing.assert_allclose(np.triu(factor).T @ np.triu(factor), V, rtol=1e-10, atol=1e-10)


def test_lin_ucb_by_hand():
    """One reward 2 at phi = (1, 0): V = diag(2, 1), theta = (1, 0), bounds 1 + sqrt(1/2) and 0 + 1, alpha = 1."""
    learner = gb.LinUCB(alpha=1.0)
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 2)
    contexts = np.tile(np.eye(2), (2, 1, 1))
    state = learner.init(gb.Problem(n_arms=2))
    decisions, state = learner.play(
        state, Shown(contexts, graphs), np.array([[2.0, 0.0]] * 2), np.random.default_rng(0)
    )
    assert decisions.action.tolist() == [0, 0]
    np.testing.assert_allclose(decisions.gaps, [[0, 0], [0, 1]], atol=1e-12)
    assert state.log_determinants[0] == pytest.approx(np.log(3))


@pytest.mark.parametrize("shared", [False, True])
def test_lin_ts_plays_arms_as_often_as_they_are_the_best_draw(shared):
    """p against 200,000 draws from the posterior; with one vector for all, p is itself an average of 4,000."""
    contexts, dense, rewards, available = rounds(shared, seed=1)
    learner = gb.LinTS(posterior_scale=1.3, draws=4000, ridge=0.5)
    state = learner.init(gb.Problem(n_arms=K, noise=0.5))
    shown = Shown(contexts[:20], gb.FeedbackGraphs.from_dense(dense[:20]), available[:20])
    decisions, _ = learner.play(state, shown, rewards[:20], np.random.default_rng(0))
    book, rng = Regressions(shared, D, 0.5), np.random.default_rng(5)
    for t in range(20):
        phi = features(contexts, t, False)
        if t in (0, 1, 4, 10, 19):
            values = np.empty((200_000, K))
            if shared:
                inverse = np.linalg.inv(book.V[0])
                theta = rng.multivariate_normal(inverse @ book.b[0], (1.3 * 0.5) ** 2 * inverse, size=200_000)
                values[:] = theta @ phi.T
            else:
                for a in range(K):
                    mean, width, _ = book.estimate(a, phi[a])
                    values[:, a] = mean + 1.3 * 0.5 * width * rng.standard_normal(200_000)
            best = np.where(available[t], values, -np.inf).argmax(axis=1)
            shares = np.bincount(best, minlength=K) / 200_000
            tolerance = 0.04 if shared else 0.005
            np.testing.assert_allclose(decisions.probabilities[t], shares, atol=tolerance)
        for a in np.flatnonzero(dense[t, decisions.action[t]]):
            book.add(a, phi[a], rewards[t, a])


def test_arm_features_are_the_same_as_features_written_out():
    """phi = (x, 1) kron (z, 1)."""
    contexts, dense, rewards, _ = rounds(False)
    z = np.random.default_rng(3).standard_normal((K, 2))
    graphs, problem = gb.FeedbackGraphs.from_dense(dense), gb.Problem(n_arms=K, noise=0.5)
    x1, z1 = np.hstack([contexts, np.ones((ROUNDS, 1))]), np.hstack([z, np.ones((K, 1))])
    written = np.array([[np.kron(x, arm) for arm in z1] for x in x1])
    for make in (gb.LinUCB, gb.LinTS):
        short, long = make(arm_features=z, intercept=True), make()
        assert short == make(arm_features=z.tolist(), intercept=True)
        found, _ = short.play(short.init(problem), Shown(contexts, graphs), rewards, np.random.default_rng(0))
        expected, _ = long.play(long.init(problem), Shown(written, graphs), rewards, np.random.default_rng(0))
        assert found.probabilities.tobytes() == expected.probabilities.tobytes()
        assert found.gaps.tobytes() == expected.gaps.tobytes()
    with pytest.raises(SettingError, match="arm_features are of 5 arms; expected 6"):
        short.init(gb.Problem(n_arms=6, noise=0.5))
    with pytest.raises(SettingError, match="arm_features has shape"):
        gb.LinUCB(arm_features=[1.0, 2.0])
    with pytest.raises(SettingError, match="arm_features go beyond 1e\\+25; expected smaller"):
        gb.LinUCB(arm_features=[[1e200], [1.0]])
    with pytest.raises(InputError, match=r"expected \(n, d\), as there are arm_features"):
        short.play(short.init(problem), Shown(written, graphs), rewards, np.random.default_rng(0))


def test_a_learner_with_arm_features_is_saved(tmp_path):
    bandit = gb.Bandit(gb.LinUCB(alpha=1.0, arm_features=np.eye(3)), gb.Problem(n_arms=3))
    decision = bandit.decide([1.0, 2.0], gb.graphs.complete(3))
    bandit.observe(decision, {0: 1.0, 1: 0.0, 2: 0.5})
    bandit.save(tmp_path / "bandit.gb")
    loaded = gb.Bandit.load(tmp_path / "bandit.gb")
    assert loaded.learner == bandit.learner
    again = [b.decide([2.0, 1.0], gb.graphs.complete(3)).gaps.tobytes() for b in (bandit, loaded)]
    assert again[0] == again[1]


def test_draws_are_normal_independent_and_belong_to_their_place():
    numbers = np.empty((300, 7))
    for draw in range(300):
        fill_normals(3, 11, draw, numbers[draw])
    assert kstest(numbers.ravel(), norm.cdf).pvalue > 0.001
    assert np.abs(np.corrcoef(numbers.T) - np.eye(7)).max() < 0.25
    again = np.empty(7)
    fill_normals(3, 11, 42, again)
    assert again.tolist() == numbers[42].tolist()
    for seed, round_number, draw in ((4, 11, 42), (3, 12, 42), (3, 11, 43)):
        fill_normals(seed, round_number, draw, again)
        assert not np.isclose(again, numbers[42]).any()


def test_the_seed_of_the_draws_is_a_setting():
    contexts, dense, rewards, _ = rounds(True)
    graphs = gb.FeedbackGraphs.from_dense(dense)
    found = []
    for seed in (0, 0, 1):
        learner = gb.LinTS(seed=seed, draws=20)
        state = learner.init(gb.Problem(n_arms=K, noise=0.5))
        found.append(learner.play(state, Shown(contexts, graphs), rewards, np.random.default_rng(0))[0].probabilities)
    assert found[0].tobytes() == found[1].tobytes()
    assert found[0].tobytes() != found[2].tobytes()


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("implicit", [False, True])
def test_exp3_lgc_against_a_literal_reference(implicit, fixed):
    contexts, dense, rewards, available = rounds(False, seed=2)
    rewards = 1 / (1 + np.exp(-rewards))
    rates = {"eta": 0.05, "gamma": 0.1} if fixed else {}
    learner = (gb.learners.Exp3LGCIX if implicit else gb.learners.Exp3LGCU)(ridge=0.3, **rates)
    state = learner.init(gb.Problem(n_arms=K))
    graphs = gb.FeedbackGraphs.from_dense(dense)
    decisions, state = learner.play(state, Shown(contexts, graphs, available), rewards, np.random.default_rng(0))
    d = D + 1
    theta, second, Q = np.zeros((K, d)), 0.3 * np.eye(d), 0.0
    for t in range(ROUNDS):
        x = np.append(contexts[t], 1.0)
        losses = theta @ x
        if implicit:
            eta = gamma = np.sqrt(np.log(K) / (d * (K + Q)))
        else:
            eta = np.sqrt(np.log(K) / (K * (t + 1) + d * (K + Q)))
            eta = rates.get("eta", eta)
            gamma = min(0.5, K * eta * x @ np.linalg.inv(second / max(t, 1)) @ x)
        eta, gamma = rates.get("eta", eta), rates.get("gamma", gamma)
        w = np.where(available[t], np.exp(-eta * (losses - losses[available[t]].min())), 0)
        p = w / w.sum()
        if not implicit:
            p = (1 - gamma) * p + gamma * available[t] / available[t].sum()
        np.testing.assert_allclose(decisions.probabilities[t], p, rtol=1e-8, atol=1e-12)
        assert decisions.gamma[t] == pytest.approx(gamma, rel=1e-9)
        q, extra = dense[t].T @ p, gamma if implicit else 0.0
        second = second + np.outer(x, x)
        for a in np.flatnonzero(dense[t, decisions.action[t]]):
            theta[a] += (1 - rewards[t, a]) / (q[a] + extra) * np.linalg.inv(second / (t + 1)) @ x
        Q += sum(p[a] / (q[a] + extra) for a in range(K) if p[a] > 0)
    np.testing.assert_allclose(state.vectors, theta, rtol=1e-8, atol=1e-10)


def test_linear_learners_find_the_best_arm():
    """On linear rewards both stochastic learners lose far less than uniform play does."""
    environment = gb.environments.paper(n_arms=8, graph="star", dimension=4, noise=0.5)
    learners = {
        "LinUCB": gb.LinUCB(alpha=1.0, intercept=True),
        "LinTS": gb.LinTS(intercept=True),
        "U": gb.learners.Uniform(),
    }
    final = {name: s.mean for name, s in gb.simulate(learners, environment, rounds=600, repeats=3).summary().items()}
    assert max(final["LinUCB"], final["LinTS"]) < 0.2 * final["U"]


def test_contexts_that_were_decided_are_learnt_as_any_others():
    rng = np.random.default_rng(3)
    graph, everything = gb.FeedbackGraphs.repeat(gb.graphs.complete(4), 1), np.ones((1, 4), dtype=bool)
    learner = gb.LinUCB()
    one = other = learner.init(gb.Problem(n_arms=4))
    for t in range(6):
        contexts, rewards = rng.normal(size=(1, 4, 3)), rng.normal(size=(1, 4))
        learner.decide(one, Shown(contexts, graph, None), np.random.default_rng(t))
        one = learner.update(one, gb.Observations.from_masks(contexts, everything, rewards, first_round=t))
        other = learner.update(other, gb.Observations.from_masks(contexts, everything, rewards, first_round=t))
    np.testing.assert_array_equal(one.factors, other.factors)
    np.testing.assert_array_equal(one.sums, other.sums)
    short = gb.Observations.from_masks(np.ones((1, 4, 2)), everything, np.ones((1, 4)), first_round=6)
    with pytest.raises(InputError, match="expected its shape to give"):
        learner.update(one, short)
