"""The commands that read results: `report` and `compare`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphbandit.base.printed_table import counted, signed_number
from graphbandit.errors import SettingError

if TYPE_CHECKING:
    from graphbandit.experiments.analysis.statistics import PairedDifference

app = typer.Typer()

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A folder that `graphbandit run` made.", show_default=False)
]


@app.command(epilog="Example: graphbandit report results/sweep --open")
def report(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option(help="The file to write.", dir_okay=False, show_default="DIR/report.html")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write the figures, tables and tests of an experiment into one HTML file that needs no network."""
    from graphbandit.experiments.report.write_report import write_report
    from graphbandit.experiments.results.reading import Results

    path = write_report(Results.open(folder), folder / "report.html" if out is None else out)
    typer.echo(f"Written to {path}")
    if show and not webbrowser.open(path.resolve().as_uri()):
        typer.echo("No browser could be opened here.", err=True)


@app.command(epilog="Example: graphbandit compare results/sweep IDS.G FALCON")
def compare(
    folder: Folder,
    first: Annotated[str, typer.Argument(metavar="A", help="A learner.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another learner.", show_default=False)],
    environment: Annotated[
        str | None, typer.Option(help="Compare in this environment only.", show_default="all of them")
    ] = None,
) -> None:
    """Compare two learners in pairs, on the same contexts, graphs and noise."""
    from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
    from graphbandit.experiments.results.reading import Results

    regrets = FinalRegrets.of(Results.open(folder))
    for name in (first, second):
        regrets.learner(name)
    if first == second:
        raise SettingError(f"both learners are {first!r}; expected two different ones")
    wanted = regrets.wanted_environments(environment)
    pairs = [paired_difference(regrets, place, first, second) for place in wanted]
    typer.echo(f"Final regret of {first} minus that of {second}, repeat by repeat (below 0: {first} is better).\n")
    for pair in pairs:
        _print_pair(pair)
    if len(pairs) > 1:
        _print_overall(first, second, pairs)


def _print_pair(pair: PairedDifference) -> None:
    typer.echo(f"{pair.environment}")
    if pair.pairs:
        interval = f", 95 % interval {signed_number(pair.low)} to {signed_number(pair.high)}" if pair.pairs > 1 else ""
        typer.echo(f"  mean difference {signed_number(pair.mean)}{interval}, {counted(pair.pairs, 'pair')}")
        ties = f", {pair.ties} equal" if pair.ties else ""
        typer.echo(f"  {pair.first} wins {pair.wins}, {pair.second} wins {pair.losses}{ties}")
    typer.echo(f"  {pair.verdict}\n")


def _print_overall(first: str, second: str, pairs: list[PairedDifference]) -> None:
    better = [pair.better for pair in pairs]
    said = f"{first} has lower regret in {better.count(first)} of {len(pairs)} environments, {second} in "
    typer.echo(f"{said}{better.count(second)}; undecided in {better.count(None)}.")
    wins, losses, total = (sum(x) for x in zip(*((p.wins, p.losses, p.pairs) for p in pairs), strict=True))
    typer.echo(f"{first} wins {wins} of all {total} pairs, {second} {losses}.")
