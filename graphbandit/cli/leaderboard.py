"""The command `leaderboard`: all learners over the fixed suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphbandit.cli.console import plain_table, whole_progress_bar, wide_console

if TYPE_CHECKING:
    from graphbandit.studies.paper.tables import Table

app = typer.Typer()


@app.command(epilog="Example: graphbandit leaderboard --quick")
def leaderboard(
    full: Annotated[
        bool, typer.Option("--full/--quick", help="All repeats and rounds: about ten minutes; or few of them.")
    ] = True,
    out: Annotated[Path, typer.Option(help="Where all goes.", file_okay=False)] = Path("results/leaderboard"),
    workers: Annotated[
        int | None, typer.Option(help="Processes; changes no regret.", show_default="one a core")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A group, as arms or finite_small; may be given several times.", show_default="all"),
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="At most so many repeats of each run.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds of each run.")] = None,
) -> None:
    """Run every learner on every problem it can play: a table, a page, figures, and a verdict on our own learners.

    What has finished is not run again: after an interruption it goes on where it was.
    """
    from graphbandit.studies.figures import write_figure
    from graphbandit.studies.leaderboard.board import board_of
    from graphbandit.studies.leaderboard.figures import plot_board, plot_worst
    from graphbandit.studies.leaderboard.page import write_page
    from graphbandit.studies.leaderboard.plans import Suite, run_suite
    from graphbandit.studies.leaderboard.tables import board_markdown, overview_table
    from graphbandit.studies.leaderboard.verdict import behind_lines, verdict_lines

    suite = Suite(preset="full" if full else "quick", repeats=repeats, rounds=rounds, only=tuple(only or ()))
    if suite.missing:
        typer.echo(f"GRAPHBANDIT_DATA names no directory of data sets; not run: {', '.join(suite.missing)}.")
    with whole_progress_bar() as show:
        groups = run_suite(suite, out=out, workers=workers, progress=show)
    board = board_of(groups)
    (out / "leaderboard.md").write_text(board_markdown(board), encoding="utf-8")
    write_page(board, groups, suite, out / "leaderboard.html")
    write_figure(plot_board(board), out / "figures", "leaderboard")
    write_figure(plot_worst(board), out / "figures", "leaderboard-worst")
    table = overview_table(board)
    typer.echo(table.caption)
    _print(table)
    for line in (*verdict_lines(board), *behind_lines(board)):
        typer.echo(line)
    typer.echo(f"Tables: {out / 'leaderboard.md'}; page: {out / 'leaderboard.html'}; figures: {out / 'figures'}")


def _print(table: Table) -> None:
    kept = [i for i, head in enumerate(table.heads) if head != "which"]  # too long for a terminal; the files have it
    shown = plain_table(*(table.heads[i] for i in kept), narrow=True)
    for row in table.rows:
        shown.add_row(*(row[i][0] for i in kept))
    wide_console().print(shown)
