"""Values of frozen classes, made without their checks where they are made in every round."""

from typing import Any, TypeVar

Value = TypeVar("Value")

_new, _set = object.__new__, object.__setattr__


tuple_of = tuple.__new__
"""`tuple_of(kind, fields)`: a named tuple of all its fields, in half the time its constructor takes."""


def trusted(kind: type[Value], fields: dict[str, Any]) -> Value:
    """A value of a frozen class with these fields, all of them: neither checked nor filled in, ten times as fast.

    The dictionary is taken over. It is not made of keywords, which takes longer than all the rest.
    """
    made = _new(kind)
    _set(made, "__dict__", fields)
    return made
