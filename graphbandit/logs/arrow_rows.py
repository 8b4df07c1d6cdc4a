"""Batches of a log from Arrow tables, and Arrow tables from batches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.errors import LogError
from graphbandit.logs.batch import LogBatch, check_growing
from graphbandit.logs.format import DECISION_COLUMNS, DECISIONS, REWARDS, TIME, Layout, Stamp
from graphbandit.logs.graph_rows import EdgeRow, GraphStore, edge_columns

INTEGERS, NUMBERS = pa.list_(pa.int32()), pa.list_(pa.float64())


def to_batch(
    decisions: pa.Table,
    rewards: pa.Table,
    reward_rows: Int[np.ndarray, " rewards"],
    *,
    stamp: Stamp,
    graphs: GraphStore,
    first_row: int,
) -> LogBatch:
    """The rounds of some decisions with their rewards, checked; `reward_rows` are the rewards' rows in their table."""
    n, n_arms = decisions.num_rows, stamp.n_arms
    ids = integers(decisions, "id", DECISIONS, first_row)
    check_growing(ids, first_row)
    y, q = _reward_arrays(ids, rewards, reward_rows, n_arms)
    batch = LogBatch(
        first_row=first_row,
        ids=ids,
        contexts=_contexts(decisions, stamp, first_row),
        graphs=graphs.batch(decisions, first_row),
        actions=integers(decisions, "action", DECISIONS, first_row),
        probability=_numbers(decisions, "probability", DECISIONS, first_row),
        probabilities=_lists(decisions, "probabilities", n_arms, first_row, gaps=True),
        rewards=y,
        observation_probabilities=q,
        available=_available(decisions, n_arms, first_row),
        epochs=_epochs(decisions),
        times=_times(decisions),
        columns={
            name: decisions[name].to_numpy()
            if not pa.types.is_nested(decisions.schema.field(name).type)
            else _nested(decisions[name], n)
            for name in decisions.column_names
            if name not in DECISION_COLUMNS
        },
    )
    batch.check()
    return batch


def _reward_arrays(
    ids: Int[np.ndarray, " n"], rewards: pa.Table, rows: Int[np.ndarray, " rewards"], n_arms: int
) -> tuple[Float[np.ndarray, "n arms"], Float[np.ndarray, "n arms"] | None]:
    y = np.full((len(ids), n_arms), np.nan)
    if not rewards.num_rows:
        return y, None

    def refuse(wrong: Bool[np.ndarray, " rewards"], message: Any) -> None:
        if wrong.any():
            first = int(np.flatnonzero(wrong)[np.argmin(rows[wrong])])
            raise LogError(message(first), table=REWARDS, row=int(rows[first]))

    of = integers(rewards, "decision", REWARDS, rows)
    arms = integers(rewards, "arm", REWARDS, rows)
    values = _numbers(rewards, "reward", REWARDS, rows)
    place = np.minimum(np.searchsorted(ids, of), len(ids) - 1)
    refuse(ids[place] != of, lambda i: f"there is no decision {of[i]}")
    refuse((arms < 0) | (arms >= n_arms), lambda i: f"the arm is {arms[i]}; expected an arm of 0 .. {n_arms - 1}")
    refuse(~np.isfinite(values), lambda i: f"the reward is {values[i]}; expected a finite number")
    cell = place * n_arms + arms
    order = np.argsort(cell, kind="stable")
    twice = np.zeros(len(cell), bool)
    twice[order[1:]] = cell[order[1:]] == cell[order[:-1]]
    refuse(twice, lambda i: f"the reward of arm {arms[i]} of decision {of[i]} is there twice")
    y[place, arms] = values
    if "observation_probability" not in rewards.column_names:
        return y, None
    q = rewards["observation_probability"]
    if q.null_count == len(q):
        return y, None
    given = q.is_valid().to_numpy(zero_copy_only=False)
    values = np.where(given, q.fill_null(1.0).to_numpy(), np.nan)
    refuse(
        given & ~((values > 0) & (values <= 1 + 1e-6)),
        lambda i: f"the observation probability is {values[i]}; expected a number above 0 and at most 1",
    )
    q = np.full((len(ids), n_arms), np.nan)
    q[place, arms] = values
    return y, q


