"""Logs in parts on a Dask cluster: a function of each part, wherever the workers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from graphbandit.base.extras import imported
from graphbandit.errors import EngineError
from graphbandit.logs.log import Log

ALIGNMENT = 1 << 16
"""Parts begin at multiples of this, so that no group of rounds is cut and sums are those of one pass."""

Compute = Callable[[Callable[[Log], Any], Sequence[Log]], list[Any]]
"""Applies a function to every part of a log."""


def partitions(log: Log, count: int) -> list[Log]:
    """Consecutive parts of a log, about equally long."""
    count = max(count, 1)  # a cluster may have no workers yet
    unit = min(ALIGNMENT, 1 << (max(1, len(log) // count).bit_length() - 1))
    step = max(-(-len(log) // (count * unit)) * unit, unit)
    return [log[start : start + step] for start in range(0, len(log), step)]


@contextmanager
def on_cluster(cluster: Any, on_part: Callable[[Log], None] | None = None) -> Iterator[tuple[Compute, int]]:
    """What applies functions to parts there, and how many workers there are.

    `cluster` is a Dask client or the address of a scheduler. Folders must be readable from the workers. `on_part` is
    called with each part that is done.
    """
    distributed = imported("distributed", "cluster", "distributed is needed for a cluster")
    mine = isinstance(cluster, str)
    try:
        client: Any = distributed.Client(cluster) if mine else cluster
        workers = len(client.scheduler_info()["workers"])
    except (OSError, TimeoutError, AttributeError) as error:
        raise EngineError(f"the cluster {cluster!r} cannot be reached: {error}") from error

    def compute(function: Callable[[Log], Any], logs: Sequence[Log]) -> list[Any]:
        futures = client.map(function, logs, pure=False)
        parts = {future.key: part for future, part in zip(futures, logs, strict=True)}
        for future in distributed.as_completed(futures):
            if on_part is not None:
                on_part(parts[future.key])
        return list(client.gather(futures))

    try:
        yield compute, workers
    finally:
        if mine:
            client.close()
