"""The arguments that a class gives to the type variables of a generic base class."""

from typing import Any, get_args, get_origin


def arguments_of(cls: type, base: type) -> tuple[Any, ...]:
    """The arguments that `cls` gives to `base`, through any number of classes between them.

    A type variable without an argument stays as it is.

    >>> class Numbers(dict[str, int]): ...
    >>> class Few(Numbers): ...
    >>> arguments_of(Few, dict)
    (<class 'str'>, <class 'int'>)
    """
    for parent in cls.__dict__.get("__orig_bases__", cls.__bases__):
        made = get_origin(parent) or parent
        if made is base:
            return get_args(parent) or tuple(getattr(base, "__parameters__", ()))
        if isinstance(made, type) and issubclass(made, base):
            given = dict(zip(getattr(made, "__parameters__", ()), get_args(parent), strict=False))
            return tuple(given.get(kind, kind) for kind in arguments_of(made, base))
    return tuple(getattr(base, "__parameters__", ()))
