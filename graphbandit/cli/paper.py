"""The command `reproduce`: the paper's experiments, its figures and its claims."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphbandit.cli.console import whole_progress_bar

if TYPE_CHECKING:
    from graphbandit.studies.paper.checks import Claim

app = typer.Typer()


@app.command(epilog="Example: graphbandit reproduce --full --graph edges.csv")
def reproduce(
    full: Annotated[
        bool, typer.Option("--full/--quick", help="All repeats and sizes: minutes; or some of them: under a minute.")
    ] = False,
    graph: Annotated[
        Path | None,
        typer.Option(help="A network of your own, as a file of edges.", show_default="a stand-in for Flixster"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where results and report go.", file_okay=False)] = Path("results/paper"),
    workers: Annotated[
        int | None, typer.Option(help="Processes; changes no figure.", show_default="one a core")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="One experiment; may be given several times: ablation, clique-table, flixster, parts, independence, "
            "arms, horizon, reward-scale, directed.",
            show_default="all",
        ),
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="Repeats of each run, instead of --full or --quick.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds of each run, instead of the paper's.")] = None,
) -> None:
    """Run the paper's experiments again, draw its figures, and say which of its claims hold.

    What has finished is not run again: after an interruption, or after --quick, it goes on where it was.
    """
    from graphbandit.studies.paper.claims import paper_claims
    from graphbandit.studies.paper.figures import write_figures
    from graphbandit.studies.paper.own_checks import own_checks
    from graphbandit.studies.paper.plans import Reproduction
    from graphbandit.studies.paper.report import network_words, write_paper_report
    from graphbandit.studies.paper.reproduce import compile_kernels
    from graphbandit.studies.paper.reproduce import reproduce as run

    asked = Reproduction(
        preset="full" if full else "quick",
        seed=seed,
        network=graph,
        only=tuple(only or ()),
        repeats=repeats,
        rounds=rounds,
    )
    asked.experiments()  # whatever is wrong, with a network's file above all, is told before anything is compiled
    compiling = compile_kernels()
    start, processor = time.perf_counter(), _processor_seconds()
    with whole_progress_bar() as show:
        findings = run(asked, out=out, workers=workers, progress=show)
    claims = [*paper_claims(findings), *own_checks(findings)]
    drawn = write_figures(findings, out / "figures")
    wall = time.perf_counter() - start
    write_paper_report(findings, claims, drawn, out / "report.html", wall_seconds=wall)
    _print_claims(claims)
    if (study := findings.study("flixster")) is not None:
        typer.echo(network_words(study))
    typer.echo(f"Report: {out / 'report.html'}; figures: {out / 'figures'}; results: {out / 'runs'}")
    wall, spent = time.perf_counter() - start, _processor_seconds() - processor
    typer.echo(f"Took {wall:.1f} s, {spent:.1f} s of processor time (before that {compiling:.1f} s to load kernels).")


def _print_claims(claims: Sequence[Claim]) -> None:
    """Each claim, and below it the answers of every reading and form with how far they hold."""
    from graphbandit.studies.paper.report import who

    for claim in claims:
        typer.echo(f"{claim.name:<6} {claim.statement}")
        for check in claim.checks:
            typer.echo(f"{'':6} {check.answer:<11}{who(check):<25}{check.how_far}".rstrip())
    typer.echo("")


def _processor_seconds() -> float:
    """Of this process and its workers that have ended."""
    return sum(os.times()[:4])
