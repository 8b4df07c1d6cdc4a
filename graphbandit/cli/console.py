"""What commands show: plain tables, and a progress bar for those who watch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphbandit.experiments.running.batch import Whole
    from graphbandit.experiments.running.runner import Progress


def plain_table(*columns: str, narrow: bool = False) -> Any:
    """A table without frames, its first column to the left."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0 if narrow else 1))
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    return table


def wide_console() -> Any:
    """Standard output; where it is not a terminal, wide enough for any table, as nothing there wraps."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 200))


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Runs done, rounds per second, time left and the best learner, on standard error; nothing where nobody watches."""
    with _bar(quiet) as update:
        yield lambda progress: update(progress.done, progress.total, lambda: summary(progress))


@contextmanager
def whole_progress_bar() -> Iterator[Callable[[Whole], None]]:
    """Runs done, the experiment and the time left, on standard error; nothing where nobody watches."""

    def words(whole: Whole) -> str:
        left = whole.seconds_left
        return whole.current if left is None else f"{whole.current} · {clock(left)} left"

    with _bar() as update:
        yield lambda whole: update(*whole.runs, lambda: words(whole))


@contextmanager
def _bar(quiet: bool = False) -> Iterator[Callable[[int, int, Callable[[], str]], None]]:
    """Takes how many runs are done and asked for, and what to ask for the words beside them."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal or bool(os.environ.get("CI"))
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("starting", total=None)

        def update(done: int, total: int, words: Callable[[], str]) -> None:
            if not hidden:
                bar.update(task, completed=done, total=total, description=words())

        yield update


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
