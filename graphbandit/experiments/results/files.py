"""The Parquet files of a results folder: their names and schemas, and reading and writing them.

    planned.parquet    every planned run with its labels and settings; the metadata have the name, rounds, repeats, seed
    runs.parquet       finished runs: the columns of planned.parquet and the final regret
    curves.parquet     cumulative regret after some rounds of each run
    timings.parquet    how long each run took, where, when, and with which versions
    parts/N.parquet    runs that have finished since: one row per run, with all of this

Every file is written under a temporary name, flushed and renamed, so it is complete or absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from graphbandit.base.saved_files import write_atomically
from graphbandit.errors import SavedFileError
from graphbandit.experiments.describe.planned_runs import FORMAT

PLANNED, RUNS, CURVES, TIMINGS = "planned.parquet", "runs.parquet", "curves.parquet", "timings.parquet"
PARTS, FAILURES, DECISIONS, SETTINGS = "parts", "failures.json", "decisions", "experiment.toml"

CIRCUMSTANCES = [
    ("seconds", pa.float64()),
    ("worker", pa.string()),
    ("ended", pa.float64()),
    ("graphbandit", pa.string()),
    ("python", pa.string()),
    ("numpy", pa.string()),
]
FINALS_SCHEMA = pa.schema([("key", pa.string()), ("regret", pa.float64())])
CURVES_SCHEMA = pa.schema([("key", pa.string()), ("round", pa.int64()), ("regret", pa.float64())])
TIMINGS_SCHEMA = pa.schema([("key", pa.string()), *CIRCUMSTANCES])
PART_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("regret", pa.float64()),
        ("curve_round", pa.list_(pa.int64())),
        ("curve_regret", pa.list_(pa.float64())),
        *CIRCUMSTANCES,
    ]
)
_METADATA = b"graphbandit"


def part(rows: list[dict[str, Any]]) -> pa.Table:
    """Finished runs as the table of a part."""
    return pa.table({field.name: pa.array([row[field.name] for row in rows], field.type) for field in PART_SCHEMA})


def write(path: Path, rows: pa.Table, described: Mapping[str, Any] | None = None) -> None:
    """Write a table with the format's version and a description in its metadata; the same rows give the same bytes."""
    content = json.dumps({"format": FORMAT, **(described or {})})
    marked = rows.combine_chunks().replace_schema_metadata({_METADATA: content.encode()})
    write_atomically(path, lambda file: parquet.write_table(marked, file, compression="zstd"))


def read(path: Path) -> pa.Table:
    """The table in a file of this format; FileNotFoundError if there is none."""
    try:
        # From memory, because another process may replace the file while it is read. Without threads, because Arrow
        # aborts a process that ends while one of its threads is starting.
        rows = parquet.ParquetFile(pa.py_buffer(path.read_bytes()), pre_buffer=False).read(use_threads=False)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, pa.ArrowException) as error:
        raise SavedFileError(f"{path} is damaged or not a Parquet file: {error}") from error
    description(rows, path)
    return rows


def description(rows: pa.Table, path: Path) -> dict[str, Any]:
    """The description in the metadata of a table; SavedFileError if there is none, or of another format."""
    metadata = rows.schema.metadata or {}
    try:
        content = json.loads(metadata.get(_METADATA, b"null"))
        found = None if content is None else content["format"]
    except (ValueError, KeyError, TypeError):
        found = None
    if found is None:
        raise SavedFileError(f"{path} is a Parquet file, but not of graphbandit's results")
    if found != FORMAT:
        raise SavedFileError(
            f"{path} has results of format {found!r}; this version of graphbandit reads and writes format {FORMAT}: "
            "expected another folder, or the version that made them"
        )
    return dict(content)


def split(rows: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Split a part into final regrets, curves and timings."""
    rows = rows.replace_schema_metadata(None).combine_chunks()
    rounds = rows.column("curve_round").combine_chunks()
    curves = pa.table(
        {
            "key": rows.column("key").take(pc.list_parent_indices(rounds)),
            "round": pc.list_flatten(rounds),
            "regret": pc.list_flatten(rows.column("curve_regret").combine_chunks()),
        },
        schema=CURVES_SCHEMA,
    )
    return rows.select(FINALS_SCHEMA.names), curves, rows.select(TIMINGS_SCHEMA.names)
