"""Counts, for this process, of programs that were not solved in the usual way."""

import threading
from collections import Counter

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def count(what: str) -> None:
    """Add one to the count of `what`."""
    with _lock:
        _counts[what] += 1


def fallback_count() -> int:
    """How many programs of this process went to HiGHS because the compiled simplex had no certified answer."""
    return _counts["fallback"]


def scaling_count() -> int:
    """How many programs of this process had their demands scaled down because their graph reveals too little."""
    return _counts["scaling"]


def uncertified_count() -> int:
    """How many answers of this process are feasible but not exact: no solver certified an optimum to 1e-9.

    The `duality_gap` of such an answer bounds its distance from the optimum. Programs that are too large for an exact
    answer are not counted.
    """
    return _counts["uncertified"]
