"""Results: nothing is run twice, nothing is lost, and they can be read at any time."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphbandit as gb
from graphbandit.errors import InputError, SavedFileError
from graphbandit.experiments import Grid, InProcess, Progress, Results, run, run_all
from graphbandit.experiments.describe.planned_runs import planned_runs
from graphbandit.experiments.results import files
from graphbandit.experiments.results.reading import part_files
from graphbandit.rounds.decisions import ARRAYS
from tests.helpers.experiment_samples import SMALL, content, small_results


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Results:
    return small_results(tmp_path_factory.mktemp("small") / "out")


def run_new(experiment: gb.experiments.Experiment, out: Path) -> tuple[Results, int]:
    """The results, and how many runs had to be done for them."""
    seen: list[Progress] = []
    results = run(experiment, out=out, engine=InProcess(), progress=seen.append)
    return results, seen[-1].done - seen[0].finished_before


def test_tables(small):
    assert small.experiment.name == "small"
    assert (small.experiment.rounds, small.experiment.repeats, small.experiment.seed) == (64, 3, 5)
    assert small.runs.num_rows == small.n_planned == SMALL.n_runs == 36
    assert small.runs.column_names == [
        *("key", "environment", "learner", "repeat", "rounds", "regret"),
        *("environment.graph", "environment.n_arms", "environment.reward_scale", "learner.eta", "learner.kind"),
        "settings",
    ]
    assert small.environments == ["star n_arms=6", "star n_arms=9", "cliques"]
    assert small.learners == ["ours eta=0.5", "ours eta=1.0", "FALCON", "uniform"]
    types = [small.runs.schema.field(name).type for name in ("key", "repeat", "rounds", "regret", "environment.n_arms")]
    assert types == [pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.int64()]
    row = small.runs.slice(3, 1).to_pylist()[0]
    assert (row["environment"], row["learner"], row["repeat"]) == ("star n_arms=6", "ours eta=1.0", 0)
    assert json.loads(row["settings"])["environment"]["n_functions"] == 50
    uniform = small.runs.filter(pa.compute.equal(small.runs.column("learner"), "uniform")).to_pylist()[0]
    assert uniform["learner.eta"] is None
    assert small.timings.column("key").to_pylist() == small.runs.column("key").to_pylist()
    assert min(small.timings.column("seconds").to_pylist()) > 0
    assert set(small.timings.column("graphbandit").to_pylist()) == {gb.__version__}


def test_runs_are_those_of_simulate(small):
    environment = gb.environments.paper(graph="star", n_arms=9, reward_scale=4.0)
    for label, name, learner in [
        ("FALCON", "FALCON", gb.Falcon()),
        ("ours eta=0.5", "ours", gb.AdaCBG(eta=0.5)),
        ("ours eta=1.0", "ours", gb.AdaCBG(eta=1.0)),
    ]:
        alone = gb.simulate({name: learner}, environment, rounds=64, repeats=3, seed=5)
        assert small.regret("star n_arms=9", label).tolist() == alone.regret[name][:, -1].tolist()
        key = small.runs.filter(
            (pa.compute.field("environment") == "star n_arms=9") & (pa.compute.field("learner") == label)
        ).column("key")[1]
        curve = small.curves.filter(pa.compute.field("key") == key)
        rounds = curve.column("round").to_numpy()
        assert curve.column("regret").to_pylist() == alone.regret[name][1, rounds - 1].tolist()
        if name == "FALCON":
            assert {2, 4, 8, 16, 32} <= set(rounds)  # the ends of epochs
        assert rounds[0] == 1
        assert rounds[-1] == 64


def test_unknown_labels_are_refused(small):
    with pytest.raises(InputError, match=r"environment is 'tree'; expected one of 'star n_arms=6'"):
        small.regret("tree", "FALCON")
    with pytest.raises(InputError, match="learner is 'ours'"):
        small.regret("cliques", "ours")


def test_pandas(small):
    frame = small.to_pandas()
    assert len(frame) == 36
    assert frame.groupby("learner")["regret"].mean().idxmin().startswith("ours")


def test_adding_learners_repeats_and_axes_runs_only_what_is_new(tmp_path):
    first = replace(SMALL, repeats=2, learners={"ours": Grid("AdaCBG", {"eta": 0.5}), "uniform": Grid("Uniform")})
    results, new = run_new(first, tmp_path / "out")
    assert new == 3 * 2 * 2
    assert results.learners == ["ours", "uniform"]
    assert run_new(first, tmp_path / "out")[1] == 0
    grown, new = run_new(SMALL, tmp_path / "out")
    assert new == SMALL.n_runs - 3 * 2 * 2
    small_results(tmp_path / "fresh")
    assert content(tmp_path / "out") == content(tmp_path / "fresh")
    assert grown.regret("cliques", "ours eta=0.5")[:2].tolist() == results.regret("cliques", "ours").tolist()


def test_what_is_no_longer_asked_for_is_kept_until_it_is_again(tmp_path):
    small_results(tmp_path / "out")
    before = content(tmp_path / "out")
    fewer = replace(SMALL, learners={"uniform": Grid("Uniform")})
    results, new = run_new(fewer, tmp_path / "out")
    assert new == 0
    assert results.learners == ["uniform"]
    assert results.runs.num_rows == 9
    assert len(part_files(tmp_path / "out")) == 1
    assert run_new(fewer, tmp_path / "out")[1] == 0
    assert run_new(SMALL, tmp_path / "out")[1] == 0
    assert content(tmp_path / "out") == before
    assert not part_files(tmp_path / "out")


def test_the_folder_of_another_experiment_is_refused(tmp_path):
    small_results(tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with pytest.raises(SavedFileError, match=r"holds the results of the experiment 'small'; expected another folder"):
        run(replace(SMALL, name="other"), out=tmp_path / "out", engine=InProcess())
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize(
    "change",
    [{"rounds": 32}, {"seed": 6}, {"horizon_known": False}, {"curve_points": 13}, {"decisions": True}],
    ids=lambda change: next(iter(change)),
)
def test_whatever_changes_a_result_makes_another_run(change):
    keys = [{each.key for each in planned_runs(e)} for e in (SMALL, replace(SMALL, **change))]
    assert keys[0].isdisjoint(keys[1])


def test_defaults_and_ways_of_writing_do_not_make_another_run():
    def keys(settings):
        return [
            each.key
            for each in planned_runs(replace(SMALL, name="x", repeats=1, learners={"ours": Grid("AdaCBG", settings)}))
        ]

    assert keys({"eta": 1_000}) == keys({"eta": [1e3]}) == keys({"radius": "natural", "eta": 1000})
    assert keys({}) != keys({"eta": 2})


def test_results_are_readable_while_they_come(tmp_path, monkeypatch):
    monkeypatch.setattr("graphbandit.experiments.results.writing.FLUSH_SECONDS", 0.0)
    monkeypatch.setattr("graphbandit.experiments.results.writing.MANY_PARTS", 3)
    monkeypatch.setattr("graphbandit.experiments.running.runner.TASK_SECONDS", 0.0)
    seen = []

    def look(progress: Progress) -> None:
        results = Results.open(tmp_path / "out")
        keys = results.runs.column("key").to_pylist()
        assert len(keys) == len(set(keys)) == progress.done
        assert results.timings.num_rows == len(keys)
        assert set(results.curves.column("key").to_pylist()) == set(keys)
        assert results.n_planned == 36
        assert len(part_files(tmp_path / "out")) <= 4
        seen.append(progress.done)

    run(SMALL, out=tmp_path / "out", engine=InProcess(), progress=look)
    assert seen == list(range(37))
    small_results(tmp_path / "fresh")
    assert content(tmp_path / "out") == content(tmp_path / "fresh")


def test_a_finished_experiment_is_on_disk_while_others_run(tmp_path, monkeypatch):
    """The last rows of the first of several experiments do not wait for the end of the last."""
    monkeypatch.setattr("graphbandit.experiments.results.writing.FLUSH_SECONDS", 0.0)
    first, second = (replace(SMALL, name=name, repeats=1, seed=seed) for name, seed in (("one", 1), ("two", 2)))

    def look(states: Sequence[Progress]) -> None:
        for name, state in zip(("one", "two"), states, strict=True):
            assert Results.open(tmp_path / name).runs.num_rows == state.done

    run_all([(first, tmp_path / "one"), (second, tmp_path / "two")], engine=InProcess(), progress=look)


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_a_kill_between_the_files_of_a_merge_loses_nothing(written, tmp_path, monkeypatch):
    """A merge that dies after 0 to 3 of its files, over older merged files."""

    class KilledError(Exception):
        pass

    small_results(tmp_path / "fresh")
    out = tmp_path / "out"
    run(replace(SMALL, repeats=2), out=out, engine=InProcess())
    with monkeypatch.context() as patch:
        left = [written]
        write = files.write

        def failing(path: Path, *rows: object) -> None:
            if path.name in ("runs.parquet", "curves.parquet", "timings.parquet"):
                if not left[0]:
                    raise KilledError
                left[0] -= 1
            write(path, *rows)

        patch.setattr("graphbandit.experiments.results.writing.files.write", failing)
        patch.setattr(
            "graphbandit.experiments.results.writing._remove", lambda paths: (_ for _ in ()).throw(KilledError)
        )
        with pytest.raises(KilledError):
            run(SMALL, out=out, engine=InProcess())
    torn, fresh = Results.open(out), Results.open(tmp_path / "fresh")
    assert torn.runs.equals(fresh.runs)
    assert torn.curves.equals(fresh.curves)
    assert torn.timings.num_rows == 36
    (out / ".curves.parquet.0000.part").write_bytes(b"half a fi")
    assert run_new(SMALL, out)[1] == 0
    assert content(out) == content(tmp_path / "fresh")
    assert not list(out.glob(".*.part"))


def test_decisions_are_kept_on_request(tmp_path):
    experiment = replace(SMALL, repeats=1, decisions=True, learners={"FALCON": Grid("Falcon")})
    results = run(experiment, out=tmp_path, engine=InProcess())
    key = results.runs.column("key")[0].as_py()
    log = results.decisions(key)
    environment = gb.environments.paper(graph="star", n_arms=6, reward_scale=4.0)
    alone = gb.simulate({"FALCON": gb.Falcon()}, environment, rounds=64, seed=5, keep_decisions=True)
    decisions = alone.decisions["FALCON"][0]
    assert log.column("round").to_pylist() == list(range(1, 65))
    assert log.column("action").to_pylist() == decisions.action.tolist()
    np.testing.assert_array_equal(np.array(log.column("probabilities").to_pylist()), decisions.probabilities)
    assert set(log.column_names) == {"round", *ARRAYS} - {"notes"}
    with pytest.raises(InputError, match="no decisions were kept"):
        results.decisions("0" * 24)


def test_damaged_and_foreign_directories_are_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(SavedFileError, match="mine is there and holds no results"):
        small_results(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    with pytest.raises(SavedFileError, match="holds no results"):
        Results.open(tmp_path / "mine")
    with pytest.raises(SavedFileError, match="holds no results"):
        Results.open(tmp_path / "gone")
    (tmp_path / "file").write_text("")
    with pytest.raises(SavedFileError, match="file is there and holds no results"):
        small_results(tmp_path / "file")
    out = tmp_path / "out"
    small_results(out)
    (out / "curves.parquet").write_bytes(b"PAR1 no longer")
    with pytest.raises(SavedFileError, match=r"curves\.parquet is damaged"):
        Results.open(out)
    parquet.write_table(pa.table({"key": ["a"]}), out / "curves.parquet")
    with pytest.raises(SavedFileError, match="not of graphbandit's results"):
        Results.open(out)


def test_a_run_killed_before_its_plan_was_written_can_be_started_again(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / ".lock").write_text("1")
    (tmp_path / ".plan.parquet.00.part").write_text("half")
    assert small_results(tmp_path).runs.num_rows == 36


def test_without_a_directory_results_are_in_memory_only(small):
    results = run(SMALL, engine=InProcess())
    assert results.runs.equals(small.runs)
    assert not results.folder.exists()
