"""`graphbandit serve` and `graphbandit service ...`: decisions over HTTP, and commands for their log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from graphbandit.base.extras import imported
from graphbandit.base.printed_table import counted
from graphbandit.cli.option_words import one_of
from graphbandit.errors import SettingError

app = typer.Typer()
group = typer.Typer(name="service", no_args_is_help=True, help="Look after the log of a decision service.")

LogLevel = Literal["debug", "info", "warning", "error"]
LOCAL = "http://127.0.0.1:8765"
Configured = Annotated[Path, typer.Argument(metavar="BANDITS.TOML", help="The configuration.", dir_okay=False)]
Data = Annotated[
    Path | None, typer.Option(help="The folder of the database.", file_okay=False, show_default="beside it")
]
Database = Annotated[
    str | None, typer.Option(help="A SQLite file, or postgresql://...", show_default="bandits.db in the folder")
]


def _needs_extra() -> None:
    """Raise MissingExtraError unless the service's packages are installed."""
    for module in ("msgspec", "starlette", "uvicorn"):
        imported(module, "service", f"the service needs {module}")


def _url(configuration: Path, data: Path | None, database: str | None) -> str:
    from graphbandit.service import configuration as settings

    found = settings.read(configuration)
    if database is not None:
        return database
    if data is not None:
        try:
            data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"--data is {data}, which cannot be made: {error}") from error
        return found.service.database or str(data / "bandits.db")
    return found.default_database


@app.command(epilog="Example: graphbandit serve --new bandits.toml && graphbandit serve bandits.toml")
def serve(
    configuration: Configured,
    new: Annotated[bool, typer.Option("--new", help="Write a commented configuration that runs as it is.")] = False,
    host: Annotated[str | None, typer.Option(help="The address to listen on.", show_default="as configured")] = None,
    port: Annotated[
        int | None, typer.Option(help="The port; 0 for a free one.", show_default="as configured", min=0, max=65535)
    ] = None,
    data: Data = None,
    database: Database = None,
    workers: Annotated[
        int, typer.Option(help="How many deciders run as separate processes; 0: everything in one process.", min=0)
    ] = 0,
    log_level: Annotated[LogLevel, typer.Option(metavar="LEVEL", help=one_of(LogLevel))] = "info",
) -> None:
    """Serve decisions over HTTP: durable, replayable, explained. Prints one line with the address when it is ready."""
    _needs_extra()
    if new:
        _write_template(configuration)
        return
    from graphbandit.service import configuration as settings
    from graphbandit.service import json_logging, processes
    from graphbandit.service.server import listening

    url = _url(configuration, data, database)
    found = settings.read(configuration)
    json_logging.start(log_level)
    place = found.service
    bound = listening(place.host if host is None else host, place.port if port is None else port)

    def ready(address: str) -> None:
        typer.echo(f"graphbandit serves {', '.join(found.bandits)} at {address}")

    try:
        if workers:
            processes.run_supervised(configuration.absolute(), found, url, bound, workers, ready)
        else:
            processes.run_single(found, url, bound, ready)
    finally:
        bound.close()


def _write_template(path: Path) -> None:
    from importlib import resources

    text = (resources.files("graphbandit.service") / "template.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SettingError(f"{path} is there already; expected a new name, or graphbandit serve {path}") from None
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error}") from error
    typer.echo(f"{path} is written; next: graphbandit serve {path}")


@group.command(epilog="Example: graphbandit service demo --rate 20")
def demo(
    url: Annotated[str, typer.Option(help="A service with the bandits of `serve --new`.")] = LOCAL,
    rate: Annotated[float, typer.Option(help="Visitors a second.", min=0.01, max=1000.0)] = 20.0,
    visitors: Annotated[int | None, typer.Option(help="How many visitors.", show_default="until Ctrl-C", min=1)] = None,
    token: Annotated[str | None, typer.Option(help="A bearer token.", envvar="GRAPHBANDIT_TOKEN")] = None,
) -> None:
    """Send simulated visitors to a service, so that its page shows something."""
    _needs_extra()
    from graphbandit.service import demo as simulated

    def connected() -> None:
        typer.echo(f"{rate:g} visitors a second at {url}; look at the page there")

    served = simulated.run(url, rate=rate, visitors=visitors, token=token, connected=connected)
    typer.echo(f"{served} visitors were served")


@group.command(epilog="Example: graphbandit service check bandits.toml")
def check(configuration: Configured, data: Data = None, database: Database = None) -> None:
    """Check the configuration, and whether it fits the log, if there is one."""
    _needs_extra()
    from graphbandit.service import maintenance

    for line in maintenance.check(configuration, _url(configuration, data, database)):
        typer.echo(line)


@group.command(epilog="Example: graphbandit service replay bandits.toml")
def replay(configuration: Configured, data: Data = None, database: Database = None) -> None:
    """Learn from the whole log again and compare with the live snapshots byte for byte. Exits with 1 if they differ."""
    _needs_extra()
    from graphbandit.service import maintenance

    good = True
    for outcome in maintenance.replay_all(configuration, _url(configuration, data, database)):
        good = good and outcome.good
        typer.echo(
            f"{outcome.bandit}: {outcome.decisions} decisions, {outcome.rewards} rewards, "
            f"{outcome.equal} of {outcome.snapshots} live snapshots replayed byte for byte"
        )
        for line in outcome.differing[:10]:
            typer.echo(f"  differs: {line}")
    if not good:
        raise typer.Exit(1)


@group.command(epilog="Example: graphbandit service export bandits.toml logs")
def export(
    configuration: Configured,
    folder: Annotated[
        Path, typer.Argument(help="A folder; each bandit gets a folder of its own inside.", file_okay=False)
    ],
    data: Data = None,
    database: Database = None,
) -> None:
    """Write the log as Parquet, in the format that `graphbandit evaluate` reads."""
    _needs_extra()
    from graphbandit.service import maintenance

    for name, outcome in maintenance.export_all(configuration, _url(configuration, data, database), folder):
        typer.echo(f"{name}: {outcome.decisions} decisions and {outcome.rewards} rewards are in {outcome.folder}")
        for count, why in ((outcome.inactive, "nobody has activated them"), (outcome.waiting, "their window is open")):
            if count:
                typer.echo(f"{name}: {counted(count, 'decision')} left out: {why}")


@group.command(epilog="Example: graphbandit service compact bandits.toml --keep 30d")
def compact(
    configuration: Configured,
    keep: Annotated[str, typer.Option(help="Keep rows newer than this in the database, such as 12h or 30d.")] = "30d",
    archive: Annotated[
        Path | None,
        typer.Option(help="The folder for Parquet files.", file_okay=False, show_default="archive beside it"),
    ] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Move old decisions and their rewards from the database to Parquet. Replays then begin at the newest snapshot."""
    _needs_extra()
    from graphbandit.service import maintenance
    from graphbandit.service.configuration import seconds

    try:
        length = seconds(keep)
    except ValueError as error:
        raise SettingError(f"--keep: {error}") from None
    target = configuration.absolute().parent / "archive" if archive is None else archive
    for line in maintenance.compact(configuration, _url(configuration, data, database), length, target):
        typer.echo(line)
