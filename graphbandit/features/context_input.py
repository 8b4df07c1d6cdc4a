"""Contexts in the forms people have them: one row as a mapping, many as a table of columns.

Dictionaries, pandas rows, named tuples and NumPy arrays are told apart without importing any data-frame library;
narwhals, which reads pandas, Polars and Arrow alike, is imported when a frame arrives.
"""

import difflib
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

EXPECTED = (
    "expected a dictionary, a data-frame row, a data frame (pandas, Polars, Arrow), a list of dictionaries, or an array"
)


class NamedColumns(NamedTuple):
    """Columns by their names.

    `values(name)` is a column's list of Python values, and `numbers(name)` a float array, NaN where missing, if the
    column is one of numbers, and None if not.
    """

    n_rows: int
    names: list[str]
    values: Callable[[str], list[Any]]
    numbers: Callable[[str], Float[np.ndarray, " n"] | None]


def as_row(value: object) -> Mapping[str, Any] | None:
    """A single row as a mapping from column to value; None if `value` is not one."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        fields: Mapping[str, Any] = value._asdict()
        return fields
    if is_series(value, "pandas"):
        return dict(zip(value.index, value.tolist(), strict=True))  # type: ignore[attr-defined]
    return None


def as_table(value: object, columns: Sequence[str] | None) -> NamedColumns:
    """Many rows as a table. `columns` are the names for an array's columns; None where an array cannot be taken."""
    if isinstance(value, np.ndarray):
        return _table_of_array(value, columns)
    if isinstance(value, list | tuple):
        return _table_of_rows(value)
    return _table_of_frame(as_frame(value))


def as_frame(value: object) -> "nw.DataFrame[Any]":
    """A pandas, Polars or Arrow frame through narwhals; InputError if it is something else."""
    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    try:
        frame: Any = nw.from_native(value, pass_through=True)
    except NarwhalsError as error:  # two columns of the same name
        raise InputError(f"the frame cannot be read: {error}") from None
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"contexts are a lazy frame, {type(value).__name__}; expected one that is collected")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"contexts are {reprlib.repr(value)} of type {type(value).__name__}; {EXPECTED}")
    for name in frame.columns:
        if not isinstance(name, str):
            raise InputError(f"the frame has a column {name!r}; expected texts as the names of columns")
    return frame


def check_names(found: Iterable[object], expected: Sequence[str], *, absent: str, extra: str, where: str = "") -> None:
    """Raise InputError for absent columns unless absent="missing", and for unknown ones unless extra="ignore"."""
    there, wanted = list(found), set(expected)
    others = [name for name in there if name not in wanted]
    lacking = [name for name in expected if name not in set(there)]
    if lacking and absent == "error":
        near = difflib.get_close_matches(lacking[0], [str(name) for name in others], n=1)
        found = f"; did you mean it by {near[0]!r}?" if near else f", only {listed(there)};"
        raise InputError(f"{where}there is no column {lacking[0]!r}{found} expected {listed(expected)}")
    if others and extra == "error":
        raise InputError(
            f"{where}column {others[0]!r} is not known; expected only {listed(expected)} "
            f"(extra='ignore' leaves other columns out)"
        )


def _table_of_frame(frame: "nw.DataFrame[Any]") -> NamedColumns:
    import narwhals as nw

    def numbers(name: str) -> Float[np.ndarray, " n"] | None:
        series = frame.get_column(name)
        if not (series.dtype.is_integer() or series.dtype.is_float()):
            return None
        return np.ascontiguousarray(series.cast(nw.Float64).fill_null(float("nan")).to_numpy(), dtype=np.float64)

    return NamedColumns(len(frame), list(frame.columns), lambda name: frame.get_column(name).to_list(), numbers)


def _table_of_rows(rows: Sequence[object]) -> NamedColumns:
    if not rows:
        raise InputError(f"contexts are an empty {type(rows).__name__}; expected at least one dictionary")
    read: list[Mapping[str, Any]] = []
    for place, given in enumerate(rows):
        row = as_row(given)
        if row is None:
            raise InputError(f"contexts are a {type(rows).__name__} with {reprlib.repr(given)} at {place}; {EXPECTED}")
        if read and row.keys() != read[0].keys():
            raise InputError(
                f"row {place} has columns {listed(list(row))}; expected those of row 0, {listed(list(read[0]))}"
            )
        read.append(row)
    return NamedColumns(len(read), list(read[0]), lambda name: [row[name] for row in read], lambda name: None)


def _table_of_array(array: Shaped[np.ndarray, "..."], columns: Sequence[str] | None) -> NamedColumns:
    if columns is None:
        raise InputError("contexts are an array; expected columns with names: a dictionary or a data frame")
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise InputError(
            f"contexts are an array of shape {array.shape}; expected ({len(columns)},) or (n, {len(columns)}), "
            f"the columns {listed(columns)}"
        )
    places = {name: place for place, name in enumerate(columns)}
    numeric = array.dtype.kind in "iuf"
    return NamedColumns(
        len(array),
        list(columns),
        lambda name: array[:, places[name]].tolist(),
        lambda name: array[:, places[name]].astype(np.float64) if numeric else None,
    )


def is_series(value: object, library: Literal["pandas", "polars"]) -> bool:
    """Whether this is a Series of the library, found out without importing it."""
    kind = type(value)
    return kind.__name__ == "Series" and kind.__module__.partition(".")[0] == library


def listed(names: Sequence[object]) -> str:
    """Names for a message, the first ten of them."""
    shown = ", ".join(map(repr, names[:10]))
    return (shown + f", ... ({len(names)} in all)" if len(names) > 10 else shown) or "none"
