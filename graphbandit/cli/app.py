"""The command line. Commands import heavy modules themselves, when they run.

A group of commands is a file in this folder with a `typer.Typer` called `app`; its name is in `GROUPS`. For commands
below another one, such as `graphbandit service compact`, the file has a second `typer.Typer`, which has a name and is
called `group`.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from graphbandit.cli.console import prepare_output
from graphbandit.errors import GraphBanditError

GROUPS = (
    "demo",
    "experiments",
    "reports",
    "evaluation",
    "convert",
    "networks",
    "service",
    "studies",
    "compile",
    "bench",
)
"""All groups of commands, in the order of --help."""


class _Commands(TyperGroup):
    """Print errors of the package and bad values of options as one line with exit code 2, and Ctrl-C with code 130."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        prepare_output()
        return super().main(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (GraphBanditError, typer.BadParameter) as error:
            message = error.format_message() if isinstance(error, typer.BadParameter) else str(error)
            typer.echo(f"graphbandit: {message}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("graphbandit: interrupted", err=True)
            raise typer.Exit(130) from None


def _flowing(group: typer.Typer) -> None:
    """Put each paragraph of the commands' help on one line, so that it is broken where the terminal ends.

    Items of lists and lines of code keep their lines.
    """
    for command in group.registered_commands:
        text = inspect.cleandoc(command.help or getattr(command.callback, "__doc__", "") or "")
        command.help = re.sub(r"(?<!\n)\n(?![\n`-])", " ", text)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: graphbandit demo",
)
for _name in GROUPS:
    _module = import_module(f"graphbandit.cli.{_name}")
    app.registered_commands += _module.app.registered_commands
    if hasattr(_module, "group"):
        _flowing(_module.group)
        app.add_typer(_module.group)
_flowing(app)


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
