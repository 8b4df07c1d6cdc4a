"""Kinds of columns learnt from a frame of past contexts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_boolean, setting_integer
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.features.column_kinds import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Missing,
    NumberColumn,
    as_column,
    as_number,
    is_missing,
)
from graphbandit.features.context_input import as_table, check_names


def learn_columns(
    frame: object,
    columns: Sequence[str] | None,
    kinds: Mapping[str, Any],
    standardise: bool,
    most_categories: int,
) -> tuple[dict[str, Column], bool]:
    """The kind of each column, and whether all columns of the frame were taken. See `Features.from_frame`."""
    setting_boolean("standardise", standardise)
    setting_integer("most_categories", most_categories, at_least=1)
    table = as_table(frame, None)
    if isinstance(columns, str):
        raise SettingError(f"columns is {columns!r}; expected a list of the names of columns")
    wanted = list(table.names if columns is None else columns)
    check_names(table.names, wanted, absent="error", extra="ignore")
    for name in kinds:
        if name not in wanted:
            raise SettingError(f"kinds has {name!r}; expected one of {', '.join(map(repr, wanted))}")
    learnt: dict[str, Column] = {}
    for name in wanted:
        if name in kinds:
            learnt[name] = as_column(name, kinds[name])
            continue
        numbers = table.numbers(name)
        if numbers is not None:
            learnt[name] = _number(name, numbers, standardise)
        else:
            learnt[name] = _of_values(name, table.values(name), standardise, most_categories)
    return learnt, set(wanted) == set(table.names)


def _number(name: str, values: Float[np.ndarray, " n"], standardise: bool) -> NumberColumn:
    there = values[~np.isnan(values)]
    if not len(there):
        raise InputError(f"column {name!r} has no value that is not missing; expected at least one, or leave it out")
    if not np.isfinite(there).all():
        raise InputError(f"column {name!r} has {there[~np.isfinite(there)][0]}; expected finite numbers")
    missing: Missing = "column" if len(there) < len(values) else "fill"
    # exact sums, so that the order of the rows changes nothing
    mean = math.fsum(there.tolist()) / len(there)
    if not standardise:
        return NumberColumn(default=mean, missing=missing)
    deviation = math.sqrt(math.fsum(((there - mean) ** 2).tolist()) / len(there))
    # equal values differ from their mean by rounding alone, which is no scale to divide by
    scale = deviation if deviation > 1e-12 * max(1.0, abs(mean)) else 1.0
    return NumberColumn(location=mean, scale=scale, missing=missing)


def _of_values(name: str, values: Sequence[Any], standardise: bool, most_categories: int) -> Column:
    """The kind of a column of Python values: texts, booleans or numbers, beside missing ones."""
    there = [value for value in values if not is_missing(value)]
    has_missing = len(there) < len(values)
    if not there:
        raise InputError(f"column {name!r} has no value that is not missing; expected at least one, or leave it out")
    if all(isinstance(value, str) for value in there):
        categories = sorted(set(there))
        if len(categories) > most_categories:
            raise InputError(
                f"column {name!r} has {len(categories)} different texts; expected at most most_categories = "
                f"{most_categories}: leave it out, or declare its categories"
            )
        return CategoryColumn(categories=tuple(categories), missing="column" if has_missing else "fill")
    if all(isinstance(value, bool | np.bool_) for value in there):
        return BooleanColumn(missing="column" if has_missing else "fill")
    try:
        numbers = [math.nan if is_missing(value) else as_number(name, value) for value in values]
    except InputError as error:
        raise InputError(
            f"column {error}, a text or a boolean, all of one kind (of a date, take what matters, such as its hour)"
        ) from None
    return _number(name, np.array(numbers), standardise)
