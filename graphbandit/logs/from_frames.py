"""Logs from data frames of any kind, through narwhals: pandas, Polars, Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphbandit.base.shapes import Float
from graphbandit.errors import LogError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, bandit
from graphbandit.logs.arrow_rows import fixed_lists
from graphbandit.logs.column_types import arm_numbers, is_text, plain
from graphbandit.logs.format import (
    DECISION_COLUMNS,
    DECISIONS,
    GRAPHS,
    REWARDS,
    Layout,
    check_columns,
    check_present,
)
from graphbandit.logs.from_arrays import log_stamp, told_n_arms
from graphbandit.logs.storage import TableStorage, graph_rows
from graphbandit.rounds.shown import Graphs


def to_arrow(frame: Any, name: str) -> pa.Table:
    """A data frame as an Arrow table, its text and categories as plain text."""
    if isinstance(frame, pa.Table):
        return plain(frame)
    try:
        return plain(narwhals.from_native(frame, eager_only=True).to_arrow())
    except (TypeError, pa.ArrowException) as error:
        raise LogError(f"{name} is a {type(frame).__name__}; expected a data frame: {error}") from None


def storage_of_frames(
    decisions: Any,
    rewards: Any,
    graphs: Any,
    context: str | Sequence[str] | None,
    probabilities: str | Sequence[str] | None,
    n_arms: int | None,
    arms: Sequence[str] | None,
) -> TableStorage:
    """The rounds of two frames, as `Log.from_frames` describes them."""
    rounds = to_arrow(decisions, "decisions")
    rounds = _with_lists(rounds, "probabilities", probabilities)
    rounds, context_names = _with_context(rounds, context)
    if "probability" not in rounds.column_names and "probabilities" in rounds.column_names:
        rounds = _with_probability(rounds)
    names = None if arms is None else list(map(str, arms))
    rounds = _numbered(rounds, "action", names, DECISIONS)
    check_present(("action", "probability"), rounds.schema, DECISIONS)
    keys = rounds["id"] if "id" in rounds.column_names else None
    rounds, renumbered = _with_ids(rounds)
    if rewards is None:
        seen, rounds = _own_rewards(rounds)
    else:
        seen = to_arrow(rewards, "rewards")
        check_columns(REWARDS, seen.schema)
        seen = _numbered(seen, "arm", names, REWARDS)
        if renumbered:
            seen = _references(seen, keys)
    size = _size(n_arms, names, graphs, rounds)
    layout = Layout(
        stamp=log_stamp(size, _context_shape(rounds), names, context_names),
        columns={field.name: field.type for field in rounds.schema if field.name not in DECISION_COLUMNS},
    )
    rounds, table = _with_graphs(rounds, graphs, size, layout)
    return TableStorage(layout, rounds, seen, table)


def _with_lists(table: pa.Table, name: str, columns: str | Sequence[str] | None) -> pa.Table:
    """The table with the numbers of several columns as one column of lists."""
    if columns is None or columns == name:
        return table
    chosen = [columns] if isinstance(columns, str) else list(columns)
    missing = [column for column in chosen if column not in table.column_names]
    if missing:
        found = ", ".join(table.column_names)
        raise LogError(f"{name} has {', '.join(missing)}; expected columns among {found}", table=DECISIONS)
    if len(chosen) == 1 and pa.types.is_nested(table.schema.field(chosen[0]).type):
        values = table[chosen[0]]
    else:
        values = fixed_lists(np.stack([_column_numbers(table[column], column, name) for column in chosen], axis=1))
    if name in table.column_names:
        table = table.drop_columns([name])
    return table.append_column(name, values)


def _column_numbers(column: pa.ChunkedArray, which: str, name: str) -> Float[np.ndarray, " n"]:
    """The numbers of the column `which`, which is part of `name`."""
    try:
        return np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LogError(
            f"the column {which!r} of {name} has type {column.type}; expected numbers, such as a column of 0 and 1 "
            f"for each category: {error}",
            table=DECISIONS,
        ) from None


def _with_context(table: pa.Table, context: str | Sequence[str] | None) -> tuple[pa.Table, list[str] | None]:
    named = [context] if isinstance(context, str) else None if context is None else list(context)
    numbers = named is not None and not (
        len(named) == 1 and named[0] in table.column_names and pa.types.is_nested(table.schema.field(named[0]).type)
    )
    return _with_lists(table, "context", context), named if numbers else None


def _with_probability(table: pa.Table) -> pa.Table:
    check_present(("action",), table.schema, DECISIONS)
    lists, actions = table["probabilities"].to_pylist(), table["action"].to_pylist()
    if not all(isinstance(action, int) and 0 <= action < len(p) for p, action in zip(lists, actions, strict=True)):
        raise LogError(
            "probability is missing; expected it, or probabilities and actions that are arms", table=DECISIONS
        )
    return table.append_column("probability", pa.array([p[a] for p, a in zip(lists, actions, strict=True)]))


def _numbered(table: pa.Table, name: str, arms: list[str] | None, where: str) -> pa.Table:
    """Names of arms as their numbers."""
    if name not in table.column_names:
        return table
    column = table[name]
    if not is_text(column.type):
        return table
    if arms is None:
        raise LogError(
            f"{name} has type {column.type}; expected arms by number, or their names as arms=[...]", table=where
        )
    return table.set_column(table.column_names.index(name), name, arm_numbers(column, name, arms, where, 0))


def _with_ids(table: pa.Table) -> tuple[pa.Table, bool]:
    """The table with ids that grow; others are kept as the column key, and rows are counted instead."""
    if "id" in table.column_names:
        ids = table["id"]
        if pa.types.is_integer(ids.type) and not ids.null_count:
            values = ids.to_numpy()
            if (np.diff(values) > 0).all():
                return table, False
        if len(pc.unique(ids)) != len(ids):
            values = ids.to_pylist()
            row = next(i for i, value in enumerate(values) if value in values[:i])
            raise LogError(f"the id {values[row]!r} is there twice", table=DECISIONS, row=row)
        names = ["key" if name == "id" else name for name in table.column_names]
        table = table.rename_columns(names)
        return table.append_column("id", pa.array(np.arange(table.num_rows))), True
    return table.append_column("id", pa.array(np.arange(table.num_rows))), False


def _references(rewards: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
    column = rewards["decision"]
    try:
        rows = pc.index_in(column.cast(keys.type), value_set=keys.combine_chunks())
    except pa.ArrowException as error:
        raise LogError(f"decision has type {column.type}; expected {keys.type}: {error}", table=REWARDS) from None
    if rows.null_count:
        row = int(np.argmin(rows.is_valid().to_numpy(zero_copy_only=False)))
        raise LogError(f"there is no decision {column[row].as_py()!r}", table=REWARDS, row=row)
    return rewards.set_column(rewards.column_names.index("decision"), "decision", rows.cast(pa.int64()))


def _own_rewards(decisions: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rewards of the arms played, from the decisions' own column; an empty one is a reward that is missing."""
    if "reward" not in decisions.column_names:
        found = ", ".join(repr(name) for name in decisions.column_names if name != "id")
        raise LogError(
            f"there are no rewards; expected a frame of rewards, or a column reward among {found}", table=DECISIONS
        )
    there = decisions["reward"].is_valid()
    rewards = pa.table(
        {
            "decision": decisions["id"].filter(there),
            "arm": decisions["action"].filter(there),
            "reward": decisions["reward"].filter(there),
        }
    )
    return rewards, decisions.drop_columns(["reward"])


