"""The command line. Whatever is heavy is imported by the command that needs it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from graphbandit import experiment_commands, network_commands, report_commands
from graphbandit.console import plain_table, progress_bar
from graphbandit.errors import GraphBanditError, SettingError

if TYPE_CHECKING:
    from rich.console import Console

    from graphbandit.experiments.clique_table import CliqueTableResult

QUICK_REPEATS, FULL_REPEATS = 10, 40


class _Commands(TyperGroup):
    """Errors of the package become one line and exit code 2; Ctrl-C one line and exit code 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except GraphBanditError as error:
            typer.echo(f"graphbandit: {error}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("graphbandit: interrupted", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: graphbandit demo",
)
app.registered_commands += experiment_commands.app.registered_commands
app.registered_commands += report_commands.app.registered_commands
app.registered_commands += network_commands.app.registered_commands


def _print_version(wanted: bool) -> None:
    if wanted:
        from graphbandit import __version__

        typer.echo(f"graphbandit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Contextual bandits with graph feedback: playing one arm also reveals its neighbours' rewards."""


@app.command(epilog="Example: graphbandit reproduce --full --workers 8")
def reproduce(
    full: Annotated[
        bool, typer.Option("--full/--quick", help=f"All {FULL_REPEATS} repeats of the paper, or {QUICK_REPEATS}.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where the files go.", file_okay=False)] = Path("results/clique-table"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Repeats side by side; changes no figure.", show_default="one a core")
    ] = None,
    arms: Annotated[str | None, typer.Option(help="Numbers of arms, as 20,40.", show_default="20,40,60,80,100")] = None,
    repeats: Annotated[int | None, typer.Option(help="Repeats, instead of --full or --quick.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of a run.")] = 2**11,
) -> None:
    """Run the paper's clique-group table again and lay it beside the printed figures."""
    from rich.console import Console

    from graphbandit.experiments.clique_table import PRINTED, CliqueTable, run_clique_table

    settings = CliqueTable(
        arms=tuple(PRINTED) if arms is None else _numbers("--arms", arms),
        rounds=rounds,
        repeats=repeats if repeats is not None else FULL_REPEATS if full else QUICK_REPEATS,
        seed=seed,
    )
    start = time.perf_counter()
    with progress_bar() as progress:
        result = run_clique_table(settings, workers=workers, out=out / "runs", progress=progress)
    paths = result.write(out)
    seconds = time.perf_counter() - start
    console = Console()
    _print_table(console if console.is_terminal else Console(width=100), result)
    typer.echo(f"\nWritten to {out}: {', '.join(path.name for path in paths)}")
    typer.echo(f"Took {seconds:.1f} s for {settings.repeats} repeats of {settings.rounds} rounds.")


@app.command(epilog="Example: graphbandit demo --picture star.png")
def demo(
    gamma: Annotated[float, typer.Option(help="Exploration parameter: the larger, the less is explored.")] = 10.0,
    picture: Annotated[
        Path | None, typer.Option(help="Draw it too, into a .png, .svg or .pdf file.", dir_okay=False)
    ] = None,
) -> None:
    """Show what the linear program does, on the paper's star: probabilities before and after."""
    from rich.console import Console

    from graphbandit.plots import plot_star_example, save_figure, star_example

    if picture is not None:
        save_figure(plot_star_example(gamma), picture)
    example = star_example(gamma)
    p, q = example.solution.probabilities, example.solution.observation_probabilities
    table = plain_table("arm", "estimate", "p before", "p after", "seen before", "seen after")
    for a, value in enumerate(example.values):
        arm = f"{a}{' hub' if a == 0 else ' best' if a == 1 else ''}"
        figures = (example.baseline[a], p[a], example.before[a], q[a])
        table.add_row(arm, f"{value:g}", *(f"{x:.4f}" for x in figures))
    typer.echo(f"A star: arm 0 is joined to all others, all arms may be best, gamma = {gamma:g}.\n")
    Console().print(table)
    before, after = float(example.baseline @ example.gaps), example.solution.objective
    typer.echo(f"\nExpected regret a round: {before:.4f} before, {after:.4f} after the linear program.")
    typer.echo("Exploring moves from the four worthless leaves to the hub, which costs 0.1 and reveals every arm.")
    if picture is not None:
        typer.echo(f"Picture: {picture}")


@app.command(epilog="Example: graphbandit bench --quick --only lp,decision")
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repeats: a minute or two.")] = False,
    only: Annotated[
        str | None, typer.Option(help="Parts: lp, decision, throughput, scaling, startup.", show_default="all")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the files go.", file_okay=False)] = Path("results/bench"),
) -> None:
    """Measure the package beside its rivals, in one run. Needs a checkout of the sources."""
    import subprocess
    import sys

    sources = Path(__file__).parents[1]
    if not (sources / "benchmarks" / "run.py").is_file():
        raise SettingError("the benchmarks are not part of the installed package; expected a checkout of the sources")
    options = [*(["--quick"] if quick else []), *(["--only", only] if only is not None else [])]
    command = [sys.executable, "-m", "benchmarks.run", *options, "--out", str(out.absolute())]
    # a process of its own, so that settings of one thread come before the libraries that read them
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(sources), os.environ.get("PYTHONPATH")])),
    }
    code = subprocess.run(command, env=environment, check=False).returncode
    if code:
        raise typer.Exit(code)


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise SettingError(f"{option} is {text!r}; expected whole numbers with commas, as 20,40") from None


def _print_table(console: Console, result: CliqueTableResult) -> None:
    from graphbandit.experiments.clique_table import PRINTED, name

    settings = result.settings
    table = plain_table("regret, mean (std)", *(f"K = {k}" for k in settings.arms), narrow=console.width < 90)
    table.add_row("printed in the paper", *(_figure(*PRINTED[k]) if k in PRINTED else "" for k in settings.arms))
    for verdict in result.verdicts():
        rows = result.series(verdict.reading, verdict.form)
        table.add_row(name(verdict.reading, verdict.form), *(_figure(row.mean, row.std) for row in rows))
    console.print(table)
    if not settings.is_printed:
        typer.echo("The printed figures are for 2048 rounds; these are not to be compared with them.\n")
    typer.echo(
        f"literal: rewards as printed; rescaled: rewards divided by {settings.rescale:g}; without F_m: no version"
    )
    typer.echo("space, all arms are candidates and lambda = 1, a probe of where the printed figures may come from.\n")
    typer.echo("Do the paper's statements hold for its own form of AdaCB.G?")
    for claim in result.claims():
        answer = {True: "yes", False: "no", None: "not tested"}[claim.holds]
        typer.echo(f"  {answer:<10}  {claim.statement}")
        for figures in filter(None, claim.figures.split("; ")):
            typer.echo(f"  {'':<10}    {figures}")


def _figure(mean: float, std: float) -> str:
    """Ten characters at most, so that five fit a terminal of 80."""
    return f"{mean:.{0 if mean >= 1000 else 1}f} ({std:.{0 if mean >= 10 else 1}f})"
