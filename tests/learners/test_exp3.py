"""EXP3-SET, EXP3-DOM, EXP3.G and EXP3-IX against literal references in NumPy, round by round."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.kernels.graphs.domination import greedy_dominating_set, greedy_independent_set_size, weakly_observable
from graphbandit.rounds.shown import Shown

K, ROUNDS, LOW, HIGH = 9, 150, -1.0, 3.0


def rounds(kind, seed=0):
    """Rewards, graphs and masks: dense and sparse graphs in turn, with or without loops."""
    rng = np.random.default_rng(seed)
    rewards = LOW + (HIGH - LOW) * rng.random((ROUNDS, K)) ** np.linspace(0.5, 3, K)
    dense = rng.random((ROUNDS, K, K)) < rng.choice([0.02, 0.5], size=(ROUNDS, 1, 1))
    if kind == "weak":
        dense[:, 2, :] = True  # all are revealed by some arm that is always on offer
    elif kind == "strong":  # arm 5 has no loop, and is revealed by all others
        dense |= np.eye(K, dtype=bool)
        dense[:, :, 5] = True
        dense[:, 5, 5] = False
    else:
        dense |= np.eye(K, dtype=bool)
    available = rng.random((ROUNDS, K)) < 0.8
    available[:, [2, 3]] = True
    return rewards, dense, available


def weights(eta, losses, offered):
    w = np.where(offered, np.exp(-eta * (losses - losses[offered].min())), 0.0)
    return w / w.sum()


def cover(dense, wanted, offered):
    """Greedily: the arm that reveals most of what is missing, the first of several."""
    missing, chosen = set(np.flatnonzero(wanted)), []
    while missing:
        gains = [len(missing & set(np.flatnonzero(dense[j]))) if offered[j] else -1 for j in range(len(dense))]
        chosen.append(int(np.argmax(gains)))
        missing -= set(np.flatnonzero(dense[chosen[-1]]))
    return chosen


def weak_arms(dense, offered):
    """The arms on offer without a loop that not all others on offer reveal."""
    found = np.zeros(len(dense), dtype=bool)
    for a in np.flatnonzero(offered):
        others = [j for j in np.flatnonzero(offered) if j != a]
        found[a] = not dense[a, a] and not (others and all(dense[j, a] for j in others))
    return found


def mixed(p, gamma, chosen):
    u = np.zeros(K)
    u[chosen] = 1 / len(chosen)
    return (1 - gamma) * p + gamma * u


class Reference:
    """The algorithm as written, for one run; `probabilities` then `learn`."""

    def __init__(self, horizon, **settings):
        self.T, self.losses, self.t, self.Q, self.settings = horizon, np.zeros(K), 0, 0.0, settings

    def learn(self, p, dense, arm, rewards, implicit=0.0, losses=None):
        q = dense.T @ p
        for a in np.flatnonzero(dense[arm]):
            (self.losses if losses is None else losses)[a] += (HIGH - rewards[a]) / (HIGH - LOW) / (q[a] + implicit)
        self.Q += sum(p[a] / (q[a] + implicit) for a in range(K) if p[a] > 0)
        self.t += 1


class SetReference(Reference):
    def probabilities(self, dense, offered):
        return weights(self.settings.get("eta", np.sqrt(2 * np.log(K) / (K + self.Q))), self.losses, offered)


class IxReference(Reference):
    def probabilities(self, dense, offered):
        self.gamma = self.eta = np.sqrt(np.log(K) / (K + self.Q))
        self.gamma, self.eta = self.settings.get("gamma", self.gamma), self.settings.get("eta", self.eta)
        return weights(self.eta, self.losses, offered)

    def learn(self, p, dense, arm, rewards):
        super().learn(p, dense, arm, rewards, self.gamma)


class DomReference(Reference):
    def __init__(self, horizon, **settings):
        super().__init__(horizon, **settings)
        self.levels = {}

    def probabilities(self, dense, offered):
        chosen = cover(dense, offered, offered)
        self.b = int(np.floor(np.log2(len(chosen))))
        first = max(0, int(np.ceil(np.log2(2**self.b * np.log(K)))))
        level = self.levels.setdefault(self.b, {"losses": np.zeros(K), "r": first, "sum": 0.0})
        self.gamma = self.settings.get("gamma", min(1, np.sqrt(2**self.b * np.log(K) / 2 ** level["r"])))
        return mixed(weights(self.gamma / 2**self.b, level["losses"], offered), self.gamma, chosen)

    def learn(self, p, dense, arm, rewards):
        level, before = self.levels[self.b], self.Q
        super().learn(p, dense, arm, rewards, losses=level["losses"])
        level["sum"] += 1 + (self.Q - before) / 2 ** (self.b + 1)
        if level["sum"] > 2 ** level["r"] and "gamma" not in self.settings:
            level.update(losses=np.zeros(K), r=level["r"] + 1, sum=0.0)


class GReference(Reference):
    def __init__(self, horizon, **settings):
        super().__init__(horizon, **settings)
        self.alphas, self.deltas = [], []

    def probabilities(self, dense, offered):
        loops, by_others = dense.diagonal(), (dense.sum(axis=0) - dense.diagonal()) == K - 1
        weak = ~loops & ~by_others & offered
        T = self.t + 1 if self.T is None else self.T
        chosen = np.flatnonzero(offered)
        if weak.any():
            chosen = cover(dense, weak, offered)
            self.deltas.append(len(chosen))
        else:
            self.alphas.append(self.settings.get("independence") or independent(dense))
        if self.deltas:
            delta = np.mean(self.deltas)
            gamma = min((delta * np.log(K) / T) ** (1 / 3), 0.5)
            eta = gamma**2 / delta
        else:
            gamma = min(np.sqrt(1 / (np.mean(self.alphas) * T)), 0.5)
            eta = 2 * gamma
        self.gamma = gamma
        return mixed(weights(eta, self.losses, offered), gamma, chosen)


def independent(dense):
    """Greedily, fewest neighbours (in and out, loops too) first."""
    degrees, taken = dense.sum(axis=0) + dense.sum(axis=1), []
    for j in np.argsort(degrees, kind="stable"):
        if not any(dense[j, i] or dense[i, j] for i in taken):
            taken.append(int(j))
    return len(taken)


CASES = {
    "SET": (gb.learners.Exp3SET, SetReference, "loops", None, {}),
    "SET fixed": (gb.learners.Exp3SET, SetReference, "loops", None, {"eta": 0.3}),
    "IX": (gb.learners.Exp3IX, IxReference, "loops", None, {}),
    "IX fixed": (gb.learners.Exp3IX, IxReference, "loops", None, {"eta": 0.2, "gamma": 0.05}),
    "DOM": (gb.learners.Exp3DOM, DomReference, "loops", None, {}),
    "DOM fixed": (gb.learners.Exp3DOM, DomReference, "loops", None, {"gamma": 0.3}),
    "G": (gb.learners.Exp3G, GReference, "loops", None, {}),
    "G, horizon": (gb.learners.Exp3G, GReference, "strong", ROUNDS, {"independence": 4.0}),
    "G, strong": (gb.learners.Exp3G, GReference, "strong", None, {}),
    "G, weak": (gb.learners.Exp3G, GReference, "weak", ROUNDS, {}),
    "G, weak, no horizon": (gb.learners.Exp3G, GReference, "weak", None, {}),
}


@pytest.mark.parametrize(("make", "reference", "kind", "horizon", "settings"), CASES.values(), ids=CASES)
def test_against_a_literal_reference(make, reference, kind, horizon, settings):
    rewards, dense, available = rounds(kind)
    learner, book = make(low=LOW, high=HIGH, **settings), reference(horizon, **settings)
    state = learner.init(gb.Problem(n_arms=K, horizon=horizon))
    graphs = gb.FeedbackGraphs.from_dense(dense, require_loops=False)
    decisions, state = learner.play(
        state, Shown(np.zeros((ROUNDS, 1)), graphs, available), rewards, np.random.default_rng(1)
    )
    for t in range(ROUNDS):
        p = book.probabilities(dense[t], available[t])
        np.testing.assert_allclose(decisions.probabilities[t], p, rtol=1e-9, atol=1e-13)
        assert decisions.gamma[t] == pytest.approx(getattr(book, "gamma", 0.0), rel=1e-9)
        book.learn(p, dense[t], decisions.action[t], rewards[t])
    if make is not gb.learners.Exp3DOM:
        np.testing.assert_allclose(state.losses[0], book.losses, rtol=1e-9)
    else:
        assert len(book.levels) > 1, "graphs of one level only"
        for b, level in book.levels.items():
            np.testing.assert_allclose(state.losses[b], level["losses"], rtol=1e-9)
            assert state.totals[b, 1] == level["r"]


def test_exp3_ix_by_hand():
    """Two arms, loops only, gamma = 1/4, eta = 1, arm 0 played at p = 1/2 with loss 1: it counts 1 / (1/2 + 1/4)."""
    learner = gb.learners.Exp3IX(eta=1.0, gamma=0.25)
    state = learner.init(gb.Problem(n_arms=2))
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 2)
    rng = np.random.default_rng(next(seed for seed in range(100) if np.random.default_rng(seed).random() < 0.5))
    decisions, state = learner.play(state, Shown(np.zeros((2, 1)), graphs), np.zeros((2, 2)), rng)
    assert decisions.action[0] == 0
    assert decisions.probabilities[1, 0] == pytest.approx(np.exp(-4 / 3) / (1 + np.exp(-4 / 3)), rel=1e-12)


def test_greedy_sets():
    rng = np.random.default_rng(5)
    for _ in range(40):
        n = int(rng.integers(1, 70))
        dense = rng.random((n, n)) < rng.choice([0.02, 0.1, 0.5])
        offered, wanted = rng.random(n) < 0.8, rng.random(n) < 0.5
        graph = kernel_graph(gb.FeedbackGraph.from_dense(dense, require_loops=False))
        chosen = np.empty(n, dtype=bool)
        size = greedy_dominating_set(graph, wanted, offered, chosen)
        coverable = not (wanted & ~dense[offered].any(axis=0)).any()
        assert (size >= 0) == coverable
        if coverable:
            assert np.flatnonzero(chosen).tolist() == sorted(cover(dense, wanted, offered))
            assert size == chosen.sum()
        assert greedy_independent_set_size(graph, n) == independent(dense)
        if n > 1:
            np.testing.assert_array_equal(weakly_observable(graph, offered), weak_arms(dense, offered))


def test_weakly_observable_with_few_arms_on_offer():
    """Dense graphs, in which an arm is often revealed by all others on offer and not by all others."""
    rng, differ = np.random.default_rng(6), 0
    for _ in range(200):
        dense, offered = rng.random((6, 6)) < 0.7, rng.random(6) < 0.5
        graph = kernel_graph(gb.FeedbackGraph.from_dense(dense, require_loops=False))
        found = weakly_observable(graph, offered)
        np.testing.assert_array_equal(found, weak_arms(dense, offered))
        differ += bool((found != (weak_arms(dense, np.ones(6, dtype=bool)) & offered)).any())
    assert differ > 20


def test_exp3_g_counts_arms_on_offer_only():
    """Arm 2 has no loop, and arm 0 alone reveals it: weak while arm 1 is on offer, strong while it is not."""
    graph = gb.FeedbackGraph.from_edges([(0, 0), (1, 1), (0, 2)], 3, require_loops=False)
    learner, problem = gb.learners.Exp3G(gamma=0.2, eta=0.1), gb.Problem(n_arms=3)
    everyone = gb.Bandit(learner, problem).decide([], graph)
    assert everyone.exploration_set.tolist() == [0]
    np.testing.assert_allclose(everyone.probabilities, [0.8 / 3 + 0.2, 0.8 / 3, 0.8 / 3])
    without = gb.Bandit(learner, problem).decide([], graph, available=[0, 2])
    assert without.exploration_set.tolist() == [0, 2]
    np.testing.assert_allclose(without.probabilities, [0.5, 0.0, 0.5])
    with pytest.raises(gb.errors.GraphError, match="an arm on offer that no arm on offer reveals"):
        gb.Bandit(learner, problem).decide([], graph, available=[1, 2])
