"""Run an experiment: unfinished runs are cut into tasks, an engine does the tasks, and a store keeps the results."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from graphbandit.errors import SettingError
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.planned_runs import Conditions, PlannedRun, planned_runs
from graphbandit.experiments.running.engines import Engine, Processes
from graphbandit.experiments.running.tasks import Task, TaskResult

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

TASK_SECONDS = 1.0
"""The desired length of a task: long enough to be worth sending, short enough to be lost."""
FEW_GROUPS = 64
"""With fewer repeats x environments than this, the learners of one repeat may go to different workers."""


@dataclass
class Progress:
    """The progress of an experiment.

    - `total`: the number of its runs.
    - `finished_before`: how many runs were finished before the start.
    - `rounds`: the number of rounds of each run.
    - `done`, `failed`: how many runs are done by now, and how many of these have failed; 0 by default.
    - `started`: the time of the start, by the monotonic clock; now by default.
    - `sums`: for each learner, the sum of final regrets and the number of runs so far; empty by default.
    """

    total: int
    finished_before: int
    rounds: int
    done: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)
    sums: dict[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def rounds_per_second(self) -> float:
        """The rounds per second since the start, over all workers."""
        return (self.done - self.finished_before) * self.rounds / max(time.monotonic() - self.started, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """The seconds left at the speed so far; None before the first run has finished."""
        speed = self.rounds_per_second
        return (self.total - self.done) * self.rounds / speed if speed else None

    @property
    def best(self) -> tuple[str, float] | None:
        """The learner with the lowest mean regret so far, and that mean."""
        means = {label: total / count for label, (total, count) in self.sums.items()}
        return min(means.items(), key=lambda item: item[1]) if means else None

    def count(self, learner: str, regret: float) -> None:
        """Count one more finished run.

        - `learner`: who played it.
        - `regret`: its final regret.
        """
        total, count = self.sums.get(learner, (0.0, 0))
        self.sums[learner] = total + regret, count + 1
        self.done += 1


def run(
    experiment: Experiment,
    *,
    out: str | os.PathLike[str] | None = None,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run the part of an experiment that is not finished yet, and read all its results.

    A run that fails is among the `failures` of the results, and is tried again the next time.

    - `experiment`: what to run.
    - `out`: the folder in which results are kept; None (default): in memory only.
    - `engine`: `InProcess()`, `Processes(workers)` or `Cluster(address)`, which changes no result; None (default): one
      process per core.
    - `progress`: a function that is called as runs finish; None (default): none.
    """
    if not isinstance(experiment, Experiment):
        raise SettingError(f"experiment is {experiment!r}; expected an Experiment, as load gives for a file")
    if engine is not None and not isinstance(engine, Engine):
        raise SettingError(f"engine is {engine!r}; expected InProcess(), Processes() or Cluster()")
    if out is None:
        with tempfile.TemporaryDirectory(prefix="graphbandit-") as folder:
            return run(experiment, out=folder, engine=engine, progress=progress)
    show = None if progress is None else lambda states: progress(states[0])
    return run_all([(experiment, out)], engine=engine, progress=show)[0]


