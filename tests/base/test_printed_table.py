"""Tables: the same cells as text, as Markdown and in a page."""

import math

import pytest
from rich.console import Console

from graphbandit.base.printed_table import Cell, Table, counted, number_cell, short_number, signed_number

TABLE = Table(
    "Regret",
    ["learner", "star", "verdict"],
    [
        ["AdaCB.G [ours]", Cell("1.50", 1.5, "± 0.2", "best"), "lower"],
        ["a[/b] | c", Cell("1.60", 1.6, "± 0.3", "near"), "open"],
        ["never", Cell("", math.nan), ""],
    ],
)


def test_markdown_aligns_marks_and_escapes() -> None:
    assert TABLE.to_markdown().splitlines() == [
        "| learner | star | verdict |",
        "| --- | ---: | --- |",
        "| AdaCB.G [ours] | **1.50 ± 0.2** | lower |",
        "| a[/b] \\| c | 1.60 ± 0.3 ≈ | open |",
        "| never |  |  |",
    ]


def test_the_console_keeps_names_as_they_are(capsys) -> None:
    Console(width=200, color_system=None).print(TABLE)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == ["learner", "star", "verdict"]
    assert lines[2:] == [
        ["AdaCB.G", "[ours]", "1.50", "±", "0.2", "lower"],
        ["a[/b]", "|", "c", "1.60", "±", "0.3", "≈", "open"],
        ["never"],
    ]


def test_columns_know_what_they_hold() -> None:
    assert [TABLE.is_numeric(i) for i in range(3)] == [False, True, False]
    assert [TABLE.is_marked(i) for i in range(3)] == [False, True, False]
    assert TABLE.without("star").headings == ("learner", "verdict")
    with pytest.raises(ValueError, match=r"rows have \[1\] cells; expected 2"):
        Table("", ["a", "b"], [["only"]])


def test_cells_of_numbers() -> None:
    assert number_cell(12.34) == Cell("12.3", 12.34)
    assert number_cell(math.nan).text == ""
    assert number_cell(2.0, "two") == Cell("two", 2.0)
    assert [signed_number(x) for x in (1.5, -1.5, 0.0, math.nan)] == ["+1.50", "-1.50", "0.00", "?"]
    assert (counted(0, "run"), counted(1, "run")) == ("0 runs", "1 run")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0, "0.00"),
        (0.0123, "0.0123"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (-12345.6, "-12346"),
        (99.97, "100"),
    ],
)
def test_numbers_have_about_three_digits(x: float, text: str) -> None:
    assert short_number(x) == text
