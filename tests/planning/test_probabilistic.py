"""Planning where edges are there with a probability: AdaCB.G, IDS.G, and what is refused."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit import environments
from graphbandit.errors import GraphError
from graphbandit.planning import scaling_count
from graphbandit.planning.sampled_rounds import SamplingRule, sample_rounds
from graphbandit.rounds.shown import Shown
from tests.learners.playing import Replay, problem, run_package
from tests.planning.scaled import check_optimum

T, K = 64, 6


def small(**settings):
    return environments.paper(n_arms=K, n_functions=8, dimension=3, **settings)


def odds_of(seed, n, *, loops):
    """Random probabilities, many of them 0 or 1."""
    rng = np.random.default_rng(seed)
    matrices = np.clip(rng.normal(0.4, 0.6, (n, K, K)), 0.0, 1.0)
    if loops:
        matrices[:, np.arange(K), np.arange(K)] = 1.0
    return gb.ProbabilisticGraphs.from_dense(matrices)


def run(learner, values, shown, real, rewards, uniforms, masks):
    """All decisions of a learner that is shown `shown` while `real` decides what is revealed."""
    horizon = len(values)
    decisions, _ = run_package(learner, values, shown, rewards, uniforms, masks, horizon=horizon, noise=0.7, real=real)
    return decisions


LEARNERS = [
    gb.IDSG(),
    gb.IDSG(form="frequentist"),
    gb.AdaCBG(epoch_growth=2.0, unrevealed="ignore"),
    gb.AdaCBG(epoch_growth=2.0, gamma="width", unrevealed="ignore"),
    gb.AdaCBG(epoch_growth=2.0, baseline="inverse-gap", unrevealed="ignore"),
]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("learner", LEARNERS, ids=["IDSG", "frequentist", "AdaCBG", "width", "inverse-gap"])
def test_probabilities_of_0_and_1_are_the_graph(learner, loops, masked):
    values, graphs, rewards, uniforms, masks = problem(5, K, "random", rounds=T, functions=10, masked=masked)
    if not loops:
        dense = np.random.default_rng(1).random((T, K, K)) < 0.5
        graphs = gb.FeedbackGraphs.from_dense(dense, require_loops=False)
    sure = gb.ProbabilisticGraphs.from_graphs(graphs)
    known = run(learner, values, graphs, graphs, rewards, uniforms, masks)
    as_odds = run(learner, values, sure, graphs, rewards, uniforms, masks)
    for name in known.round(0):
        np.testing.assert_array_equal(getattr(as_odds, name), getattr(known, name), err_msg=name)


def literal_set(candidates, gaps, P):
    """S by its words: by ascending gap, unless those taken before reveal it with probabilities of sum 1."""
    taken = []
    for a in sorted(candidates, key=lambda a: (gaps[a], a)):
        if sum(P[j][a] for j in taken) < 1 - 1e-9:
            taken.append(a)
    return sorted(taken)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("settings", [{}, {"gamma": "width"}, {"baseline": "inverse-gap"}, {"eta": 1e-6}], ids=str)
def test_every_round_of_adacb_is_the_optimum_of_the_stated_program(settings, loops, masked):
    values, _, rewards, uniforms, masks = problem(4, K, "random", rounds=T, functions=15, masked=masked)
    odds = odds_of(2, T, loops=loops)
    before, scaled, programs = scaling_count(), 0, 0
    d = run(
        gb.AdaCBG(epoch_growth=2.0, doubt=0.0, **settings, unrevealed="ignore"), values, odds,
        odds.sample(np.random.default_rng(0)), rewards, uniforms, masks,
    )  # fmt: skip
    for t in range(T):
        P, best, p = odds.matrix(t), d.best[t], d.probabilities[t]
        offered = [a for a in range(K) if masks is None or masks[t, a]]
        candidates, explored = np.flatnonzero(d.candidates[t]), np.flatnonzero(d.exploration_set[t])
        expected = offered if "baseline" in settings else literal_set(candidates, d.gaps[t], P)
        assert explored.tolist() == expected
        assert p.sum() == pytest.approx(1)
        np.testing.assert_allclose(d.observation_probabilities[t], p @ P, atol=1e-12)
        size, gamma = len(explored), d.gamma[t]
        if t < 2:
            np.testing.assert_allclose(p, d.baseline[t])
            continue
        if gamma == np.inf:
            assert p[best] == 1
            continue
        demand = {}
        for a in candidates:
            asked = [P[j, a] / (size + gamma * d.gaps[t, j]) for j in offered]
            if a == best and P[a, a] < 1 and len(candidates) > 1 and max(asked) > 0:
                demand[a] = max(asked)
            elif a != best and max(asked) > 0:
                demand[a] = 1 / (size + gamma * d.gaps[t, a])
        if not demand:
            assert p[best] == pytest.approx(1)
            assert d.coverage_factor[t] == 1
            continue
        check_optimum(d, t, P, demand, offered)
        assert d.duality_gap[t] <= 1e-9
        if loops:
            assert d.coverage_factor[t] == 1
            if gamma > 0:
                assert d.objective[t] <= (size - int(d.exploration_set[t, best])) / gamma + 1e-9
        programs += d.solver[t] == 3
        scaled += d.coverage_factor[t] < 1
    assert scaling_count() - before == scaled
    assert programs > 0
    assert loops or scaled > 0 or settings != {"eta": 1e-6}


def test_gamma_follows_the_width_of_the_baseline():
    rng = np.random.default_rng(9)
    odds = odds_of(4, 20, loops=True)
    values, widths = rng.normal(size=(20, K)), rng.random((20, K))
    widths[3] = 0.0
    d = sample_rounds(
        SamplingRule(explore="candidates", coverage="tight", rate=1.5),
        values=values,
        candidates=np.ones((20, K), dtype=bool),
        graphs=odds,
        uniforms=rng.random(20),
        epoch=2,
        widths=widths,
    )
    for t in range(20):
        S, gaps, squares = np.flatnonzero(d.exploration_set[t]), d.gaps[t], (widths[t] ** 2).sum()
        if t == 3:
            assert d.gamma[t] == np.inf
            continue

        def baseline(gamma, S=S, gaps=gaps):
            p = np.zeros(K)
            p[S] = 1 / (len(S) + gamma * gaps[S])
            p[gaps.argmin()] = 0
            p[gaps.argmin()] = 1 - p.sum()
            return p

        def bound(gamma, t=t, S=S, baseline=baseline):
            return 2 * len(S) / gamma + gamma / 4 * (baseline(gamma) @ odds.matrix(t)) @ widths[t] ** 2

        trials = [np.sqrt(8 * len(S) / squares) * 2.0**k for k in range(11)]
        assert d.gamma[t] == pytest.approx(1.5 * min(trials, key=bound))
        np.testing.assert_allclose(d.baseline[t], baseline(d.gamma[t]), atol=1e-12)


def test_sure_and_unsure_rounds_of_one_batch_are_decided_each_by_its_own():
    values, graphs, rewards, uniforms, _ = problem(6, K, "random", rounds=T, functions=10)
    odds = odds_of(3, T, loops=True)
    mixed = np.where((np.arange(T) % 3 == 0)[:, None, None], [graph.to_dense() for graph in graphs], odds.stored)
    shown = gb.ProbabilisticGraphs.from_dense(mixed)
    lookup = gb.FiniteClass(lambda x: values[x[:, 0].astype(int)], n_functions=10, n_arms=K)
    learner, contexts = gb.AdaCBG(epoch_growth=2.0), np.arange(T, dtype=float)[:, None]
    state = learner.init(gb.Problem(n_arms=K, function_class=lookup, noise=0.7))
    for m in range(1, 6):  # to an epoch of 32 rounds
        tau = 2**m
        part = slice(tau // 2 if m > 1 else 0, tau)
        seen = np.ones((tau - part.start, K), dtype=bool)
        news = gb.Observations.from_masks(contexts[part], seen, rewards[part], first_round=part.start)
        state = learner.update(state, news)
    rounds = np.arange(32)
    together = learner.decide(state, Shown(contexts[rounds], shown[rounds]), Replay(uniforms))
    for t in rounds:
        alone = learner.decide(state, Shown(contexts[[t]], shown[[t]]), Replay(uniforms[t:]))
        for name in together.round(0):
            np.testing.assert_array_equal(getattr(together, name)[t], getattr(alone, name)[0], err_msg=name)


@pytest.mark.parametrize("learner", [gb.IDSG(), gb.AdaCBG(epoch_growth=2.0)], ids=["IDSG", "AdaCBG"])
def test_the_propensities_are_true(learner):
    """Of many draws of arm and graph, as many reveal an arm as q says."""
    values, _, rewards, uniforms, _ = problem(7, K, "random", rounds=16, functions=10)
    odds = odds_of(5, 16, loops=True)
    d = run(learner, values, odds, odds.sample(np.random.default_rng(1)), rewards, uniforms, None)
    rng, n = np.random.default_rng(2), 4000
    for t in (1, 9):
        arms = rng.choice(K, n, p=d.probabilities[t])
        seen = gb.ProbabilisticGraphs.repeat(odds[t], n).sample(rng).revealed(arms).mean(axis=0)
        np.testing.assert_allclose(seen, d.observation_probabilities[t], atol=5 * 0.5 / np.sqrt(n))


def test_a_learner_that_cannot_plan_with_them_says_who_can():
    with_odds = environments.probabilistic(small())
    without = environments.probabilistic(small(), shown="nothing")
    cannot = [
        gb.Falcon(),
        gb.Greedy(),
        gb.learners.Uniform(),
        gb.learners.UCBN(),
        gb.AdaCBG(epoch_growth=2.0, coverage="paper", gamma="natural"),
        gb.learners.RegCB(),
    ]
    for learner in cannot:
        assert not learner.plans_with_probabilities
        with pytest.raises(GraphError, match=r"graphs is a ProbabilisticGraphs.*IDSG.*AdaCBG"):
            gb.simulate(learner, with_odds, rounds=4)
    for learner in (*cannot, gb.IDSG(), gb.AdaCBG(epoch_growth=2.0)):
        with pytest.raises(GraphError, match=r"there is no graph.*LateGraph"):
            gb.simulate(learner, without, rounds=4)


def test_an_arm_that_nobody_can_reveal_is_named():
    matrix = np.full((3, 3), 0.5)
    matrix[:, 1] = 0.0
    functions = gb.FiniteClass(lambda x: np.stack([x, -x], axis=1), n_functions=2, n_arms=3)
    told = gb.Problem(n_arms=3, function_class=functions, noise=0.5)
    graphs = gb.ProbabilisticGraphs.repeat(matrix, 1)
    learner = gb.AdaCBG(epoch_growth=2.0)
    with pytest.raises(GraphError, match="no arm on offer reveals arm 1"):
        learner.decide(learner.init(told), Shown(np.zeros((1, 3)), graphs), np.random.default_rng(0))
    learner = gb.AdaCBG(epoch_growth=2.0, unrevealed="ignore")
    assert len(learner.decide(learner.init(told), Shown(np.zeros((1, 3)), graphs), np.random.default_rng(0))) == 1