def run_all(
    jobs: Sequence[tuple[Experiment, str | os.PathLike[str]]],
    *,
    engine: Engine | None = None,
    progress: Callable[[Sequence[Progress]], None] | None = None,
) -> list[Results]:
    """`run` several experiments, each in its own folder, one after the other with the same workers.

    A run that several experiments share (with the same key) is done once and kept by each.

    - `jobs`: pairs of an experiment and its folder.
    - `engine`: as in `run`; None (default): one process per core.
    - `progress`: a function that is called with the progress of each experiment; None (default): none.
    """
    from graphbandit.experiments.results.reading import Results
    from graphbandit.experiments.results.writing import ResultsWriter

    engine = Processes() if engine is None else engine
    runs_of_jobs = [planned_runs(experiment) for experiment, _ in jobs]
    with contextlib.ExitStack() as stack:
        stores = [
            stack.enter_context(ResultsWriter.opened(Path(out), experiment, runs))
            for (experiment, out), runs in zip(jobs, runs_of_jobs, strict=True)
        ]
        states, todo = [], []
        labels = [{each.key: each.learner.label for each in runs} for runs in runs_of_jobs]
        askers: dict[str, list[int]] = {}
        for i, ((experiment, _), runs, store) in enumerate(zip(jobs, runs_of_jobs, stores, strict=True)):
            finished = store.finished()
            state = Progress(total=len(runs), finished_before=0, rounds=experiment.rounds)
            missing = []
            for each in runs:
                if each.key in finished:
                    state.count(each.learner.label, finished[each.key])
                    continue
                if each.key not in askers:
                    missing.append(each)
                askers.setdefault(each.key, []).append(i)
            state.finished_before = state.done
            states.append(state)
            todo.append((experiment, missing))
        pace = _Pace()
        tasks = chain.from_iterable(_tasks(experiment, missing, pace) for experiment, missing in todo)
        if progress is not None:
            progress(states)
        if askers:
            results = engine.results(tasks)
            try:
                for result in results:
                    pace.learn(result)
                    for i, own in _shares(result, askers):
                        stores[i].add(own)
                        _count(states[i], own, labels[i])
                    for store in stores:
                        store.flush_when_due()
                    if progress is not None:
                        progress(states)
            finally:
                results.close()  # now, because a traceback may keep the generator alive
                for store in stores:
                    store.flush()
        for store in stores:
            store.merge()
        return [Results.open(out) for _, out in jobs]


def _shares(result: TaskResult, askers: dict[str, list[int]]) -> Iterator[tuple[int, TaskResult]]:
    """Split a result among the experiments that asked for its runs."""
    keys = [] if result.rows is None else result.rows.column("key").to_pylist()
    failed = [failure.run.key for failure in result.failures]
    for i in sorted({i for key in (*keys, *failed) for i in askers[key]}):
        mine = [i in askers[key] for key in keys]
        yield (
            i,
            replace(
                result,
                rows=result.rows if result.rows is None or all(mine) else result.rows.filter(mine),
                failures=tuple(failure for failure in result.failures if i in askers[failure.run.key]),
                logs={key: log for key, log in result.logs.items() if i in askers[key]},
            ),
        )


def _count(state: Progress, result: TaskResult, labels: dict[str, str]) -> None:
    if result.rows is not None:
        for key, regret in zip(
            result.rows.column("key").to_pylist(), result.rows.column("regret").to_pylist(), strict=True
        ):
            state.count(labels[key], regret)
    state.done += len(result.failures)
    state.failed += len(result.failures)


class _Pace:
    """The number of runs that make a task of the desired length."""

    def __init__(self) -> None:
        self.runs_per_task = 1

    def learn(self, result: TaskResult) -> None:
        """Adjust to the length of a task; the number grows slowly, because the first tasks also compile and load."""
        if result.rows is not None and result.rows.num_rows and result.seconds > 0:
            fitting = TASK_SECONDS * result.rows.num_rows / result.seconds
            self.runs_per_task = max(1, min(int(fitting), 4 * self.runs_per_task, 1000))


def _tasks(experiment: Experiment, runs: list[PlannedRun], pace: _Pace) -> Iterator[Task]:
    """Tasks, repeat by repeat, so that learners can be compared early; runs that share draws stay together."""
    conditions = Conditions.of(experiment)
    order = {label: i for i, label in enumerate(dict.fromkeys(run.environment.label for run in runs))}
    runs = sorted(runs, key=lambda run: (run.repeat, order[run.environment.label]))
    groups = [list(group) for _, group in groupby(runs, key=lambda run: (run.repeat, run.environment.label))]
    if len(groups) < FEW_GROUPS:
        groups = [[run] for run in runs]
    together: list[PlannedRun] = []
    for group in groups:
        together += group
        if len(together) >= pace.runs_per_task:
            yield Task(conditions, tuple(together))
            together = []
    if together:
        yield Task(conditions, tuple(together))
