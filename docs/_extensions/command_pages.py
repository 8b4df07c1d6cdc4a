"""The page of all commands, written from the command line itself, so that it cannot lag behind."""

from pathlib import Path
from typing import Any

from api_pages import write
from sphinx.application import Sphinx


def cell(text: object) -> str:
    """Text in a cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def option_row(option: Any) -> str:
    """A setting of a command: how it is typed, its default, what it does."""
    names = " / ".join([*option.opts, *option.secondary_opts])
    default = getattr(option, "show_default", None)
    if not isinstance(default, str):
        value = option.default
        unset = value is None or value is False or value in ([], ()) or "UNSET" in repr(value) or option.required
        default = "" if unset else str(value)
    return f"| `{names}` | {cell(default)} | {cell(getattr(option, 'help', '') or '')} |"


def section(name: str, command: Any) -> list[str]:
    """One command: what it does, its settings, its example."""
    lines = [f"## graphbandit {name}", ""]
    lines += [line.strip() for line in (command.help or "").replace("\f", "").splitlines()] + [""]
    rows = [option_row(p) for p in command.params if p.name != "help"]
    if rows:
        lines += ["| setting | default | meaning |", "| --- | --- | --- |", *rows, ""]
    example = (command.epilog or "").removeprefix("Example: ")
    if example:
        lines += ["```console", f"$ {example}", "```", ""]
    return lines


def commands() -> dict[str, Any]:
    """The commands of the command line by name, groups opened up."""
    import typer

    from graphbandit.cli.app import app

    found: dict[str, Any] = {}

    def collect(prefix: str, group: Any) -> None:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                collect(f"{prefix}{name} ", command)
            else:
                found[prefix + name] = command

    collect("", typer.main.get_command(app))
    return found


def write_page(app: Sphinx) -> None:
    """Write the page beside those of the public names."""
    first = "Everything that `graphbandit --help` says, on one page. `-h` works behind every command."
    lines = ["# Commands", "", first, ""]
    for name, command in commands().items():
        lines += section(name, command)
    write(Path(app.srcdir) / "api" / "generated" / "commands.md", "\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """After the pages of public names: those clear the folder first."""
    app.connect("builder-inited", write_page, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
