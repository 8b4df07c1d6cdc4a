"""The results of an experiment. They can be read at any time, even while it runs or after it was killed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from graphbandit.base.extras import imported
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SavedFileError
from graphbandit.experiments.results import files

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Description:
    """The facts that the results keep about their experiment."""

    name: str
    rounds: int
    repeats: int
    seed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """Finished runs as Arrow tables, in the order of the experiment: environments, learners, repeats.

    - `experiment`: its name, rounds, repeats and seed.
    - `planned`: all runs of the experiment, finished or not.
    - `runs`: a row for each finished run: key, environment, learner, repeat, rounds, regret (final and cumulative), a
      column ``environment.X`` or ``learner.X`` for every setting X that differs between environments or learners, and
      all settings as JSON.
    - `curves`: the cumulative regret: key, round, regret.
    - `timings`: how long each run took (processor seconds of the learner), where, when and with which versions.
    - `failures`: the runs that ended in an error when they were last tried.
    - `folder`: the folder of the results.
    """

    experiment: Description
    planned: pa.Table
    runs: pa.Table
    curves: pa.Table
    timings: pa.Table
    failures: list[dict[str, Any]]
    folder: Path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Results:
        """Read the results in this folder."""
        folder = Path(path)
        planned = read_planned(folder)
        if planned is None:
            raise SavedFileError(f"{folder} holds no results; expected a folder that `graphbandit run` has made")
        described = files.description(planned, folder / files.PLANNED)
        finals, curves, timings = (in_order(rows, planned.column("key")) for rows in read_finished(folder))
        return cls(
            experiment=Description(**{name: described[name] for name in ("name", "rounds", "repeats", "seed")}),
            planned=planned,
            runs=labelled(planned, finals),
            curves=curves,
            timings=timings,
            failures=read_failures(folder),
            folder=folder,
        )

    @property
    def n_planned(self) -> int:
        """The number of runs of the experiment, finished or not."""
        return int(self.planned.num_rows)

    @property
    def environments(self) -> list[str]:
        """The labels of all environments, in order."""
        return [str(label) for label in pc.unique(self.planned.column("environment")).to_pylist()]

    @property
    def learners(self) -> list[str]:
        """The labels of all learners, in order."""
        return [str(label) for label in pc.unique(self.planned.column("learner")).to_pylist()]

    def regret(self, environment: str, learner: str) -> Float[np.ndarray, " repeats"]:
        """Final regret of the finished runs of a learner on an environment, by repeat.

        - `environment`: the label of the environment.
        - `learner`: the label of the learner.
        """
        for name, label, known in (
            ("environment", environment, self.environments),
            ("learner", learner, self.learners),
        ):
            if label not in known:
                raise InputError(f"{name} is {label!r}; expected one of {', '.join(map(repr, known))}")
        rows = self.runs.filter(
            pc.and_(
                pc.equal(self.runs.column("environment"), environment), pc.equal(self.runs.column("learner"), learner)
            )
        )
        regret: Float[np.ndarray, " repeats"] = rows.column("regret").to_numpy()
        return regret

    def decisions(self, key: str) -> pa.Table:
        """Every decision of a run, one row per round, if the experiment recorded them."""
        path = self.folder / files.DECISIONS / f"{key}.parquet"
        try:
            return parquet.ParquetFile(path, pre_buffer=False).read(use_threads=False)  # as files.read
        except FileNotFoundError:
            raise InputError(f"key is {key!r}, of which no decisions were kept; see keep_decisions = true") from None

    def to_pandas(self) -> pd.DataFrame:
        """`runs` as a data frame."""
        imported("pandas", "pandas", "to_pandas needs pandas")
        return self.runs.to_pandas()


def read_planned(folder: Path) -> pa.Table | None:
    """The planned runs; None if there are no results."""
    try:
        return files.read(folder / files.PLANNED)
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_finished(folder: Path) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Final regrets, curves and timings of every finished run, each run once, in no particular order.

    Parts are read before the files that they are merged into, so nothing is missed while another process merges them. A
    run counts as merged only if all three files have it.
    """
    while True:
        try:
            found = [files.split(files.read(path)) for path in part_files(folder)]
            break
        except FileNotFoundError:  # another process has just merged the part
            continue
    found.insert(0, _merged(folder))
    seen = pa.array([], pa.string())
    kept: list[tuple[pa.Table, ...]] = []
    for tables in found:
        keys = tables[0].column("key").combine_chunks()
        twice = pc.any(pc.is_in(keys, seen)).as_py()
        kept.append(tuple(_without(rows, seen) for rows in tables) if twice else tables)
        seen = pa.concat_arrays([seen, keys])
    finals, curves, timings = (pa.concat_tables(each).combine_chunks() for each in zip(*kept, strict=True))
    return finals, curves, timings


def part_files(folder: Path) -> list[Path]:
    """The parts in the order in which they were written, without temporary files."""
    return sorted(path for path in (folder / files.PARTS).glob("*.parquet") if not path.name.startswith("."))


def read_failures(folder: Path) -> list[dict[str, Any]]:
    """The runs that failed when they were last tried."""
    try:
        failures: list[dict[str, Any]] = json.loads((folder / files.FAILURES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return failures


def count_others(results: Results) -> int:
    """The number of finished runs in the folder that its experiment does not ask for (any more)."""
    finals = read_finished(results.folder)[0]
    return int(finals.num_rows - results.runs.num_rows)


def in_order(rows: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
    """The rows whose key is among `keys`, in the order of `keys`."""
    place = pc.index_in(rows.column("key"), keys.combine_chunks())
    order = pc.array_sort_indices(place.combine_chunks())  # stable: the rounds of a curve stay in their order
    return rows.take(order.slice(0, rows.num_rows - place.null_count)).combine_chunks()


def labelled(planned: pa.Table, finals: pa.Table) -> pa.Table:
    """The planned rows of these runs, with a column for the regret after the rounds."""
    rows = in_order(planned, finals.column("key"))
    place = rows.column_names.index("rounds") + 1
    return rows.add_column(place, "regret", finals.column("regret")).replace_schema_metadata(None)


def _merged(folder: Path) -> tuple[pa.Table, pa.Table, pa.Table]:
    tables = []
    for name, schema in (
        (files.RUNS, files.FINALS_SCHEMA),
        (files.CURVES, files.CURVES_SCHEMA),
        (files.TIMINGS, files.TIMINGS_SCHEMA),
    ):
        try:
            rows = files.read(folder / name).select(schema.names)
        except FileNotFoundError:
            rows = schema.empty_table()
        tables.append(rows.replace_schema_metadata(None))
    finals, curves, timings = tables
    for other in (curves, timings):
        finals = finals.filter(pc.is_in(finals.column("key"), pc.unique(other.column("key"))))
    whole = finals.column("key").combine_chunks()
    return finals, _among(curves, whole), _among(timings, whole)


def _among(rows: pa.Table, keys: pa.Array) -> pa.Table:
    return rows.filter(pc.is_in(rows.column("key"), keys))


def _without(rows: pa.Table, keys: pa.Array) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(rows.column("key"), keys)))
