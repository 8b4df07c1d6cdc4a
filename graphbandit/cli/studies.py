"""The command `study`: how much to explore, and what each function class is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphbandit.cli.console import plain_table, whole_progress_bar, wide_console

if TYPE_CHECKING:
    from graphbandit.studies.paper.tables import Table

app = typer.Typer()


@app.command(epilog="Example: graphbandit study exploration --full")
def study(
    name: Annotated[
        str, typer.Argument(help="exploration: a sweep of eta; classes: AdaCB.G with every class and its rivals.")
    ],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="All repeats and rounds: many minutes; or some of them.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where all goes.", file_okay=False, show_default="results/study-NAME")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; changes no figure.", show_default="one a core")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="A part; may be given several times.", show_default="all")
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="At most so many repeats of each run.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds of each run.")] = None,
) -> None:
    """Measure a choice of the package on many problems: a table in Markdown, figures, and a verdict.

    What has finished is not run again: after an interruption it goes on where it was.
    """
    from graphbandit.studies.classes import comparison_markdown, comparison_of, regret_table
    from graphbandit.studies.exploration import choice_table, sweep_markdown, sweep_of
    from graphbandit.studies.figures import plot_comparison, plot_sweep, write_figure
    from graphbandit.studies.plans import Plan, run_plan

    plan = Plan(study=name, preset="full" if full else "quick", repeats=repeats, rounds=rounds, only=tuple(only or ()))
    directory = Path("results") / f"study-{name}" if out is None else out
    if plan.stand_in:
        typer.echo("GRAPHBANDIT_DATA names no directory of data sets: scikit-learn's small ones stand in for them.")
    with whole_progress_bar() as show:
        findings = run_plan(plan, out=directory, workers=workers, progress=show)
    if name == "exploration":
        sweep = sweep_of(findings)
        table, text, figure, verdicts = choice_table(sweep), sweep_markdown(sweep), plot_sweep(sweep), [sweep.verdict]
    else:
        compared = comparison_of(findings)
        table, text, figure = regret_table(compared), comparison_markdown(compared), plot_comparison(compared)
        verdicts = [compared.verdict(environment) for environment in compared.regrets.environments]
    (directory / "table.md").write_text(text, encoding="utf-8")
    write_figure(figure, directory / "figures", name)
    _print(table)
    for verdict in verdicts:
        typer.echo(verdict)
    typer.echo(f"Table: {directory / 'table.md'}; figures: {directory / 'figures'}; results: {directory / 'runs'}")


def _print(table: Table) -> None:
    shown = plain_table(*table.heads, narrow=True)
    for row in table.rows:
        shown.add_row(*(text.replace("\\*", "*").replace("**", "") for text, _ in row))
    wide_console().print(shown)
