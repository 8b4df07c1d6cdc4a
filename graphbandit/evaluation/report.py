"""The report of an evaluation: one HTML page with table, verdicts, figures and notes, which needs no network."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphbandit.base.printed_table import Cell, Table, number_cell
from graphbandit.base.saved_files import write_bytes
from graphbandit.evaluation.estimator import FULL
from graphbandit.evaluation.evaluation_table import Difference, EvaluationTable
from graphbandit.evaluation.figures import plot_over_time, plot_segments, plot_values, plot_weights
from graphbandit.evaluation.notes import all_notes
from graphbandit.plots.pages.page import Section, page_html, templates
from graphbandit.plots.pages.svg import PagePicture, page_picture

WORDS = (
    ("value", "what the policy would have earned a round, on average"),
    ("low, high", "the interval of the value"),
    ("s.e.", "the standard error of the value"),
    ("eff. rounds", "how many rounds of equal weight would count as much"),
    ("max weight", "the most that a single round counts; 1 is average"),
    ("support", "the share of the policy's play that the log can speak about"),
    ("worth", "by what factor rewards of arms that were not played narrowed the interval"),
)

MOST_NAMES = 12
"""The largest number of arms that the page names."""


def write_evaluation(
    table: EvaluationTable,
    path: Path,
    *,
    name: str = "the log",
    differences: Sequence[Difference] = (),
    command: str | None = None,
    notes: Sequence[str] | None = None,
) -> Path:
    """Write the page to `path`, completely or not at all."""
    html = evaluation_html(table, name=name, differences=differences, command=command, notes=notes)
    write_bytes(path, html.encode())
    return path


def write_table(table: EvaluationTable, path: Path) -> Path:
    """Write the rows of the table as CSV."""
    file = io.StringIO()
    rows = table.rows()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path, file.getvalue().encode())
    return path


def evaluation_html(
    table: EvaluationTable,
    *,
    name: str = "the log",
    differences: Sequence[Difference] = (),
    command: str | None = None,
    notes: Sequence[str] | None = None,
) -> str:
    """The page; the footer names the command that made it. `notes` stand in place of those of table and differences."""
    text, settings = templates("graphbandit.evaluation", "evaluation.html"), table.settings
    if notes is None:
        notes = all_notes(table, differences)
    verdicts = [f"{difference}." for difference in differences] or [_best(table)]
    sections = [
        Section("values", "Values", text.values(verdicts, table.as_table(differences), _value_pictures(table))),
        Section("differences", "Differences", text.differences(_differences(differences))) if differences else None,
        _segments(table, text) if table.by is not None else None,
        Section("notes", "What to know before relying on it", text.notes(notes)) if notes else None,
        Section("log", "The log and the settings", text.facts(_facts(table))),
        Section("words", "How to read this", text.facts(WORDS)),
    ]
    rounds = table[next(iter(table))].rounds
    lead = f"{rounds:,} rounds, {settings.method}, {settings.interval} intervals at {settings.level:.0%}."
    return page_html(f"What would other policies have earned? {name}", lead, sections, command=command)


def _best(table: EvaluationTable) -> str:
    if any(value.support < FULL for value in table.values()) and len(table) > 1:
        return "The policies have different support, so their values are not comparable."
    best = table[table.best]
    return f"The highest value is that of {best.name}: {best.value:.5g} [{best.low:.5g}, {best.high:.5g}]."


def _differences(differences: Sequence[Difference]) -> Table:
    rows = []
    for found in differences:
        cells = [number_cell(number, f"{number:.5g}") for number in (found.value, found.low, found.high)]
        rows.append([f"{found.first} - {found.second}", *cells, found.verdict])
    return Table("Differences with paired intervals", ["policies", "difference", "low", "high", "verdict"], rows)


def _segments(table: EvaluationTable, text: Any) -> Section:
    rows = [
        [
            f"{found.segment}, {found.policy}",
            *(Cell(f"{number:.5g}", number) for number in (found.value, found.low, found.high)),
            Cell(f"{found.rounds:,}", found.rounds),
        ]
        for found in table.segments
    ]
    words = "The largest segments first, with asymptotic intervals."
    shown = page_picture(plot_segments(table), "segments", f"Values of the policies by {table.by}", words)
    caption = f"Values by {table.by}"
    numbers = Table(caption, ["segment, policy", "value", "low", "high", "rounds"], rows)
    return Section("segments", f"By {table.by}", text.segments(shown, numbers))


def _facts(table: EvaluationTable) -> list[tuple[str, str]]:
    low, high = table.reward_range
    settings = table.settings
    fitted = "earlier rounds" if settings.fitting == "past" else f"other folds of {settings.folds}"
    steady = ", for values that do not change within the log" if settings.interval in ("betting", "sequence") else ""
    facts = [
        ("rounds", f"{len(table.log):,}"),
        ("arms", _arms(table)),
        ("rewards", f"from {low:g} to {high:g}" + ("" if table.range_given else ", as found in the log")),
        ("method", f"{settings.method}, models fitted to {fitted}"),
        ("interval", f"{settings.interval} at {settings.level:.0%}{steady}"),
        ("seed", f"{settings.seed}"),
    ]
    if settings.largest_weight is not None or settings.shrink is not None:
        facts.append(
            ("weights", f"clip {settings.largest_weight}" if settings.shrink is None else f"shrink {settings.shrink}")
        )
    if not np.isnat(table.sums.times[0]):
        facts.append(("time", f"{str(table.sums.times[0])[:16]} to {str(table.sums.times[1])[:16]}"))
    if table.dropped:
        facts.append(("left out", f"{table.dropped:,} rounds with missing rewards"))
    return facts


def _arms(table: EvaluationTable) -> str:
    """The number of arms, and the first of their names."""
    names = table.log.arms
    if names is None:
        return f"{table.log.n_arms:,}"
    shown = ", ".join(names[:MOST_NAMES])
    return f"{table.log.n_arms:,}: {shown}{', ...' if table.log.n_arms > MOST_NAMES else ''}"


def _value_pictures(table: EvaluationTable) -> list[PagePicture]:
    thin = any(not math.isnan(value.worth) for value in table.values())
    narrower = " Thin lines: without side observations." if thin else ""
    over = "holds at all times at once" if table.settings.any_size else "holds at each time for itself"
    names = ", ".join(table)
    return [
        page_picture(
            plot_values(table),
            "values",
            f"Values with intervals of {names}",
            f"Values with intervals. The dot is the value, the bar its interval.{narrower}",
        ),
        page_picture(
            plot_over_time(table),
            "time",
            f"Values over time of {names}",
            f"Over time. The value after more and more rounds; the band {over}. The first values "
            "and bands may reach beyond the picture.",
        ),
        page_picture(
            plot_weights(table),
            "weights",
            f"Weights of rounds for {names}",
            "Weights. How many rounds have which weight; few rounds far to the right decide the value.",
        ),
    ]
