"""`graphbandit convert`: by the names of files, with progress and errors that name the line."""

import json

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.evaluation import Log
from graphbandit.interop import convert as converting
from graphbandit.interop import obp, vw
from tests.helpers.commands import invoke
from tests.interop.test_vw import EVENT, same
from tests.logs.logged import logged


def run(*words, ends=0):
    result = invoke("convert", *words)
    assert result.exit_code == ends, result.output
    return result.output


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    return logged(n=40, graph=gb.FeedbackGraphs.from_dense((rng.random((40, 5, 5)) < 0.3) | np.eye(5, dtype=bool)))


@pytest.mark.parametrize("name", ["log.dsjson", "log.txt", "log.npz"])
def test_there_and_back(name, made, tmp_path, monkeypatch):
    monkeypatch.setattr(vw.VwReader.batches, "__defaults__", (16, None))  # in several batches
    made.log.write(tmp_path / "log")
    assert run(tmp_path / "log", tmp_path / name) == f"40 rounds: {tmp_path / name}\n"
    assert "40 rounds" in run(tmp_path / name, tmp_path / "back")
    same(Log.read(tmp_path / "back"), made.log)
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["decisions", "graphs", "log.json", "rewards"]
    run("--from", {"t": "vw-text", "d": "vw-dsjson", "n": "obp"}[name[4]], tmp_path / name, tmp_path / "again")


def test_tables(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("age,action,p0,p1,reward\n31,0,0.5,0.5,1\n20,1,0.25,0.75,0\n")
    options = ["--context", "age", "--probability", "p0", "--probability", "p1", "--arm", "tea", "--arm", "cake"]
    run(path, tmp_path / "log", *options)
    log = Log.read(tmp_path / "log")
    assert log.arms == ("tea", "cake")
    assert log.to_batch().contexts.tolist() == [[31], [20]]


def test_what_is_left_out_is_said(tmp_path):
    path = tmp_path / "log.dsjson"
    path.write_text(json.dumps(EVENT) + "\n" + json.dumps(EVENT | {"_skipLearn": True}) + "\n")
    output = run(path, tmp_path / "log", "--feature", "User.age")
    assert "1 rounds" in output
    assert "left out: 1 x an event that was not activated (_skipLearn)" in output
    assert Log.read(tmp_path / "log").to_batch().contexts.tolist() == [[31]]


def test_progress(made, tmp_path):
    seen = []
    vw.write_dsjson(made.log, tmp_path / "log.dsjson")
    converting.convert(
        tmp_path / "log.dsjson", tmp_path / "log", progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(40, 40)]


TABLE = "city,action,probability,reward\nRome,0,0.5,3\nParis,1,0.5,1\n"
BAD_TABLES = [
    (
        "w,city,arm,reward,p\n1,Rome,a,3,0.5\n",
        [],
        "the columns action, probability are missing; expected at least action, probability, and found w, city, arm",
    ),
    (TABLE, [], "the number of arms is not told; expected --arms, --arm or --probability"),
    (TABLE, ["--arms", "2", "--context", "city"], "--context 'city' has type string; expected numbers"),
    (TABLE, ["--arms", "2", "--context", "town"], "context has town; expected --context and --probability to name"),
    (TABLE.replace(",0,", ",tea,"), [], "expected arms by number, or their names as --arm NAME"),
    (TABLE.replace(",0,", ",jam,"), ["--arm", "tea"], "action is 'jam'; expected one of the names that --arm gives"),
    (TABLE.replace("reward", "sold"), ["--arms", "2"], "there are no rewards; expected --rewards TABLE, or a column"),
]


@pytest.mark.parametrize(("text", "options", "message"), BAD_TABLES, ids=range(len(BAD_TABLES)))
def test_errors_of_tables_name_columns_and_options(text, options, message, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    output = run(tmp_path / "log.csv", tmp_path / "log", *options, ends=2)
    assert message in output
    assert len(output.strip().splitlines()) == 1


BAD = [
    (("nowhere.dsjson", "log"), "nowhere.dsjson does not exist"),
    (("bad.dsjson", "log"), "bad.dsjson, line 2: not JSON"),
    (("log.pkl", "log"), "log.pkl is a pickle, which may run any code when it is read; expected .npz"),
    (("log.xlsx", "log"), "log.xlsx ends in '.xlsx'; expected .dsjson"),
    (("good.dsjson", "other.txt"), "neither good.dsjson nor other.txt is a log"),
    (("good.dsjson", "full"), "full exists already"),
    (("good.dsjson", "log", "--from", "excel"), "--from is 'excel'"),
    (("good.dsjson", "log", "--context", "age"), "context came with a file of vw-dsjson"),
    (("written", "log.csv"), "a log cannot be written as csv"),
    (("good.dsjson", "log", "--contexts", "all"), "--contexts is 'all'"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=lambda value: value[0] if isinstance(value, tuple) else "")
def test_errors_are_one_line_and_leave_nothing_behind(words, message, tmp_path):
    (tmp_path / "good.dsjson").write_text(json.dumps(EVENT))
    (tmp_path / "bad.dsjson").write_text(json.dumps(EVENT) + "\n{")
    for name in ("log.pkl", "log.xlsx"):
        (tmp_path / name).write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    Log.from_arrays(actions=[0], probabilities=[[1.0]], rewards=[1.0]).write(tmp_path / "written")
    before = sorted(tmp_path.iterdir())
    output = run(*(tmp_path / word for word in words[:2]), *words[2:], ends=2)
    assert message in output.replace(f"{tmp_path}/", "")
    assert len(output.strip().splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_damaged_file_of_obp(tmp_path):
    np.savez(tmp_path / "log.npz", action=[0, 1], reward=[1.0, 0.0], n_actions=2, pscore=[0.5, 1.2])
    assert "decisions, row 1: the probability of the action is 1.2" in run(
        tmp_path / "log.npz", tmp_path / "log", ends=2
    )
    np.savez(tmp_path / "good.npz", action=[0, 1], reward=[1.0, 0.0], n_actions=2, pscore=[0.5, 1.0])
    assert len(obp.read(tmp_path / "good.npz")) == 2


def test_help():
    output = run("--help")
    for word in ("SOURCE", "TARGET", "--from", "Vowpal Wabbit", "playing col reveals row", "Example: graphbandit con"):
        assert word in output
    for column in ("action: the arm played", "probability: ", "reward: ", "--context age --arm tea --arm cake"):
        assert column in output
