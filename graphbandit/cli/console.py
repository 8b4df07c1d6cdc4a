"""Tables and progress bars that commands print. Names are printed as they are."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphbandit.base.printed_table import Table
    from graphbandit.experiments.running.runner import Progress
    from graphbandit.studies.study_runs import PlanProgress

PLAIN = {"±": "+-", "≈": "~", "►": ">", "★": "*", "µ": "u", "·": "-", "→": "->", "…": "...", "²": "2", "─": "-"}
"""Replacements for characters that the terminal cannot show; any other such character is written as its number."""


def prepare_output() -> None:
    """Make output work on any terminal: characters that it cannot show are replaced by plainer ones."""
    codecs.register_error("graphbandit", _replaced)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="graphbandit")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    wrong = error.object[error.start : error.end]
    return "".join(PLAIN.get(each, f"\\u{ord(each):04x}") for each in wrong), error.end


def print_table(table: Table) -> None:
    """Print a table; in full width if standard output is not a terminal, because nothing wraps lines there."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=max(console.width, 200))).print(table)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Show runs done, rounds per second, time left and the best learner on standard error, if that is a terminal."""
    with _runs_bar(quiet) as update:
        yield lambda progress: update(progress.done, progress.total, lambda: summary(progress))


@contextmanager
def plan_progress_bar() -> Iterator[Callable[[PlanProgress], None]]:
    """Show runs done, the experiment and the time left on standard error, if that is a terminal."""

    def words(progress: PlanProgress) -> str:
        left = progress.seconds_left
        return progress.current if left is None else f"{progress.current} · {clock(left)} left"

    with _runs_bar() as update:
        yield lambda progress: update(*progress.runs, lambda: words(progress))


@contextmanager
def _runs_bar(quiet: bool = False) -> Iterator[Callable[[int, int, Callable[[], str]], None]]:
    """A bar: call it with the number of runs done, the number of all runs, and a function that makes its label."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    words = TextColumn("{task.description}", markup=False)
    with watched_bar(TextColumn("runs"), BarColumn(), MofNCompleteColumn(), words, quiet=quiet) as bar:
        task = bar.add_task("starting", total=None)

        def update(done: int, total: int, describe: Callable[[], str]) -> None:
            if not bar.disable:
                bar.update(task, completed=done, total=total, description=describe())

        yield update


@contextmanager
def watched_bar(*columns: Any, quiet: bool = False) -> Iterator[Any]:
    """A progress bar on standard error, hidden if that is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal or bool(os.environ.get("CI"))
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        yield bar


@contextmanager
def amount_bars(*, in_bytes: bool = False) -> Iterator[Callable[[str], Callable[[int, int | None], None]]]:
    """Show bars by name on standard error, if it is a terminal: how much is done, how much there is, the time left."""
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    words = TextColumn("{task.description}", markup=False)
    amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
    with watched_bar(words, BarColumn(), amount, TimeRemainingColumn()) as bar:

        def begun(name: str) -> Callable[[int, int | None], None]:
            task = bar.add_task(name, total=None)
            return lambda done, total: bar.update(task, completed=done, total=total)

        yield begun


def summary(progress: Progress) -> str:
    """The speed, the time left, the best learner and the failures, in a few words."""
    words = [f"{progress.rounds_per_second:,.0f} rounds/s"]
    if progress.seconds_left is not None:
        words.append(f"{clock(progress.seconds_left)} left")
    if progress.best is not None:
        words.append(f"best: {progress.best[0]} ({progress.best[1]:.4g})")
    if progress.failed:
        words.append(f"{progress.failed} failed")
    return " · ".join(words)


def clock(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> clock(3725.2)
    '1:02:05'
    """
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{whole:02d}"
