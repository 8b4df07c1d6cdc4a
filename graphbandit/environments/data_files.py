"""Read labelled rows and ratings from .npz and .csv files, and from the formats in which some data are published."""

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledData:
    """Rows of features and the class of each.

    - `X`: the features, (rows, d).
    - `y`: the class of each row.
    - `class_names`: names of the classes, in the order of the sorted labels; None (default): the labels are the names.
    """

    X: Shaped[np.ndarray, "rows d"]
    y: Shaped[np.ndarray, " rows"]
    class_names: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class RatingData:
    """Ratings: `users[k]` gave `items[k]` the value `values[k]`.

    - `users`, `items`, `values`: one entry per rating.
    - `counts`: whether the values are counts, such as of plays, and not opinions; False by default.
    - `item_names`: a mapping from items to names; empty by default.
    """

    users: Shaped[np.ndarray, " ratings"]
    items: Shaped[np.ndarray, " ratings"]
    values: Shaped[np.ndarray, " ratings"]
    counts: bool = False
    item_names: Mapping[Any, str] = field(default_factory=dict)


def read_labelled(file: str | os.PathLike[str], *, label: str | None = None) -> LabelledData:
    """Read rows of features with their classes from a file.

    A .npz file has the arrays X and y. In a .csv file (or .csv.gz) every column but `label` is a feature, and all
    features are numbers. A .dat file has the format of KEEL: header lines that start with @, then rows of numbers with
    the class last.

    - `file`: the path of the file.
    - `label`: the column of a .csv file that holds the classes, required for such a file; None (default) for all other
      files.
    """
    path = as_path("file", file)
    if label is not None and _kind(path) != "csv":
        raise InputError(f"label is {label!r}; expected none with {str(path)!r}: it names a column of a .csv file")
    match _kind(path):
        case "npz":
            arrays = read_npz(path, ("X", "y"))
            return LabelledData(X=arrays["X"], y=arrays["y"])
        case "csv":
            return _labelled_table(path, read_csv(path, _content(path)), label)
        case _:
            return read_keel(path)


def read_ratings(file: str | os.PathLike[str]) -> RatingData:
    """Read ratings from a .npz file with the arrays users, items and values, or a .csv file with these columns first.

    The columns of a .csv file may have any names. A .dat file has the same columns, separated by tabs.

    - `file`: the file.
    """
    path = as_path("file", file)
    if _kind(path) == "npz":
        arrays = read_npz(path, ("users", "items", "values"))
        return RatingData(users=arrays["users"], items=arrays["items"], values=arrays["values"])
    table = read_csv(path, _content(path), delimiter="\t" if _kind(path) == "dat" else ",")
    return ratings_table(path, table)


def as_path(name: str, given: str | os.PathLike[str]) -> Path:
    """The given path; raises InputError if it is none."""
    try:
        return Path(given)
    except TypeError:
        raise InputError(f"{name} is {given!r}; expected a path") from None