def _contexts(table: pa.Table, stamp: Stamp, first_row: int) -> Float[np.ndarray, "n ..."]:
    if not stamp.context_size:
        return np.empty((table.num_rows, *stamp.context_shape))
    if "context" not in table.column_names:
        raise LogError(f"the column context is missing; expected {stamp.context_size} numbers a row", table=DECISIONS)
    flat = _lists(table, "context", stamp.context_size, first_row)
    if flat is None:
        raise LogError("the context is empty; expected numbers", table=DECISIONS, row=first_row)
    return flat.reshape(table.num_rows, *stamp.context_shape)


def _lists(
    table: pa.Table, name: str, size: int, first_row: int, *, gaps: bool = False
) -> Float[np.ndarray, "n size"] | None:
    """A column of lists of `size` numbers each; None if all are missing.

    With `gaps`, the numbers of rows that lack them are nan; otherwise such a row is an error.
    """
    if name not in table.column_names or not table.num_rows:
        return None
    column = table[name]
    if column.null_count == len(column):
        return None
    if column.null_count:
        there = column.is_valid().to_numpy(zero_copy_only=False)
        if not gaps:
            row = first_row + int(np.argmin(there))
            raise LogError(f"{name} is empty; expected it in every row or in none", table=DECISIONS, row=row)
        try:
            kept = _lists(table.filter(pa.array(there)), name, size, 0)
        except LogError as error:
            place = None if error.row is None else first_row + int(np.flatnonzero(there)[error.row])
            raise LogError(error.message, table=DECISIONS, row=place) from None
        found = np.full((table.num_rows, size), np.nan)
        if kept is not None:
            found[there] = kept
        return found
    kind = column.type
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    if pa.types.is_fixed_size_list(kind):
        lengths = None if kind.list_size == size else np.full(len(array), kind.list_size)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
    else:
        raise LogError(f"{name} has type {kind}; expected lists of {size} numbers", table=DECISIONS)
    if lengths is not None and (lengths != size).any():
        row = int(np.argmax(lengths != size))
        raise LogError(f"{name} has {lengths[row]} numbers; expected {size}", table=DECISIONS, row=first_row + row)
    flat = array.flatten()
    if flat.null_count:
        row = int(np.argmin(flat.is_valid().to_numpy(zero_copy_only=False))) // size
        raise LogError(f"{name} has values that are missing; expected numbers", table=DECISIONS, row=first_row + row)
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float64).reshape(-1, size)


def _available(table: pa.Table, n_arms: int, first_row: int) -> Bool[np.ndarray, "n arms"] | None:
    if "available" not in table.column_names or table["available"].null_count == table.num_rows:
        return None
    mask = np.zeros((table.num_rows, n_arms), dtype=np.bool_)
    for row, arms in enumerate(table["available"]):
        if not arms.is_valid:
            mask[row] = True
            continue
        if arms.values.null_count:
            raise LogError("available has an empty entry; expected arms", table=DECISIONS, row=first_row + row)
        chosen = arms.values.to_numpy(zero_copy_only=False)
        if len(chosen) and not 0 <= chosen.min() <= chosen.max() < n_arms:
            raise LogError(
                f"available has arms {chosen.min()} to {chosen.max()}; expected arms of 0 .. {n_arms - 1}",
                table=DECISIONS,
                row=first_row + row,
            )
        mask[row, chosen] = True
    return mask


def _epochs(table: pa.Table) -> Int[np.ndarray, " n"] | None:
    if "epoch" not in table.column_names or table["epoch"].null_count:
        return None
    return np.asarray(table["epoch"].to_numpy(), dtype=np.int64)


def _times(table: pa.Table) -> Shaped[np.ndarray, " n"] | None:
    if "time" not in table.column_names or table["time"].null_count == table.num_rows:
        return None
    return np.asarray(table["time"].cast(pa.timestamp("us")).to_numpy(), dtype="datetime64[us]")


def _nested(column: pa.ChunkedArray, n: int) -> Shaped[np.ndarray, "n ..."]:
    """A column of lists as rows if they are equally long, as objects otherwise."""
    values = column.to_pylist()
    lengths = {-1 if value is None else len(value) for value in values}
    if len(lengths) == 1 and -1 not in lengths:
        return np.array(values)
    objects = np.empty(n, dtype=object)
    objects[:] = values
    return objects


