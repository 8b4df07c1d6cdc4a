"""Open Bandit Pipeline: its dictionary in and out, and values equal to its formulas."""

import pickle
import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, LogError
from graphbandit.evaluation import Log, evaluate
from graphbandit.interop import obp
from tests.logs.logged import logged


def feedback(n=200, k=4, positions=1, seed=0):
    """As obp's SyntheticBanditDataset.obtain_batch_bandit_feedback and OpenBanditDataset make it."""
    rng = np.random.default_rng(seed)
    pi_b = rng.dirichlet(np.ones(k), size=(n, positions)).transpose(0, 2, 1)
    position = rng.integers(positions, size=n) if positions > 1 else None
    at = np.zeros(n, dtype=int) if position is None else position
    p = pi_b[np.arange(n), :, at]
    action = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    expected = rng.random((n, k))
    return {
        "n_rounds": n,
        "n_actions": k,
        "context": rng.normal(size=(n, 3)),
        "action_context": np.eye(k, dtype=int),
        "action": action,
        "position": position,
        "reward": (rng.random(n) < expected[np.arange(n), action]).astype(float),
        "expected_reward": expected,
        "pi_b": pi_b,
        "pscore": p[np.arange(n), action],
    }


@pytest.mark.parametrize("positions", [1, 3])
def test_in_and_out_is_the_same_dictionary(positions):
    given = feedback(positions=positions)
    log = obp.to_log(given)
    back = obp.from_log(log)
    for name in ("n_rounds", "n_actions", "context", "action_context", "action", "reward", "expected_reward", "pscore"):
        assert np.array_equal(back[name], given[name]), name
    if positions == 1:
        assert np.array_equal(back["pi_b"], given["pi_b"])
        assert back["position"] is None
    else:
        assert np.array_equal(back["position"], given["position"])
        rows = np.arange(200)
        assert np.array_equal(back["pi_b"][rows, :, back["position"]], given["pi_b"][rows, :, given["position"]])
    assert set(back) == set(given)


def test_values_are_those_of_its_formulas():
    """obp.ope.InverseProbabilityWeighting and SelfNormalizedInverseProbabilityWeighting, written out."""
    given = feedback()
    target = np.random.default_rng(1).dirichlet(np.ones(4), 200)
    iw = target[np.arange(200), given["action"]] / given["pscore"]
    log = obp.to_log(given)
    for method, value in {
        "ips": (given["reward"] * iw).mean(),
        "snips": (given["reward"] * iw / iw.mean()).mean(),
    }.items():
        found = evaluate(log, {"new": target}, method=method, interval="asymptotic")["new"]
        assert found.value == pytest.approx(value, abs=1e-12)


def test_side_observations_go_in_and_out(tmp_path):
    rng = np.random.default_rng(0)
    graphs = gb.FeedbackGraphs.from_dense((rng.random((50, 5, 5)) < 0.4) | np.eye(5, dtype=bool))
    made = logged(n=50, graph=graphs)
    given = obp.from_log(made.log)
    assert np.array_equal(given["revealed"], ~np.isnan(made.arrays["rewards"]))
    assert np.array_equal(given["observation_pscore"], made.log.to_batch().q)
    obp.write(made.log, tmp_path / "log.npz")
    without = {name: value for name, value in given.items() if name != "graphs"}
    for log in (obp.to_log(given), obp.to_log(without), obp.read(tmp_path / "log.npz")):
        batch = log.to_batch()
        assert np.array_equal(batch.rewards, made.arrays["rewards"], equal_nan=True)
        values = [evaluate(one, "uniform", interval="asymptotic")["uniform"].value for one in (log, made.log)]
        assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_only_the_propensity_of_the_action(tmp_path):
    given = feedback() | {"pi_b": None}
    assert obp.to_log(given).to_batch().probabilities is None
    assert obp.from_log(obp.to_log(given))["pi_b"] is None
    kept = {name: value for name, value in given.items() if value is not None}
    np.savez(tmp_path / "theirs.npz", **kept)
    assert np.array_equal(obp.read(tmp_path / "theirs.npz").to_batch().probability, given["pscore"])


def wrong(**values):
    return feedback(n=10) | values


BAD = [
    ([], InputError, "bandit_feedback is a list"),
    ({"reward": [1.0], "n_actions": 2}, LogError, "bandit_feedback has no action"),
    (wrong(n_rounds=9), LogError, "n_rounds is 9, but there are 10 actions"),
    (wrong(pi_b=None, pscore=None), LogError, "no pscore and no pi_b"),
    (wrong(pi_b=np.zeros((10, 3, 1))), LogError, "pi_b has shape (10, 3, 1); expected (10, 4, positions)"),
    (wrong(pi_b=np.full((10, 4, 2), 0.25)), LogError, "pi_b has 2 positions and position is None"),
    (
        wrong(pi_b=np.full((10, 4, 2), 0.25), position=np.full(10, 2)),
        LogError,
        "position[0] is 2; expected one of 0 .. 1",
    ),
    (wrong(position=np.full(10, 0.5)), LogError, "position has type float64"),
    (wrong(pi_b=None, pscore=np.zeros(10)), LogError, "decisions, row 0: the probability of the action is 0.0"),
    (wrong(pi_b=np.full((10, 4, 1), 0.3)), LogError, "row 0: the probabilities sum to 1.2"),
    (wrong(action=np.full(10, 4)), LogError, "row 0: the action is 4"),
    (wrong(rewards=np.zeros((3, 4))), LogError, "rewards has shape (3, 4)"),
    (wrong(rewards=np.zeros((10, 4)), revealed=np.ones(3)), LogError, "revealed has shape (3,)"),
    (wrong(expected_reward=np.zeros(3)), LogError, "expected_reward has shape (3,)"),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD, ids=range(len(BAD)))
def test_bad_dictionaries_are_refused(given, error, message):
    with pytest.raises(error, match=re.escape(message)):
        obp.to_log(given)


def test_bad_files_are_refused(tmp_path):
    np.savez(tmp_path / "objects.npz", **feedback(n=10))  # position is None, an object
    with pytest.raises(LogError, match="without pickle"):
        obp.read(tmp_path / "objects.npz")
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(feedback(n=10)))
    with pytest.raises(LogError, match=r"without pickle|cannot be read as \.npz"):
        obp.read(tmp_path / "pickle.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "objects.npz").read_bytes()[:100])
    with pytest.raises(LogError, match="cannot be read"):
        obp.read(tmp_path / "cut.npz")


def test_a_round_without_the_reward_of_its_action_has_no_place_there():
    log = Log.from_arrays(actions=[0, 1], probabilities=np.full((2, 2), 0.5), rewards=[1.0, np.nan])
    with pytest.raises(LogError, match="decisions, row 1: the arm played has no reward"):
        obp.from_log(log)
