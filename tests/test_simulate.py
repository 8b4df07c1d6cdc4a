"""Simulation: results do not depend on chunks, workers, other learners, or whether the horizon is told."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.base.seeds import stream

LEARNERS = {
    "ours": gb.AdaCBG(),
    "FALCON": gb.Falcon(),
    "RegCB.G": gb.RegCBG(epoch_growth=1.3),
    "uniform": gb.learners.Uniform(),
}


@pytest.fixture(scope="module")
def environment():
    return gb.environments.paper(n_arms=9, graph="random", reward_scale=4.0)


@pytest.fixture(scope="module")
def runs(environment):
    return gb.simulate(LEARNERS, environment, rounds=300, repeats=3, seed=4, keep_decisions=True)


@pytest.mark.parametrize("chunk", [1, 7, 64, 256, 300, 10_000])
def test_any_chunk_gives_the_same_bytes(environment, runs, chunk):
    again = gb.simulate(LEARNERS, environment, rounds=300, repeats=3, seed=4, chunk=chunk, keep_decisions=True)
    for name in LEARNERS:
        assert again.regret[name].tobytes() == runs.regret[name].tobytes()
        for one, other in zip(again.decisions[name], runs.decisions[name], strict=True):
            assert one.probabilities.tobytes() == other.probabilities.tobytes()
            assert one.action.tobytes() == other.action.tobytes()


def test_any_number_of_workers_and_any_company_gives_the_same_bytes(environment, runs):
    parallel = gb.simulate(LEARNERS, environment, rounds=300, repeats=3, seed=4, workers=3)
    alone = gb.simulate({"FALCON": gb.Falcon()}, environment, rounds=300, repeats=2, seed=4)
    for name in LEARNERS:
        assert parallel.regret[name].tobytes() == runs.regret[name].tobytes()
    assert alone.regret["FALCON"].tobytes() == runs.regret["FALCON"][:2].tobytes()


def test_another_seed_gives_other_draws(environment, runs):
    other = gb.simulate(LEARNERS, environment, rounds=300, repeats=3, seed=5)
    assert not np.array_equal(other.regret["ours"], runs.regret["ours"])
    assert not np.array_equal(runs.regret["ours"][0], runs.regret["ours"][1])


def test_regret_is_counted_in_means_of_what_was_played(environment, runs):
    drawn = environment.instance(4, 1).rounds(0, 300)
    actions = runs.decisions["ours"][1].action
    losses = drawn.means.max(axis=1) - drawn.means[np.arange(300), actions]
    np.testing.assert_allclose(runs.regret["ours"][1], np.cumsum(losses), rtol=1e-12)
    assert (losses >= 0).all()


def test_simulate_is_what_a_bandit_does(environment):
    """The simulator and the everyday object walk through the same states."""
    learner, rounds = gb.AdaCBG(radius="paper", coverage="paper", eta=1.0), 80
    instance = environment.instance(4, 0)
    drawn = instance.rounds(0, rounds)
    bandit = gb.Bandit(learner, instance.problem(rounds))
    bandit._journal.rng = stream(4, "simulate", "x", 0)
    actions = []
    for t in range(rounds):
        decision = bandit.decide(drawn.contexts[t], drawn.graphs[t])
        bandit.observe(decision, {int(a): drawn.rewards[t, a] for a in decision.revealed})
        actions.append(decision.action)
    runs = gb.simulate({"x": learner}, environment, rounds=rounds, seed=4, keep_decisions=True)
    assert actions == runs.decisions["x"][0].action.tolist()


def test_without_a_known_horizon_learners_use_the_epoch_end(environment):
    known = gb.simulate(gb.Falcon(), environment, rounds=200, seed=1, keep_decisions=True)
    unknown = gb.simulate(gb.Falcon(), environment, rounds=200, seed=1, keep_decisions=True, horizon_known=False)
    longer = gb.simulate(gb.Falcon(), environment, rounds=300, seed=1, keep_decisions=True, horizon_known=False)
    assert not np.array_equal(known.decisions["learner"][0].gamma, unknown.decisions["learner"][0].gamma)
    np.testing.assert_array_equal(unknown.decisions["learner"][0].gamma, longer.decisions["learner"][0].gamma[:200])


def test_summary(runs):
    final = runs.regret["ours"][:, -1]
    summary = runs.summary()["ours"]
    assert summary.mean == pytest.approx(final.mean())
    assert summary.std == pytest.approx(final.std(ddof=1))
    assert summary.standard_error == pytest.approx(final.std(ddof=1) / 3**0.5)
    assert summary.median == pytest.approx(np.median(final))
    assert summary.minimum == final.min()
    assert repr(runs) == str(runs)  # a short table, not all the arrays
    assert repr(runs).count("\n") == len(runs.regret)
    assert "RegCB.G" in repr(runs)


def test_repeats_are_reported_as_they_end(environment):
    seen = []
    gb.simulate(gb.learners.Uniform(), environment, rounds=4, repeats=5, progress=seen.append)
    assert seen == [0, 1, 2, 3, 4]


def test_masks_of_an_environment_from_arrays():
    rng = np.random.default_rng(0)
    n, n_arms = 40, 5
    means = rng.random((n, n_arms))
    offered = rng.random((n, n_arms)) < 0.5
    offered[:, 1] = True
    functions = gb.FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=n_arms)
    environment = gb.environments.from_arrays(
        contexts=means,
        graphs=gb.graphs.star(n_arms),
        rewards=means,
        available=offered,
        function_class=functions,
        noise=0.1,
    )
    runs = gb.simulate({"ours": gb.AdaCBG(), "greedy": gb.Greedy()}, environment, rounds=n, keep_decisions=True)
    for name in ("ours", "greedy"):
        played = runs.decisions[name][0].action
        assert offered[np.arange(n), played].all()
        best = np.where(offered, means, -np.inf).max(axis=1)
        np.testing.assert_allclose(runs.regret[name][0], np.cumsum(best - means[np.arange(n), played]))
