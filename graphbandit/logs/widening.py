"""Rows from before arms joined a log, with places for those arms.

Arms join behind those that are there, so the others keep their numbers. In the rounds before, a new arm was not on
offer, had probability 0, and revealed nothing but itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from graphbandit.logs.format import REWARDS


def widened(rows: pa.Table, table: str, few: int, n_arms: int) -> pa.Table:
    """Rows of a file of `few` arms as those of a log of `n_arms`."""
    if table == REWARDS or few >= n_arms:
        return rows
    rows = _changed(rows, "edges", lambda edges: [*edges, *np.repeat(np.arange(few, n_arms), 2).tolist()])
    rows = _changed(rows, "edge_probabilities", lambda odds: [*odds, *[1.0] * (n_arms - few)])
    if "available" in rows.column_names:
        column = rows["available"]
        offered = [list(range(few)) if arms is None else arms for arms in column.to_pylist()]
        rows = rows.set_column(rows.column_names.index("available"), "available", pa.array(offered, column.type))
    if "probabilities" in rows.column_names:
        rows = rows.set_column(
            rows.column_names.index("probabilities"), "probabilities", _padded(rows["probabilities"], n_arms)
        )
    return rows


def _changed(rows: pa.Table, name: str, change: Any) -> pa.Table:
    if name not in rows.column_names or rows[name].null_count == rows.num_rows:
        return rows
    column = rows[name]
    values = [None if value is None else change(value) for value in column.to_pylist()]
    return rows.set_column(rows.column_names.index(name), name, pa.array(values, column.type))


def _padded(column: pa.ChunkedArray, n_arms: int) -> pa.Array:
    """Lists of numbers with zeros behind them."""
    kind = pa.list_(pa.float64(), n_arms)
    if column.null_count == len(column):
        return pa.nulls(len(column), kind)
    values = [None if one is None else [*one, *[0.0] * (n_arms - len(one))] for one in column.to_pylist()]
    return pa.array(values, pa.list_(pa.float64())).cast(kind)
