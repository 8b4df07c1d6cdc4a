"""Kills while files are written, and disks that are full: what was there stays, or what is new is there whole."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import graphbandit as gb
from graphbandit.errors import GraphBanditError, SavedFileError
from graphbandit.experiments import Experiment, Grid, InProcess
from graphbandit.experiments import run as run_experiment
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.operations import decided
from tests.fuzz.subjects import fitting_pair, graph
from tests.helpers.processes import said_until_killed

SAVES = """
import sys
import numpy as np
import graphbandit as gb
bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=3), identity="fuzz")
while True:
    bandit.decide_batch(np.zeros((50, 2)), gb.graphs.complete(3))
    bandit.save(sys.argv[1])
    print(bandit.rounds, flush=True)
"""


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file can become larger: what a full disk does to whoever writes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def full_disk(case: Case) -> None:
    """Saving fails with a typed error, and the file that was there is as it was."""
    one, rng = fitting_pair(case), case.rng
    bandit, path, n_arms = one.bandit(), case.folder / "bandit.gb", one.problem.n_arms
    for _ in range(3):
        decided(bandit, one.contexts(rng, 1, n_arms)[0], graph(one, rng, n_arms), None)
    bandit.save(path)
    before = path.read_bytes()
    decided(bandit, one.contexts(rng, 1, n_arms)[0], graph(one, rng, n_arms), None)
    for size in rng.integers(len(before), size=6).tolist():
        try:
            with largest_file(size):
                bandit.save(path)
            raise Defect(f"a file of {len(before)} bytes was saved on a disk with room for {size}")
        except SavedFileError:
            case.count("saves on a full disk")
        if path.read_bytes() != before or len(list(case.folder.iterdir())) != 1:
            raise Defect(f"a failed save has left {sorted(one.name for one in case.folder.iterdir())}")
    bandit.save(path)
    one.load(path)


def full_disk_of_results(case: Case) -> None:
    """An experiment fails with a typed error, and goes on from what is there once there is room."""
    experiment = Experiment(
        name="full",
        rounds=16,
        repeats=2,
        environments={"star": Grid("paper", {"n_arms": 4, "graph": "star"})},
        learners={"uniform": Grid("Uniform", {})},
    )
    out = case.folder / "out"
    for size in case.rng.integers(1, 6000, size=4).tolist():
        try:
            with largest_file(size):
                run_experiment(experiment, out=out, engine=InProcess())
            case.count("experiments that fitted on a small disk")
        except (GraphBanditError, OSError) as error:
            if not isinstance(error, GraphBanditError):
                raise Defect(f"a full disk: {type(error).__name__}: {error}") from error
            case.count("experiments on a full disk")
    done = run_experiment(experiment, out=out, engine=InProcess())
    if done.runs.num_rows != experiment.n_runs:
        raise Defect(f"{done.runs.num_rows} runs of {experiment.n_runs} after a full disk")


def kills(case: Case) -> None:
    """A process that saves again and again is killed; the file is the last one that was saved, or the next."""
    path = case.folder / "bandit.gb"
    lines, wait = int(case.rng.integers(1, 12)), float(case.rng.uniform(0, 0.02))
    last = int(said_until_killed(SAVES, path, lines=lines, wait=wait)[-1])
    rounds = gb.Bandit.load(path).rounds
    if not last <= rounds <= last + 50:
        raise Defect(f"the file has {rounds} rounds, {last} were told to be saved")
    case.count("processes killed while they saved")


def run(case: Case) -> None:
    kinds: tuple[Callable[[Case], None], ...] = (full_disk, kills, full_disk, full_disk_of_results)
    kinds[case.number % len(kinds)](case)


PART = Part("kills while files are written, and full disks", 3, run)
