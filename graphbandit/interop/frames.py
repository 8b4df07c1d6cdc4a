"""Logs as data frames of any kind (pandas, Polars, Arrow) and as CSV or Parquet files of one row a round."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import narwhals
import numpy as np
import pyarrow as pa

from graphbandit.base.checks import setting_choice
from graphbandit.base.extras import imported
from graphbandit.base.public_names import listing
from graphbandit.errors import LogError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraphs
from graphbandit.logs import Log
from graphbandit.logs.format import DECISIONS, GRAPHS, REWARDS

__all__ = ["read", "read_table", "to_frames"]

Library = Literal["pandas", "polars", "pyarrow"]


def to_frames(log: Log, library: Library = "pandas") -> dict[str, Any]:
    """The tables decisions, rewards and graphs of a log as data frames, by name (docs/log-format.md has the columns).

    - `log`: the log.
    - `library`: "pandas" (default), "polars" or "pyarrow".

    >>> log = Log.from_arrays(actions=[0, 1], probabilities=[[0.5, 0.5], [0.2, 0.8]], rewards=[1.0, 0.0])
    >>> to_frames(log, "pyarrow")["rewards"].column("arm").to_pylist()
    [0, 1]
    """
    setting_choice("library", library, get_args(Library))
    tables = log.to_arrow()
    frames = {name: narwhals.from_native(tables[name], eager_only=True) for name in (DECISIONS, REWARDS, GRAPHS)}
    if library == "pyarrow":
        return {name: frame.to_arrow() for name, frame in frames.items()}
    imported(library, library)
    return {name: frame.to_pandas() if library == "pandas" else frame.to_polars() for name, frame in frames.items()}


def read(
    path: str | os.PathLike[str],
    *,
    context: str | Sequence[str] | None = None,
    probabilities: str | Sequence[str] | None = None,
    rewards: str | os.PathLike[str] | None = None,
    graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraphs | None = None,
    n_arms: int | None = None,
    arms: Sequence[str] | None = None,
) -> Log:
    """A log from a CSV or Parquet file with a row a round.

    Errors name the line of a CSV file, which counts from 1 and has the names of the columns in the first line.

    - `path`: the file.
    - `rewards`: a file with a row a reward: decision, arm, reward; None (default): the column `reward` has that of the
      arm played.
    - `context`, `probabilities`, `graphs`, `n_arms`, `arms`: as in `Log.from_frames`, None by default.
    """
    source = Path(path)
    table = read_table(source)
    more = None if rewards is None else read_table(Path(rewards))
    names = {DECISIONS: source, REWARDS: source if rewards is None else Path(rewards)}
    try:
        log = Log.from_frames(
            table,
            more,
            graphs=graphs,
            context=context,
            probabilities=probabilities,
            arms=arms,
            n_arms=n_arms,
        )
        for _ in log.batches():  # every row is checked
            pass
    except LogError as error:
        if error.table not in names or error.row is None:
            raise
        file, row = names[error.table], error.row
        if error.table == REWARDS and rewards is None:  # rounds without a reward have no row there
            row = int(np.flatnonzero(table["reward"].is_valid().to_numpy(zero_copy_only=False))[row])
        place = f"line {row + 2}" if _is_csv(file) else f"row {row}"
        raise LogError(f"{file.name}, {place}: {error.message}") from None
    return log


def read_table(path: Path) -> pa.Table:
    """A CSV or Parquet file as an Arrow table.

    - `path`: the file.
    """
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if _is_csv(path):
            return pyarrow.csv.read_csv(path)
        if path.suffix == ".parquet":
            return pyarrow.parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise LogError(f"{path} cannot be read: {error}") from None
    raise LogError(f"{path.name} ends in {path.suffix!r}; expected .csv, .csv.gz or .parquet")


def _is_csv(path: Path) -> bool:
    return path.name.endswith((".csv", ".csv.gz"))


__dir__ = listing(globals())
