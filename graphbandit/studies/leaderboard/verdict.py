"""The verdict in words: where ours are first, where they are not, and who has the lowest worst case."""

from __future__ import annotations

from graphbandit.base.printed_table import short_number
from graphbandit.experiments.analysis.statistics import difference_to_best
from graphbandit.studies.leaderboard.board import Board

NAMED = 3
"""How many learners the line on the worst case names."""


def verdict_lines(board: Board) -> list[str]:
    """Whether the two aims are met, and which specialists do better."""
    return [cells_line(board), worst_line(board), *specialist_lines(board)]


def cells_line(board: Board) -> str:
    """In how many stochastic cells one of ours is first, or not told apart from the first."""
    standings = [board.standing(cell) for cell in board.stochastic]
    first, within, n = standings.count("first"), standings.count("within"), len(standings)
    told = f"One of ours ({' or '.join(board.ours)}) is first in {first} of {n} stochastic cells"
    told += f" and within the paired 95 % interval of the first in {within} more"
    behind = len(board.behind)
    return f"{told}: everywhere." if not behind else f"{told}; behind in {behind}."


def worst_line(board: Board) -> str:
    """Who has the lowest worst case of all learners that run in every stochastic cell."""
    named = list(board.general[:NAMED])
    named += [name for name in board.ours if name not in named]
    parts = []
    for name in named:
        worst = board.worst_cases[name]
        parts.append(f"{name} {ratio_text(worst.ratio)} times the best ({worst.cell})")
    won = board.general[0] in board.ours
    who = f"{board.general[0]}, one of ours, is first" if won else f"{board.general[0]} is first, not one of ours"
    return (
        f"In the worst case over stochastic cells, of the {len(board.general)} learners that run in all, {who}: "
        f"{'; '.join(parts)}."
    )


def specialist_lines(board: Board) -> list[str]:
    """A line for each learner that plays only some groups and has a lower worst case there than ours."""
    return [
        f"Over the cells that {name} can play it has the lower worst case: {ratio_text(theirs.ratio)} times the best "
        f"({theirs.cell}), against {ratio_text(own.ratio)} of {ours} ({own.cell})."
        for name, theirs, ours, own in board.stronger_specialists()
    ]


def behind_lines(board: Board) -> list[str]:
    """Each stochastic cell where neither of ours is within the interval of the first, and by how much."""
    lines = []
    for cell in board.behind:
        best, ours = board.regrets.best(cell), board.best_of_ours(cell)
        found = difference_to_best(board.regrets, cell, ours)
        means = " against ".join(short_number(board.regrets.interval(cell, name).mean) for name in (best, ours))
        gap = f"{short_number(found.mean)} ({short_number(found.low)} to {short_number(found.high)})"
        lines.append(f"{cell}: {best} is first, {means} of {ours}; the difference is {gap}.")
    return lines


def ratio_text(x: float) -> str:
    """A ratio for readers: 1.00, 12.3, 150."""
    return f"{x:.2f}" if x < 9.995 else short_number(x)
