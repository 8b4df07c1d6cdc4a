"""Run a plan: all its experiments with the same workers, into one folder; it can be resumed at any time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphbandit.base.saved_files import make_folder
from graphbandit.errors import EngineError, EstimatedNoiseWarning
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Point
from graphbandit.experiments.describe.learner_kinds import build_learner
from graphbandit.experiments.running.engines import Engine, InProcess, Processes
from graphbandit.experiments.running.runner import Progress, run_all
from graphbandit.experiments.running.tasks import Task, TaskResult
from graphbandit.simulate import run_repeat
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.outcome import Outcome, write_outcome
from graphbandit.studies.plan import Plan
from graphbandit.studies.study import study_named

RUNS = "runs"
"""The folder in which each experiment has a folder of results."""

REFITS = {"kernel": 2, "boosting": 15, "network": 25}
"""Roughly how many times longer a round takes with such a function class; only used to estimate the time left."""

ALL_ARMS = 5
"""Roughly how many times longer a round takes with all arms in the linear programs."""

USUAL = {"candidate_set": True, "baseline": "exploration-set", "radius_factor": 1.0}
"""The settings with which the linear programs have few arms."""


@dataclass
class PlanProgress:
    """The progress of a plan.

    - `experiments`: all experiments of the plan.
    - `work`: how long all runs of each experiment are expected to take, in any unit.
    - `started`: the time of the start, by the monotonic clock.
    - `states`: the progress of each experiment; empty by default.
    """

    experiments: Sequence[Experiment]
    work: Sequence[float]
    started: float
    states: Sequence[Progress] = ()

    @property
    def runs(self) -> tuple[int, int]:
        """The number of runs that are done, and of all runs."""
        return sum(state.done for state in self.states), sum(state.total for state in self.states)

    @property
    def seconds_left(self) -> float | None:
        """The seconds left at the speed so far; None before the first run is done."""
        left = done = 0.0
        for work, state in zip(self.work, self.states, strict=True):
            a_run = work / state.total
            left += a_run * (state.total - state.done)
            done += a_run * (state.done - state.finished_before)
        return left * (time.monotonic() - self.started) / done if done else None

    @property
    def current(self) -> str:
        """The experiment that is being run."""
        unfinished = [e.name for e, s in zip(self.experiments, self.states, strict=True) if s.done < s.total]
        return unfinished[0] if unfinished else "done"


@dataclass(frozen=True)
class _WithoutNoise:
    """An engine for studies, whose learners estimate the noise on purpose and need not warn of that."""

    engine: Engine

    def results(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        return self.engine.results(replace(task, unshown=(EstimatedNoiseWarning,)) for task in tasks)


# The settings of run_plan are repeated here so that help() shows them.
def run_study(
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: Callable[[PlanProgress], None] | None = None,
) -> Outcome:
    """Run the part of a plan that is not finished yet, and write what was found: a page, tables and figures.

    - `plan`: what to run.
    - `out`: the folder for runs, page, tables and figures.
    - `workers`: the number of processes, which changes no result; None (default): one per core.
    - `progress`: a function that is called as runs finish; None (default): none.
    """
    start = time.perf_counter()
    findings = run_plan(plan, out=out, workers=workers, progress=progress)
    outcome = study_named(plan.study).outcome(findings)
    write_outcome(outcome, findings, Path(out), seconds=lambda: time.perf_counter() - start)
    return outcome


def run_plan(
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: Callable[[PlanProgress], None] | None = None,
) -> Findings:
    """Run the part of a plan that is not finished yet. A run that fails raises EngineError.

    - `plan`: what to run.
    - `out`: each experiment has a folder in ``out/runs``.
    - `workers`: the number of processes, which changes no result; None (default): one per core.
    - `progress`: a function that is called as runs finish; None (default): none.
    """
    engine = _WithoutNoise(InProcess() if workers == 1 else Processes(workers))
    experiments = plan.experiments()
    folder = make_folder(out, RUNS)
    asked = list(experiments.values())
    whole = PlanProgress(asked, [_work(experiment) for experiment in asked], time.monotonic())

    def show(states: Sequence[Progress]) -> None:
        whole.states = states
        if progress is not None:
            progress(whole)

    jobs = [(experiment, folder / name) for name, experiment in experiments.items()]
    found = run_all(jobs, engine=engine, progress=show)
    failures = [failure for results in found for failure in results.failures]
    if failures:
        raise EngineError(f"{len(failures)} runs failed; the first of them:\n{failures[0]['error']}")
    return Findings(
        plan=plan,
        experiments={
            name: Finding(experiment=experiments[name], results=results)
            for name, results in zip(experiments, found, strict=True)
        },
    )


def compile_kernels() -> float:
    """Run every learner of the paper briefly, so that all kernels are compiled; return the seconds it took."""
    start = time.perf_counter()
    experiment = study_named("paper").experiment("parts")
    learners = [(p.name, build_learner(p.kind, p.settings)) for p in experiment.learner_points()]
    learners += [("FALCON", build_learner("Falcon", {}))]
    for graph in ("star", "clique_group", "random", "network"):
        environment = build_environment("paper", {"n_arms": 6, "graph": graph})
        run_repeat(learners, environment, rounds=64, repeat=0, seed=0)
    return time.perf_counter() - start


def _work(experiment: Experiment) -> float:
    """The expected work of all runs: rounds times arms, with slow learners weighted."""
    arms = sum(int(point.settings.get("n_arms", 10)) for point in experiment.environment_points())
    learners = sum(map(_weight, experiment.learner_points()))
    return float(arms * learners * experiment.repeats * experiment.rounds)


def _weight(learner: Point) -> int:
    refits = REFITS.get(str(learner.settings.get("function_class")), 1)
    usual = all(learner.settings.get(name, value) == value for name, value in USUAL.items())
    return refits if usual else refits * ALL_ARMS
