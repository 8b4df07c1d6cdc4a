"""Experiment files: what is wrong is told with its line, before anything is written."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import ExperimentError
from graphbandit.experiments import Experiment, Grid, load
from graphbandit.experiments.describe.planned_runs import planned_runs
from graphbandit.experiments.describe.toml_reader import line_of
from graphbandit.experiments.describe.toml_writer import to_toml
from graphbandit.studies.study import STARTER, packaged_names, packaged_text, study_named
from tests.helpers.commands import refusal, succeed
from tests.helpers.processes import printed

GOOD = """\
# a comment
[experiment]
name = "sweep"
rounds = 16
repeats = 2

[environments.star]
kind = "paper"
graph = "star"
n_arms = [
    5,
    6,
]

[learners.ours]
kind = "AdaCBG"
eta = [0.5, 1.0]

[learners."AdaCB.G, plain"]
kind = "AdaCBG"
"""

BAD = [
    # (what is replaced, what by, line, message)
    ("[experiment]", "[experimnt]", 2, "unknown table or key 'experimnt'; did you mean 'experiment'?"),
    ("[experiment]", "seed = 0\n[experiment]", 2, "unknown table or key 'seed'"),
    ('name = "sweep"', "", 2, "name is missing"),
    ('"sweep"', '"../sweep"', 3, "name is '../sweep'; expected letters"),
    ("rounds = 16", "rounds = 0", 4, "rounds is 0; expected a whole number of at least 1"),
    ("rounds = 16", "rounds = 1.5", 4, "rounds is 1.5; expected a whole number"),
    ("rounds = 16", "rouns = 16", 4, "unknown setting 'rouns'; did you mean 'rounds'?"),
    ("repeats = 2", "repeats = -2", 5, "repeats is -2; expected a whole number of at least 1"),
    ("repeats = 2", "repeats = 2\nseed = -1", 6, "seed is -1"),
    ("repeats = 2", 'repeats = 2\nhorizon_known = "no"', 6, "horizon_known is 'no'; expected True or False"),
    ("repeats = 2", "repeats = 2\ncurve_points = 0", 6, "curve_points is 0"),
    ("repeats = 2", "repeats = ", 5, "not TOML"),
    ("repeats = 2", "rounds = 2", 5, "not TOML"),
    ('kind = "paper"\n', "", 7, "kind is missing; expected one of 'paper', 'arms', 'arrays'"),
    ('kind = "paper"', 'kind = "papr"', 8, "kind is 'papr'; did you mean 'paper'?"),
    ('kind = "paper"', "kind = 3", 8, "kind is 3; expected one of"),
    ('graph = "star"', 'graph = "tree"', 9, "'tree'; expected one of 'bandit'"),
    ('graph = "star"', "graph = 7", 9, "graph is 7"),
    ('graph = "star"', 'graph = "star"\nn_cliques = 2', 10, "unknown setting 'n_cliques' of kind 'paper'"),
    ('graph = "star"', 'graph = "clique_group"\nn_cliques = 9', 10, "n_cliques is 9"),
    ("    6,", "    0,", 10, "n_arms is 0"),
    ("    6,", "    5,", 7, "'star n_arms=5' is there twice"),
    ("[\n    5,\n    6,\n]", "[]", 10, "n_arms is an empty list"),
    ("[\n    5,\n    6,\n]", "2001-01-01", 10, "n_arms is datetime.date(2001, 1, 1); expected text, a number"),
    ("[learners.ours]", "[learner.ours]", 15, "unknown table or key 'learner'; did you mean 'learners'?"),
    ('kind = "AdaCBG"\neta', 'kind = "AdaCBGG"\neta', 16, "kind is 'AdaCBGG'; did you mean 'AdaCBG'?"),
    ("eta = [0.5, 1.0]", "etta = 0.5", 17, "unknown setting 'etta' of kind 'AdaCBG'; did you mean 'eta'?"),
    ("eta = [0.5, 1.0]", "eta = [0.5, -1.0]", 17, "eta is -1.0; expected a finite number above 0"),
    ("eta = [0.5, 1.0]", "eta = [0.5, 0.5]", 15, "'ours eta=0.5' is there twice"),
    ("eta = [0.5, 1.0]", "radius = 'wide'", 17, "radius is 'wide'; expected one of 'natural', 'sharp', 'paper'"),
    ("eta = [0.5, 1.0]", "function_class = 'x'", 17, "function_class is 'x'; expected one of 'linear', 'logistic'"),
    ('[learners.ours]\nkind = "AdaCBG"', "[learners]\nours = 3", 16, "ours is 3; expected a table"),
    ('kind = "paper"', 'kind = "arrays"\nfile = "gone.npz"', 10, "unknown setting 'graph' of kind 'arrays'"),
    ('graph = "star"', 'graph = "network"\nfile = 0', 10, "file is 0; expected the name of a file"),
    (
        'kind = "paper"\ngraph = "star"\nn_arms = [\n    5,\n    6,\n]',
        'kind = "ratings"\ndata = 0',
        9,
        "data is 0; expected",
    ),
    ('graph = "star"', 'graph = "star"\nn_functions = 9223372036854775807', 7, "cannot be built: "),
    ('graph = "star"', 'graph = "random"\ndensity = 1e308', 7, "density = 1e+308"),
    ('graph = "star"\nn_arms = [\n    5,\n    6,\n]', 'kind = "arrays"', 9, "not TOML"),
]


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


@pytest.mark.parametrize(("old", "new", "line", "message"), BAD)
def test_a_mistake_is_told_with_its_line_and_nothing_is_written(old, new, line, message, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(changed(old, new))
    refused = refusal("run", file, "--out", tmp_path / "out")
    assert refused.startswith(f"{file}, line {line}: ")
    assert message in refused
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def arrays_file(path, **changes):
    rng = np.random.default_rng(0)
    arrays = {
        "contexts": rng.normal(size=(20, 3)),
        "rewards": rng.random((20, 4)),
        "graph": np.eye(4, dtype=bool),
        "functions": rng.normal(size=(5, 4, 3)),
    }
    arrays |= changes
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})


def arrays_text(rounds=20, file="data.npz"):
    return f"""\
