"""A cluster of Dask `distributed`, which is already running or is started here."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from graphbandit.base.checks import setting_integer
from graphbandit.base.extras import imported
from graphbandit.errors import EngineError
from graphbandit.experiments.running.engines.base import after_death
from graphbandit.experiments.running.engines.processes import available_cores
from graphbandit.experiments.running.tasks import Task, TaskResult, run_task

QUEUED = 2
"""How many tasks are queued for each thread of the cluster, so that no thread waits for the next one."""


@dataclass(frozen=True)
class Cluster:
    """Runs tasks on a Dask cluster.

    - `address`: the address of the scheduler, such as "tcp://host:8786"; "local" (default) starts a cluster here.
    - `workers`: how many processes a local cluster has; None (default): one per core.
    """

    address: str = "local"
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            setting_integer("workers", self.workers, at_least=1)

    def results(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Yield results as they come; the cluster itself repeats the task of a dead worker a few times."""
        distributed = imported("distributed", "cluster", "a cluster needs Dask distributed")
        waiting = iter(tasks)
        given: dict[Any, Task] = {}
        with self._client(distributed) as client:
            finished = distributed.as_completed(loop=client.loop)
            while True:
                threads = max(1, sum(client.nthreads().values()))
                while len(given) < QUEUED * threads and (task := next(waiting, None)) is not None:
                    _submit(client, task, given, finished)
                if not given:
                    return
                future = next(finished)
                task = given.pop(future)
                error = None if future.status == "finished" else future.exception()
                if error is None:
                    result = future.result()
                    _check_version(result)
                    yield result
                elif isinstance(error, distributed.KilledWorker):
                    again, given_up = after_death(task, "died")
                    for each in again:
                        _submit(client, each, given, finished)
                    if given_up is not None:
                        yield given_up
                else:
                    raise EngineError(f"the cluster at {self.address} could not do a task: {error!r}") from error

    @contextlib.contextmanager
    def _client(self, distributed: Any) -> Iterator[Any]:
        with contextlib.ExitStack() as stack:
            if self.address == "local":
                local = distributed.LocalCluster(
                    n_workers=self.workers or available_cores(), threads_per_worker=1, dashboard_address=":0"
                )
                address = stack.enter_context(local)
            else:
                address = self.address
            try:
                client = distributed.Client(address, timeout="20s", set_as_default=False)
            except (OSError, ValueError) as error:
                raise EngineError(f"the cluster at {self.address} cannot be reached: {error}") from error
            yield stack.enter_context(client)


def _submit(client: Any, task: Task, given: dict[Any, Task], finished: Any) -> None:
    future = client.submit(run_task, task, pure=False)
    given[future] = task
    finished.add(future)


def _check_version(result: TaskResult) -> None:
    """Refuse results of another version of the package, which may be different."""
    from graphbandit import __version__

    versions = set() if result.rows is None else set(result.rows.column("graphbandit").to_pylist())
    if versions - {__version__}:
        raise EngineError(f"the cluster has graphbandit {versions.pop()}; expected {__version__}, as here")
