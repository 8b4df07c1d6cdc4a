"""Numbers as the tables show them, and what a column makes of a row."""

from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Column = Callable[[Row], str]


def seconds(x: float) -> str:
    """Three digits and a unit."""
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if x * factor < 999.5:
            return f"{x * factor:.3g} {unit}"
    return f"{x:.3g} s"


def size(n_bytes: float) -> str:
    """In MiB."""
    return f"{n_bytes / 2**20:,.{0 if n_bytes >= 2**24 else 1}f} MiB"


def value_of(name: str, form: str = "") -> Column:
    """A value of the row, written in this form."""
    return lambda row: format(row[name], form)


def bytes_of(name: str) -> Column:
    """A number of bytes."""
    return lambda row: size(row[name])


def seconds_of(name: str) -> Column:
    """A single time."""
    return lambda row: seconds(row[name])


def time_of(name: str, rival: str | None = None) -> Column:
    """Median (99th percentile); empty where the row says of the `rival` that it was not measured, though installed."""

    def text(row: Row) -> str:
        if name not in row["times"]:
            return "not installed" if rival is None or row[rival] == "not installed" else ""
        found = row["times"][name]
        return f"{seconds(found['median'])} ({seconds(found['p99'])})"

    return text


def ratio_of(name: str) -> Column:
    """Ratio of medians (of 99th percentiles)."""

    def text(row: Row) -> str:
        if name not in row["ratios"]:
            return ""
        found = row["ratios"][name]
        middle, high = (f"{x:.0f}" if x >= 100 else f"{x:.2g}" for x in (found["median"], found["p99"]))
        return f"{middle} ({high})"

    return text
