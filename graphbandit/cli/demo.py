"""The command `demo`: show what the linear program does on the paper's star."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphbandit.cli.console import print_table

app = typer.Typer()


@app.command(epilog="Example: graphbandit demo --picture star.png")
def demo(
    gamma: Annotated[float, typer.Option(help="Exploration parameter: the larger it is, the less is explored.")] = 10.0,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw it, into a .png, .svg or .pdf file.", dir_okay=False)
    ] = None,
) -> None:
    """Show what the linear program does on the paper's star: probabilities before and after."""
    from graphbandit.base.printed_table import Cell, Table
    from graphbandit.plots import plot_star_example, save_figure, star_example

    if picture is not None:
        save_figure(plot_star_example(gamma), picture)
    example = star_example(gamma)
    p, q = example.solution.probabilities, example.solution.observation_probabilities
    rows = []
    for a, value in enumerate(example.values):
        arm = f"{a}{' hub' if a == 0 else ' best' if a == 1 else ''}"
        figures = [Cell(f"{x:.4f}", x) for x in (example.baseline[a], p[a], example.before[a], q[a])]
        rows.append([arm, Cell(f"{value:g}", value), *figures])
    heads = ["arm", "estimate", "p before", "p after", "revealed before", "revealed after"]
    typer.echo(f"A star: arm 0 is joined to all others, all arms may be best, gamma = {gamma:g}.\n")
    print_table(Table("The star", heads, rows))
    before, after = float(example.baseline @ example.gaps), example.solution.objective
    typer.echo(f"\nExpected regret a round: {before:.4f} before, {after:.4f} after the linear program.")
    typer.echo("Exploring moves from the four worthless leaves to the hub, which costs 0.1 and reveals every arm.")
    if picture is not None:
        typer.echo(f"Picture: {picture}")
