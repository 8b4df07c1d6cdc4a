"""Simulation: results do not depend on chunks, workers, other learners, or whether the horizon is told."""

import numpy as np
import pytest
from scipy import stats

import graphbandit as gb
from graphbandit.base.seeds import stream
from graphbandit.errors import GraphError, SettingError
from tests.helpers.refusals import check_refused, odd

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


def test_bands_are_students(runs):
    curves = runs.regret["FALCON"]
    mean, lower, upper = runs.bands(0.9)["FALCON"]
    expected = stats.t.interval(0.9, 2, loc=curves.mean(axis=0), scale=stats.sem(curves, axis=0))
    np.testing.assert_allclose([lower[1:], upper[1:]], [end[1:] for end in expected], rtol=1e-9)
    np.testing.assert_allclose(mean, curves.mean(axis=0))
    with pytest.raises(SettingError, match="level is 1"):
        runs.bands(1.0)


def test_a_frame_has_a_row_a_round(runs):
    frame = runs.to_pandas()
    assert list(frame.columns) == ["learner", "repeat", "round", "regret"]
    assert len(frame) == 4 * 3 * 300
    last = frame[frame["round"] == 300].groupby("learner")["regret"].mean()
    assert last["FALCON"] == pytest.approx(runs.summary()["FALCON"].mean)


def test_a_notebook_shows_a_table_and_curves(environment):
    page = gb.simulate(
        {"FALCON": gb.Falcon(), "<greedy>": gb.Greedy()}, environment, rounds=12, repeats=5
    )._repr_html_()
    assert "&lt;greedy&gt;" in page
    assert page.count("<polyline") == page.count("<polygon") == 2
    alone = gb.simulate(gb.Greedy(), environment, rounds=3)._repr_html_()
    assert "one repeat" in alone
    assert "<polygon" not in alone
    assert "nan" not in alone


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


def simulate(learners=LEARNERS["uniform"], environment=None, **kwargs):
    where = gb.environments.paper(n_arms=4, graph="star") if environment is None else environment
    return lambda: gb.simulate(learners, where, **{"rounds": 3, **kwargs})


NO_LOOPS = gb.FeedbackGraph.from_dense(1 - np.eye(4), require_loops=False)


def from_arrays():
    return gb.environments.from_arrays(
        contexts=np.zeros((5, 2)), graphs=gb.graphs.complete(3), rewards=np.zeros((5, 3))
    )


REFUSED = {
    **odd("rounds", simulate, but=["huge"], zero=0, half=2.5),
    **odd("repeats", simulate, but=["huge"], zero=0),
    **odd("chunk", simulate, but=["huge"], zero=0),
    **odd("workers", simulate, but=["huge", "None"], zero=0),
    **odd("seed", simulate, but=["huge"], negative=-1),
    "nobody": (simulate({}), SettingError, "learners is empty; expected at least one"),
    "a list": (simulate([LEARNERS["uniform"]]), SettingError, "(floor=None)]; expected a learner, or"),
    "a class": (simulate(gb.Falcon), SettingError, "expected a learner, or a dictionary"),
    "no learner": (simulate({"a": 5}), SettingError, "learners['a'] is 5; expected a learner"),
    "no name": (simulate({1: LEARNERS["uniform"]}), SettingError, "learners has the name 1; expected a string"),
    "nowhere": (simulate(environment="paper"), SettingError, "environment is 'paper'; expected"),
    "an instance": (simulate(environment=gb.environments.paper().instance(0)), SettingError, "expected an environment"),
    "too many rounds": (simulate(environment=from_arrays(), rounds=6), SettingError, "rounds is 6; expected at"),
    "horizon_known": (simulate(horizon_known=None), SettingError, "horizon_known is None; expected True or"),
    "keep_decisions": (simulate(keep_decisions=1), SettingError, "keep_decisions is 1; expected True or"),
    "progress": (simulate(progress="print"), SettingError, "progress is 'print'; expected a callable"),
    "no class": (simulate(gb.Greedy(), from_arrays()), SettingError, "function_class is None in both"),
    "no loops": (
        simulate(gb.RegCBG(), gb.environments.paper(n_arms=4, graph=NO_LOOPS)), GraphError, "lacks the self-loop of",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_settings_are_refused(call, error, message):
    check_refused(call, error, message)
