"""Experiments from TOML files; whatever is wrong in one is told with its file and line."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphbandit.errors import ExperimentError
from graphbandit.experiments.describe import registry
from graphbandit.experiments.describe.experiment import Experiment, Grid
from graphbandit.experiments.describe.toml_writer import FIELDS

ROOMS = {"environments": registry.ENVIRONMENTS, "learners": registry.LEARNERS}


def load(path: str | os.PathLike[str]) -> Experiment:
    """The experiment in a TOML file, checked; names of data files are relative to it.

    Raises ExperimentError with the file, the line and what is expected.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ExperimentError(f"{file} cannot be read: {reason}") from None
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
    rooms = ("experiment", *ROOMS)
    for name, table in content.items():
        if name not in rooms:
            raise ExperimentError(f"unknown table or key {name!r}; {registry.expected(name, rooms)}", (name,))
        if not isinstance(table, Mapping):
            raise ExperimentError(f"{name} is {table!r}; expected a table, as [{name}]", (name,))
    for name in rooms:
        if name not in content:
            raise ExperimentError(f"[{name}] is missing; expected the tables {', '.join(rooms)}")
    settings = content["experiment"]
    for name in settings:
        if name not in FIELDS:
            raise ExperimentError(f"unknown setting {name!r}; {registry.expected(name, FIELDS)}", ("experiment", name))
    for name in ("name", "rounds", "repeats"):
        if name not in settings:
            raise ExperimentError(f"{name} is missing; expected {name} = ...", ("experiment",))
    return Experiment(
        environments=_grids("environments", content["environments"], folder),
        learners=_grids("learners", content["learners"], folder),
        **settings,
    )


def _grids(room: str, tables: Mapping[str, Any], folder: Path) -> dict[str, Grid]:
    grids, kinds = {}, ROOMS[room]
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise ExperimentError(f"{name} is {table!r}; expected a table, as [{room}.NAME]", (room, name))
        settings = dict(table)
        if "kind" not in settings:
            raise ExperimentError(f"kind is missing; expected one of {', '.join(map(repr, kinds))}", (room, name))
        kind = settings.pop("kind")
        for key in kinds[kind].files if isinstance(kind, str) and kind in kinds else ():
            if key in settings:
                settings[key] = _located(settings[key], folder)
        grids[name] = Grid(kind, settings)
    return grids


def _located(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_located(one, folder) for one in value]
    return str(folder / value) if isinstance(value, str) else value


def line_of(text: str, place: tuple[str, ...]) -> int:
    """The line at which a key, or else the nearest table around it, first stands; 1 for the file as a whole.

    The file is read again and again, each time one line longer, until the key is there: slow, but only ever done for
    one mistake, and right for every way in which TOML lets a key be written.

    >>> line_of("[learners.ours]\\nkind = 'AdaCBG'\\neta = [\\n  1.0,\\n  -2.0,\\n]", ("learners", "ours", "eta"))
    3
    """
    lines = text.splitlines(keepends=True)
    for depth in range(len(place), 0, -1):
        whole = 0  # the lines up to here are TOML by themselves: a value of several lines starts after them
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
