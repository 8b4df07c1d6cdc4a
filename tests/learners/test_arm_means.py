"""UCB-N, UCB-MaxN, TS-N and IDS-N against literal references, and integrals by SciPy."""

import numpy as np
import pytest
from scipy.integrate import quad, simpson
from scipy.stats import norm

import graphbandit as gb
from graphbandit.errors import GraphError
from graphbandit.rounds.shown import Shown

K, ROUNDS = 7, 120


def rounds(seed, loops=True):
    """Rewards of all arms, graphs and masks, all drawn anew."""
    rng = np.random.default_rng(seed)
    rewards = rng.standard_normal((ROUNDS, K)) + np.linspace(0, 1, K)[rng.permutation(K)]
    dense = rng.random((ROUNDS, K, K)) < 0.25
    if loops:
        dense |= np.eye(K, dtype=bool)
    available = rng.random((ROUNDS, K)) < 0.8
    available[:, 3] = True
    return rewards, dense, available


def played(learner, rewards, dense, available, noise=1.0):
    graphs = gb.FeedbackGraphs.from_dense(dense, require_loops=False)
    state = learner.init(gb.Problem(n_arms=K, noise=noise))
    contexts = np.zeros((ROUNDS, 0))
    return learner.play(state, Shown(contexts, graphs, available), rewards, np.random.default_rng(0))


def ucb_arm(t, seen, offered, sigma, width):
    """As in the paper, with 2 sigma in place of 1: the first of the best bounds among the arms on offer."""
    bounds = [
        np.mean(seen[a]) + width * 2 * sigma * np.sqrt(2 * np.log(t) / len(seen[a])) if seen[a] else np.inf
        for a in range(K)
    ]
    return max(np.flatnonzero(offered), key=lambda a: (bounds[a], -a))


@pytest.mark.parametrize("width", [1.0, 0.2])
@pytest.mark.parametrize("max_n", [False, True])
def test_upper_confidence_bounds_against_a_literal_reference(max_n, width):
    rewards, dense, available = rounds(1)
    learner = (gb.learners.UCBMaxN if max_n else gb.learners.UCBN)(width=width)
    decisions, state = played(learner, rewards, dense, available, noise=0.7)
    seen = [[] for _ in range(K)]
    for t in range(ROUNDS):
        arm = ucb_arm(t + 1, seen, available[t], 0.7, width)
        if max_n:
            neighbours = [j for j in range(K) if dense[t, j, arm] and available[t, j] and seen[j]]
            arm = max(neighbours, key=lambda j: (np.mean(seen[j]), -j)) if neighbours else arm
        assert decisions.action[t] == arm
        np.testing.assert_array_equal(decisions.probabilities[t], np.eye(K)[arm])
        np.testing.assert_array_equal(decisions.observation_probabilities[t], dense[t, arm])
        for a in np.flatnonzero(dense[t, arm]):
            seen[a].append(rewards[t, a])
    assert state.counts.tolist() == [len(values) for values in seen]
    np.testing.assert_allclose(state.sums, [sum(values) for values in seen], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("learner", [gb.learners.UCBN(), gb.learners.UCBMaxN()], ids=repr)
def test_upper_confidence_bounds_need_loops(learner):
    """An arm that never shows its reward would have an infinite bound for ever."""
    rewards, dense, available = rounds(1, loops=False)
    with pytest.raises(GraphError, match="lacks the self-loop of arm"):
        played(learner, rewards, dense, available)


@pytest.mark.parametrize("noise", [0.0, 1.0, 1e25])
@pytest.mark.parametrize("prior_scale", [1e-25, 1.0, 1e25])
@pytest.mark.parametrize("kind", [gb.learners.TSN, gb.learners.IDSN])
def test_the_smallest_and_largest_scales_give_distributions(kind, prior_scale, noise):
    rewards, dense, available = rounds(3)
    for prior_mean in (0.0, -1e25):
        learner = kind(prior_scale=prior_scale, prior_mean=prior_mean)
        decisions, state = played(learner, rewards, dense, available, noise=noise)
        np.testing.assert_allclose(decisions.probabilities.sum(axis=1), 1.0, rtol=1e-9)
        assert (decisions.probabilities >= 0).all()
        assert np.isfinite(state.sums).all()


def test_ucb_n_by_hand():
    """sigma = 1/2, means 0.2 and 0.9 of one and four rewards: bounds 0.2 + sqrt(2 log 6), 0.9 + sqrt(2 log 6 / 4)."""
    learner = gb.learners.UCBN()
    state = learner.init(gb.Problem(n_arms=2, noise=0.5))
    state = type(state)(problem=state.problem, rounds=5, counts=np.array([1, 4]), sums=np.array([0.2, 3.6]))
    assert 0.2 + np.sqrt(2 * np.log(6)) == pytest.approx(2.0930, abs=1e-4)
    assert 0.9 + np.sqrt(2 * np.log(6) / 4) == pytest.approx(1.8465, abs=1e-4)
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.complete(2), 1)
    decisions = learner.decide(state, Shown(np.zeros((1, 1)), graphs), np.random.default_rng(0))
    assert decisions.action.tolist() == [0]
    np.testing.assert_allclose(decisions.gaps, [[0.7, 0.0]], rtol=1e-12)
    assert decisions.best.tolist() == [1]
    maximal = gb.learners.UCBMaxN().decide(state, Shown(np.zeros((1, 1)), graphs), np.random.default_rng(0))
    assert maximal.action.tolist() == [1], "arm 0 is explored through arm 1, whose mean is higher"


