"""The simplest engine: one task after the other, in this process."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from graphbandit.experiments.running.tasks import Task, TaskResult, run_task


@dataclass(frozen=True)
class InProcess:
    """Runs tasks in this process; best for debugging and for small experiments."""

    def results(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Do the tasks one by one, in order."""
        for task in tasks:
            yield run_task(task)
