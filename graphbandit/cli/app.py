"""The command line. Whatever is heavy is imported by the command that needs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from graphbandit.cli import compile as compiling
from graphbandit.cli import experiments, leaderboard, networks, paper, reports, studies
from graphbandit.cli.console import plain_table
from graphbandit.errors import GraphBanditError, SettingError


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
for _group in (paper, experiments, reports, networks, studies, leaderboard, compiling):
    app.registered_commands += _group.app.registered_commands


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

    sources = Path(__file__).parents[2]
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
