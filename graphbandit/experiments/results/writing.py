"""Write a results folder: finished runs are added as parts, which are merged at the end."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphbandit.base.saved_files import make_folder, write_bytes
from graphbandit.errors import SavedFileError
from graphbandit.experiments.describe.experiment import KINDS, Experiment
from graphbandit.experiments.describe.identity import identity
from graphbandit.experiments.describe.planned_runs import PlannedRun
from graphbandit.experiments.describe.toml_writer import to_toml
from graphbandit.experiments.results import files
from graphbandit.experiments.results.lock import locked
from graphbandit.experiments.results.reading import in_order, labelled, part_files, read_finished, read_planned
from graphbandit.experiments.running.tasks import Failure, TaskResult

FLUSH_SECONDS = 1.0
"""Finished runs wait this long before they are written, or until the next run finishes after that."""
MANY_PARTS = 128
"""If there are more parts than this, they are merged into one."""


class ResultsWriter:
    """The results folder of one experiment, open for writing; `opened` keeps other processes out."""

    def __init__(self, folder: Path, planned: pa.Table) -> None:
        self.folder, self.planned = folder, planned
        self._waiting: list[pa.Table] = []
        self._failures: list[dict[str, Any]] = []
        self._flushed = time.monotonic()
        self._next = 1 + max((int(path.stem) for path in part_files(folder)), default=0)

    @classmethod
    @contextlib.contextmanager
    def opened(cls, folder: Path, experiment: Experiment, runs: list[PlannedRun]) -> Iterator[ResultsWriter]:
        """Make the folder, or check that what is in it can be continued; nothing is written if it cannot."""
        planned = read_planned(folder)
        if planned is None and _is_foreign(folder):
            raise SavedFileError(f"{folder} is there and holds no results; expected a new or empty folder")
        name = experiment.name if planned is None else files.description(planned, folder / files.PLANNED)["name"]
        if name != experiment.name:
            raise SavedFileError(
                f"{folder} holds the results of the experiment {name!r}; expected another folder for "
                f"{experiment.name!r}, or that name"
            )
        make_folder(folder, files.PARTS)
        with locked(folder):
            for leftover in (*folder.glob(".*.part"), *folder.glob("*/.*.part")):
                leftover.unlink(missing_ok=True)
            store = cls(folder, planned_table(experiment, runs))
            store._describe(experiment)
            yield store

    def finished(self) -> dict[str, float]:
        """The final regret of every finished run by key, including runs that are no longer planned."""
        finals = read_finished(self.folder)[0]
        return dict(zip(finals.column("key").to_pylist(), finals.column("regret").to_pylist(), strict=True))

    def add(self, result: TaskResult) -> None:
        """Keep the result of a task until `flush_when_due` or `flush` writes it."""
        for key, log in result.logs.items():  # written before the run itself, so that every finished run has its log
            (self.folder / files.DECISIONS).mkdir(exist_ok=True)
            write_bytes(self.folder / files.DECISIONS / f"{key}.parquet", log)
        if result.rows is not None and result.rows.num_rows:
            self._waiting.append(result.rows)
        if result.failures:
            self._failures += [_described(failure) for failure in result.failures]
            text = json.dumps(self._failures, indent=2, ensure_ascii=False) + "\n"
            write_bytes(self.folder / files.FAILURES, text.encode())

    def flush_when_due(self) -> None:
        """Write if the last write was a second ago or more; called after every result of any experiment."""
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the waiting runs as a part."""
        if self._waiting:
            self._write_part(pa.concat_tables(self._waiting))
            self._waiting.clear()
            present = part_files(self.folder)
            if len(present) > MANY_PARTS:
                self._write_part(pa.concat_tables([files.read(path) for path in present]))
                _remove(present)
        self._flushed = time.monotonic()

    def merge(self) -> None:
        """Merge all parts into the three files; runs that are no longer planned stay in a part."""
        self.flush()
        present = part_files(self.folder)
        finals, curves, timings = read_finished(self.folder)
        keys = self.planned.column("key")
        others = pc.invert(pc.is_in(finals.column("key"), keys.combine_chunks()))
        if pc.any(others).as_py():
            self._write_part(_joined(finals.filter(others), curves, timings))
        finals, curves, timings = (in_order(rows, keys) for rows in (finals, curves, timings))
        for name, rows in (
            (files.RUNS, labelled(self.planned, finals)),
            (files.CURVES, curves),
            (files.TIMINGS, timings),
        ):
            files.write(self.folder / name, rows)
        _remove(present)
        with contextlib.suppress(OSError):  # not empty if runs that are no longer planned stay
            (self.folder / files.PARTS).rmdir()

    def _describe(self, experiment: Experiment) -> None:
        described = {name: getattr(experiment, name) for name in ("name", "rounds", "repeats", "seed")}
        text = to_toml(experiment, relative_to=self.folder)
        write_bytes(self.folder / files.SETTINGS, text.encode())
        files.write(self.folder / files.PLANNED, self.planned, described)
        (self.folder / files.FAILURES).unlink(missing_ok=True)

    def _write_part(self, rows: pa.Table) -> None:
        (self.folder / files.PARTS).mkdir(exist_ok=True)
        files.write(self.folder / files.PARTS / f"{self._next:08d}.parquet", rows)
        self._next += 1


