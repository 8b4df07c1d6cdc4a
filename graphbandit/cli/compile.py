"""Compiling kernels ahead of time, for images and clusters: later processes read them from disk."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from graphbandit.base.tables import Table
from graphbandit.cli.console import print_table

app = typer.Typer()

USUAL = ("AdaCBG", "IDSG", "Greedy")
ROUNDS = 16
"""Enough for programs to be solved: the first epochs have none."""


@app.command(name="compile", epilog="Example: graphbandit compile --all")
def compile_kernels(
    everything: Annotated[bool, typer.Option("--all", help=f"For every learner, not only {', '.join(USUAL)}.")] = False,
) -> None:
    """Compile the kernels now, so that nobody waits for them at a first decision."""
    from graphbandit.environments import linear, paper
    from graphbandit.errors import GraphBanditError
    from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS, build_learner
    from graphbandit.kernels.jit import compilations
    from graphbandit.simulate import simulate

    environments = {
        "finite class": paper(n_arms=6, graph="random"),
        "linear class": linear(n_arms=6, dimension=3, graph="random"),
    }
    rows: list[tuple[str, str, str, str]] = []
    for name in LEARNER_KINDS if everything else USUAL:
        for what, environment in environments.items():
            before, start = compilations.count, time.perf_counter()
            try:
                simulate(build_learner(name, {}, environment), environment, rounds=ROUNDS)
            except GraphBanditError:  # a learner that needs a setting, or does not fit this environment
                continue
            rows.append((name, what, str(compilations.count - before), f"{time.perf_counter() - start:.1f}"))
    print_table(Table("", ["learner", "on a", "compiled", "seconds"], rows))
    typer.echo(f"{compilations.count} kernels were compiled, in {compilations.seconds:.1f} s.")
