"""Two calculations at the same time, for compiled code that lets other threads run meanwhile."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


def both(first: Callable[[], First], second: Callable[[], Second], *, at_once: bool) -> tuple[First, Second]:
    """Run both and return their results, which do not depend on `at_once` if neither changes what the other reads.

    - `at_once`: whether the second runs in a thread of its own, which ends before this function returns.

    >>> both(lambda: 1, lambda: 2, at_once=True)
    (1, 2)
    """
    if not at_once:
        return first(), second()
    with ThreadPoolExecutor(1) as other:
        running = other.submit(second)
        found = first()
    return found, running.result()
