"""The simplest engine: one task after the other, here."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graphbandit.experiments.tasks import Task, TaskResult, run_task


@dataclass(frozen=True)
class InProcess:
    """No other processes; best for debugging and for small experiments."""

    def results(self, tasks: Iterable[Task]) -> Iterator[TaskResult]:
        """One by one, in order."""
        for task in tasks:
            yield run_task(task)
