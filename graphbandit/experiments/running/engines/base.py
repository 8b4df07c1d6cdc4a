"""The seam between an experiment and whatever does its work."""

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Protocol, runtime_checkable

from graphbandit.experiments.running.tasks import Failure, Task, TaskResult

DEATHS = 3
"""A run whose workers died this many times is given up."""


@runtime_checkable
class Engine(Protocol):
    """Does tasks."""

    def results(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Do all tasks and give each result as it comes, in any order; tasks are taken only as they can be done.

        A worker that dies costs the task it was at, which is done again. The iterator frees all it has started when it
        ends, is closed, or an error passes through it.
        """
        ...


def after_death(task: Task, how: str) -> tuple[list[Task], TaskResult | None]:
    """Decide what follows when a worker has died of a task: try its runs again one by one, or give the run up."""
    deaths = task.deaths + 1
    if len(task.runs) == 1 and deaths >= DEATHS:
        return [], TaskResult(failures=(Failure(task.runs[0], f"Its worker {how}, {deaths} times in a row.\n"),))
    return [replace(task, runs=(run,), deaths=deaths) for run in task.runs], None
