"""The leaderboard as tables: all groups at a glance, and every cell with its intervals; in Markdown too."""

from __future__ import annotations

import math
from collections.abc import Callable

from graphbandit.base.printed_table import Cell, Table, number_cell
from graphbandit.studies.leaderboard.board import Board
from graphbandit.studies.leaderboard.verdict import behind_lines, ratio_text, verdict_lines

ABSENT = "-"
"""Written where a learner cannot play."""

OUR_MARK = "►"
"""Written before the names of our learners."""

KEY = (
    f"{OUR_MARK} ours. Bold: the lowest mean of its column. ≈: the paired 95 % interval of the difference to it "
    f"holds 0. {ABSENT}: cannot play there."
)


def overview_table(board: Board, *, times: bool = True) -> Table:
    """The learners ranked by their worst case, those that play only some stochastic cells last.

    The number of a group is the geometric mean, over its cells, of mean regret relative to the best of the cell.
    """
    heads = [
        "learner",
        *board.groups,
        "worst stochastic cell",
        "which",
        "mean rank",
        *(["µs a round"] if times else []),
    ]
    rows: list[list[object]] = []
    for name in ranked(board):
        ratios = [_number(board.mean_ratio(name, cells), ratio_text) for cells in board.groups.values()]
        row = [_name(board, name), *ratios, *_worst(board, name), _number(board.mean_rank(name), "{:.1f}".format)]
        rows.append([*row, number_cell(board.usual_microseconds(name))] if times else row)
    caption = (
        "Mean regret relative to the best of the cell: geometric mean over the cells of a group, and the worst cell."
    )
    return Table(caption, heads, rows)


def group_table(board: Board, group: str) -> Table:
    """Mean regrets in the cells of a group; the lowest, and those not told apart from it, are marked."""
    cells = board.groups[group]
    rows = [
        [_name(board, name), *(board.regrets.mean_cell(cell, name, absent=ABSENT) for cell in cells)]
        for name in ranked(board)
        if any(board.ran(cell, name) for cell in cells)
    ]
    rounds = " or ".join(str(n) for n in sorted({board.rounds[cell] for cell in cells}))
    return Table(f"{group}: mean regret ± half its 95 % interval after {rounds} rounds.", ["learner", *cells], rows)


def times_table(board: Board) -> Table:
    """The time that a round takes each learner."""
    rows = [[name, number_cell(board.usual_microseconds(name))] for name in ranked(board)]
    return Table("Microseconds a round, median over cells", ["learner", "µs a round"], rows)


def ranked(board: Board) -> tuple[str, ...]:
    """All learners: general ones by worst case, then special ones, then those of adversarial cells only."""
    known = (*board.general, *board.special)
    return (*known, *(name for name in board.learners if name not in known))


def board_markdown(board: Board) -> str:
    """The verdict, where ours are behind, and all tables."""
    overview = overview_table(board)
    texts = ["\n".join(f"- {line}" for line in verdict_lines(board))]
    if board.behind:
        texts += ["Where ours are behind:", "\n".join(f"- {line}" for line in behind_lines(board))]
    texts += [overview.caption, overview.to_markdown(), KEY]
    for group in board.groups:
        table = group_table(board, group)
        texts += [f"### {group[0].upper()}{group[1:]}", table.caption, table.to_markdown()]
    return "\n\n".join(texts) + "\n"


def _name(board: Board, learner: str) -> str:
    return f"{OUR_MARK} {learner}" if learner in board.ours else learner


def _number(x: float, text: Callable[[float], str]) -> Cell:
    return Cell(ABSENT if math.isnan(x) else text(x), x)


def _worst(board: Board, learner: str) -> tuple[Cell, Cell]:
    """The worst ratio and its cell."""
    worst = board.worst_cases.get(learner)
    if worst is None:
        return Cell(ABSENT, math.nan), Cell(ABSENT)
    partly = "" if learner in board.general else " (of those played)"
    return Cell(ratio_text(worst.ratio), worst.ratio), Cell(worst.cell + partly)
