"""One round of a file of Vowpal Wabbit, before its features become arrays."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from graphbandit.errors import LogError

FeatureValues = dict[str, float]


@dataclass(slots=True)
class VwRound:
    """A round. Arms are numbered by their place in the file, from 0.

    - `line`: where it begins, from 1.
    - `shared`, `arms`: the features of the round, and of each arm.
    - `action`, `probability`: what was played, and how likely that was.
    - `probabilities`: of all arms, if they are known.
    - `rewards`, `observation_probabilities`: of the arms that were revealed; the latter where they are told.
    - `edges`: (j, a, value): playing j reveals a, with this probability; None without a graph.
    - `tags`: names of the arms, if all have one.
    - `key`, `time`: of the event.
    """

    line: int
    shared: FeatureValues
    arms: list[FeatureValues]
    action: int
    probability: float
    probabilities: list[float] | None = None
    rewards: dict[int, float] = field(default_factory=dict)
    observation_probabilities: dict[int, float] = field(default_factory=dict)
    edges: list[tuple[int, int, float]] | None = None
    tags: list[str] | None = None
    key: str | None = None
    time: str | None = None


@dataclass(slots=True)
class Skipped:
    """A line that is not a round of the log, and the reason."""

    why: str


class LineError(ValueError):
    """A line is wrong; the reader puts the file and the number of the line before it."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text file, plain or compressed."""
    try:
        with _opened(path) as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LogError(f"{path} cannot be read: {reason}") from None


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")
