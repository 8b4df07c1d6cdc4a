"""Running the reproduction: all its experiments by the same workers, into one directory, resumed at any time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphbandit.errors import EngineError, SavedFileError
from graphbandit.experiments.engines import InProcess, Processes
from graphbandit.experiments.experiment import Experiment
from graphbandit.experiments.packaged import packaged
from graphbandit.experiments.paper.findings import Findings, Study
from graphbandit.experiments.paper.plans import Reproduction
from graphbandit.experiments.paper.set_sizes import set_sizes
from graphbandit.experiments.registry import build_environment, build_learner
from graphbandit.experiments.runner import Progress, run_all
from graphbandit.simulate import run_repeat

if TYPE_CHECKING:
    from graphbandit.experiments.results import Results

ALL_ARMS = 5
"""A learner with all arms in its linear programs takes about this many times as long: for the time left, no more."""

RUNS, SET_SIZES = "runs", "set-sizes.parquet"


@dataclass
class Whole:
    """How far the whole reproduction is. Work is counted in rounds times arms."""

    experiments: Sequence[Experiment]
    started: float
    states: Sequence[Progress] = ()

    @property
    def runs(self) -> tuple[int, int]:
        """Done, and asked for."""
        return sum(state.done for state in self.states), sum(state.total for state in self.states)

    @property
    def seconds_left(self) -> float | None:
        """At the speed so far; None before anything was done."""
        left = done = 0.0
        for experiment, state in zip(self.experiments, self.states, strict=True):
            a_run = _work(experiment) / experiment.n_runs
            left += a_run * (state.total - state.done)
            done += a_run * (state.done - state.finished_before)
        return left * (time.monotonic() - self.started) / done if done else None

    @property
    def current(self) -> str:
        """The experiment that is being run."""
        unfinished = [e.name for e, s in zip(self.experiments, self.states, strict=True) if s.done < s.total]
        return unfinished[0] if unfinished else "done"


def reproduce(
    asked: Reproduction,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: Callable[[Whole], None] | None = None,
) -> Findings:
    """Run what is not finished yet in `workers` processes (None: one a core), which changes no result.

    The results of each experiment go to its own directory in ``out/runs``.
    """
    experiments = asked.experiments()
    engine = InProcess() if workers == 1 else Processes(workers)
    directory = Path(out)
    try:
        (directory / RUNS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SavedFileError(f"{directory} cannot be made: {error.strerror or error}") from None
    whole = Whole(list(experiments.values()), time.monotonic())

    def show(states: Sequence[Progress]) -> None:
        whole.states = states
        if progress is not None:
            progress(whole)

    jobs = [(experiment, directory / RUNS / name) for name, experiment in experiments.items()]
    found = run_all(jobs, engine=engine, progress=show)
    _refuse_failures(found)
    studies = {
        name: Study(experiment=experiments[name], results=results)
        for name, results in zip(experiments, found, strict=True)
    }
    sizes = None
    if "directed" in experiments:
        sizes = set_sizes(experiments["directed"], packaged("ablation"))
        sizes.write(directory / SET_SIZES)
    return Findings(asked=asked, studies=studies, set_sizes=sizes)


def compile_kernels() -> float:
    """Run every learner for a moment, so that what must be compiled is; the seconds it took."""
    start = time.perf_counter()
    experiment = packaged("parts")
    learners = [(p.name, build_learner(p.kind, p.settings)) for p in experiment.learner_points()]
    learners += [("FALCON", build_learner("Falcon", {}))]
    for graph in ("star", "clique_group", "random", "network"):
        environment = build_environment("paper", {"n_arms": 6, "graph": graph})
        run_repeat(learners, environment, rounds=64, repeat=0, seed=0)
    return time.perf_counter() - start


def _work(experiment: Experiment) -> float:
    """Rounds times arms of all runs; a learner whose programs have all arms in them counts as several."""
    arms = sum(int(point.settings["n_arms"]) for point in experiment.environment_points())
    usual = {"candidate_set": True, "baseline": "exploration-set", "radius_factor": 1.0}
    learners = sum(
        1 if all(point.settings.get(name, value) == value for name, value in usual.items()) else ALL_ARMS
        for point in experiment.learner_points()
    )
    return float(arms * learners * experiment.repeats * experiment.rounds)


def _refuse_failures(found: Sequence[Results]) -> None:
    failures = [failure for results in found for failure in results.failures]
    if failures:
        raise EngineError(f"{len(failures)} runs failed; the first of them:\n{failures[0]['error']}")
