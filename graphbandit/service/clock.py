"""The service's time: it never goes back, and a jump of the machine's clock does not move it."""

import time


class Clock:
    """Seconds since 1970: the machine's clock when this was made, plus the time that has passed since.

    `after` is the time of the log's last row: if the machine's clock is behind it, time goes on from there.
    """

    def __init__(self, after: float = 0.0) -> None:
        self._start = max(time.time(), after)
        self._began = time.monotonic()

    def now(self) -> float:
        """The time now."""
        return self._start + (time.monotonic() - self._began)
