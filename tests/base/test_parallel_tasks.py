"""Tasks side by side: the same results in processes and threads, errors that arrive, and workers that die."""

import os
import subprocess
import sys
import threading

import pytest

from graphbandit.base.parallel_tasks import side_by_side
from graphbandit.errors import InputError

BEGIN = "import os, time\nfrom graphbandit.base.parallel_tasks import side_by_side\nhere, done = os.getpid(), []\n"
IN_ORDER = """
def task(i):
    time.sleep(0.2)
    return i * i, os.getpid()

for workers in (2, 3):
    found = side_by_side(task, 5, workers=workers, carried=lambda: None, on_done=done.append)
    assert [square for square, _ in found] == [0, 1, 4, 9, 16]
    processes = {process for _, process in found}
    assert here in processes and len(processes) == workers
    assert sorted(done) == list(range(5))
    done.clear()
"""
KILLED = """
def task(i):
    return os._exit(9) if os.getpid() != here else time.sleep(0.3)

side_by_side(task, 4, workers=2, carried=lambda: None)
"""
FAILED = """
def task(i):
    time.sleep(0.2)
    if (os.getpid() == here) == in_this_process:
        raise LookupError(i)

for in_this_process in (True, False):
    try:
        side_by_side(task, 50, workers=2, carried=lambda: None, on_done=done.append)
    except LookupError:
        assert len(done) < 10, done
    else:
        raise AssertionError
"""
NESTED = """
def task(i):
    time.sleep(0.1)
    inner = side_by_side(lambda j: (j, os.getpid()), 3, workers=2, carried=lambda: None)
    assert inner == [(j, os.getpid()) for j in range(3)], inner
    return i

assert side_by_side(task, 4, workers=2, carried=lambda: None) == [0, 1, 2, 3]
"""


def in_a_fresh_process(code: str) -> subprocess.CompletedProcess[str]:
    """Other tests may have left threads in this one, which is not forked then."""
    return subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("code", [IN_ORDER, FAILED, NESTED], ids=["in order", "failed", "nested"])
def test_this_process_and_others_share_the_tasks_where_results_can_be_pickled(code):
    found = in_a_fresh_process(code)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_what_cannot_be_pickled_stays_in_this_process(workers):
    carried = threading.Lock()
    done = []
    found = side_by_side(lambda i: (i, os.getpid()), 3, workers=workers, carried=lambda: carried, on_done=done.append)
    assert found == [(i, os.getpid()) for i in range(3)]
    assert sorted(done) == [0, 1, 2]


def test_pytorch_is_not_forked():
    torch = pytest.importorskip("torch")
    assert side_by_side(lambda _: os.getpid(), 2, workers=2, carried=lambda: torch.nn.Linear) == [os.getpid()] * 2


def test_a_process_with_threads_is_not_forked():
    hold = threading.Event()
    other = threading.Thread(target=hold.wait)
    other.start()
    try:
        assert side_by_side(lambda _: os.getpid(), 2, workers=2, carried=lambda: None) == [os.getpid()] * 2
    finally:
        hold.set()
        other.join()


def test_an_error_of_a_task_arrives_as_it_is():
    def task(i):
        if i == 1:
            raise InputError("task 1 is 1; expected another number")
        return i

    with pytest.raises(InputError, match="expected another number"):
        side_by_side(task, 4, workers=2, carried=lambda: None)
    assert side_by_side(lambda i: i, 2, workers=2, carried=lambda: None) == [0, 1]  # and the next ones run


def test_a_worker_that_is_killed_is_an_engine_error():
    found = in_a_fresh_process(KILLED)
    last = found.stderr.splitlines()[-1]
    assert last.startswith("graphbandit.errors.EngineError"), found.stderr
    assert "killed" in last
