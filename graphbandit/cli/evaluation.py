"""The command `evaluate`: estimate what other policies would have earned on a log."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from graphbandit.base.choices import IntervalKind, Method, Support
from graphbandit.cli.console import amount_bars, print_table
from graphbandit.cli.option_words import errors_in_options, in_options, one_of
from graphbandit.errors import SettingError, SupportError

app = typer.Typer()

SETTING = "method|interval|level|support|missing_rewards|largest_weight|seed"
WORDS = {
    r"the policy 'uniform', or a log": "--policy uniform, or a log",
    r"\(convert with probabilities=\[\.\.\.\]\)": "(convert --probabilities)",
    r"reward_range=\(lowest, highest\)": "--reward-range LOWEST HIGHEST",
    r"reward_range = \(([^,]+), ([^)]+)\)": r"--reward-range \1 \2",
    "; fit='past' keeps the guarantee": "",
    rf"\b({SETTING})='?([\w.-]+)'?": r"--\1 \2",
    f"^({SETTING}|by) is ": r"--\1 is ",
    r"(--\w+)_(\w+)": r"\1-\2",
}
"""What messages and notes say in place of the names of settings."""

LACKS = "the log does not have the probabilities of all arms"
"""Why the policy that wrote a log is not evaluated by default."""


@app.command(epilog="Example: graphbandit evaluate log --policy saved.gb --policy uniform --report page.html")
def evaluate(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The folder of a log.", show_default=False)],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A saved bandit, uniform, logged, or a column of the log; NAME=... gives it a name. Repeatable.",
            show_default="uniform and logged, as far as the log allows",
        ),
    ] = None,
    method: Annotated[Method, typer.Option(metavar="METHOD", help=one_of(Method))] = "graph-dr",
    interval: Annotated[IntervalKind, typer.Option(metavar="KIND", help=one_of(IntervalKind))] = "betting",
    level: Annotated[float, typer.Option(help="The probability with which an interval holds.")] = 0.95,
    reward_range: Annotated[
        tuple[float, float] | None,
        typer.Option(help="The lowest and the highest possible reward.", show_default="from the log"),
    ] = None,
    by: Annotated[str | None, typer.Option(help="A column of the log; adds a value for each segment of it.")] = None,
    support: Annotated[
        Support,
        typer.Option(
            help="all: refuse policies that play arms which could not be revealed; part: leave those arms out."
        ),
    ] = "all",
    missing_rewards: Annotated[
        str,
        typer.Option(help="What to do with missing rewards: error, drop (the round), or a number to count instead."),
    ] = "error",
    largest_weight: Annotated[
        float | None, typer.Option(help="Larger weights are cut to this.", show_default="none")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of folds and of the bootstrap.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with figures here.", dir_okay=False)] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table here.", dir_okay=False)] = None,
) -> None:
    """Estimate what policies would have earned on a log, with intervals, and compare the first with the others."""
    from graphbandit.evaluation import Log, compare
    from graphbandit.evaluation import evaluate as evaluated
    from graphbandit.evaluation.notes import all_notes
    from graphbandit.evaluation.policies import UnknownProbabilitiesError

    for option, file in (("--report", report), ("--csv", csv)):
        if file is not None and not file.absolute().parent.is_dir():
            raise SettingError(f"{option} is {file}; expected a file in a folder that exists")
    names = policy or ["uniform", "logged"]
    settings: dict[str, Any] = {
        "method": method,
        "interval": interval,
        "level": level,
        "reward_range": reward_range,
        "support": support,
        "missing_rewards": _number_or_text(missing_rewards),
        "largest_weight": largest_weight,
        "seed": seed,
        "cluster": cluster,
    }
    source = Log.read(log)
    left_out = []
    with errors_in_options(WORDS), amount_bars() as show:
        while True:
            named = policies_named(names)
            try:
                table = evaluated(source, named, by=by, progress=show("values"), **settings)
                break
            except (SupportError, UnknownProbabilitiesError) as error:
                if policy:
                    raise
                found, why = ("uniform", str(error)) if isinstance(error, SupportError) else ("logged", LACKS)
                left_out.append(f"{found} is left out: {why}")
                names = [name for name in names if name != found]
                if not names:
                    reasons = "; ".join(left_out)
                    raise SettingError(f"{reasons}; expected --policy with a saved bandit or a column") from None
        first, *others = named
        differences = [
            compare(source, first, other, policies=named, progress=show(f"{first} - {other}"), **settings)
            for other in others
        ]
    print_table(table.as_table())
    notes = [in_options(note, WORDS) for note in (*left_out, *all_notes(table, differences))]
    for line in (*map(str, differences), *(f"note: {note}" for note in notes)):
        typer.echo(line)
    if csv is not None:
        from graphbandit.evaluation.report import write_table

        typer.echo(f"Table: {write_table(table, csv)}")
    if report is not None:
        from graphbandit.evaluation.report import write_evaluation

        made = command_of(context)
        page = write_evaluation(table, report, name=log.name, differences=differences, command=made, notes=notes)
        typer.echo(f"Page: {page}")


def command_of(context: typer.Context) -> str:
    """The command as it was typed, without the files it writes and without defaults."""
    words = ["graphbandit", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in ("report", "csv") or value in (None, (), [], parameter.default):
            continue
        values = value if isinstance(value, list) else [value]
        for one in values:
            name = [] if parameter.param_type_name == "argument" else [max(parameter.opts, key=len)]
            words += [*name, *map(str, one if isinstance(one, tuple) else [one])]
    return shlex.join(words)


def policies_named(given: list[str]) -> dict[str, str]:
    """Policies by name: each is NAME=policy, or the policy alone, which is then named after its file."""
    named: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            name, value = (Path(text).stem if text.endswith(".gb") else text), text
        if name in named:
            raise SettingError(f"--policy has the name {name!r} twice; expected NAME={value} with another name")
        named[name] = value
    return named


def _number_or_text(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
