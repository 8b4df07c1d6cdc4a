"""The command `graphbandit`, given in this process, and what it leaves behind."""

from pathlib import Path

from typer.testing import CliRunner, Result

from graphbandit.cli.app import app


def invoke(*arguments: object) -> Result:
    """The command, in a terminal of 200 columns without colours."""
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [str(each) for each in arguments])


def succeed(*arguments: object) -> Result:
    """The command, which must end with the code 0."""
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return done


def refusal(*arguments: object) -> str:
    """What is wrong with the command, which must say it in one line, without output, and end with the code 2."""
    done = invoke(*arguments)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    start, message = done.stderr.split("graphbandit: ", 1)
    assert start == ""
    assert message.count("\n") == 1
    return message


def files_of(directory: Path) -> dict[str, bytes]:
    """All that must not depend on workers, kills and time."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in ("timings.parquet", ".lock", "report.html")
    }
