"""The command `convert`: convert between the logs of other programs and those of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphbandit.base.choices import ContextForm, LogFormat, WrittenFormat
from graphbandit.cli.console import amount_bars
from graphbandit.cli.option_words import errors_in_options, one_of

app = typer.Typer()

WORDS = {
    "expected n_arms, arms, graphs or probabilities": "expected --n-arms, --arm or --probabilities",
    r"arms=\[\.\.\.\]": "--arm NAME, once for each arm",
    "expected one of the names in arms": "expected one of the names that --arm gives",
    "expected a frame of rewards": "expected --rewards TABLE",
    "expected columns among": "expected --context and --probabilities to name some of",
    "the column ('.*?') of context": r"--context \1",
    "the column ('.*?') of probabilities": r"--probabilities \1",
}
"""What messages say in place of the names of settings."""


@app.command(epilog="Example: graphbandit convert vw.dsjson log, and back: graphbandit convert log vw.dsjson")
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A file of Vowpal Wabbit (.dsjson, .json, .txt, .vw, .dat, also .gz), of Open Bandit Pipeline (.npz), "
            "a table with one row for each round (.csv, .parquet), or the folder of a log.",
            show_default=False,
        ),
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="The folder of the new log; if SOURCE is a log, a file .dsjson, .txt or .npz.",
            show_default=False,
        ),
    ],
    source_format: Annotated[
        LogFormat | None,
        typer.Option("--from", metavar="FORMAT", help=one_of(LogFormat), show_default="by the name of the file"),
    ] = None,
    target_format: Annotated[
        WrittenFormat | None,
        typer.Option("--to", metavar="FORMAT", help=one_of(WrittenFormat), show_default="by the name of the file"),
    ] = None,
    context_form: Annotated[
        ContextForm,
        typer.Option(metavar="FORM", help=f"Which of Vowpal Wabbit's features form the context: {one_of(ContextForm)}"),
    ] = "auto",
    feature: Annotated[
        list[str] | None,
        typer.Option(help="A feature of Vowpal Wabbit to keep, such as User.age. Repeatable.", show_default="all"),
    ] = None,
    context: Annotated[
        list[str] | None, typer.Option(help="A column of numbers that belongs to the context. Repeatable.")
    ] = None,
    probabilities: Annotated[
        list[str] | None,
        typer.Option(
            help="The table's column with an arm's probability, in the order of the arms; in place of a column "
            "probability. Repeatable."
        ),
    ] = None,
    arm: Annotated[list[str] | None, typer.Option(help="The name of an arm in the table. Repeatable.")] = None,
    n_arms: Annotated[
        int | None, typer.Option(help="How many arms there are.", show_default="from --arm or --probabilities")
    ] = None,
    rewards: Annotated[
        Path | None,
        typer.Option(
            help="A table with one row for each reward: decision, arm, reward; in place of a column reward.",
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Convert a log from Vowpal Wabbit, Open Bandit Pipeline or a table, or to one of the first two.

    A table needs these columns; others are kept, and columns of numbers can be the context:
    - action: the arm played, by its number from 0 or by its name
    - probability: the probability with which it was played
    - reward: its reward

    For example, if visits.csv begins with age,action,probability,reward and 31,tea,0.5,1:
    `graphbandit convert visits.csv log --context age --arm tea --arm cake`

    Vowpal Wabbit's graphs are transposed on the way: there, row,col says that playing col reveals row.
    """
    from graphbandit.interop.convert import convert as converted

    with errors_in_options(WORDS), amount_bars() as show:
        found = converted(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            context_form=context_form,
            features=feature or None,
            progress=show("rounds"),
            context=context or None,
            probabilities=probabilities or None,
            arms=arm or None,
            n_arms=n_arms,
            rewards=rewards,
        )
    typer.echo(f"{found.rounds:,} rounds: {target}")
    for why, count in found.skipped.items():
        typer.echo(f"left out: {count:,} x {why}")
