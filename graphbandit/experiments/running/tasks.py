"""A task: a few runs that one worker does together. It is self-contained, so any process can do it."""

from __future__ import annotations

import io
import os
import platform
import socket
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from graphbandit.base.shapes import Int
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.describe.learner_kinds import build_learner
from graphbandit.experiments.describe.planned_runs import Conditions, PlannedRun
from graphbandit.rounds.decisions import ARRAYS, Decisions
from graphbandit.simulate import Run as PlayedRun
from graphbandit.simulate import run_repeat

if TYPE_CHECKING:
    import pyarrow as pa

Outcome: TypeAlias = tuple[PlannedRun, PlayedRun | str]
"""A run, and what was played or the text of an error."""


@dataclass(frozen=True)
class Task:
    """Runs to do; `deaths` counts the workers that died during the task, and `unshown` are kinds of warnings."""

    conditions: Conditions
    runs: tuple[PlannedRun, ...]
    deaths: int = 0
    unshown: tuple[type[Warning], ...] = ()


@dataclass(frozen=True)
class Failure:
    """A run that ended in an error, and the traceback or a description of the error."""

    run: PlannedRun
    error: str


@dataclass(frozen=True)
class TaskResult:
    """The result of a task.

    - `rows`: finished runs, with the schema `files.PART_SCHEMA`.
    - `failures`: runs that ended in an error.
    - `logs`: the decisions of runs as Parquet files.
    - `seconds`: wall time.
    """

    rows: pa.Table | None = None
    failures: tuple[Failure, ...] = ()
    logs: Mapping[str, bytes] = field(default_factory=dict)
    seconds: float = 0.0


def run_task(task: Task) -> TaskResult:
    """Do the runs; if one fails, it is reported and the others go on."""
    from graphbandit.experiments.results import files

    start = time.perf_counter()
    rows: list[dict[str, Any]] = []
    failures: list[Failure] = []
    logs: dict[str, bytes] = {}
    for _, group in groupby(task.runs, key=lambda run: (run.environment.label, run.repeat)):
        for run, outcome in _without(task.unshown, _outcomes(task.conditions, list(group))):
            if isinstance(outcome, str):
                failures.append(Failure(run, outcome))
                continue
            points = curve_rounds(task.conditions.rounds, task.conditions.curve_points, outcome.learnt)
            rows.append(
                {
                    "key": run.key,
                    "regret": float(outcome.regret[-1]),
                    "curve_round": points,
                    "curve_regret": outcome.regret[points - 1],
                    "seconds": outcome.seconds,
                    **_circumstances(),
                }
            )
            if task.conditions.keep_decisions:
                logs[run.key] = decisions_file(Decisions.concatenate(outcome.decisions))
    return TaskResult(files.part(rows), tuple(failures), logs, time.perf_counter() - start)


def _without(unshown: tuple[type[Warning], ...], made: Iterator[Outcome]) -> list[Outcome]:
    """What is made, without these kinds of warnings."""
    if not unshown:
        return list(made)
    with warnings.catch_warnings():
        for kind in unshown:
            warnings.simplefilter("ignore", kind)
        return list(made)


def _outcomes(conditions: Conditions, runs: list[PlannedRun]) -> Iterator[Outcome]:
    """Play the learners of one repeat together, on rounds drawn once; one by one if any of them fails."""
    try:
        for run, outcome in zip(runs, _play(conditions, runs), strict=True):
            yield run, outcome
    except Exception:  # the user's own learners and environments may raise anything
        if len(runs) == 1:
            yield runs[0], traceback.format_exc()
            return
        for run in runs:
            yield from _outcomes(conditions, [run])


def _play(conditions: Conditions, runs: list[PlannedRun]) -> list[PlayedRun]:
    where = runs[0].environment
    environment = build_environment(where.kind, where.settings)
    played = [run.learner for run in runs]
    return run_repeat(
        [(point.name, build_learner(point.kind, point.settings, environment)) for point in played],
        environment,
        rounds=conditions.rounds,
        repeat=runs[0].repeat,
        seed=conditions.seed,
        horizon_known=conditions.horizon_known,
        keep_decisions=conditions.keep_decisions,
    )


def curve_rounds(rounds: int, points: int, learnt: list[int]) -> Int[np.ndarray, " kept"]:
    """The rounds at which a curve is recorded: log-spaced, the last, and the ends of epochs unless they are too many.

    >>> curve_rounds(100, 5, [2, 4, 8])
    array([  1,   2,   3,   4,   8,  10,  32, 100])
    """
    spaced = np.geomspace(1, rounds, points).round().astype(np.int64)
    ends = np.array(learnt if len(learnt) <= max(points, 64) else [], dtype=np.int64)
    return np.unique(np.concatenate([spaced, ends, [rounds]]))


def decisions_file(decisions: Decisions) -> bytes:
    """A Parquet file with one row per round; a column with a number for each arm has lists."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {"round": np.arange(1, len(decisions) + 1)}
    for name in ARRAYS:
        if name == "notes":
            continue  # private to the learner
        values = getattr(decisions, name)
        columns[name] = (
            values
            if values.ndim == 1
            else pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
        )
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _circumstances() -> dict[str, Any]:
    """Where, when and with which versions a run was done; its result must not depend on any of them."""
    from graphbandit import __version__

    return {
        "worker": f"{socket.gethostname()}:{os.getpid()}",
        "ended": time.time(),
        "graphbandit": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