def posterior_of(seen, prior_mean, prior_scale, sigma):
    """Precisions add up."""
    precision = np.array([1 / prior_scale**2 + len(values) / sigma**2 for values in seen])
    means = np.array([prior_mean / prior_scale**2 + sum(values) / sigma**2 for values in seen]) / precision
    return means, 1 / np.sqrt(precision)


def best_probability(a, means, scales, arms):
    """The integral of arm a's density times the other arms' distribution functions."""

    def integrand(z):
        x = means[a] + scales[a] * z
        return norm.pdf(z) * np.prod([norm.cdf(x, means[b], scales[b]) for b in arms if b != a])

    return quad(integrand, -9, 9, limit=200, points=np.linspace(-4, 4, 9))[0]


def test_ts_n_plays_the_probability_of_being_best():
    """Within 2e-3 of the integral, from the prior to posteriors of very different width."""
    rewards, dense, available = rounds(2)
    learner = gb.learners.TSN(prior_mean=0.5, prior_scale=2.0)
    decisions, _ = played(learner, rewards, dense, available, noise=0.8)
    seen, worst = [[] for _ in range(K)], 0.0
    for t in range(ROUNDS):
        if t % 8 == 0:
            means, scales = posterior_of(seen, 0.5, 2.0, 0.8)
            arms = np.flatnonzero(available[t])
            expected = [best_probability(a, means, scales, arms) if available[t, a] else 0.0 for a in range(K)]
            worst = max(worst, np.abs(decisions.probabilities[t] - expected).max())
        for a in np.flatnonzero(dense[t, decisions.action[t]]):
            seen[a].append(rewards[t, a])
    assert worst < 2e-3


@pytest.mark.parametrize(
    ("means", "variances"),
    [
        ([0.0, 0.1, -3.0], [1e-8, 1.0, 1.0]),  # one known to the last digit
        ([5.0, 4.0, 4.5], [0.01, 4.0, 1e-6]),
        ([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]),
        ([1e6, 1e6 + 1], [1.0, 1.0]),
    ],
)
def test_best_probabilities_of_unlike_arms(means, variances):
    from graphbandit.kernels.learners.gaussian_best import best_probabilities

    means, scales = np.array(means), np.sqrt(variances)
    found = np.empty(len(means))
    best_probabilities(means, scales**2, np.ones(len(means), dtype=bool), found)
    expected = [best_probability(a, means, scales, range(len(means))) for a in range(len(means))]
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_arms_known_exactly():
    """Without noise an arm seen once is known: the best of those is played, or an arm not seen yet."""
    learner = gb.learners.TSN()
    state = learner.init(gb.Problem(n_arms=3, noise=0.0))
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.complete(3), 1)
    state = type(state)(problem=state.problem, rounds=1, counts=np.array([1, 1, 1]), sums=np.array([0.1, 0.3, 0.3]))
    for learner in (gb.learners.TSN(), gb.learners.IDSN()):
        p = learner.decide(state, Shown(np.zeros((1, 1)), graphs), np.random.default_rng(0)).probabilities[0]
        assert p[0] == 0
        assert p.sum() == pytest.approx(1)


