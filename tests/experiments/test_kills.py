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
from tests.experiment_samples import SMALL
from tests.experiments.test_engines import content

KILLS = int(os.environ.get("GRAPHBANDIT_TEST_KILLS", "4"))


def killed_while_it_ran(arguments: list[str], out: Path, rng: random.Random) -> bool:
    """Start the command, and kill it at a random moment after it has written one more part.

    Whether it was still running then.
    """
    before = {path.name for path in part_files(out)}
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None and {path.name for path in part_files(out)} <= before:
        time.sleep(0.01)
    time.sleep(0.3 * rng.random())
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    assert b"rror" not in errors, errors.decode()
    keys = Results.open(out).runs.column("key").to_pylist()  # readable at any time
    assert len(keys) == len(set(keys))
    return process.returncode == -signal.SIGKILL


def test_kill_9_and_resume_again_and_again_gives_the_same_bytes(tmp_path):
    experiment = replace(SMALL, rounds=512, repeats=10 + 8 * KILLS)
    (tmp_path / "sweep.toml").write_text(to_toml(experiment, relative_to=tmp_path))
    rng = random.Random(KILLS)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "graphbandit", "run", str(tmp_path / "sweep.toml"), "--out", str(out)]
    killed = 0
    for i in range(KILLS):
        before = Results.open(out).runs.num_rows if i else 0
        killed += killed_while_it_ran([*command, "--workers", str(1 + i % 2)], out, rng)
        assert before < Results.open(out).runs.num_rows
    assert killed == KILLS, "every one of them was killed while it ran"
    assert Results.open(out).runs.num_rows < experiment.n_runs
    last = subprocess.run([*command, "--workers", "2"], capture_output=True, text=True, check=True)
    assert f"{experiment.n_runs} of {experiment.n_runs} runs" in last.stdout
    assert last.stderr == ""
    run(experiment, out=tmp_path / "undisturbed", engine=InProcess())
    assert content(out) == content(tmp_path / "undisturbed")
    assert not (out / "parts").exists()


def test_a_kill_before_anything_was_written_leaves_nothing_in_the_way(tmp_path):
    (tmp_path / "sweep.toml").write_text(to_toml(SMALL, relative_to=tmp_path))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "graphbandit", "run", str(tmp_path / "sweep.toml"), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not out.exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
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
