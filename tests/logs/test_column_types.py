"""Columns of other types than the format's: cast if no value changes, refused by file, column and type otherwise."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphbandit.errors import LogError
from graphbandit.evaluation import Log, LogWriter, evaluate
from tests.logs.logged import logged
from tests.logs.test_log import same


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = logged(n=50, columns={"country": np.array(["de", "fr"] * 25)})
    Log.from_arrays(**made.arrays, arms=list("abcde")).write(tmp_path / "log")
    return tmp_path / "log"


def recast(folder: Path, table: str, column: str, change: Any) -> None:
    """Write a column anew, as another program may have done."""
    path = folder / table / "000000.parquet"
    rows = pq.read_table(path)
    values = change(rows[column]) if callable(change) else rows[column].cast(change)
    pq.write_table(rows.set_column(rows.column_names.index(column), column, values), path)


def names(column: pa.ChunkedArray) -> pa.Array:
    return pa.array(["abcde"[i] for i in column.to_pylist()])


@pytest.mark.parametrize(
    ("table", "column", "change"),
    [
        *(("rewards", "reward", kind) for kind in (pa.int32(), pa.int64(), pa.float32(), pa.decimal128(5, 2))),
        ("rewards", "reward", lambda column: pc_bool(column)),
        ("rewards", "reward", lambda column: column.combine_chunks().dictionary_encode()),
        *(("rewards", "decision", kind) for kind in (pa.int32(), pa.uint16(), pa.float64(), pa.decimal128(19, 0))),
        *(("decisions", "id", kind) for kind in (pa.int32(), pa.uint64(), pa.float32(), pa.decimal128(19, 0))),
        ("decisions", "id", lambda column: column.combine_chunks().dictionary_encode()),
        ("decisions", "action", pa.int8()),
        ("decisions", "action", names),
        ("decisions", "action", lambda column: names(column).dictionary_encode()),
        ("rewards", "arm", lambda column: names(column).cast(pa.large_string())),
        ("decisions", "context", pa.large_list(pa.float64())),
        ("decisions", "graph", pa.int16()),
        ("decisions", "country", pa.large_string()),
        ("decisions", "country", lambda column: column.combine_chunks().dictionary_encode()),
        ("graphs", "graph", pa.int32()),
        ("graphs", "edges", pa.large_list(pa.int64())),
    ],
)
def test_numbers_and_text_of_other_types(folder, tmp_path, table, column, change):
    before = Log.read(folder)
    want = before.to_batch(), before.reward_range
    recast(folder, table, column, change)
    log = Log.read(folder)
    same(before, log)
    assert log.reward_range == want[1]
    assert log.to_batch().columns["country"].tolist() == want[0].columns["country"].tolist()
    log.write(tmp_path / "again")
    same(before, Log.read(tmp_path / "again"))
    with LogWriter(folder) as writer:
        assert writer.next_id == 50


def pc_bool(column: pa.ChunkedArray) -> pa.Array:
    return pa.array([value > 0.5 for value in column.to_pylist()])


@pytest.mark.parametrize(
    ("table", "column", "change", "message"),
    [
        ("rewards", "reward", pa.string(), "rewards/000000.parquet: reward has type string; expected numbers (double)"),
        (
            "decisions",
            "id",
            pa.string(),
            "decisions/000000.parquet: id has type string; expected whole",
        ),
        ("decisions", "probability", pa.string(), "probability has type string; expected numbers (double)"),
        ("decisions", "graph", pa.string(), "graph has type string; expected whole numbers (int64)"),
        (
            "decisions",
            "context",
            lambda column: pa.array(["x"] * len(column)),
            "context has type string; expected lists of numbers (double)",
        ),
        ("decisions", "time", lambda column: pa.array([1.5] * len(column)), "time has type double; expected timestamp"),
        (
            "rewards",
            "decision",
            lambda column: pa.array([*column.to_pylist()[:-1], 3.5]),
            "decision is 3.5 and has type double in rewards/000000.parquet; expected whole numbers (int64)",
        ),
        ("decisions", "id", lambda column: pa.array([2**63 + i for i in range(50)], pa.uint64()), "row 0: id is 9223"),
        (
            "rewards",
            "reward",
            lambda column: pa.array([2**60 + 1, *[0] * (len(column) - 1)]),
            "rewards, row 0: reward is 1152921504606846977 and has type int64",
        ),
        (
            "decisions",
            "action",
            lambda column: pa.array(["nobody"] * 50),
            "decisions, row 0: action is 'nobody'; expected one of the names in arms",
        ),
    ],
)
def test_types_that_do_not_fit_are_refused(folder, table, column, change, message):
    recast(folder, table, column, change)
    with pytest.raises(LogError, match=re.escape(message)):
        Log.read(folder).to_batch()


def test_names_of_arms_need_a_log_that_has_them(tmp_path):
    logged(n=20).log.write(tmp_path / "log")
    recast(tmp_path / "log", "decisions", "action", names)
    with pytest.raises(LogError, match=r"000000.parquet: action has type string; expected whole numbers \(int32\)"):
        Log.read(tmp_path / "log")


def test_values_do_not_depend_on_the_types(folder):
    before = evaluate(Log.read(folder), ["uniform"], method="graph-ips")["uniform"]
    recast(folder, "rewards", "reward", pa.int32())
    recast(folder, "decisions", "action", names)
    assert evaluate(Log.read(folder), ["uniform"], method="graph-ips")["uniform"] == before


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("encoded", [False, True])
def test_frames_with_text_of_any_kind(text, encoded):
    def column(values: list[str]) -> pa.Array:
        made = pa.array(values).cast(text)
        return made.cast(pa.string()).dictionary_encode() if encoded else made

    decisions = pa.table({"id": column(["x", "y"]), "action": column(["b", "a"]), "probability": [0.5, 0.25]})
    rewards = pa.table({"decision": column(["y", "x"]), "arm": ["a", "b"], "reward": pa.array([1, 0], pa.int8())})
    batch = Log.from_frames(decisions, rewards, arms=["a", "b"]).to_batch()
    assert batch.actions.tolist() == [1, 0]
    assert batch.rewards[0, 1] == 0.0
    assert batch.rewards[1, 0] == 1.0
    assert batch.columns["key"].tolist() == ["x", "y"]


def test_frames_with_numbers_of_other_types():
    decisions = pd.DataFrame({"id": [1.0, 2.0], "action": [0.0, 1.0], "probability": np.float32([0.5, 0.25])})
    rewards = pa.table({"decision": [Decimal(1), Decimal(2)], "arm": [0, 1], "reward": [Decimal("0.5"), Decimal("1")]})
    batch = Log.from_frames(decisions, rewards, n_arms=2).to_batch()
    assert batch.rewards[[0, 1], [0, 1]].tolist() == [0.5, 1.0]
    with pytest.raises(LogError, match=r"row 1: action is 0.5 and has type double"):
        Log.from_frames(decisions.assign(action=[0, 0.5]), rewards, n_arms=2)


def test_a_text_among_numbers_is_named():
    decisions = pd.DataFrame({"action": [0, 1], "probability": [0.5, 0.5], "reward": ["1", "x"]})
    with pytest.raises(LogError, match=r"rewards, row 1: reward is 'x'; expected numbers \(double\)"):
        Log.from_frames(decisions, n_arms=2)
    with pytest.raises(LogError, match="a column reward among 'action', 'probability', 'earned'"):
        Log.from_frames(decisions.rename(columns={"reward": "earned"}), n_arms=2)


def test_files_may_have_other_further_columns(folder):
    made = logged(n=10)
    with LogWriter(folder, columns={"shop": pa.int64()}) as writer:
        writer.append_decisions(
            contexts=made.arrays["contexts"],
            graphs=made.arrays["graphs"],
            actions=made.arrays["actions"],
            probabilities=made.arrays["probabilities"],
            columns={"shop": np.arange(10)},
        )
    log = Log.read(folder)
    assert sorted(log.columns) == ["country", "shop"]
    for size in (7, 60):
        batches = list(log.batches(size))
        countries = [c for batch in batches for c in batch.columns["country"].tolist()]
        assert countries == ["de", "fr"] * 25 + [None] * 10
        assert np.concatenate([batch.columns["shop"] for batch in batches])[50:].tolist() == list(range(10))
