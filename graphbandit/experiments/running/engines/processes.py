"""Processes on this machine, each with its own pipe, so that the task of a dead process is known."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from graphbandit.base.checks import setting_integer
from graphbandit.base.parallel_tasks import one_thread_of_algebra
from graphbandit.errors import EngineError
from graphbandit.experiments.running.engines.base import after_death
from graphbandit.experiments.running.tasks import Task, TaskResult, run_task


@dataclass(frozen=True)
class Processes:
    """Runs tasks in processes of this machine, which are spawned and inherit no locks, threads or open files.

    - `workers`: how many processes; None (default): one per core.
    """

    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            setting_integer("workers", self.workers, at_least=1)

    def results(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Yield results as they come; processes are started only while there is a task for them."""
        todo = _Todo(tasks)
        limit = self.workers or available_cores()
        workers: list[_Worker] = []
        try:
            while True:
                for worker in workers:
                    if worker.idle and (task := todo.take()):
                        worker.give(task)
                starting = sum(not worker.ready for worker in workers)
                if len(workers) < limit and todo.more_than(starting):
                    workers.append(_Worker())
                    continue
                if not any(worker.task for worker in workers) and not todo.more_than(0):
                    return
                wait([thing for worker in workers for thing in (worker.connection, worker.process.sentinel)])
                for worker in list(workers):
                    result = worker.receive()
                    if result is not None:
                        yield result
                    elif worker.dead:
                        workers.remove(worker)
                        given_up = todo.put_back(worker)
                        if given_up is not None:
                            yield given_up
        finally:
            for worker in workers:
                worker.stop()


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Todo:
    """The tasks to do, those to repeat first; a task is made only when it is needed."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.again: deque[Task] = deque()
        self.tasks = iter(tasks)

    def take(self) -> Task | None:
        return self.again.popleft() if self.more_than(0) else None

    def more_than(self, n: int) -> bool:
        while len(self.again) <= n:
            task = next(self.tasks, None)
            if task is None:
                return False
            self.again.append(task)
        return True

    def put_back(self, worker: _Worker) -> TaskResult | None:
        if worker.task is None:
            return None
        tasks, given_up = after_death(worker.task, worker.fate())
        self.again.extend(tasks)
        return given_up


class _Worker:
    """A process that does the tasks it is given, one at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), name="graphbandit-worker", daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.task: Task | None = None
        self.ready = self.dead = False

    @property
    def idle(self) -> bool:
        return self.ready and not self.dead and self.task is None

    def give(self, task: Task) -> None:
        self.task = task
        try:
            self.connection.send(task)
        except OSError:
            self.dead = True

    def receive(self) -> TaskResult | None:
        """Return a result if there is one, and update `ready` and `dead`."""
        try:
            if not self.dead and self.connection.poll():
                message: Any = self.connection.recv()
                if isinstance(message, TaskResult):
                    self.task = None
                    return message
                self.ready = True
        except (EOFError, OSError):
            self.dead = True
        if self.dead and not self.ready:
            self.process.join()
            raise EngineError(
                f"a worker process {self.fate()} before it could start; in a script, "
                "run experiments under `if __name__ == '__main__':`, or use the engine InProcess()"
            )
        return None

    def fate(self) -> str:
        self.process.join(5.0)
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _work(connection: Connection) -> None:
    """Do tasks in a worker process until its pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    one_thread_of_algebra()
    message: Any = "ready"
    while True:
        try:
            connection.send(message)
            task = connection.recv()
        except (EOFError, OSError):  # the parent is gone
            return
        message = run_task(task)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
