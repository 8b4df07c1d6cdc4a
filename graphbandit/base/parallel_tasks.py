"""Independent tasks side by side: in forked processes where that is safe, else in threads. Results are the same."""

import gc
import multiprocessing
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from graphbandit.errors import EngineError

Result = TypeVar("Result")
_one_at_a_time = threading.Lock()
POLL_SECONDS = 0.05
"""How often to check which tasks have ended, while this process waits for others."""


def side_by_side(
    task: Callable[[int], Result],
    n: int,
    *,
    workers: int,
    carried: Callable[[], object],
    on_done: Callable[[int], None] | None = None,
) -> list[Result]:
    """The results of task(0) .. task(n - 1), in this order.

    Python runs one thread at a time, so that threads help only while compiled code runs. Processes have no such limit,
    but their results must be pickled, and a process with several threads should not be forked. Threads are used if
    either is a problem.

    - `workers`: how many tasks run at a time.
    - `carried`: makes what the results will contain; processes are used only if it can be pickled and has no PyTorch
      in it. Called only if several tasks may run at a time.
    - `on_done`: called with the number of each task as it ends; None (default): nothing is called.
    """
    workers, on_done = min(workers, n), on_done or (lambda i: None)
    if workers > 1 and _can_fork() and _pickles(carried()):
        return _by_processes(task, n, workers, on_done)

    def done(i: int) -> Result:
        result = task(i)
        on_done(i)
        return result

    if workers == 1:
        return [done(i) for i in range(n)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(done, range(n)))


def _by_processes(task: Callable[[int], Result], n: int, workers: int, on_done: Callable[[int], None]) -> list[Result]:
    """Run the tasks in this process and `workers - 1` others.

    Processes take tasks one at a time, by a counter that they share. The others keep their results until no task is
    left, because this process works too and does not receive earlier.
    """
    import threadpoolctl  # type: ignore[import-untyped]

    context = multiprocessing.get_context("fork")
    with _one_at_a_time, threadpoolctl.threadpool_limits(1):  # the other cores are taken; forked processes inherit this
        tasks = _Tasks(context.Value("q", 0), context.RawArray("b", n), n)
        others: list[tuple[Any, Any]] = []
        try:
            for _ in range(workers - 1):
                receiver, sender = context.Pipe(duplex=False)
                other = context.Process(target=_work, args=(task, tasks, sender), daemon=True)
                other.start()  # the fork copies the task, so nothing is pickled
                sender.close()
                others.append((other, receiver))
            told: set[int] = set()

            def tell() -> None:
                """Call `on_done` once for each task that has ended."""
                for i in range(n):
                    if tasks.ended[i] and i not in told:
                        told.add(i)
                        on_done(i)

            results = {}
            for i in tasks.numbers():
                results[i] = task(i)
                tasks.ended[i] = 1
                tell()
            for _, receiver in others:
                results.update(_received(receiver, tell))
            tell()
            return [results[i] for i in range(n)]
        finally:
            tasks.stop()
            for other, receiver in others:
                receiver.close()
                other.terminate()  # it is still running only after an error
                other.join()


@dataclass(frozen=True)
class _Tasks:
    """Numbers of tasks that several processes take: the next one, those that have ended, and how many there are."""

    next: Any
    ended: Any
    n: int

    def numbers(self) -> Iterator[int]:
        """Tasks for this process, as long as there are any."""
        while True:
            with self.next.get_lock():
                i = self.next.value
                self.next.value += 1
            if i >= self.n:
                return
            yield i

    def stop(self) -> None:
        """Hand out no more."""
        self.next.value = self.n


def _work(task: Callable[[int], Any], tasks: _Tasks, sender: Any) -> None:
    """Run in another process: work on tasks, then send their results, or the first error."""
    gc.freeze()  # a collection would touch, and so copy, the memory shared with the parent
    results: dict[int, bytes] | BaseException = {}
    try:
        done: dict[int, bytes] = {}
        for i in tasks.numbers():
            done[i] = pickle.dumps(task(i), protocol=pickle.HIGHEST_PROTOCOL)
            tasks.ended[i] = 1
        results = done
    except BaseException as error:  # raised again by the process that asked
        tasks.stop()
        results = error
    sender.send(results)


def _received(receiver: Any, tell: Callable[[], None]) -> dict[int, Any]:
    """The results of another process, once it has ended."""
    while not receiver.poll(POLL_SECONDS):
        tell()
    try:
        found = receiver.recv()
    except EOFError as error:
        raise EngineError("a worker process was killed before it was done; expected it to finish") from error
    if isinstance(found, BaseException):
        raise found
    return {i: pickle.loads(pickled) for i, pickled in found.items()}


def one_thread_of_algebra() -> None:
    """Let linear algebra in this process use one thread from now on, as other processes use the other cores."""
    import threadpoolctl

    threadpoolctl.threadpool_limits(1)


def _can_fork() -> bool:
    """Whether this process may be forked: it can be, and has no threads that might hold a lock."""
    return (
        "fork" in multiprocessing.get_all_start_methods()
        and threading.active_count() == 1
        and not multiprocessing.current_process().daemon  # it may have no children
        and not _one_at_a_time.locked()  # a task that has tasks of its own
    )


def _pickles(carried: object) -> bool:
    """Whether it can be pickled, and nothing of PyTorch is in it.

    PyTorch's threads and GPU do not outlive a fork, and the last bits of its sums depend on the number of threads.
    """
    try:
        pickled = pickle.dumps(carried)
    except Exception:  # whatever __reduce__ of somebody's class raises
        return False
    return b"torch" not in pickled
