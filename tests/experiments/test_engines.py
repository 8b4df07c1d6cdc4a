"""Engines: the same bytes from all of them, whatever dies on the way."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import graphbandit as gb
from graphbandit.errors import EngineError, SettingError
from graphbandit.experiments import Cluster, InProcess, Processes, load, run
from graphbandit.experiments.describe.grids import Point
from graphbandit.experiments.describe.planned_runs import Conditions, PlannedRun, planned_runs
from graphbandit.experiments.results import files
from graphbandit.experiments.results.reading import part_files
from graphbandit.experiments.running.engines.base import DEATHS
from graphbandit.experiments.running.engines.cluster import _check_version
from graphbandit.experiments.running.tasks import Task, run_task
from tests.experiments.test_files import arrays_file
from tests.helpers.commands import invoke, refusal
from tests.helpers.experiment_samples import SMALL, content

CONDITIONS = Conditions(rounds=16, seed=0, horizon_known=True, curve_points=4, decisions=False)
LONGER = replace(SMALL, rounds=300, repeats=6)
STARTER = Path(gb.__file__).parent / "experiments" / "describe" / "starter.toml"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("undisturbed") / "out"
    run(LONGER, out=directory, engine=InProcess())
    return directory


class KillOneWorker:
    """Kills a worker process with SIGKILL once a third of the runs is done."""

    def __init__(self) -> None:
        self.killed: list[int] = []

    def __call__(self, progress: gb.experiments.Progress) -> None:
        if not self.killed and 3 * progress.done >= progress.total:
            workers = multiprocessing.active_children()
            assert len(workers) == 2
            os.kill(workers[0].pid, signal.SIGKILL)
            self.killed.append(workers[0].pid)


# Dask's own threads may still be closing sockets when the interpreter looks at them.
quiet_dask = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("engine", [Processes(2), pytest.param(Cluster("local", 2), marks=quiet_dask)], ids=repr)
def test_another_engine_with_a_worker_killed_gives_the_same_bytes(engine, undisturbed, tmp_path):
    kill = KillOneWorker()
    results = run(LONGER, out=tmp_path / "out", engine=engine, progress=kill)
    assert len(kill.killed) == 1
    assert results.failures == []
    assert len(set(results.runs.column("key").to_pylist())) == results.runs.num_rows == LONGER.n_runs
    assert content(tmp_path / "out") == content(undisturbed)
    assert not part_files(tmp_path / "out")
    workers = set(results.timings.column("worker").to_pylist())
    assert f"{os.getpid()}" not in {worker.split(":")[1] for worker in workers}


def test_another_engine_gives_the_same_bytes(undisturbed, tmp_path):
    run(LONGER, out=tmp_path / "out", engine=Processes(2))
    assert content(tmp_path / "out") == content(undisturbed)


class Poison:
    """Ends the process that unpickles it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (7,)


def test_a_run_that_kills_its_worker_again_and_again_is_given_up():
    runs = planned_runs(SMALL)[:5]
    poisoned = PlannedRun("x" * 24, runs[0].environment, Point("bad", "bad", "Falcon", {"eta": Poison()}), 0)
    tasks = [Task(CONDITIONS, (runs[0], poisoned, runs[1])), Task(CONDITIONS, tuple(runs[2:]))]
    results = list(Processes(2).results(tasks))
    failures = [failure for result in results for failure in result.failures]
    assert [failure.run for failure in failures] == [poisoned]
    assert f"ended with exit code 7, {DEATHS} times" in failures[0].error
    done = [key for result in results if result.rows is not None for key in result.rows.column("key").to_pylist()]
    assert sorted(done) == sorted(each.key for each in runs)


def test_workers_end_when_results_are_no_longer_wanted():
    results = Processes(2).results(Task(CONDITIONS, (each,)) for each in planned_runs(SMALL))
    next(results)
    assert multiprocessing.active_children()
    results.close()
    assert not multiprocessing.active_children()


