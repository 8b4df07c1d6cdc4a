"""Graphs that come as data frames: a square with names on its sides, or two columns of edges."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.arm_names import ArmNames
from graphbandit.base.frames import is_frame
from graphbandit.errors import GraphError


def square_of_frame(frame: Any, arms: Iterable[str] | None) -> tuple[npt.NDArray[Any], Iterable[str] | None]:
    """A square frame as an array, and the names of its arms, which the frame's index and columns may tell.

    Rows and columns are put into the order of `arms`, or of the frame's rows if `arms` is None.
    """
    _check_collected(frame)
    values = np.asarray(frame)
    rows, columns = _names_of_sides(frame)
    if rows is None or columns is None or values.ndim != 2 or values.shape[0] != values.shape[1]:
        return values, arms
    order = rows if arms is None else list(ArmNames.of(arms))
    if arms is not None:
        _check_same("rows", rows, order, "arms")
    _check_same("columns", columns, order, "the rows" if arms is None else "arms")
    row, column = ({name: i for i, name in enumerate(names)} for names in (rows, columns))
    return values[np.ix_([row[arm] for arm in order], [column[arm] for arm in order])], order


def check_unnamed(matrices: object) -> None:
    """Raise GraphError if a list of matrices has a frame with names, which a batch cannot keep."""
    for i, matrix in enumerate(matrices if isinstance(matrices, list | tuple) else ()):
        if is_frame(matrix) and _names_of_sides(matrix) != (None, None):
            raise GraphError(
                f"matrices[{i}] is a {type(matrix).__name__} with names, which a batch does not keep; expected arrays, "
                "or one graph of each frame: from_dense(frame, arms=[...])"
            )


def pairs_of_frame(frame: Any) -> list[Any]:
    """The edges of a frame of two columns, one a row."""
    _check_collected(frame)
    columns = list(getattr(frame, "column_names", frame.columns))
    if len(columns) != 2:
        raise GraphError(
            f"edges is a {type(frame).__name__} with the columns {reprlib.repr(columns)}; expected two, the arm played "
            "and the arm revealed, such as edges[['source', 'target']]"
        )
    pairs: list[Any] = np.asarray(frame).tolist()
    return pairs


def _check_collected(frame: Any) -> None:
    if hasattr(frame, "collect"):
        raise GraphError(f"the graph is a lazy frame, {type(frame).__name__}; expected one that is collected")


def _names_of_sides(frame: Any) -> tuple[list[str] | None, list[str] | None]:
    """The names of rows and columns; those of one side count for both if the other has none."""
    columns = _names("columns", list(getattr(frame, "column_names", frame.columns)))
    rows = _names("rows", list(frame.index)) if hasattr(frame, "index") else columns
    return (columns, columns) if rows is None else (rows, rows if columns is None else columns)


def _names(side: str, labels: Sequence[Any]) -> list[str] | None:
    """These labels, if they are names, and None if they are numbers from 0 on."""
    if labels and all(isinstance(label, str) for label in labels):
        if list(labels) == [f"column_{i}" for i in range(len(labels))]:
            return None  # Polars calls columns so that have no names
        if len(set(labels)) < len(labels):
            twice = next(label for i, label in enumerate(labels) if label in labels[:i])
            raise GraphError(f"the frame's {side} have {twice!r} twice; expected each arm once")
        return list(labels)
    if all(isinstance(label, int | np.integer) for label in labels) and list(labels) == list(range(len(labels))):
        return None
    raise GraphError(
        f"the frame's {side} are called {reprlib.repr(labels)}; expected names of arms, or 0 .. {len(labels) - 1} "
        "(frame.to_numpy() takes them in their order)"
    )


def _check_same(side: str, names: Sequence[str], expected: Sequence[str], where: str) -> None:
    """Raise GraphError unless a side of the frame has exactly the expected names, in any order."""
    lacking, extra = set(expected).difference(names), set(names).difference(expected)
    if lacking or extra:
        found = f"lack {min(lacking)!r}" if lacking else f"have {min(extra)!r}"
        raise GraphError(f"the frame's {side} {found}; expected the same names as {where}, in any order")
