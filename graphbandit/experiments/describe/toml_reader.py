"""Read experiments from TOML files; errors name the file and the line."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphbandit.base.similar_names import expected
from graphbandit.errors import ExperimentError
from graphbandit.experiments.describe.experiment import KINDS, Experiment
from graphbandit.experiments.describe.grids import Grid
from graphbandit.experiments.describe.kinds import FILE
from graphbandit.experiments.describe.own_kinds import import_from, is_address
from graphbandit.experiments.describe.toml_writer import FIELDS


def load(path: str | os.PathLike[str]) -> Experiment:
    """Read and check the experiment in a TOML file; names of data files are relative to it.

    Raises ExperimentError with the file, the line and what is expected.

    - `path`: the TOML file.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ExperimentError(f"{file} cannot be read: {reason}") from None
    return read_experiment(text, file)


def read_experiment(text: str, file: Path) -> Experiment:
    """The experiment that a text describes; errors name the `file` that it is the text of."""
    try:
        return _experiment(tomllib.loads(text), file.parent)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = found[1] if found else str(text.count("\n") + 1)
        message = str(error)[: found.start()] if found else str(error)
        raise ExperimentError(f"{file}, line {line}: not TOML: {message}") from None
    except ExperimentError as error:
        raise ExperimentError(f"{file}, line {line_of(text, error.place)}: {error.message}") from error


def _experiment(content: Mapping[str, Any], folder: Path) -> Experiment:
    tables = ("experiment", *KINDS)
    for name, table in content.items():
        if name not in tables:
            raise ExperimentError(f"unknown table or key {name!r}; {expected(name, tables)}", (name,))
        if not isinstance(table, Mapping):
            raise ExperimentError(f"{name} is {table!r}; expected a table, as [{name}]", (name,))
    for name in tables:
        if name not in content:
            raise ExperimentError(f"[{name}] is missing; expected the tables {', '.join(tables)}")
    settings = content["experiment"]
    for name in settings:
        if name not in FIELDS:
            raise ExperimentError(f"unknown setting {name!r}; {expected(name, FIELDS)}", ("experiment", name))
    for name in ("name", "rounds", "repeats"):
        if name not in settings:
            raise ExperimentError(f"{name} is missing; expected {name} = ...", ("experiment",))
    grids: dict[str, Any] = {table: _grids(table, content[table], folder) for table in KINDS}
    if any(map(is_address, _texts(content))):
        import_from(folder.absolute(), Path.cwd())
    return Experiment(**settings, **grids)


def _grids(table: str, described: Mapping[str, Any], folder: Path) -> dict[str, Grid]:
    grids = {}
    for name, content in described.items():
        if not isinstance(content, Mapping):
            raise ExperimentError(f"{name} is {content!r}; expected a table, as [{table}.NAME]", (table, name))
        settings = dict(content)
        if "kind" not in settings:
            kinds = ", ".join(map(repr, KINDS[table]))
            raise ExperimentError(f"kind is missing; expected one of {kinds}", (table, name))
        if FILE in settings:
            settings[FILE] = _located(settings[FILE], folder)
        grids[name] = Grid(settings.pop("kind"), settings)
    return grids


def _texts(content: Any) -> Iterator[str]:
    """All texts in a file, at any depth."""
    if isinstance(content, Mapping | list):
        for item in content.values() if isinstance(content, Mapping) else content:
            yield from _texts(item)
    elif isinstance(content, str):
        yield content


def _located(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_located(one, folder) for one in value]
    return str(folder / value) if isinstance(value, str) else value


def line_of(text: str, place: tuple[str, ...]) -> int:
    """The line of a key, or else of the nearest table around it; 1 for the file as a whole.

    TOML parsers give no line numbers, so growing parts of the file are parsed until the key appears. This is slow, but
    it happens for one mistake only, and it is right for every way of writing a key in TOML.

    >>> line_of("[learners.ours]\\nkind = 'AdaCBG'\\neta = [\\n  1.0,\\n  -2.0,\\n]", ("learners", "ours", "eta"))
    3
    """
    lines = text.splitlines(keepends=True)
    for depth in range(len(place), 0, -1):
        whole = 0  # the lines up to here are valid TOML, so a value of several lines starts after them
        for n in range(1, len(lines) + 1):
            try:
                content: Any = tomllib.loads("".join(lines[:n]))
            except tomllib.TOMLDecodeError:
                continue
            if _has(content, place[:depth]):
                return whole + 1
            whole = n
    return 1


def _has(content: Any, place: tuple[str, ...]) -> bool:
    for name in place:
        if not isinstance(content, Mapping) or name not in content:
            return False
        content = content[name]
    return True
