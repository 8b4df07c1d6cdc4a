"""Values of frozen classes that are made in every round, without the checks of the constructor."""

from typing import Any, TypeVar

Value = TypeVar("Value")

_new, _set = object.__new__, object.__setattr__


tuple_of = tuple.__new__
"""`tuple_of(kind, fields)`: a named tuple of all its fields, in half the time its constructor takes."""


def trusted(kind: type[Value], fields: dict[str, Any]) -> Value:
    """A value of a frozen class with these fields, ten times as fast as by its constructor.

    `fields` must have every field: nothing is checked, and no default is filled in. The value keeps the dictionary.
    Keyword arguments would take longer than all the rest.
    """
    made = _new(kind)
    _set(made, "__dict__", fields)
    return made