[experiment]
name = "data"
rounds = {rounds}
repeats = 2

[environments.data]
kind = "arrays"
file = "{file}"
noise = 0.5
shuffle = true

[learners.greedy]
kind = "Greedy"
"""


def test_a_data_file_is_found_beside_the_experiment(tmp_path, monkeypatch):
    arrays_file(tmp_path / "data.npz")
    (tmp_path / "data.toml").write_text(arrays_text())
    monkeypatch.chdir("/")
    results = gb.experiments.run(load(tmp_path / "data.toml"), out=tmp_path / "out", engine=gb.experiments.InProcess())
    assert len(results.regret("data", "greedy")) == 2
    # the copy beside the results leads to the data too, and new data are a new experiment
    copy = load(tmp_path / "out" / "experiment.toml")
    before = {run.key for run in planned_runs(copy)}
    assert before == set(results.runs.column("key").to_pylist())
    arrays_file(tmp_path / "data.npz", rewards=np.zeros((20, 4)))
    assert before.isdisjoint({run.key for run in planned_runs(copy)})


@pytest.mark.parametrize(
    ("text", "changes", "line", "message"),
    [
        (arrays_text(file="gone.npz"), {}, 8, "gone.npz', which does not exist"),
        (arrays_text(file="data.toml"), {}, 8, "is not a .npz file"),
        (arrays_text(rounds=21), {}, 3, "rounds is 21; expected at most the 20 of 'data'"),
        (arrays_text(), {"rewards": None}, 8, "lacks the array 'rewards'"),
        (arrays_text(), {"extra": np.zeros(2)}, 8, "has an unknown array 'extra'"),
        (arrays_text(), {"rewards": np.zeros((19, 4))}, 6, "rewards has shape (19, 4)"),
        (arrays_text(), {"functions": np.zeros(3)}, 8, "expected (functions, arms, d)"),
        (arrays_text(), {"functions": None}, 12, "function_class is None"),
        (arrays_text().replace("0.5", "-0.5"), {}, 9, "noise is -0.5"),
    ],
)
def test_data_that_do_not_fit_are_refused(text, changes, line, message, tmp_path):
    arrays_file(tmp_path / "data.npz", **changes)
    (tmp_path / "data.toml").write_text(text)
    with pytest.raises(ExperimentError, match=re.escape(message)) as caught:
        load(tmp_path / "data.toml")
    assert f"data.toml, line {line}: " in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ExperimentError, match=r"gone.toml cannot be read"):
        load(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xe9")
    with pytest.raises(ExperimentError, match=r"latin.toml cannot be read"):
        load(tmp_path / "latin.toml")


def test_the_same_mistakes_are_refused_in_python():
    star, falcon = {"star": Grid("paper", {"graph": "star"})}, {"FALCON": Grid("Falcon")}
    with pytest.raises(ExperimentError, match=r"experiment.repeats: repeats is -1"):
        Experiment(name="x", rounds=1, repeats=-1, environments=star, learners=falcon)
    with pytest.raises(ExperimentError, match=r"learners.ours.eta: eta is 0"):
        Experiment(name="x", rounds=1, repeats=1, environments=star, learners={"ours": Grid("Falcon", {"eta": 0})})
    with pytest.raises(ExperimentError, match=r"environments: environments is \{\}"):
        Experiment(name="x", rounds=1, repeats=1, environments={}, learners=falcon)
    with pytest.raises(ExperimentError, match=r"star is 'star'; expected a Grid"):
        Experiment(name="x", rounds=1, repeats=1, environments={"star": "star"}, learners=falcon)


def test_a_file_says_the_same_as_python(tmp_path):
    (tmp_path / "good.toml").write_text(GOOD)
    experiment = load(tmp_path / "good.toml")
    assert experiment == Experiment(
        name="sweep",
        rounds=16,
        repeats=2,
        environments={"star": Grid("paper", {"graph": "star", "n_arms": [5, 6]})},
        learners={"ours": Grid("AdaCBG", {"eta": [0.5, 1.0]}), "AdaCB.G, plain": Grid("AdaCBG")},
    )
    assert experiment.n_runs == 2 * 3 * 2
    (tmp_path / "again.toml").write_text(to_toml(experiment, relative_to=tmp_path))
    assert load(tmp_path / "again.toml") == experiment


def test_lines_of_every_way_to_write_a_key():
    text = 'a.b = 1\n"c d".e = """\nx = 1\n"""\n\n[t]\nu = {v = 2}\n[[l]]\nw = 1\n'
    tomllib.loads(text)
    assert line_of(text, ("a", "b")) == 1
    assert line_of(text, ("c d", "e")) == 2
    assert line_of(text, ("t",)) == 6
    assert line_of(text, ("t", "u", "v")) == 7
    assert line_of(text, ("t", "nothing")) == 6
    assert line_of(text, ("l",)) == 8
    assert line_of(text, ()) == 1


@pytest.mark.parametrize(
    "name", [STARTER, "ablation", "clique-table", "leaderboard/linear_still", "exploration/finite"]
)
def test_packaged_experiments_can_be_written_out_and_run(name, tmp_path):
    succeed("new", tmp_path / "new.toml", "--like", name)
    written = load(tmp_path / "new.toml")
    if name == STARTER:
        text = packaged_text(name)
        assert (tmp_path / "new.toml").read_text() == text.replace('"first"', '"new"').replace("/first", "/new")
        assert (written.name, "results/first" in text) == ("new", True)
    else:
        study, file = packaged_names()[name]
        assert written == replace(study_named(study).experiment(file), name="new")
    assert "File exists" in refusal("new", tmp_path / "new.toml")


def test_settings_that_the_starter_offers_in_comments_exist(tmp_path):
    offered = re.findall(
        r"^# (\w+ = \S+)  +#", packaged_text(STARTER).partition("[environments.")[0], flags=re.MULTILINE
    )
    assert len(offered) == 3
    start, after = packaged_text(STARTER).split("[experiment]\n")
    (tmp_path / "all.toml").write_text("\n".join([start, "[experiment]", *offered, after]))
    assert load(tmp_path / "all.toml").repeats == 5


def test_the_example_runs(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "experiment.py"
    assert len(printed(script, cwd=tmp_path).splitlines()) == 6
    assert (tmp_path / "results" / "stars" / "runs.parquet").exists()


def test_a_file_whose_name_no_folder_can_have_is_not_written(tmp_path):
    assert "name is '-x'; expected letters" in refusal("new", tmp_path / "-x.toml")
    assert not list(tmp_path.iterdir())


def test_an_unknown_packaged_experiment_is_refused(tmp_path):
    assert "expected one of 'starter', " in refusal("new", tmp_path / "new.toml", "--like", "nothing")
    assert not list(tmp_path.iterdir())
