"""The command `compile`: compile kernels ahead of time, so that later processes read them from disk."""

from __future__ import annotations

from typing import Annotated

import typer

from graphbandit.base.printed_table import Table
from graphbandit.cli.console import print_table

app = typer.Typer()

USUAL = ("AdaCBG", "IDSG", "Greedy", "LinUCB")


@app.command(name="compile", epilog="Example: graphbandit compile --all")
def compile_kernels(
    learners: Annotated[
        list[str] | None, typer.Argument(help=f"Names of learners; {', '.join(USUAL)} by default.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Compile for every learner, class and kind of graph.")
    ] = False,
) -> None:
    """Compile the kernels now, so that nobody waits for them at the first decision.

    Each learner plays some rounds with a finite class and with linear classes. With --all, it also plays clicks,
    counts, kernels, graphs without self-loops, and edge probabilities.
    """
    from graphbandit.base.similar_names import expected
    from graphbandit.cli.rehearsals import rehearsals
    from graphbandit.errors import GraphBanditError, SettingError
    from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS
    from graphbandit.kernels.jit import compilations

    names = list(LEARNER_KINDS) if everything else learners or USUAL
    for name in names:
        if name not in LEARNER_KINDS:
            raise SettingError(f"learner is {name!r}; {expected(name, LEARNER_KINDS)}")
    rows: list[tuple[str, str, str, str]] = []
    for name in names:
        for rehearsal in rehearsals(everything):
            count, seconds = compilations.count, compilations.seconds
            try:
                rehearsal.play(name)
            except GraphBanditError as error:
                rows.append((name, rehearsal.name, f"not compiled: {error}", ""))
            else:
                compiled, took = compilations.count - count, compilations.seconds - seconds
                if compiled:
                    rows.append((name, rehearsal.name, str(compiled), f"{took:.1f}"))
    if rows:
        print_table(Table("", ["learner", "on a", "compiled", "seconds"], rows))
    where = f": {', '.join(sorted(compilations.modules))}" if compilations.modules else ""
    typer.echo(f"{compilations.count} kernels were compiled, in {compilations.seconds:.1f} s{where}.")