def _valid(table: pa.Table, name: str, where: str, rows: int | Int[np.ndarray, " rows"]) -> pa.ChunkedArray:
    """A column without gaps; `rows` are the numbers of its rows in the table `where`, or that of the first."""
    column = table[name]
    if column.null_count:
        first = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
        row = rows + first if isinstance(rows, int) else int(rows[first])
        raise LogError(f"{name} is empty; expected a number", table=where, row=row)
    return column


def integers(table: pa.Table, name: str, where: str, rows: int | Int[np.ndarray, " rows"] = 0) -> Int[np.ndarray, " n"]:
    """A column of whole numbers of the table `where`; `rows` are the numbers of its rows, or that of the first."""
    return np.asarray(_valid(table, name, where, rows).to_numpy(), dtype=np.int64)


def _numbers(table: pa.Table, name: str, where: str, rows: int | Int[np.ndarray, " rows"]) -> Float[np.ndarray, " n"]:
    return np.asarray(_valid(table, name, where, rows).to_numpy(), dtype=np.float64)


def decision_rows(
    layout: Layout, batch: LogBatch, numbers: Int[np.ndarray, " n"] | None, edges: list[EdgeRow | None] | None
) -> pa.Table:
    """The decisions of a batch as Arrow rows; `numbers` refer to the graphs table (-1: the row has its own edges)."""
    n, stamp = len(batch), layout.stamp
    empty = {
        "graph": nulls(n, pa.int64()),
        "edges": nulls(n, INTEGERS),
        "edge_probabilities": nulls(n, NUMBERS),
    }
    columns: dict[str, Any] = {
        "id": pa.array(batch.ids, pa.int64()),
        "time": nulls(n, TIME) if batch.times is None else pa.array(batch.times.astype("datetime64[us]")).view(TIME),
        "available": nulls(n, INTEGERS)
        if batch.available is None
        else pa.array([np.flatnonzero(mask).astype(np.int32) for mask in batch.available], INTEGERS),
        "action": pa.array(batch.actions.astype(np.int32)),
        "probability": pa.array(batch.probability),
        "probabilities": nulls(n, pa.list_(pa.float64(), stamp.n_arms))
        if batch.probabilities is None
        else fixed_lists(batch.probabilities, None if batch.all_known.all() else ~batch.all_known),
        "epoch": nulls(n, pa.int64()) if batch.epochs is None else pa.array(batch.epochs, pa.int64()),
        **empty,
    }
    if numbers is not None:
        columns["graph"] = pa.array(numbers, pa.int64(), mask=numbers < 0)
    if edges is not None:
        columns["edges"], columns["edge_probabilities"] = edge_columns(edges)
    if stamp.context_size:
        columns["context"] = fixed_lists(batch.contexts.reshape(n, -1))
    for name, kind in layout.columns.items():
        columns[name] = pa.array(
            batch.columns[name].tolist() if batch.columns[name].ndim > 1 else batch.columns[name],
            kind,
            from_pandas=True,
        )
    schema = layout.schema(DECISIONS)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def reward_rows(layout: Layout, batch: LogBatch) -> pa.Table:
    """The rewards of a batch as Arrow rows, with q where it is known."""
    rows, arms = np.nonzero(batch.revealed)
    q = batch.q[rows, arms]
    columns = [
        pa.array(batch.ids[rows], pa.int64()),
        pa.array(arms.astype(np.int32)),
        pa.array(batch.rewards[rows, arms]),
        pa.array(q, pa.float64(), mask=np.isnan(q)),
        nulls(len(rows), TIME),
    ]
    return pa.table(columns, schema=layout.schema(REWARDS))


def fixed_lists(rows: Float[np.ndarray, "n size"], missing: Bool[np.ndarray, " n"] | None = None) -> pa.Array:
    """Rows of numbers as an Arrow column of lists, without a copy where the memory allows; `missing` ones are null."""
    numbers = pa.array(np.ascontiguousarray(rows, dtype=np.float64).ravel())
    mask = None if missing is None else pa.array(missing)
    return pa.FixedSizeListArray.from_arrays(numbers, rows.shape[1], mask=mask)


def nulls(n: int, kind: pa.DataType) -> pa.Array:
    """A column without values."""
    return _null(kind) if n == 1 else pa.nulls(n, kind)


@lru_cache(maxsize=64)  # a bandit's log has the same empty columns of one row over and over
def _null(kind: pa.DataType) -> pa.Array:
    return pa.nulls(1, kind)
