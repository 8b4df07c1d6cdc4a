"""Independent tasks side by side: in forked processes where that is safe, else in threads. Results are the same."""

import multiprocessing
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from graphbandit.errors import EngineError

Result = TypeVar("Result")
_task: Callable[[int], Any] | None = None
_one_at_a_time = threading.Lock()


def side_by_side(
    task: Callable[[int], Result],
    n: int,
    *,
    workers: int,
    carried: object,
    on_done: Callable[[int], None] | None = None,
) -> list[Result]:
    """The results of task(0) .. task(n - 1), in this order.

    Python runs one thread at a time, so that threads help only while compiled code runs. Processes have no such limit,
    but what they return must be pickled, and a process with several threads should not be forked. Where either is in
    the way, threads are used.

    - `workers`: how many tasks run at a time.
    - `carried`: what the results will contain; processes are used only if it can be pickled and has no PyTorch in it.
    - `on_done`: called with the number of each task as it ends.
    """
    workers = min(workers, n)
    if workers > 1 and _can_fork() and _pickles(carried):
        return _by_processes(task, n, workers, on_done)

    def done(i: int) -> Result:
        result = task(i)
        if on_done is not None:
            on_done(i)
        return result

    if workers == 1:
        return [done(i) for i in range(n)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(done, range(n)))


def _by_processes(
    task: Callable[[int], Result], n: int, workers: int, on_done: Callable[[int], None] | None
) -> list[Result]:
    global _task
    with _one_at_a_time:
        _task = task  # the processes have it from their birth on: it need not be pickled
        try:
            context = multiprocessing.get_context("fork")
            with ProcessPoolExecutor(workers, mp_context=context, initializer=one_thread_of_algebra) as pool:
                numbers: dict[Future[Any], int] = {pool.submit(_do, i): i for i in range(n)}
                try:
                    for future in as_completed(numbers):
                        future.result()
                        if on_done is not None:
                            on_done(numbers[future])
                except BaseException:
                    pool.shutdown(cancel_futures=True)  # those that run now run to their end
                    raise
                return [future.result() for future in numbers]
        except BrokenProcessPool as error:
            raise EngineError("a worker process was killed before it was done; expected it to live on") from error
        finally:
            _task = None


def one_thread_of_algebra() -> None:
    """Let linear algebra in this process use one thread from now on: other processes have the other cores."""
    import threadpoolctl  # type: ignore[import-untyped]

    threadpoolctl.threadpool_limits(1)


def _do(i: int) -> Any:
    assert _task is not None  # set before the process was born
    return _task(i)


def _can_fork() -> bool:
    """Whether this process may be forked: it can be, and has no threads that might hold a lock."""
    return "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1 and not _is_worker()


def _is_worker() -> bool:
    """Whether this is a daemon process, which may have no children."""
    return multiprocessing.current_process().daemon


def _pickles(carried: object) -> bool:
    """Whether it can be pickled, and nothing of PyTorch is in it.

    PyTorch's threads and GPU do not outlive a fork, and the last bits of its sums depend on the number of threads.
    """
    try:
        pickled = pickle.dumps(carried)
    except Exception:  # whatever __reduce__ of somebody's class raises
        return False
    return b"torch" not in pickled
