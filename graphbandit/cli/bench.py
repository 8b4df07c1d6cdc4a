"""The command `bench`: compare the speed of the package with that of its rivals."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from graphbandit.errors import SettingError

app = typer.Typer()


@app.command(epilog="Example: graphbandit bench --quick --only lp,decision")
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repeats: a minute or two.")] = False,
    only: Annotated[
        str | None,
        typer.Option(
            help="Benchmarks: lp, squarecb, decision, everyday, throughput, scaling, startup, service.",
            show_default="all",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the results.", file_okay=False, show_default="results/bench")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Add the results to benchmarks/history.jsonl, and list what got worse.")
    ] = False,
) -> None:
    """Measure the speed of the package and of its rivals in one run. Needs a checkout of the sources."""
    sources = checkout()
    options = [*(["--quick"] if quick else []), *(["--only", only] if only is not None else [])]
    options += ["--history"] if history else []
    command = [
        sys.executable,
        "-m",
        "benchmarks.run",
        *options,
        "--out",
        str((out or Path("results/bench")).absolute()),
    ]
    # in its own process, so that the settings for one thread are there before libraries read them
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(sources), os.environ.get("PYTHONPATH")])),
    }
    code = subprocess.run(command, env=environment, check=False).returncode
    if code:
        raise typer.Exit(code)


def checkout() -> Path:
    """The checkout of the sources that this package belongs to; an installed package has none."""
    import graphbandit

    sources = Path(graphbandit.__file__).resolve().parents[1]
    try:
        project = tomllib.loads((sources / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        project = {}
    if project.get("name") != "graphbandit" or not (sources / "benchmarks" / "run.py").is_file():
        raise SettingError("the benchmarks are not part of the installed package; expected a checkout of the sources")
    return sources
