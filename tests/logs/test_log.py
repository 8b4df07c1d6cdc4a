"""Logs: arrays, frames and folders hold the same rounds, in batches of any size."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, LogError
from graphbandit.evaluation import Log, evaluate
from tests.logs.logged import logged


def same(one: Log, other: Log) -> None:
    for name in ("ids", "contexts", "actions", "probability", "probabilities", "rewards", "q"):
        left, right = getattr(one.to_batch(), name), getattr(other.to_batch(), name)
        assert np.array_equal(left, right, equal_nan=True), name
    assert one.to_batch().graphs == other.to_batch().graphs


def test_round_trip_through_a_folder(tmp_path):
    made = logged(n=300, columns={"country": np.array(["de", "fr", "it"] * 100)})
    made.log.write(tmp_path / "log")
    back = Log.read(tmp_path / "log")
    same(made.log, back)
    assert back.columns == ["country"]
    assert back.to_batch().columns["country"].tolist()[:3] == ["de", "fr", "it"]
    back.write(tmp_path / "again")
    same(made.log, Log.read(tmp_path / "again"))


def test_everything_a_round_may_have(tmp_path):
    n, rng = 40, np.random.default_rng(0)
    available = rng.random((n, 4)) < 0.7
    available[:, 2] = True
    probabilities = available / available.sum(axis=1, keepdims=True)
    matrices = rng.random((n, 4, 4))
    graphs = gb.ProbabilisticGraphs.from_dense(matrices)
    rewards = np.full((n, 4), np.nan)
    rewards[:, 1] = rng.normal(size=n)
    log = Log.from_arrays(
        contexts=rng.normal(size=(n, 4, 2)),
        graphs=graphs,
        actions=np.full(n, 2),
        probabilities=probabilities,
        rewards=rewards,
        available=available,
        epochs=np.arange(n),
        times=np.datetime64("2026-01-01") + np.arange(n).astype("timedelta64[h]"),
        arms=["a", "b", "c", "d"],
    )
    assert np.allclose(log.to_batch().q, np.einsum("nj,nja->na", probabilities, matrices))
    log.write(tmp_path / "log")
    back = Log.read(tmp_path / "log")
    same(log, back)
    batch = back.to_batch()
    assert np.array_equal(batch.available, available)
    assert np.array_equal(batch.epochs, np.arange(n))
    assert np.array_equal(batch.times, log.to_batch().times)
    assert back.arms == ("a", "b", "c", "d")
    assert back.context_shape == (4, 2)


def test_a_graph_of_its_own_each_round(tmp_path):
    rng = np.random.default_rng(1)
    graphs = gb.FeedbackGraphs.from_dense(rng.random((100, 6, 6)) < 0.3, require_loops=False)
    made = logged(n=100, n_arms=6, graph=graphs)
    made.log.write(tmp_path / "log")
    same(made.log, Log.read(tmp_path / "log"))
    dense = np.stack([graph.to_dense() for graph in graphs])
    assert np.allclose(made.log.to_batch().q, np.einsum("nj,nja->na", made.arrays["probabilities"], dense))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_batches_of_any_size(tmp_path, size):
    made = logged(n=130)
    made.log.write(tmp_path / "log")
    for log in (made.log, Log.read(tmp_path / "log")):
        batches = list(log.batches(size))
        assert [len(batch) for batch in batches] == [min(size, 130 - start) for start in range(0, 130, size)]
        assert [batch.first_row for batch in batches] == list(range(0, 130, size))
        rewards = np.concatenate([batch.rewards for batch in batches])
        assert np.array_equal(rewards, made.arrays["rewards"], equal_nan=True)


def test_slices(tmp_path):
    made = logged(n=130)
    made.log.write(tmp_path / "log")
    for log in (made.log, Log.read(tmp_path / "log")):
        part = log[20:100][10:]
        assert len(part) == 70
        assert part.first_row == 30
        assert np.array_equal(part.to_batch().actions, made.arrays["actions"][30:100])
        assert len(pickle.loads(pickle.dumps(part))) == 70
    made.log[10:20].write(tmp_path / "part")
    assert np.array_equal(Log.read(tmp_path / "part").to_batch().actions, made.arrays["actions"][10:20])


def test_rounds_may_lack_the_probabilities_of_all_arms(tmp_path):
    made = logged(n=60)
    tables = made.log.to_arrow()
    kept = [row if t % 3 else None for t, row in enumerate(tables["decisions"]["probabilities"].to_pylist())]
    place = tables["decisions"].column_names.index("probabilities")
    decisions = tables["decisions"].set_column(place, "probabilities", pa.array(kept, pa.list_(pa.float64(), 5)))
    log = Log.from_frames(decisions, tables["rewards"], graphs=tables["graphs"], n_arms=5)
    log.write(tmp_path / "log")
    for one in (log, Log.read(tmp_path / "log"), Log.read(tmp_path / "log")[1:]):
        batch = one.to_batch()
        rows = slice(one.first_row, None)
        assert np.array_equal(batch.all_known, np.arange(60)[rows] % 3 > 0)
        assert np.array_equal(batch.q[batch.revealed], made.log.to_batch().take(rows).q[batch.revealed])
        for size in (1, 2, 7):  # some of these batches know all, and some know none
            assert np.array_equal(np.concatenate([b.q for b in one.batches(size)]), batch.q, equal_nan=True)
    want = evaluate(made.log, {"uniform": "uniform"}, method="graph-ips")["uniform"]
    found = evaluate(log, {"uniform": "uniform"}, method="graph-ips")["uniform"]
    assert (found.value, found.low, found.high) == (want.value, want.low, want.high)
    assert np.isnan(found.support)
    wider = evaluate(log, {"uniform": "uniform"}, model=np.full((60, 5), 0.5))["uniform"]
    model = evaluate(made.log, {"uniform": "uniform"}, model=np.full((60, 5), 0.5))["uniform"]
    assert wider.value == model.value
    assert wider.high - wider.low > 0.99 * (model.high - model.low)
    with pytest.raises(InputError, match="only the played one's in row 0"):
        evaluate(log, ["logged"])
    with pytest.raises(LogError, match="row 0: the log lacks graphs or the probabilities"):
        evaluate(log, ["uniform"], method="graph-balanced")
    partly = pa.array([*kept[:7], [0.2, None, 0.2, 0.2, 0.2], *kept[8:]], pa.list_(pa.float64(), 5))
    broken = decisions.set_column(place, "probabilities", partly)
    with pytest.raises(LogError, match="row 7: probabilities has values that are missing"):
        Log.from_frames(broken, tables["rewards"], graphs=tables["graphs"], n_arms=5).to_batch()


def test_actions_by_name():
    given = {"probabilities": [[0.5, 0.5], [0.2, 0.8]], "rewards": [1.0, 0.0]}
    named = Log.from_arrays(actions=["low", "high"], arms=["low", "high"], **given)
    same(named, Log.from_arrays(actions=[0, 1], **given))


def test_the_range_of_rewards_has_no_minus_zero(tmp_path):
    log = Log.from_arrays(actions=[0, 0], probabilities=[1.0, 1.0], rewards=[-299.0, -0.0], n_arms=1)
    log.write(tmp_path / "log")
    tables = log.to_arrow()
    frames = Log.from_frames(tables["decisions"], tables["rewards"], graphs=tables["graphs"], n_arms=1)
    for one in (log, Log.read(tmp_path / "log"), frames):
        assert [f"{end:g}" for end in one.reward_range] == ["-299", "0"]


def test_single_rounds_are_refused():
    with pytest.raises(InputError, match="expected a slice"):
        logged(n=5).log[3]
    with pytest.raises(InputError, match="expected whole numbers"):
        logged(n=5).log["a":]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames(kind):
    made = logged(n=60)
    tables = made.log.to_arrow()
    convert = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "arrow": lambda table: table}[kind]
    decisions, rewards, graphs = (convert(tables[name]) for name in ("decisions", "rewards", "graphs"))
    same(made.log, Log.from_frames(decisions, rewards, graphs=graphs))
    same(made.log, Log.from_frames(decisions, rewards, graphs=made.arrays["graphs"]))


def test_frames_as_people_have_them():
    decisions = pd.DataFrame(
        {
            "id": ["v1", "v2", "v3"],
            "age": [31, 42, 53],
            "hour": [8.0, 9.0, 10.0],
            "action": ["low", "high", "high"],
            "probability": [0.5, 0.25, 0.75],
        }
    )
    rewards = pd.DataFrame({"decision": ["v3", "v1"], "arm": ["high", "low"], "reward": [1.0, 2.0]})
    log = Log.from_frames(decisions, rewards, context=["age", "hour"], arms=["low", "high"])
    batch = log.to_batch()
    assert batch.contexts.tolist() == [[31, 8], [42, 9], [53, 10]]
    assert batch.actions.tolist() == [0, 1, 1]
    assert np.array_equal(batch.rewards, [[2.0, np.nan], [np.nan, np.nan], [np.nan, 1.0]], equal_nan=True)
    assert batch.columns["key"].tolist() == ["v1", "v2", "v3"]
    played = decisions.assign(reward=[1.0, 0.0, 1.0]).drop(columns="id")
    assert Log.from_frames(played, arms=["low", "high"]).to_batch().rewards[0, 0] == 1.0
    wide = pd.DataFrame({"action": [0, 1], "p0": [0.5, 0.2], "p1": [0.5, 0.8], "reward": [1, 0]})
    assert Log.from_frames(wide, probabilities=["p0", "p1"]).to_batch().probability.tolist() == [0.5, 0.8]


def test_rewards_may_come_in_any_order(tmp_path):
    made = logged(n=80)
    tables = made.log.to_arrow()
    shuffled = tables["rewards"].take(np.random.default_rng(0).permutation(tables["rewards"].num_rows))
    late = Log.from_frames(tables["decisions"], shuffled, graphs=tables["graphs"])
    same(made.log, late)
    late.write(tmp_path / "log")
    for batch in Log.read(tmp_path / "log").batches(16):
        rows = slice(batch.first_row, batch.first_row + len(batch))
        assert np.array_equal(batch.rewards, made.arrays["rewards"][rows], equal_nan=True)


def test_only_the_probability_of_the_arm_played():
    log = Log.from_arrays(actions=[0, 1], probabilities=[0.5, 0.25], rewards=[1.0, 0.0], n_arms=3)
    assert np.array_equal(log.to_batch().q, [[0.5, np.nan, np.nan], [np.nan, 0.25, np.nan]], equal_nan=True)


def test_graphs_that_are_not_known():
    q = np.array([[0.5, 0.7], [0.5, 0.7]])
    log = Log.from_arrays(
        actions=[0, 1], probabilities=[0.5, 0.5], rewards=[[1.0, 0.0], [np.nan, 1.0]], observation_probabilities=q
    )
    assert log.to_batch().graphs is None
    assert np.array_equal(log.to_batch().q, q)


def test_observations_carry_the_observation_probabilities():
    made = logged(n=20)
    batch = made.log.to_batch()
    seen = batch.observations()
    assert np.array_equal(seen.observation_probabilities, batch.q[batch.revealed])
    assert np.array_equal(seen.actions, made.arrays["actions"])


def test_summary():
    found = logged(n=100).log.summary()
    assert found.rounds == 100
    assert found.rewards == found.side_observations + 100
    assert found.incomplete == found.unmatched == found.lost_bytes == 0
    assert found.reward_range == (0.0, 1.0)


def test_write_refuses_a_folder_that_is_there(tmp_path):
    made = logged(n=10)
    made.log.write(tmp_path / "log")
    with pytest.raises(LogError, match="exists already"):
        made.log.write(tmp_path / "log")
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
