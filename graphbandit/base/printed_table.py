"""One table for the console, the pages and the documents: headings, rows of cells, and how each is aligned.

A page renders it with the macro `table` of ``plots/pages/templates/macros.html``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console

Mark = Literal["", "best", "near"]
MARKS = {"best": "★", "near": "≈"}
"""The signs of a marked cell: the best of its column, and one not significantly worse than the best."""


@dataclass(frozen=True)
class Cell:
    """One cell.

    - `text`: what is written.
    - `value`: the number it stands for, which sorts it; nan sorts last, and None makes the cell plain text.
    - `spread`: printed after the number, less prominently, such as "± 1.2".
    - `mark`: whether it is the best of its column, or not significantly worse.
    """

    text: str
    value: float | None = None
    spread: str = ""
    mark: Mark = ""

    def __str__(self) -> str:
        return f"{self.text} {self.spread}" if self.spread else self.text


@dataclass(frozen=True)
class Table:
    """A caption, a heading for each column, and rows of cells; anything that is not a `Cell` is written as plain text.

    The first column names the rows. `sorted_by` is the column by which the rows ascend already.

    >>> table = Table("Regret", ["learner", "star"], [["FALCON", Cell("12.5", 12.5)], ["ours", Cell("3.1", 3.1)]])
    >>> print(table.to_markdown())
    | learner | star |
    | --- | ---: |
    | FALCON | 12.5 |
    | ours | 3.1 |
    """

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    sorted_by: int | None = None

    def __post_init__(self) -> None:
        rows = tuple(tuple(cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row) for row in self.rows)
        if any(len(row) != len(self.headings) for row in rows):
            raise ValueError(f"rows have {sorted({len(row) for row in rows})} cells; expected {len(self.headings)}")
        object.__setattr__(self, "headings", tuple(self.headings))
        object.__setattr__(self, "rows", rows)

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows, every cell a `Cell`."""
        return self.rows  # type: ignore[return-value]  # __post_init__ made them cells

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers, which are aligned at the right."""
        return any(row[column].value is not None for row in self.cells)

    def is_marked(self, column: int) -> bool:
        """Whether any cell of a column is marked."""
        return any(row[column].mark for row in self.cells)

    def without(self, heading: str) -> Table:
        """The same table without one column."""
        kept = [i for i, other in enumerate(self.headings) if other != heading]
        return Table(self.caption, [self.headings[i] for i in kept], [[row[i] for i in kept] for row in self.rows])

    def to_markdown(self) -> str:
        """A table of a Markdown document: the best is bold, what is near it has a ≈."""
        rule = ["---:" if self.is_numeric(i) else "---" for i in range(len(self.headings))]
        rows = ([_marked(str(cell), cell.mark) for cell in row] for row in self.cells)
        return "\n".join(map(_markdown_line, (self.headings, rule, *rows)))

    def __rich_console__(self, console: Console, options: Any) -> Any:
        """How Rich draws it: without frames; names are text and never markup."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1 if len(self.headings) <= 8 else 0))
        for i, heading in enumerate(self.headings):
            drawn.add_column(Text(heading), justify="right" if self.is_numeric(i) else "left")
        for row in self.cells:
            drawn.add_row(*(Text(f"{cell} ≈" if cell.mark == "near" else str(cell)) for cell in row))
        yield drawn


def short_number(x: float) -> str:
    """Three digits or more: 0.0123, 1.23, 12.3, 123, 12345."""
    size = abs(x)
    if size >= 0.9995 or size == 0:
        return f"{x:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2}f}"
    return f"{x:.3g}"


def signed_number(x: float) -> str:
    """A number with its sign: +1.23, -45.6, 0.00; "?" where there is none."""
    return f"{'+' if x > 0 else ''}{short_number(x)}" if math.isfinite(x) else "?"


def number_cell(x: float, text: str | None = None) -> Cell:
    """A number in three digits unless `text` says otherwise; empty where there is none."""
    return Cell((short_number(x) if text is None else text) if math.isfinite(x) else "", x)


def counted(n: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


def _marked(text: str, mark: str) -> str:
    return f"**{text}**" if mark == "best" else f"{text} ≈" if mark == "near" else text


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