def planned_table(experiment: Experiment, runs: list[PlannedRun]) -> pa.Table:
    """One row per run: key, labels, repeat, rounds, the settings that differ, and all settings as JSON."""
    told = {
        table: {p.label: json.loads(identity(p.kind, p.settings, kinds)) for p in experiment.points(table)}
        for table, kinds in KINDS.items()
    }
    environments, learners = ([run.environment.label for run in runs], [run.learner.label for run in runs])
    columns: dict[str, Any] = {
        "key": pa.array([run.key for run in runs], pa.string()),
        "environment": pa.array(environments, pa.string()),
        "learner": pa.array(learners, pa.string()),
        "repeat": pa.array([run.repeat for run in runs], pa.int64()),
        "rounds": pa.array([experiment.rounds] * len(runs), pa.int64()),
    }
    for table, labels in (("environments", environments), ("learners", learners)):
        for name in _varied(list(told[table].values())):
            columns[f"{table.removesuffix('s')}.{name}"] = _column([told[table][label].get(name) for label in labels])
    pairs = dict.fromkeys(zip(environments, learners, strict=True))
    texts = {
        (e, a): json.dumps({"environment": told["environments"][e], "learner": told["learners"][a]}, ensure_ascii=False)
        for e, a in pairs
    }
    columns["settings"] = pa.array([texts[pair] for pair in zip(environments, learners, strict=True)], pa.string())
    return pa.table(columns)


def _varied(settings: list[dict[str, Any]]) -> list[str]:
    """The settings that have more than one value, in the order in which they occur."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if len({json.dumps(each[name]) for each in settings if name in each}) > 1]


def _column(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or kinds == {bool}:
        return pa.array(values, pa.bool_() if kinds == {bool} else pa.float64() if float in kinds else pa.int64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _joined(finals: pa.Table, curves: pa.Table, timings: pa.Table) -> pa.Table:
    """These runs as the table of a part."""
    keys = finals.column("key")
    curves, timings = in_order(curves, keys), in_order(timings, keys)
    lengths = pc.value_counts(curves.column("key").combine_chunks()).field("counts").to_numpy(zero_copy_only=False)
    offsets = pa.array([0, *lengths.cumsum().tolist()], pa.int32())
    lists = {
        f"curve_{name}": pa.ListArray.from_arrays(offsets, curves.column(name).combine_chunks())
        for name in ("round", "regret")
    }
    columns = {**{name: finals.column(name) for name in finals.column_names}, **lists}
    columns |= {name: timings.column(name) for name, _ in files.CIRCUMSTANCES}
    return pa.table(columns, schema=files.PART_SCHEMA)


def _described(failure: Failure) -> dict[str, Any]:
    run = failure.run
    return {
        "key": run.key,
        "environment": run.environment.label,
        "learner": run.learner.label,
        "repeat": run.repeat,
        "settings": {
            "environment": {"kind": run.environment.kind, **run.environment.settings},
            "learner": {"kind": run.learner.kind, **run.learner.settings},
        },
        "error": failure.error,
    }


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _is_foreign(folder: Path) -> bool:
    """Whether the folder holds files other than those of an experiment killed before it wrote planned.parquet."""
    own = {files.PARTS, files.SETTINGS}
    return folder.exists() and (
        not folder.is_dir() or any(not path.name.startswith(".") and path.name not in own for path in folder.iterdir())
    )
