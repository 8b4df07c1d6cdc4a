"""Commands that are killed or interrupted while they run: nothing is lost, and a resume gives the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from graphbandit.experiments import InProcess, run
from graphbandit.experiments.describe.toml_writer import to_toml
from graphbandit.experiments.results.reading import Results, part_files
from tests.experiments.test_engines import content
from tests.helpers.experiment_samples import SMALL

KILLS = int(os.environ.get("GRAPHBANDIT_TEST_KILLS", "4"))


RUNS = """
import signal, sys
from graphbandit.experiments import InProcess, Processes, load, run
from graphbandit.experiments.results import writing
from graphbandit.experiments.running import runner

file, out, workers, until = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def tell(progress):
    if until == 0 or progress.done > progress.finished_before:
        print(progress.done, flush=True)
        if progress.done >= until:
            signal.pause()  # for as long as it takes to be killed: it never ends by itself

if __name__ == "__main__":
    writing.FLUSH_SECONDS = 0.0  # a part for every result
    runner.TASK_SECONDS = 0.05
    run(load(file), out=out, engine=InProcess() if workers == 1 else Processes(workers), progress=tell)
"""


def killed(file: Path, out: Path, *, workers: int, until: int, wait: float) -> None:
    """Run the experiment, and kill it with SIGKILL so many seconds after it has told of its first result.

    It goes on until so many runs are done, and waits there.
    """
    script = file.with_name("runs.py")
    script.write_text(RUNS)
    process = subprocess.Popen(
        [sys.executable, str(script), str(file), str(out), str(workers), str(until)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = process.stdout.readline()
    time.sleep(wait)
    process.kill()
    _, errors = process.communicate()
    assert "rror" not in errors, errors
    assert told.strip().isdigit()
    assert process.returncode == -signal.SIGKILL


def test_kill_9_and_resume_again_and_again_gives_the_same_bytes(tmp_path):
    experiment = replace(SMALL, rounds=128, repeats=10 + 8 * KILLS)
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    file.write_text(to_toml(experiment, relative_to=tmp_path))
    rng, done = random.Random(KILLS), 0
    for i in range(KILLS):
        until = done + (experiment.n_runs - done) // (KILLS + 1 - i)
        killed(file, out, workers=1 + i % 2, until=until, wait=0.3 * rng.random())
        keys = Results.open(out).runs.column("key").to_pylist()  # readable at any time
        assert done < len(keys) == len(set(keys)) < experiment.n_runs
        done = len(keys)
    command = [sys.executable, "-m", "graphbandit", "run", str(file), "--out", str(out), "--workers", "2"]
    last = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{experiment.n_runs} of {experiment.n_runs} runs" in last.stdout
    assert last.stderr == ""
    run(experiment, out=tmp_path / "undisturbed", engine=InProcess())
    assert content(out) == content(tmp_path / "undisturbed")
    assert not (out / "parts").exists()


def test_a_kill_before_anything_was_written_leaves_nothing_in_the_way(tmp_path):
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    file.write_text(to_toml(SMALL, relative_to=tmp_path))
    killed(file, out, workers=1, until=0, wait=0.0)
    assert out.exists()
    assert not part_files(out)
    assert run(SMALL, out=out, engine=InProcess()).runs.num_rows == SMALL.n_runs


def test_an_interrupted_run_says_so_and_can_be_resumed(tmp_path):
    experiment = replace(SMALL, rounds=2048, repeats=200)
    (tmp_path / "sweep.toml").write_text(to_toml(experiment, relative_to=tmp_path))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "graphbandit", "run", str(tmp_path / "sweep.toml"), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    while process.poll() is None and not part_files(out):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "graphbandit: interrupted\n")
    assert process.returncode == 130
    assert 0 < Results.open(out).runs.num_rows < experiment.n_runs
