"""Data frames of any kind, CSV and Parquet."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphbandit as gb
from graphbandit.errors import LogError, MissingExtraError, SettingError
from graphbandit.evaluation import Log
from graphbandit.interop import frames
from tests.logs.logged import logged
from tests.logs.test_log import same


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_out_and_in_is_the_same_log(kind):
    made = logged(n=40, columns={"country": np.array(["DE", "FR"] * 20)})
    tables = frames.to_frames(made.log, kind)
    assert type(tables["decisions"]).__module__.partition(".")[0] == kind
    back = Log.from_frames(tables["decisions"], tables["rewards"], graphs=tables["graphs"], n_arms=5)
    same(back, made.log)
    assert back.to_batch().columns["country"].tolist() == made.log.to_batch().columns["country"].tolist()


CSV = "age,hour,action,p_tea,p_cake,reward\n31,8,tea,0.5,0.5,1\n20,9,cake,0.25,0.75,0\n"
SETTINGS = {"context": ["age", "hour"], "probabilities": ["p_tea", "p_cake"], "arms": ["tea", "cake"]}


def numbered(text):
    return text.replace("tea,", "0,").replace("cake,", "1,").replace("p_0", "p_tea").replace("p_1", "p_cake")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_of_one_row_a_round(ending, tmp_path):
    path = tmp_path / f"log.{ending}"
    if ending == "csv":
        path.write_text(numbered(CSV))
    else:
        columns = {"age": [31, 20], "hour": [8, 9], "action": [0, 1], "p_tea": [0.5, 0.25], "p_cake": [0.5, 0.75]}
        pq.write_table(pa.table(columns | {"reward": [1.0, 0.0]}), path)
    log = frames.read(path, **SETTINGS)
    batch = log.to_batch()
    assert log.arms == ("tea", "cake")
    assert batch.contexts.tolist() == [[31, 8], [20, 9]]
    assert batch.probability.tolist() == [0.5, 0.75]
    assert batch.rewards[[0, 1], [0, 1]].tolist() == [1, 0]


def test_rewards_of_their_own(tmp_path):
    (tmp_path / "d.csv").write_text("action,probability\n0,0.5\n1,0.5\n")
    (tmp_path / "r.csv").write_text("decision,arm,reward\n1,0,0.25\n0,0,1\n1,1,0.5\n")
    graph = gb.graphs.complete(2)
    log = frames.read(tmp_path / "d.csv", rewards=tmp_path / "r.csv", graphs=graph)
    assert np.array_equal(log.to_batch().rewards, [[1, np.nan], [0.25, 0.5]], equal_nan=True)


BAD = [
    ("age,action,reward\n1,0,1\n", {}, "the column probability is missing"),
    (numbered(CSV).replace("0.5,0.5", "0.5,0.6"), SETTINGS, "log.csv, line 2: the probabilities sum to 1.1"),
    (numbered(CSV).replace(",1,0.25", ",7,0.25"), SETTINGS | {"probabilities": None}, "the column probability"),
    (
        "action,probability,reward\n0,0.5,1\n1,0,1\n",
        {"n_arms": 2},
        "log.csv, line 3: the probability of",
    ),
    ("action,probability,reward\n0,0.5,1\n0,1,\n5,1,1\n", {"n_arms": 2}, "log.csv, line 4: the arm is 5"),
    ("action,probability,reward\ntea,0.5,1\njam,1,1\n", {"arms": ["tea", "cake"]}, "log.csv, line 3: action is 'jam'"),
    ("a,b\n1\n", {}, "cannot be read"),
]


@pytest.mark.parametrize(("text", "settings", "message"), BAD, ids=range(len(BAD)))
def test_bad_tables_are_refused_with_their_line(text, settings, message, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(LogError, match=re.escape(message)):
        frames.read(tmp_path / "log.csv", **settings)


def test_other_files_and_kinds_are_refused(tmp_path, monkeypatch):
    (tmp_path / "log.xlsx").write_text("")
    with pytest.raises(LogError, match=r"ends in '\.xlsx'; expected \.csv, \.csv\.gz or \.parquet"):
        frames.read(tmp_path / "log.xlsx")
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    with pytest.raises(LogError, match="cannot be read"):
        frames.read(tmp_path / "log.parquet")
    log = Log.from_arrays(actions=[0], probabilities=[[1.0]], rewards=[1.0])
    with pytest.raises(SettingError, match="library is 'excel'"):
        frames.to_frames(log, "excel")
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"polars is needed for this: pip install 'graphbandit\[polars\]'"):
        frames.to_frames(log, "polars")
