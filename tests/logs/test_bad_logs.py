"""Bad logs: every fault is a typed error that says in which table and row it is."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphbandit as gb
from graphbandit.errors import LogError
from graphbandit.evaluation import Log, LogWriter
from graphbandit.logs.format import STAMP
from tests.logs.logged import logged


def changed(**new: Any) -> dict[str, Any]:
    arrays = logged(n=30).arrays
    for name, change in new.items():
        value = np.array(arrays[name])
        change(value)
        arrays[name] = value
    return arrays


def put(place: Any, value: float) -> Callable[[np.ndarray], None]:
    return lambda array: array.__setitem__(place, value)


def both(first: float, second: float) -> Callable[[np.ndarray], None]:
    def change(array: np.ndarray) -> None:
        array[7] = 0.0
        array[7, :2] = first, second

    return change


@pytest.mark.parametrize(
    ("changes", "row", "message"),
    [
        ({"actions": put(4, 5)}, 4, "the action is 5; expected an arm of 0 .. 4"),
        ({"actions": put(4, -1)}, 4, "the action is -1"),
        ({"contexts": put((9, 1), np.nan)}, 9, "expected finite numbers"),
        ({"rewards": put((3, 0), np.inf)}, 3, "the reward of arm 0 is inf"),
        ({"probabilities": both(1.2, -0.2)}, 7, "expected a number"),
        ({"probabilities": both(0.6, 0.6)}, 7, "sum to 1.2"),
        ({"probabilities": both(0.0, 0.0)}, 7, "is 0.0; expected a number above 0 and at most 1"),
    ],
)
def test_arrays_refused(changes, row, message):
    if "probabilities" in changes:
        changes = changes | {"actions": put(7, 0), "rewards": put(7, np.nan)}
    with pytest.raises(LogError, match="row") as caught:
        Log.from_arrays(**changed(**changes))
    assert message in str(caught.value)
    assert caught.value.row == row
    assert caught.value.table == "decisions"


def test_rewards_that_the_graph_does_not_allow_refused():
    arrays = logged(n=30).arrays
    row = int(np.argmax(arrays["actions"] == 2))
    arrays["rewards"][row, 3] = 0.5
    with pytest.raises(LogError, match="playing arm 2 does not reveal it") as caught:
        Log.from_arrays(**arrays)
    assert caught.value.row == row


@pytest.mark.parametrize("p", [0.0, 1.2, -0.1, np.nan])
def test_probability_of_the_arm_played_refused(p):
    with pytest.raises(LogError, match=r"row 1: the probability of the action is .*; expected a number above 0"):
        Log.from_arrays(actions=[0, 1], probabilities=[0.5, p], rewards=[1.0, 0.0], n_arms=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probabilities": [[0.5, 0.5]]}, "probabilities has shape"),
        ({"rewards": [[0.5, 0.5, 0.2]]}, "rewards has shape"),
        ({"contexts": np.zeros((3, 2))}, "contexts has shape"),
        ({"graphs": gb.graphs.star(3, hub=0)}, "expected"),
        ({"ids": [3, 3]}, "the id 3 follows 3"),
        ({"ids": [3]}, "ids has 1 entries"),
        ({"observation_probabilities": [[0.5, 0.0], [0.3, 1.2]]}, "the observation probability of arm 1 is 1.2"),
        ({"columns": {"action": [1, 2]}}, "columns has 'action'"),
        ({"columns": {"country": ["de"]}}, "expected 2 entries"),
        ({"available": [[True, True], [True, False]]}, "row 1: the action 1 was not available"),
        ({"times": ["noon", "one"]}, "not points in time"),
        ({"actions": []}, "actions is empty; expected at least one round"),
        ({"actions": [], "probabilities": np.empty((0, 2)), "rewards": []}, "actions is empty"),
        ({"actions": None}, "actions has type object and shape (); expected whole numbers, one a round"),
        ({"actions": [[0], [1, 2]]}, "actions has rows of different lengths"),
        ({"actions": ["a", "c"], "arms": ["a", "b"]}, "row 1: the action is 'c'; expected one of the names in arms"),
        ({"probabilities": [[0.5], [0.3, 0.7]]}, "probabilities has rows of different lengths"),
        ({"contexts": [[1.0], ["x"]]}, "contexts has type"),
        ({"contexts": [1.0, 2.0]}, "contexts has shape (2,); expected (2, ...), one row a round"),
        ({"actions": [0.0, 0.5]}, "actions has type float64"),
        ({"graphs": np.eye(2)}, "graphs is a ndarray; expected a FeedbackGraph, as FeedbackGraph.from_dense(matrix)"),
        ({"columns": 3}, "columns is a int; expected a mapping"),
    ],
)
def test_arrays_that_do_not_fit_refused(arguments, message):
    good = {"actions": [0, 1], "probabilities": [[0.5, 0.5], [0.3, 0.7]], "rewards": [1.0, 0.0]}
    with pytest.raises(LogError, match=re.escape(message)):
        Log.from_arrays(**(good | arguments))


def test_the_number_of_arms_must_be_told_refused():
    with pytest.raises(LogError, match="expected n_arms, at least 2"):
        Log.from_arrays(actions=[0, 1], probabilities=[0.5, 0.5], rewards=[1.0, 0.0])


GOOD = pd.DataFrame({"id": [1, 2], "action": [0, 1], "probability": [0.5, 0.5]})
REWARDS = pd.DataFrame({"decision": [1, 2], "arm": [0, 1], "reward": [1.0, 0.5]})


@pytest.mark.parametrize(
    ("decisions", "rewards", "message"),
    [
        (GOOD.drop(columns="action"), REWARDS, "the column action is missing"),
        (GOOD.drop(columns="probability"), REWARDS, "the column probability is missing"),
        (GOOD, REWARDS.drop(columns="arm"), "rewards: the column arm is missing"),
        (GOOD, REWARDS.assign(decision=[1, 7]), None),
        (GOOD.assign(id=[1, 9]), REWARDS.assign(decision=[1, 7]), "rewards, row 1: there is no decision 7"),
        (GOOD, REWARDS.assign(decision=[2, 2], arm=[1, 1]), "rewards, row 1: the reward of arm 1 of decision 2 is"),
        (GOOD, REWARDS.assign(arm=[0, 2]), "rewards, row 1: the arm is 2"),
        (GOOD, REWARDS.assign(reward=[1.0, np.inf]), "rewards, row 1: the reward is inf"),
        (GOOD, REWARDS.assign(arm=["a", "b"]), "expected arms by number"),
        (GOOD.assign(id=["x", "x"]), REWARDS, "decisions, row 1: the id 'x' is there twice"),
        (GOOD.assign(id=["x", "y"]), REWARDS.assign(decision=["x", "z"]), "rewards, row 1: there is no decision 'z'"),
        (GOOD.assign(probability=[0.5, 1.2]), REWARDS, "decisions, row 1: the probability of the action is 1.2"),
        (GOOD.assign(probability=["a", "b"]), REWARDS, "expected numbers"),
        (GOOD, REWARDS.assign(observation_probability=[0.5, 0.0]), "rewards, row 1: the observation probability is 0"),
        (GOOD, None, "expected a frame of rewards"),
        ([1, 2], REWARDS, "expected a data frame"),
    ],
)
def test_frames_refused(decisions, rewards, message):
    if message is None:  # a reward of a decision that is still to come
        assert Log.from_frames(decisions, rewards, n_arms=2).summary().unmatched == 1
        return
    with pytest.raises(LogError, match=re.escape(message)):
        Log.from_frames(decisions, rewards, n_arms=2).to_batch()


@pytest.fixture
def folder(tmp_path):
    logged(n=50).log.write(tmp_path / "log")
    return tmp_path / "log"


def rewrite(path: Any, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def replaced(column: str, values: list[Any], kind: pa.DataType | None = None) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        made = pa.array(values, rows[column].type if kind is None else kind)
        return rows.set_column(rows.column_names.index(column), column, made)

    return change


def stamped(**changes: Any) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        stamp = json.loads(rows.schema.metadata[STAMP]) | changes
        return rows.replace_schema_metadata({STAMP: json.dumps(stamp).encode()})

    return change


def test_truncated_files_refused(folder):
    path = folder / "decisions" / "000000.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(LogError, match=r"decisions/000000.parquet is truncated or damaged"):
        Log.read(folder)


def test_damaged_pages_are_found_refused(folder):
    path = folder / "rewards" / "000000.parquet"
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(LogError, match="damaged"):
        Log.read(folder).to_batch()


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("rewards", lambda rows: rows.drop_columns(["arm"]), "rewards/000000.parquet: the column arm is missing"),
        ("rewards", lambda rows: rows.replace_schema_metadata({}), "has no stamp of a log"),
        ("decisions", stamped(version=2), "decisions/000000.parquet has log version 2; expected 1"),
        ("decisions", stamped(n_arms=9), "decisions/000000.parquet has n_arms 9; expected 5"),
        ("decisions", stamped(format="other"), "has format 'other'"),
        ("graphs", replaced("edges", [[0, 9]], pa.list_(pa.int32())), "graphs/000000.parquet, row 0"),
    ],
)
def test_files_that_do_not_fit_refused(folder, table, change, message):
    rewrite(folder / table / "000000.parquet", change)
    with pytest.raises(LogError, match=re.escape(message)):
        Log.read(folder)


@pytest.mark.parametrize(
    "change",
    [
        *({"n_arms": n} for n in (0, -3, "x", 10**12, 2.5, True)),
        *({"context_shape": shape} for shape in ("a", [-1], [4], 7)),
        *({"arms": arms} for arms in (["a"], list("aabcd"), 3)),
        {"context_names": 3},
    ],
)
def test_stamps_that_make_no_sense_refused(folder, change):
    stamp = json.loads((folder / "log.json").read_text())
    (folder / "log.json").write_text(json.dumps(stamp | change))
    with pytest.raises(LogError, match=next(iter(change))):
        Log.read(folder)


def test_log_json_that_is_no_text_refused(folder):
    (folder / "log.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LogError, match="is not JSON"):
        Log.read(folder)


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("decisions", replaced("id", list(range(50))[::-1]), "decisions, row 1: the id 48 follows 49"),
        (
            "decisions",
            replaced("context", [[1.0, None, 2.0]] + [[0.0] * 3] * 49, pa.list_(pa.float64())),
            "row 0: context has values that are missing",
        ),
        ("decisions", replaced("available", [[0, None]] + [None] * 49), "row 0: available has an empty entry"),
        ("graphs", replaced("graph", [None]), "graphs, row 0: graph is empty"),
        ("graphs", replaced("edges", [None]), "graphs/000000.parquet, row 0: edges is empty"),
        ("graphs", lambda rows: rows.slice(0, 0), "decisions, row 0: there is no graph 0"),
    ],
)
def test_rows_with_gaps_say_where_refused(folder, table, change, message):
    rewrite(folder / table / "000000.parquet", change)
    with pytest.raises(LogError, match=re.escape(message)):
        Log.read(folder).to_batch()


@pytest.mark.parametrize("text", ["{", '{"format": "graphbandit-log"}', "[]", '{"format": "x", "version": 1}'])
def test_log_json_refused(folder, text):
    (folder / "log.json").write_text(text)
    with pytest.raises(LogError, match=r"log.json"):
        Log.read(folder)


@pytest.mark.parametrize("folder", [None, 3, ""])
def test_paths_that_are_none_refused(folder):
    for use in (Log.read, logged(n=3).log.write, lambda path: LogWriter(path, n_arms=2)):
        with pytest.raises(LogError, match=f"the folder is {folder!r}; expected the path of a log"):
            use(folder)


def test_no_log_there_refused(tmp_path):
    with pytest.raises(LogError, match="is not a log"):
        Log.read(tmp_path / "nothing")


def test_rows_that_contradict_each_other_say_where_refused(folder):
    p = Log.read(folder).to_batch().probability.copy()
    p[33] = 0.0
    rewrite(folder / "decisions" / "000000.parquet", replaced("probability", p))
    with pytest.raises(LogError, match="decisions, row 33"):
        list(Log.read(folder).batches(8))
