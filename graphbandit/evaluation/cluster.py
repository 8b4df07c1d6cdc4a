"""Evaluate a log by partitions on a Dask cluster: each gives its sums, and the sums are merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

from graphbandit.errors import EngineError, MissingExtraError, SettingError
from graphbandit.evaluation.groups import Sums
from graphbandit.evaluation.models import GivenModel, ModelData
from graphbandit.evaluation.passes import Plan, model_data, models_of, sum_terms
from graphbandit.logs import Log

ALIGNMENT = 1 << 16
"""Partitions begin at multiples of this, so that no group of rounds is cut and sums are those of one pass."""


def partitions(log: Log, count: int) -> list[Log]:
    """Consecutive parts of a log, about equally long."""
    unit = min(ALIGNMENT, 1 << (max(1, len(log) // max(count, 1)).bit_length() - 1))
    step = -(-len(log) // max(count, 1))
    step = max(-(-step // unit) * unit, unit)
    return [log[start : start + step] for start in range(0, len(log), step)]


def run_in_parts(
    parts: list[Log],
    plan: Plan,
    functions: Any,
    log: Log,
    compute: Callable[[Callable[[Log], Any], list[Log]], list[Any]],
) -> tuple[Sums, Plan]:
    """Both passes over parts of a log; `compute` applies a function to every part, wherever that is."""
    if any(policy.in_order for policy in plan.policies.values()):
        raise SettingError("a learner that learns as it goes needs all rounds in order; expected no cluster for it")
    if functions is not None and not isinstance(functions, GivenModel):
        plain = plan.plain_method == "dr"
        settings, rounds, first_row = plan.settings, len(log), log.first_row

        def data_of(part: Log) -> tuple[ModelData, ModelData | None]:
            return model_data(part, functions, settings, rounds, first_row, own=True, plain=plain)

        found = compute(data_of, parts)
        whole = reduce(ModelData.merge, [pair[0] for pair in found])
        other = reduce(ModelData.merge, [pair[1] for pair in found]) if plain else None
        plan = replace(
            plan,
            models=models_of(whole, functions, settings, log),
            plain_models=models_of(other, functions, settings, log),
        )

    def sums_of(part: Log) -> Sums:
        return sum_terms(part, plan)

    return reduce(Sums.merge, compute(sums_of, parts)), plan


def run_on_cluster(
    cluster: Any, log: Log, plan: Plan, functions: Any, on_progress: Callable[[int, int], None] | None
) -> tuple[Sums, Plan]:
    """Both passes on a Dask cluster: a client, or the address of a scheduler. Folders must be readable there."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("distributed is needed for a cluster: pip install 'graphbandit[cluster]'") from None
    mine = isinstance(cluster, str)
    try:
        client: Any = distributed.Client(cluster) if mine else cluster  # type: ignore[no-untyped-call]
        workers = len(client.scheduler_info()["workers"])
    except (OSError, TimeoutError, AttributeError) as error:
        raise EngineError(f"the cluster {cluster!r} cannot be reached: {error}") from error
    parts = partitions(log, max(4 * workers, 1))
    total = len(log) * (2 if functions is not None and not isinstance(functions, GivenModel) else 1)
    done = 0

    def compute(function: Callable[[Log], Any], logs: list[Log]) -> list[Any]:
        nonlocal done
        futures = client.map(function, logs, pure=False)
        sizes = {future.key: len(part) for future, part in zip(futures, logs, strict=True)}
        for future in distributed.as_completed(futures):  # type: ignore[no-untyped-call]
            done += sizes[future.key]
            if on_progress is not None:
                on_progress(done, total)
        return list(client.gather(futures))

    try:
        return run_in_parts(parts, plan, functions, log, compute)
    finally:
        if mine:
            client.close()