def _size(n_arms: int | None, arms: list[str] | None, graphs: Any, decisions: pa.Table) -> int:
    told = told_n_arms(n_arms, arms, graphs)
    if told is not None:
        return told
    if "probabilities" in decisions.column_names and decisions.num_rows:
        return len(decisions["probabilities"][0].as_py() or ())
    raise LogError("the number of arms is not told; expected n_arms, arms, graphs or probabilities")


def _context_shape(decisions: pa.Table) -> tuple[int, ...]:
    if "context" not in decisions.column_names or not decisions.num_rows:
        return (0,)
    first = decisions["context"][0].as_py()
    if not isinstance(first, list):
        raise LogError(f"context is {first!r}; expected a list of numbers", table=DECISIONS, row=0)
    return (len(first),)


def _with_graphs(decisions: pa.Table, graphs: Any, n_arms: int, layout: Layout) -> tuple[pa.Table, pa.Table | None]:
    """The decisions, referring to a table of graphs."""
    if graphs is None and not {"graph", "edges"} & set(decisions.column_names):
        graphs = bandit(n_arms)
    if isinstance(graphs, FeedbackGraph):
        graphs = FeedbackGraphs.repeat(graphs, decisions.num_rows)
    if isinstance(graphs, Graphs):
        if (len(graphs), graphs.n_arms) != (decisions.num_rows, n_arms):
            raise LogError(
                f"there are {len(graphs)} graphs of {graphs.n_arms} arms; expected {decisions.num_rows} of {n_arms}"
            )
        numbers = pa.array(graphs.index.astype(np.int64))
        if "graph" in decisions.column_names:
            decisions = decisions.drop_columns(["graph"])
        return decisions.append_column("graph", numbers), graph_rows(layout, graphs)
    if graphs is None:
        return decisions, None
    table = to_arrow(graphs, "graphs")
    check_columns(GRAPHS, table.schema)
    return decisions, table
