"""Numbers as the tables show them."""

from typing import Any

Row = dict[str, Any]


def seconds(x: float) -> str:
    """Three digits and a unit."""
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if x * factor < 999.5:
            return f"{x * factor:.3g} {unit}"
    return f"{x:.3g} s"


def time_of(row: Row, name: str, absent: str = "not installed") -> str:
    """Median (99th percentile)."""
    if name not in row["times"]:
        return absent if absent == "not installed" else ""
    found = row["times"][name]
    return f"{seconds(found['median'])} ({seconds(found['p99'])})"


def ratio_of(row: Row, name: str) -> str:
    """Ratio of medians (of 99th percentiles)."""
    if name not in row["ratios"]:
        return ""
    found = row["ratios"][name]
    middle, high = (f"{x:.0f}" if x >= 100 else f"{x:.2g}" for x in (found["median"], found["p99"]))
    return f"{middle} ({high})"


def size(n_bytes: float) -> str:
    """In MiB."""
    return f"{n_bytes / 2**20:,.{0 if n_bytes >= 2**24 else 1}f} MiB"
