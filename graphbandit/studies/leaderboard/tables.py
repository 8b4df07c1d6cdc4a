"""The leaderboard as tables: all groups at a glance, and every cell with its intervals; in Markdown too."""

from __future__ import annotations

import math

from graphbandit.experiments.figures.parts import short_number
from graphbandit.studies.leaderboard.board import Board
from graphbandit.studies.leaderboard.verdict import behind_lines, ratio_text, verdict_lines
from graphbandit.studies.paper.tables import Table, to_markdown

ABSENT = "-"
"""In place of a figure of a learner that cannot play there."""

OUR_MARK, NEAR_MARK = "►", "≈"
"""Before the names of ours; after a figure that is not told apart from the best."""


def overview_table(board: Board, *, times: bool = True) -> Table:
    """Learners by their worst case; those that play only some stochastic cells behind the others.

    A group has the geometric mean over its cells of mean regret relative to the best learner of the cell.
    """
    heads = ["learner", *board.groups, "worst stochastic cell", "which", "mean rank"]
    rows = []
    for name in ranked(board):
        worst = board.worst(name)
        partly = "" if name in board.general else " (of those played)"
        row = [_name(board, name)]
        for cells in board.groups.values():
            ratio = board.mean_ratio(name, cells)
            row.append((ratio_text(ratio) if not math.isnan(ratio) else ABSENT, ratio))
        rank = board.mean_rank(name)
        row += [
            (ratio_text(worst.ratio) if worst else ABSENT, worst.ratio if worst else math.nan),
            (worst.cell + partly if worst else ABSENT, math.nan),
            (ABSENT if math.isnan(rank) else f"{rank:.1f}", rank),
        ]
        if times:
            spent = board.usual_microseconds(name)
            row.append((short_number(spent), spent))
        rows.append(row)
    return Table(
        "Mean regret relative to the best of the cell: geometric mean over the cells of a group, and the worst cell.",
        [*heads, *(["µs a round"] if times else [])],
        rows,
    )


def group_table(board: Board, group: str) -> Table:
    """Mean regret of every learner in the cells of a group; the lowest is bold, ≈ is not told apart from it."""
    cells = board.groups[group]
    rows = []
    for name in ranked(board):
        if not any(board.ran(cell, name) for cell in cells):
            continue
        row = [_name(board, name)]
        for cell in cells:
            mean = board.interval(cell, name).mean
            text = interval_text(board, cell, name)
            if name == board.best(cell):
                text = f"**{text}**"
            elif name in board.close(cell):
                text = f"{text} {NEAR_MARK}"
            row.append((text, mean))
        rows.append(row)
    rounds = " or ".join(str(n) for n in sorted({board.rounds[cell] for cell in cells}))
    return Table(f"{group}: mean regret ± half its 95 % interval after {rounds} rounds.", ["learner", *cells], rows)


def interval_text(board: Board, cell: str, learner: str) -> str:
    """The mean and half its interval, or that there is none."""
    found = board.interval(cell, learner)
    if math.isnan(found.mean):
        return ABSENT
    mean = short_number(found.mean)
    return mean if math.isnan(found.low) else f"{mean} ± {short_number(found.high - found.mean)}"


def ranked(board: Board) -> tuple[str, ...]:
    """All learners: general ones by worst case, then special ones, then those of adversarial cells only."""
    known = (*board.general, *board.special)
    return (*known, *(name for name in board.learners if name not in known))


def board_markdown(board: Board) -> str:
    """The verdict, where ours are behind, and all tables."""
    overview = overview_table(board)
    parts = ["\n".join(f"- {line}" for line in verdict_lines(board))]
    if board.behind:
        parts += ["Where ours are behind:", "\n".join(f"- {line}" for line in behind_lines(board))]
    parts += [overview.caption, to_markdown(overview)]
    parts.append(
        f"In each cell the lowest mean is bold; {NEAR_MARK}: the paired 95 % interval of the difference to it holds 0; "
        f"{OUR_MARK}: ours; {ABSENT}: cannot play there."
    )
    for group in board.groups:
        table = group_table(board, group)
        parts += [f"### {group[0].upper()}{group[1:]}", table.caption, to_markdown(table)]
    return "\n\n".join(parts) + "\n"


def _name(board: Board, learner: str) -> tuple[str, float]:
    return (f"{OUR_MARK} {learner}" if learner in board.ours else learner), math.nan
