"""Calls that must be refused, and values that no numeric setting takes."""

import pytest

from graphbandit.errors import SettingError, SolverError

NAN, INF = float("nan"), float("inf")
ODD = {"NaN": NAN, "infinite": INF, "text": "1", "None": None, "list": [1.0], "huge": 10**400, "boolean": True}


def odd(name, make_it, but=(), **low):
    """Rows for a numeric setting: everything that is no number, and `low`, which is out of its range."""
    values = {**{key: value for key, value in ODD.items() if key not in but}, **low}
    return {
        f"{name}: {key}": (lambda v=v: make_it(**{name: v})(), SettingError, f"{name} is ") for key, v in values.items()
    }


def check_refused(call, error, message):
    """The call raises exactly this error, which says what was expected."""
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert message in str(caught.value)
    assert "expect" in str(caught.value) or error is SolverError
