"""Structured logs: one JSON object a line, on standard error."""

import json
import logging
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

logger = logging.getLogger("graphbandit.service")

_learning: ContextVar[tuple[str, Sequence[str]] | None] = ContextVar("learning", default=None)
"""The bandit that learns now, and the names of its arms."""


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "process": record.process,
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start(level: str = "info") -> None:
    """Write the service's logs, the server's, and Python's warnings to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name in ("graphbandit.service", "uvicorn.error"):
        found = logging.getLogger(name)
        found.handlers, found.propagate = [handler], False
        found.setLevel(level.upper() if name != "uvicorn.error" else "WARNING")
    warnings.showwarning = _warn


@contextmanager
def learning(bandit: str, arms: Sequence[str]) -> Iterator[None]:
    """Let warnings that come up inside name the bandit, and its arms by their names."""
    token = _learning.set((bandit, arms))
    try:
        yield
    finally:
        _learning.reset(token)


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Log a warning in place of printing it."""
    text, facts, place = str(message), {"category": category.__name__}, _learning.get()
    if place is not None:
        bandit, arms = place
        text = re.sub(r"\barm (\d+)\b", lambda m: f"arm {arms[int(m[1])]!r}" if int(m[1]) < len(arms) else m[0], text)
        facts["bandit"] = bandit
    say(text, level=logging.WARNING, **facts)


def say(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event with its facts."""
    logger.log(level, event, extra={"facts": facts})