def failing_experiment(folder: Path) -> gb.experiments.Experiment:
    """Its data file is there when it is checked, and gone when it is run."""
    arrays_file(folder / "data.npz")
    (folder / "experiment.toml").write_text(
        '[experiment]\nname = "failing"\nrounds = 20\nrepeats = 2\n'
        '[environments.data]\nkind = "arrays"\nfile = "data.npz"\nnoise = 0.5\n'
        '[environments.star]\nkind = "paper"\ngraph = "star"\nn_arms = 5\n'
        '[learners.greedy]\nkind = "Greedy"\n[learners.FALCON]\nkind = "Falcon"\n'
    )
    return load(folder / "experiment.toml")


@pytest.mark.parametrize("engine", [InProcess(), Processes(2)], ids=repr)
def test_a_failing_run_is_reported_and_the_rest_goes_on(engine, tmp_path):
    experiment = failing_experiment(tmp_path)
    hidden = tmp_path / "hidden.npz"

    def hide(progress: gb.experiments.Progress) -> None:
        if (tmp_path / "data.npz").exists():
            (tmp_path / "data.npz").rename(hidden)

    results = run(experiment, out=tmp_path / "out", engine=engine, progress=hide)
    assert results.runs.num_rows == 4
    assert set(results.runs.column("environment").to_pylist()) == {"star"}
    assert len(results.failures) == 4
    failure = results.failures[0]
    assert "Traceback" in failure["error"]
    assert "does not exist" in failure["error"]
    assert failure["settings"]["environment"]["file"].endswith("data.npz")
    assert failure["environment"] == "data"
    # in company of others only the one that fails is lost, and once it can be run, only it is run
    hidden.rename(tmp_path / "data.npz")
    seen = []
    again = run(experiment, out=tmp_path / "out", engine=engine, progress=lambda p: seen.append(p.done))
    assert again.failures == []
    assert again.runs.num_rows == 8
    assert seen[0] == 4


def test_the_exit_code_and_the_output_tell_of_failures(tmp_path, monkeypatch):
    failing_experiment(tmp_path)
    monkeypatch.setattr("graphbandit.experiments.running.tasks.run_repeat", lambda *a, **k: 1 / 0)
    result = invoke("run", tmp_path / "experiment.toml", "--workers", 1, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "failing: 0 of 8 runs" in result.stdout
    assert "8 of 8 runs failed" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    assert "'kind': 'Greedy'" in result.stderr
    shown = invoke("show", tmp_path / "out")
    assert "8 of 8 runs failed" in shown.stderr
    assert len(json.loads((tmp_path / "out" / "failures.json").read_text())) == 8


def test_a_cluster_that_cannot_be_reached_is_named(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(EngineError, match="tcp://nowhere:1 cannot be reached"):
        run(SMALL, out=tmp_path, engine=Cluster("tcp://nowhere:1"))


def test_a_cluster_of_another_version_is_refused():
    result = run_task(Task(CONDITIONS, ()))
    _check_version(result)
    rows = files.part([dict.fromkeys(files.PART_SCHEMA.names) | {"graphbandit": "0.0.1"}])
    with pytest.raises(EngineError, match=r"the cluster has graphbandit 0\.0\.1; expected"):
        _check_version(replace(result, rows=rows))


def test_bad_engines_are_refused(tmp_path):
    with pytest.raises(SettingError, match=r"engine is 'local'; expected InProcess"):
        run(SMALL, engine="local")
    with pytest.raises(SettingError, match=r"experiment is 'small\.toml'; expected an Experiment"):
        run("small.toml")
    for engine in (Processes, lambda n: Cluster("local", n)):
        with pytest.raises(SettingError, match="workers is 0"):
            engine(0)
    shutil.copy(STARTER, tmp_path / "s.toml")
    assert "expected an address" in refusal("run", tmp_path / "s.toml", "--cluster", "somewhere")


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import graphbandit as gb\n"
        f"e = gb.experiments.load({str(STARTER)!r})\n"
        f"gb.experiments.run(e, out={str(tmp_path / 'out')!r}, engine=gb.experiments.Processes(1))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "if __name__ == '__main__'" in done.stderr
