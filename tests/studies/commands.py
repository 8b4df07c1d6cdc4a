"""Commands that run a study, and what they leave behind."""

from pathlib import Path

from typer.testing import CliRunner, Result

from graphbandit.cli.app import app


def invoke(*arguments: object) -> Result:
    """The command, in a terminal of 200 columns without colours."""
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [str(each) for each in arguments])


def files_of(directory: Path) -> dict[str, bytes]:
    """All that must not depend on workers, kills and time."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in ("timings.parquet", ".lock", "report.html")
    }