def read_npz(file: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Read these arrays from a .npz file."""
    with (
        reading(file, "a .npz file of arrays"),
        file.open("rb") as opened,  # NumPy would leave a broken file open
        np.load(opened, allow_pickle=False) as stored,
    ):
        missing = [name for name in names if name not in stored.files]
        if missing:
            raise InputError(
                f"file is {str(file)!r}, which lacks the array {missing[0]!r}; expected {', '.join(names)}"
            )
        return {name: stored[name] for name in names}


def read_csv(file: Path, content: bytes, *, delimiter: str = ",") -> "pa.Table":
    """The table in the content of a file, whose first line has the column names."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        return csv.read_csv(io.BytesIO(content), parse_options=csv.ParseOptions(delimiter=delimiter))
    except pa.ArrowInvalid as error:
        raise InputError(f"file is {str(file)!r}, which is not a table: {error}") from None


def read_zipped(file: Path, member: str) -> bytes:
    """The content of the one file of that name in a .zip file, in whichever folder."""
    with reading(file, "a .zip file"), zipfile.ZipFile(file) as archive:
        found = [name for name in archive.namelist() if name.split("/")[-1] == member]
        if len(found) != 1:
            raise InputError(f"file is {str(file)!r}, which holds {len(found)} files {member!r}; expected one")
        return archive.read(found[0])


def read_keel(file: Path) -> LabelledData:
    """Read the format of the KEEL repository: header lines with @, then rows of numbers and a class, with commas."""
    try:
        lines = _content(file).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"file is {str(file)!r}, which is not text; expected rows of numbers and a class") from None
    rows = [[part.strip() for part in line.split(",")] for line in lines if line.strip() and line[0] != "@"]
    if not rows or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(f"file is {str(file)!r}, without rows of one length; expected numbers and a class in each")
    try:
        features = np.array([row[:-1] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise InputError(f"file is {str(file)!r}, where a feature is not a number: {error}") from None
    return LabelledData(X=features, y=np.array([row[-1] for row in rows]))


def ratings_table(file: Path, table: "pa.Table") -> RatingData:
    """Ratings from the first three columns of a table."""
    if table.num_columns < 3 or table.num_rows == 0:
        raise InputError(
            f"file is {str(file)!r}, with {table.num_rows} rows and {table.num_columns} columns; "
            "expected rows of user, item and value"
        )
    users, items, values = (column_array(file, table, name) for name in table.column_names[:3])
    return RatingData(users=users, items=items, values=_as_numbers(file, table.column_names[2], values))


def column_array(file: Path, table: "pa.Table", name: str) -> np.ndarray:
    """A column as an array; raises InputError if a value is missing."""
    if table.column_names.count(name) != 1:
        raise InputError(f"file is {str(file)!r}, with the columns {table.column_names}; expected one column {name!r}")
    column = table.column(name)
    values: np.ndarray = column.to_numpy()
    is_text = values.dtype.kind == "O"
    missing = column.is_null().to_numpy()
    if is_text:
        missing = missing | (values == "")
    if missing.any():
        gap = int(np.flatnonzero(missing)[0])
        raise InputError(f"file is {str(file)!r}, whose column {name!r} has no value in row {gap}; expected one")
    return values.astype(np.str_) if is_text else values


def _labelled_table(file: Path, table: "pa.Table", label: str | None) -> LabelledData:
    if label is None:
        raise InputError(f"label is None; expected the column of {str(file)!r} with the class: {table.column_names}")
    labels = column_array(file, table, label)
    features = [name for name in table.column_names if name != label]
    if not features or table.num_rows == 0:
        raise InputError(f"file is {str(file)!r}, with nothing but the column {label!r}; expected rows of features too")
    columns = [_as_numbers(file, name, column_array(file, table, name)) for name in features]
    return LabelledData(X=np.stack(columns, axis=1), y=labels)


def _as_numbers(file: Path, name: str, values: np.ndarray) -> Float[np.ndarray, " rows"]:
    if values.dtype.kind not in "biuf":
        raise InputError(f"file is {str(file)!r}, whose column {name!r} is {values[0]!r} and so on; expected numbers")
    return values.astype(np.float64)


def _kind(file: Path) -> str:
    name = file.name.lower().removesuffix(".gz")
    kind = name.rpartition(".")[2]
    if kind not in ("npz", "csv", "dat"):
        raise InputError(f"file is {str(file)!r}; expected a name that ends in .npz, .csv, .csv.gz or .dat")
    return kind


def _content(file: Path) -> bytes:
    """All bytes of a file, unpacked if its name ends in .gz."""
    with reading(file, "a readable file"):
        content = file.read_bytes()
        return gzip.decompress(content) if file.suffix.lower() == ".gz" else content


@contextmanager
def reading(file: Path, expected: str) -> Iterator[None]:
    """Turn errors of reading a file into InputError; `expected` says what the file should be."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"file is {str(file)!r}, which does not exist; expected {expected}") from None
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"file is {str(file)!r}, which is not {expected}: {error}") from None
