"""Several experiments by the same workers, into one directory, resumed at any time; and how far all of them are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphbandit.errors import EngineError, SavedFileError
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.running.engines import InProcess, Processes
from graphbandit.experiments.running.runner import Progress, run_all

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results

RUNS = "runs"
"""The folder in which each experiment has a directory of results."""


@dataclass
class Whole:
    """How far all experiments are; `work` is what all runs of each are expected to take, in any unit."""

    experiments: Sequence[Experiment]
    work: Sequence[float]
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


def run_batch(
    experiments: Mapping[str, Experiment],
    *,
    out: str | os.PathLike[str],
    work: Callable[[Experiment], float],
    workers: int | None = None,
    progress: Callable[[Whole], None] | None = None,
) -> dict[str, Results]:
    """Run what is not finished yet in `workers` processes (None: one a core), which changes no result.

    The results of each experiment go to the directory of its name in ``out/runs``. A run that fails is an EngineError.
    """
    engine = InProcess() if workers == 1 else Processes(workers)
    directory = Path(out) / RUNS
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SavedFileError(f"{out} cannot be made: {error.strerror or error}") from None
    asked = list(experiments.values())
    whole = Whole(asked, [work(experiment) for experiment in asked], time.monotonic())

    def show(states: Sequence[Progress]) -> None:
        whole.states = states
        if progress is not None:
            progress(whole)

    jobs = [(experiment, directory / name) for name, experiment in experiments.items()]
    found = run_all(jobs, engine=engine, progress=show)
    failures = [failure for results in found for failure in results.failures]
    if failures:
        raise EngineError(f"{len(failures)} runs failed; the first of them:\n{failures[0]['error']}")
    return dict(zip(experiments, found, strict=True))
