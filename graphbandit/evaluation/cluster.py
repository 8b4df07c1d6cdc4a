"""Evaluate a log by partitions on a Dask cluster: each partition gives its sums, and the sums are merged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from graphbandit.errors import SettingError
from graphbandit.evaluation.groups import Sums
from graphbandit.evaluation.models import ModelData
from graphbandit.evaluation.passes import PassPlan, fits_models, model_data, sum_terms, with_models
from graphbandit.logs import Log
from graphbandit.logs.cluster import Compute, on_cluster, partitions


def run_in_parts(
    parts: list[Log],
    plan: PassPlan,
    functions: Any,
    log: Log,
    compute: Compute,
) -> tuple[Sums, PassPlan]:
    """Both passes over parts of a log; `compute` applies a function to every part."""
    if any(policy.in_order for policy in plan.policies.values()):
        raise SettingError("a learner that learns as it goes needs all rounds in order; expected no cluster for it")
    if fits_models(functions):
        found = compute(partial(model_data, functions=functions, plan=plan, own=True), parts)
        whole = reduce(ModelData.merge, [pair[0] for pair in found])
        other = reduce(ModelData.merge, [pair[1] for pair in found]) if plan.plain_method == "dr" else None
        plan = with_models(plan, whole, other, functions, log)
    return reduce(Sums.merge, compute(partial(sum_terms, plan=plan), parts)), plan


def run_on_cluster(
    cluster: Any, log: Log, plan: PassPlan, functions: Any, progress: Callable[[int, int], None] | None
) -> tuple[Sums, PassPlan]:
    """Both passes on a Dask cluster, given as a client or the address of a scheduler.

    Workers must be able to read the folder of the log.
    """
    total = len(log) * (2 if fits_models(functions) else 1)
    done = 0

    def on_part(part: Log) -> None:
        nonlocal done
        done += len(part)
        if progress is not None:
            progress(done, total)

    with on_cluster(cluster, on_part) as (compute, workers):
        return run_in_parts(partitions(log, max(4 * workers, 1)), plan, functions, log, compute)
