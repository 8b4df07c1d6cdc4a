"""Columns in the types of the format: others are cast if no value changes by it, and refused otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphbandit.errors import LogError
from graphbandit.logs.format import DECISIONS, Layout

ARMS = ("action", "arm")
"""Columns that may hold the names of arms instead of their numbers."""


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type without its encoding: that of a dictionary's values, and one for all text."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if is_text(inner) else inner


def plain(rows: pa.Table) -> pa.Table:
    """The table without dictionaries, with one type for all text."""
    kinds = [plain_type(field.type) for field in rows.schema]
    for place, (field, kind) in enumerate(zip(rows.schema, kinds, strict=True)):
        if field.type != kind:
            rows = rows.set_column(place, field.name, rows[field.name].cast(kind))
    return rows


def check_types(table: str, schema: pa.Schema, layout: Layout, place: str) -> None:
    """Raise LogError at a column of a type that cannot be brought to that of the format; `place` names the file."""
    wanted = layout.schema(table)
    for field in schema:
        if field.name in wanted.names:
            _target(field.name, field.type, wanted.field(field.name).type, layout, place)


def to_format(rows: pa.Table, table: str, layout: Layout, *, place: str, first_row: int = 0) -> pa.Table:
    """Rows of a table with its columns in the types of the format; `place` and `first_row` say where they are from.

    Columns that the log has elsewhere and these rows lack are empty.
    """
    wanted = layout.schema(table)
    for column, name in enumerate(rows.column_names):
        if name in wanted.names:
            kind = wanted.field(name).type
            if rows.schema.field(name).type != kind:
                cast = _cast(rows[name], name, kind, layout, table, place, first_row)
                rows = rows.set_column(column, name, cast)
    if table == DECISIONS:
        for name, kind in layout.columns.items():
            if name not in rows.column_names:
                rows = rows.append_column(name, pa.nulls(rows.num_rows, kind))
    return rows


def arm_numbers(column: pa.ChunkedArray, name: str, arms: Any, table: str, first_row: int) -> pa.ChunkedArray:
    """The numbers of arms that a column names."""
    numbers = pc.index_in(column.cast(pa.string()), value_set=pa.array(list(arms), pa.string()))
    unknown = pc.and_(column.is_valid(), numbers.is_null()).to_numpy(zero_copy_only=False)
    if unknown.any():
        row = int(np.argmax(unknown))
        message = f"{name} is {column[row].as_py()!r}; expected one of the names in arms"
        raise LogError(message, table=table, row=first_row + row)
    return numbers


def _cast(
    column: pa.ChunkedArray, name: str, kind: pa.DataType, layout: Layout, table: str, place: str, first_row: int
) -> pa.ChunkedArray:
    found = column.type
    column = column.cast(plain_type(found)) if plain_type(found) != found else column
    if is_text(column.type) and not (name in ARMS and layout.stamp.arms is not None):
        _check_text(column, name, kind, table, first_row)
    target = _target(name, found, kind, layout, place)
    if name in ARMS and is_text(column.type):
        return arm_numbers(column, name, layout.stamp.arms, table, first_row)
    try:
        # moments are cut to microseconds, all else must stay what it is
        return column.cast(target, safe=not pa.types.is_timestamp(target))
    except pa.ArrowException as error:
        row = _first_changed(column, target)
        value = "" if row is None else f"is {column[row].as_py()!r} and "
        raise LogError(
            f"{name} {value}has type {found} in {place}; expected {_words(kind)}: {error}",
            table=table,
            row=None if row is None else first_row + row,
        ) from None


def _check_text(column: pa.ChunkedArray, name: str, kind: pa.DataType, table: str, first_row: int) -> None:
    """Raise LogError at the first text among numbers, which makes a whole column of a CSV file text."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        row = _first_changed(column, pa.float64())
        if row:  # a column that has no number at all is told by its type
            value = column[row].as_py()
            raise LogError(f"{name} is {value!r}; expected {_words(kind)}", table=table, row=first_row + row)


def _first_changed(column: pa.ChunkedArray, target: pa.DataType) -> int | None:
    """The first row whose value does not survive the cast; None if that cannot be told."""
    for row, value in enumerate(column):
        try:
            value.cast(target)
        except pa.ArrowException:
            return row
    return None


def _target(name: str, found: pa.DataType, kind: pa.DataType, layout: Layout, place: str) -> pa.DataType:
    """The type to cast a column to: `kind`, or for lists one with values of that type; LogError if there is none."""
    inner = plain_type(found)
    if name in ARMS and is_text(inner) and layout.stamp.arms is not None:
        return kind
    target = kind
    fits = pa.types.is_null(inner) or inner == plain_type(kind)
    if _is_list(kind):
        fits = fits or (_is_list(inner) and _numeric(inner.value_type, kind.value_type))
        if pa.types.is_fixed_size_list(inner):
            target = pa.list_(kind.value_type, inner.list_size)  # a wrong size is refused later, with its row
        elif not pa.types.is_null(inner):
            target = pa.list_(kind.value_type)
    elif pa.types.is_timestamp(kind):
        moment = pa.types.is_timestamp(inner) or pa.types.is_date(inner)
        fits = fits or moment
    else:
        fits = fits or _numeric(inner, kind) or (is_text(inner) and is_text(kind))
    if fits:
        return target
    names = ", or the names in arms" if name in ARMS and layout.stamp.arms is not None else ""
    raise LogError(f"{name} has type {found}; expected {_words(kind)}{names}", table=place)


def _words(kind: pa.DataType) -> str:
    if _is_list(kind):
        return f"lists of {_words(kind.value_type)}"
    numbers = "whole numbers" if pa.types.is_integer(kind) else "numbers" if pa.types.is_floating(kind) else None
    return str(kind) if numbers is None else f"{numbers} ({kind})"


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _numeric(found: pa.DataType, kind: pa.DataType) -> bool:
    """Whether numbers of one type may be numbers of another, or truth values 0 and 1."""
    numbers = bool(pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_decimal(found))
    if pa.types.is_integer(kind):
        return numbers
    real = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(real and (numbers or pa.types.is_boolean(found)))
