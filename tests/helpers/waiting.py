"""Waiting for what another process or thread does."""

import time
from collections.abc import Callable


def wait_until(true: Callable[[], object], message: str, seconds: float = 30.0) -> None:
    """Return as soon as `true()` holds; fail with the message where it does not come true in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, message
        time.sleep(0.05)
