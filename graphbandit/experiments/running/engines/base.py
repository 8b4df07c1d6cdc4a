"""The interface between an experiment and the engine that does its tasks."""

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Protocol, runtime_checkable

from graphbandit.experiments.running.tasks import Failure, Task, TaskResult

DEATHS = 3
"""A run is given up after this many of its workers have died."""


@runtime_checkable
class Engine(Protocol):
    """Does tasks."""

    def results(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Do all tasks and yield the results as they come, in any order; a task is taken only when it can be done.

        The task of a worker that dies is done again. The generator stops everything it has started when it ends, is
        closed, or raises an error.
        """
        ...


def after_death(task: Task, how: str) -> tuple[list[Task], TaskResult | None]:
    """Decide what to do after a worker died during a task: try its runs again one by one, or give the run up."""
    deaths = task.deaths + 1
    if len(task.runs) == 1 and deaths >= DEATHS:
        return [], TaskResult(failures=(Failure(task.runs[0], f"Its worker {how}, {deaths} times in a row.\n"),))
    return [replace(task, runs=(run,), deaths=deaths) for run in task.runs], None
