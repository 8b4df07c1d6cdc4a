"""The commands `new`, `run` and `show`: experiments that a file describes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphbandit.base.printed_table import Cell, Table, counted
from graphbandit.cli.console import print_table, progress_bar
from graphbandit.errors import SavedFileError, SettingError

if TYPE_CHECKING:
    from graphbandit.experiments import Engine
    from graphbandit.experiments.results.reading import Results

app = typer.Typer()
SHOWN_FAILURES = 3


@app.command(epilog="Example: graphbandit new sweep.toml")
def new(
    file: Annotated[Path, typer.Argument(help="The file to write, which must not exist yet.", dir_okay=False)],
    like: Annotated[
        str,
        typer.Option(
            help="The experiment to copy: starter, one of the paper's, such as clique-table, or STUDY/NAME, such as "
            "leaderboard/arms."
        ),
    ] = "starter",
) -> None:
    """Write a commented experiment file to start from. It runs as it is, into a folder named after the file."""
    from graphbandit.studies.study import named_text, packaged_text

    text = named_text(packaged_text(like), file.stem)
    try:
        with file.open("x", encoding="utf-8", newline="\n") as target:
            target.write(text)
    except OSError as error:
        raise SavedFileError(f"{file} cannot be written: {error.strerror or error}") from None
    typer.echo(f"Written: {file}. Run it with: graphbandit run {file}")


@app.command(epilog="Example: graphbandit run sweep.toml --workers 4")
def run(
    file: Annotated[Path, typer.Argument(help="The experiment, a TOML file.", dir_okay=False)],
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the results.", show_default="results/NAME", file_okay=False),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of processes; changes no result.", show_default="one a core")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786, or local to start one.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but failures.")] = False,
) -> None:
    """Run an experiment, or what is left of it. Exits with 1 if a run failed, 2 if the experiment cannot be run."""
    from graphbandit.experiments import load
    from graphbandit.experiments import run as run_experiment

    experiment = load(file)
    engine = _engine(workers, cluster)
    folder = Path("results") / experiment.name if out is None else out
    with progress_bar(quiet) as progress:
        results = run_experiment(experiment, out=folder, engine=engine, progress=progress)
    if not quiet:
        _print_results(results)
        typer.echo(f"\nResults: {folder}")
        _print_left_over(results, file)
    if results.failures:
        _report_failures(results)
        raise typer.Exit(1)


@app.command(epilog="Example: graphbandit show results/sweep")
def show(
    folder: Annotated[Path, typer.Argument(help="The folder of results.", file_okay=False)],
) -> None:
    """Show the results of an experiment, finished or still running: mean final regret and its standard error."""
    from graphbandit.experiments.results.reading import Results

    results = Results.open(folder)
    _print_results(results)
    if results.failures:
        _report_failures(results)


def _engine(workers: int | None, cluster: str | None) -> Engine:
    from graphbandit.experiments import Cluster, InProcess, Processes

    if cluster is not None:
        if cluster != "local" and "://" not in cluster:
            raise SettingError(f"--cluster is {cluster!r}; expected an address, such as tcp://host:8786, or local")
        return Cluster(cluster, workers)
    return InProcess() if workers == 1 else Processes(workers)


def _print_results(results: Results) -> None:
    """Print a table with a row a learner and a column an environment, or the other way round if that is narrower."""
    described, done = results.experiment, results.runs.num_rows
    typer.echo(f"{described.name}: {done} of {results.n_planned} runs of {described.rounds} rounds\n")
    across, down = results.environments, results.learners
    turned = len(across) > max(4, len(down))
    if turned:
        across, down = down, across
    rows = [
        [row, *(_cell(results, *((row, column) if turned else (column, row))) for column in across)] for row in down
    ]
    print_table(Table(described.name, ["final regret, mean ± s.e.", *across], rows))


def _print_left_over(results: Results, file: Path) -> None:
    """Print what the folder has from earlier runs and these results do not show."""
    from graphbandit.experiments.results.reading import count_others

    others, report = count_others(results), results.folder / "report.html"
    if others:
        typer.echo(f"{counted(others, 'finished run')} that {file} does not ask for: kept there, not shown.")
    if report.exists():
        typer.echo(f"{report} is of an earlier run: graphbandit report {results.folder}")


def _cell(results: Results, environment: str, learner: str) -> Cell:
    from graphbandit.simulate import Summary

    final = results.regret(environment, learner)
    if not len(final):
        return Cell("-", math.nan)
    found = Summary.of(final)
    text = f"{found.mean:.2f} ± {found.standard_error:.2f}" if len(final) > 1 else f"{found.mean:.2f}"
    missing = results.experiment.repeats - len(final)
    return Cell(f"{text} ({len(final)} of {results.experiment.repeats})" if missing else text, found.mean)


def _report_failures(results: Results) -> None:
    """Print on standard error how many runs failed, and the settings and traceback of the first few that differ."""
    failures: dict[str, Any] = {}
    for failure in results.failures:
        failures.setdefault(failure["error"], failure)
    typer.echo(f"graphbandit: {len(results.failures)} of {results.n_planned} runs failed", err=True)
    for failure in list(failures.values())[:SHOWN_FAILURES]:
        who = f"learner {failure['learner']!r} on environment {failure['environment']!r}, repeat {failure['repeat']}"
        typer.echo(f"\n{who}\nsettings: {failure['settings']}\n{failure['error'].rstrip()}", err=True)
    typer.echo(f"\nAll of them: {results.folder / 'failures.json'}; the next run tries them again.", err=True)
