"""Rows from before arms joined a log, with places for those arms.

Arms join behind those that are there, so the others keep their numbers. In the rounds before, a new arm was not on
offer, had probability 0, and revealed nothing but itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from graphbandit.logs.format import REWARDS


def widened(rows: pa.Table, table: str, few: int, n_arms: int) -> pa.Table:
    """Rows of a file of `few` arms as those of a log of `n_arms`."""
    if table == REWARDS or few >= n_arms:
        return rows
    loops = np.repeat(np.arange(few, n_arms), 2).tolist()
    changes: dict[str, Callable[[Any], Any]] = {
        "edges": lambda edges: None if edges is None else [*edges, *loops],
        "edge_probabilities": lambda each: None if each is None else [*each, *[1.0] * (n_arms - few)],
        "available": lambda arms: list(range(few)) if arms is None else arms,
        "probabilities": lambda each: None if each is None else [*each, *[0.0] * (n_arms - len(each))],
    }
    for place, (name, column) in enumerate(zip(rows.column_names, rows.columns, strict=True)):
        if name in changes:
            kind = pa.list_(pa.float64(), n_arms) if name == "probabilities" else column.type
            values = pa.array(map(changes[name], column.to_pylist()), kind)
            rows = rows.set_column(place, name, values)
    return rows
