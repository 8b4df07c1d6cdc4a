"""Structured logs: one JSON object a line, on standard error."""

import json
import logging
import sys
import time
from typing import Any

logger = logging.getLogger("graphbandit.service")


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
    """Write the service's logs, and the server's, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name in ("graphbandit.service", "uvicorn.error"):
        found = logging.getLogger(name)
        found.handlers, found.propagate = [handler], False
        found.setLevel(level.upper() if name != "uvicorn.error" else "WARNING")


def say(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event with its facts."""
    logger.log(level, event, extra={"facts": facts})
