"""Seconds, their medians and 99th percentiles, and ratios of those."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Progress = Callable[[str, int, int], None]
"""(what is measured now, how many are done, of how many)"""


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect garbage before, not during."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def timed(action: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """(seconds, answer) of one call."""
    start = time.perf_counter()
    answer = action(*arguments, **options)
    return time.perf_counter() - start, answer


def summary(samples: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile (the largest of fewer than 100) and number of samples."""
    high = np.quantile(samples, 0.99, method="higher")
    return {"median": float(np.median(samples)), "p99": float(high), "n": len(samples)}


def ratio(slow: dict[str, float], fast: dict[str, float]) -> dict[str, float]:
    """How many times longer `slow` takes than `fast`: medians, and 99th percentiles."""
    return {"median": slow["median"] / fast["median"], "p99": slow["p99"] / fast["p99"]}
