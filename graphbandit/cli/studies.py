"""The commands that run a study: `reproduce`, `leaderboard` and `study`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphbandit.cli.console import plan_progress_bar, print_table

if TYPE_CHECKING:
    from graphbandit.studies import Plan

app = typer.Typer()

Full = Annotated[
    bool, typer.Option("--full/--quick", help="All repeats and sizes (many minutes), or some of them (about a minute).")
]
OUT = "The folder for the page, tables, figures and results."
Workers = Annotated[int | None, typer.Option(help="Number of processes; changes no result.", show_default="one a core")]
Only = Annotated[list[str] | None, typer.Option(help="Run only this experiment. Repeatable.", show_default="all")]
Learners = Annotated[
    list[str] | None,
    typer.Option(help="A learner of your own, such as my_module:MyLearner. Repeatable.", show_default="none"),
]
Repeats = Annotated[int | None, typer.Option(help="The largest number of repeats.")]
Rounds = Annotated[int | None, typer.Option(help="Number of rounds of each run.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same results.")]


@app.command(epilog="Example: graphbandit reproduce --full --network edges.csv")
def reproduce(
    full: Full = False,
    network: Annotated[
        Path | None,
        typer.Option(help="A network of your own, as a file of edges.", show_default="a stand-in for Flixster"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help=OUT, file_okay=False, show_default="results/paper")] = None,
    workers: Workers = None,
    seed: Seed = 0,
    only: Only = None,
    repeats: Repeats = None,
    rounds: Rounds = None,
) -> None:
    """Run the paper's experiments again, draw its figures, and check its claims.

    Experiments: ablation, clique-table, flixster, parts, independence, arms, horizon, reward-scale, directed.
    What has finished is not run again.
    """
    _run(_plan("paper", full, only, repeats, rounds, seed=seed, network=network), out, workers)


@app.command(epilog="Example: graphbandit leaderboard --full")
def leaderboard(
    full: Full = False,
    out: Annotated[Path | None, typer.Option(help=OUT, file_okay=False, show_default="results/leaderboard")] = None,
    workers: Workers = None,
    only: Only = None,
    learner: Learners = None,
    repeats: Repeats = None,
    rounds: Rounds = None,
) -> None:
    """Run every learner on every problem it can play, and compare our own learners with the others.

    Groups of problems: finite_small, finite_large, linear_new, linear_fixed, linear_still, nothing, per_arm, odd,
    clicks, arms, bundled, data, shifting, changing. What has finished is not run again.
    """
    _run(_plan("leaderboard", full, only, repeats, rounds, learners=learner), out, workers)


@app.command(epilog="Example: graphbandit study exploration --full")
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="exploration: how much AdaCB.G explores; classes: AdaCB.G with every class, and its rivals."
        ),
    ],
    full: Full = False,
    out: Annotated[Path | None, typer.Option(help=OUT, file_okay=False, show_default="results/NAME")] = None,
    workers: Workers = None,
    only: Only = None,
    repeats: Repeats = None,
    rounds: Rounds = None,
) -> None:
    """Measure a choice of the package on many problems. Writes tables, figures and a verdict.

    What has finished is not run again.
    """
    _run(_plan(name, full, only, repeats, rounds), out, workers)


def _plan(
    study: str,
    full: bool,
    only: list[str] | None,
    repeats: int | None,
    rounds: int | None,
    *,
    seed: int = 0,
    network: Path | None = None,
    learners: list[str] | None = None,
) -> Plan:
    from graphbandit.experiments.describe.own_kinds import import_from
    from graphbandit.studies import Plan

    if learners:
        import_from(Path.cwd())
    return Plan(
        study=study,
        preset="full" if full else "quick",
        only=tuple(only or ()),
        repeats=repeats,
        rounds=rounds,
        seed=seed,
        network=network,
        learners=tuple(learners or ()),
    )


def _run(plan: Plan, out: Path | None, workers: int | None) -> None:
    """Run a plan, and print its findings."""
    from graphbandit.studies.study_runs import compile_kernels, run_study

    out = Path("results") / plan.study if out is None else out

    plan.experiments()  # errors, such as in a network's file, are raised before anything is compiled
    if plan.remark:
        typer.echo(plan.remark)
    compiling = compile_kernels()
    start, processor = time.perf_counter(), _processor_seconds()
    with plan_progress_bar() as show:
        outcome = run_study(plan, out=out, workers=workers, progress=show)
    if outcome.table is not None:
        typer.echo(outcome.table.caption)
        print_table(outcome.table)
    for line in outcome.verdicts:
        typer.echo(line)
    typer.echo(f"Page: {out / 'report.html'}; tables: {out / 'tables.md'}; figures: {out / 'figures'}")
    wall, spent = time.perf_counter() - start, _processor_seconds() - processor
    before = f"before that {compiling:.1f} s to compile or load kernels"
    typer.echo(f"Took {wall:.1f} s, {spent:.1f} s of processor time ({before}).")
    for line in outcome.closing:
        typer.echo(line)


def _processor_seconds() -> float:
    """The processor time of this process and of its workers that have ended."""
    return sum(os.times()[:4])
