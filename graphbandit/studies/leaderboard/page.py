"""The leaderboard as one HTML file: verdict, tables to sort, figures, what was run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from graphbandit.errors import SavedFileError
from graphbandit.experiments.figures.parts import short_number
from graphbandit.experiments.report.facts import VERSIONS, versions_of
from graphbandit.experiments.report.html import Cell, figure_html, plain_table, section, sortable_table
from graphbandit.experiments.report.page import END_OF_TIMINGS, TIMINGS, page_html
from graphbandit.studies.leaderboard.board import Board
from graphbandit.studies.leaderboard.figures import plot_board, plot_worst
from graphbandit.studies.leaderboard.plans import GroupResults, Suite
from graphbandit.studies.leaderboard.tables import NEAR_MARK, OUR_MARK, group_table, overview_table, ranked
from graphbandit.studies.leaderboard.verdict import behind_lines, verdict_lines
from graphbandit.studies.paper.tables import Table

KEY = (
    f'<p class="note">{OUR_MARK} ours. Bold: the lowest mean of its column. {NEAR_MARK}: the paired 95 % interval of '
    "the difference to it holds 0. -: cannot play there. Click a heading to sort.</p>"
)


def write_page(board: Board, groups: Sequence[GroupResults], suite: Suite, path: Path) -> None:
    """Write the page."""
    try:
        path.write_text(page(board, groups, suite), encoding="utf-8", newline="\n")
    except OSError as error:
        raise SavedFileError(f"{path} cannot be written: {error.strerror or error}") from None


def page(board: Board, groups: Sequence[GroupResults], suite: Suite) -> str:
    """The page as text; the same results give the same bytes, but for the section between the marks of timings."""
    repeats = sorted({group.experiment.repeats for group in groups})
    lead = (
        f"{len(board.learners)} learners, {len(board.stochastic)} stochastic and {len(board.adversarial)} adversarial "
        f"cells, {' or '.join(map(str, repeats))} repeats, {suite.preset} preset. "
        "Learners of one repeat share all draws."
    )
    sections = [
        _verdict_section(board),
        section("overview", "Overview", _table_html(overview_table(board, times=False)), KEY),
        _figures_section(board),
        *(_group_section(board, i, group) for i, group in enumerate(board.groups)),
        _run_section(groups, suite),
        f"{TIMINGS}\n{_timings_section(board)}\n{END_OF_TIMINGS}",
    ]
    return page_html("Leaderboard", lead, sections)


def _verdict_section(board: Board) -> str:
    lines = _items(verdict_lines(board))
    behind = f"<h3>Where ours are behind</h3>{_items(behind_lines(board))}" if board.behind else ""
    return section("verdict", "Verdict", lines, behind)


def _figures_section(board: Board) -> str:
    alt = "Regret of every learner relative to the best of every cell, as colours; the tables have the figures."
    worst = "The worst stochastic cell of every learner, as bars; the overview has the figures."
    return section(
        "figures",
        "Figures",
        figure_html(plot_board(board), "cells", alt),
        figure_html(plot_worst(board), "worst", worst),
    )


def _group_section(board: Board, number: int, group: str) -> str:
    return section(f"group-{number}", escape(group), _table_html(group_table(board, group)))


def _run_section(groups: Sequence[GroupResults], suite: Suite) -> str:
    command = f"graphbandit leaderboard --{suite.preset}" + "".join(f" --only {name}" for name in suite.only)
    command += f" --repeats {suite.repeats}" if suite.repeats is not None else ""
    command += f" --rounds {suite.rounds}" if suite.rounds is not None else ""
    results = [group.results for group in groups]
    versions = [
        (name, ", ".join(sorted({version for each in results for version in versions_of(each, name)})))
        for name in VERSIONS
    ]
    runs = sum(each.runs.num_rows for each in results)
    sizes = [
        (group.title, f"{group.experiment.repeats} repeats of {group.experiment.rounds} rounds") for group in groups
    ]
    return section("run", "What was run", plain_table([("command", command), ("runs", str(runs)), *sizes, *versions]))


def _timings_section(board: Board) -> str:
    rows = []
    for name in ranked(board):
        spent = board.usual_microseconds(name)
        rows.append([Cell.text(name), Cell.number(short_number(spent), spent)])
    return section(
        "timings", "Timings", sortable_table("Microseconds a round, median over cells", ["learner", "µs a round"], rows)
    )


def _items(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _table_html(table: Table) -> str:
    rows = [[_cell(text, value, first=i == 0) for i, (text, value) in enumerate(row)] for row in table.rows]
    return sortable_table(table.caption, table.heads, rows)


def _cell(text: str, value: float, *, first: bool) -> Cell:
    if first or (math.isnan(value) and text != "-"):
        return Cell.text(text)
    kind = "best" if text.startswith("**") else "near" if text.endswith(NEAR_MARK) else ""
    return Cell(html=escape(text.replace("**", "")), value=value, kind=kind)
