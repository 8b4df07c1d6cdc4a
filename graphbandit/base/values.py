"""Values of frozen classes, made without their checks where they are made in every round."""

from typing import Any, TypeVar

Value = TypeVar("Value")


def trusted(kind: type[Value], /, **fields: Any) -> Value:
    """A value of a frozen class with these fields, all of them: neither checked nor filled in, ten times as fast."""
    made = object.__new__(kind)
    made.__dict__.update(fields)
    return made
