"""Lengths of time as people write them: 90, "90s", "30m", "12h", "7d"."""

import math

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(value: float | str) -> float:
    """The length in seconds; ValueError unless it is above 0.

    >>> seconds("30m"), seconds(90)
    (1800.0, 90.0)
    """
    text = str(value).strip()
    unit = UNITS.get(text[-1:])
    try:
        length = float(text) if unit is None else float(text[:-1]) * unit
    except ValueError:
        length = math.nan
    if not 0 < length < math.inf:
        raise ValueError(f'{value!r} is not a length of time; expected a number of seconds above 0, or "30m", "12h"')
    return length