def moments(means, scales, arms, draws):
    """Delta, P(best) and Var(E[theta | best]) by plain simulation."""
    theta = means + scales * np.random.default_rng(0).standard_normal((draws, K))
    best = np.array(arms)[theta[:, arms].argmax(axis=1)]
    regret = theta[np.arange(draws), best].mean() - means
    spread = np.zeros(K)
    for b in arms:
        share = (best == b).mean()
        if share:
            spread += share * (theta[best == b].mean(axis=0) - means) ** 2
    return regret, spread


def test_ids_n_costs_and_information_are_those_of_the_posterior():
    from graphbandit.kernels.learners.gaussian_information import regrets_and_information

    rng = np.random.default_rng(3)
    for _ in range(5):
        means, scales = rng.standard_normal(K), rng.uniform(0.2, 1.5, K)
        arms = np.sort(rng.permutation(K)[:5])
        available = np.isin(np.arange(K), arms)
        regrets, information = np.empty(K), np.empty(K)
        regrets_and_information(means, scales**2, 0.6, available, regrets, information)
        regret, spread = moments(means, scales, arms, 400_000)
        np.testing.assert_allclose(regrets[arms], regret[arms], atol=0.01)
        expected = 0.5 * spread / (0.6**2 + scales**2)
        np.testing.assert_allclose(information[arms], expected[arms], atol=0.01)
        assert not information[~available].any()


def test_ids_n_reads_the_graph():
    """All arms alike but for the graph: the arm that reveals most is played; TS-N does not mind."""
    star = gb.FeedbackGraphs.repeat(gb.graphs.star(K, hub=4), 1)
    problem = gb.Problem(n_arms=K, noise=1.0)
    ids = gb.learners.IDSN().decide(
        gb.learners.IDSN().init(problem), Shown(np.zeros((1, 1)), star), np.random.default_rng(0)
    )
    ts = gb.learners.TSN().decide(
        gb.learners.TSN().init(problem), Shown(np.zeros((1, 1)), star), np.random.default_rng(0)
    )
    assert ids.probabilities[0].tolist() == np.eye(K)[4].tolist()
    np.testing.assert_allclose(ts.probabilities, 1 / K, atol=1e-9)


def test_best_probabilities_of_arms_with_random_unlike_counts():
    """Within 1e-3 of the integral, also where one arm is known far better than the others."""
    from graphbandit.kernels.learners.gaussian_best import best_probabilities

    rng = np.random.default_rng(0)
    cases = [(np.array([4928, 11, 0]), np.array([0.04, 0.434, 0.0]), 0.5)]
    for _ in range(60):
        k = int(rng.integers(2, 8))
        counts = np.floor(10.0 ** rng.uniform(-0.3, 6, k)).astype(int)
        cases.append((counts, rng.normal(size=k) * 10.0 ** rng.uniform(-2, 0.5), 10.0 ** rng.uniform(-1, 1)))
    for counts, means, noise in cases:
        scales = np.where(counts > 0, noise / np.sqrt(np.maximum(counts, 1)), 1.0)
        found = np.empty(len(means))
        best_probabilities(means, scales**2, np.ones(len(means), dtype=bool), found)
        points = np.unique(
            np.concatenate([m + s * np.linspace(-8, 8, 2001) for m, s in zip(means, scales, strict=True)])
        )
        below = norm.cdf((points[:, None] - means) / scales)
        for a in range(len(means)):
            density = norm.pdf((points - means[a]) / scales[a]) / scales[a]
            others = np.delete(below, a, axis=1).prod(axis=1)
            assert abs(found[a] - simpson(density * others, x=points)) < 1e-3
