"""Compiling kernels ahead of time, for images and clusters: whoever starts later has them from disk."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from graphbandit.cli.console import plain_table

app = typer.Typer()


@app.command(name="compile", epilog="Example: graphbandit compile --all")
def compile_kernels(
    everything: Annotated[
        bool, typer.Option("--all", help="For every learner, kind of graph and function class; else for the usual ones.")
    ] = False,
) -> None:
    """Compile the kernels now, so that nobody waits for them at a first decision."""
    from rich.console import Console

    from graphbandit.kernels.jit import compilations
    from graphbandit.studies.warm_up import steps

    table = plain_table("what", "compiled", "seconds")
    for name, run in steps(everything=everything):
        before, start = compilations.count, time.perf_counter()
        run()
        table.add_row(name, str(compilations.count - before), f"{time.perf_counter() - start:.1f}")
    Console().print(table)
    Console().print(f"{compilations.count} kernels compiled in {compilations.seconds:.1f} s; the rest were on disk.")
