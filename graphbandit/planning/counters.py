"""How often, in this process, a program took another way than the usual one."""

import threading
from collections import Counter

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def count(what: str) -> None:
    """Count one more."""
    with _lock:
        _counts[what] += 1


def fallback_count() -> int:
    """How many programs of this process the compiled simplex could not certify, so that HiGHS stood in."""
    return _counts["fallback"]


def scaling_count() -> int:
    """How many programs of this process asked for more than their weakly observable graph reveals."""
    return _counts["scaling"]


def uncertified_count() -> int:
    """How many answers of this process are feasible but not exact: no solver certified an optimum to 1e-9.

    `duality_gap` of such an answer says how far from the optimum it can be at most. Programs that are too large for an
    exact answer, where that is expected, are not counted.
    """
    return _counts["uncertified"]
