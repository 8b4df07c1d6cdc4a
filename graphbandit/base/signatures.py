"""Signatures as `help` shows them: types by their names alone, and a line for each argument if one line is too long."""

import inspect
import re
from collections.abc import Callable
from types import FunctionType, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

WIDTH = 100
"""Longer signatures have a line for each argument; from Python 3.13 on, `help` breaks the lines itself."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Readable:
    """Makes the signatures of a class and its methods readable: ``__signature__ = Readable()`` in the class.

    It does so when somebody first asks for that of the class, as `help` does, so that importing it takes no longer.
    """

    def __get__(self, instance: object, kind: type) -> inspect.Signature:
        init: Any = kind.__init__  # type: ignore[misc]  # of this class alone
        if not isinstance(getattr(init, "__signature__", None), _Signature):
            for base in kind.__mro__:
                for value in vars(base).values():
                    function = getattr(value, "__func__", value)
                    if isinstance(function, FunctionType) and function.__module__.startswith("graphbandit"):
                        readable(function)
            readable(init)
        found: inspect.Signature = init.__signature__
        return found.replace(parameters=[*found.parameters.values()][1:], return_annotation=found.empty)


def readable(function: Function) -> Function:
    """The function, whose signature `help` shows in readable form."""
    found = inspect.signature(function)
    given = [one.replace(annotation=_named(one.annotation)) for one in found.parameters.values()]
    function.__signature__ = _Signature(  # type: ignore[attr-defined]
        given, return_annotation=_named(found.return_annotation)
    )
    return function


class _Signature(inspect.Signature):
    def __str__(self) -> str:
        line = super().__str__()
        if len(line) <= WIDTH:
            return line
        arguments = [*self.parameters.values()]
        by_name = [one.kind is one.KEYWORD_ONLY for one in arguments]
        lines = [str(one) for one in arguments]
        if True in by_name and all(one.kind is not one.VAR_POSITIONAL for one in arguments):
            lines.insert(by_name.index(True), "*")
        returned = "" if self.return_annotation is self.empty else f" -> {self.return_annotation!r}"
        return "".join(["(\n", *(f"    {one},\n" for one in lines), ")", returned])


class _Named:
    """A type in words."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _named(annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty or isinstance(annotation, _Named):
        return annotation
    text = re.sub(r"\b[A-Za-z_]\w*\.(?=\w)", "", _text(annotation))  # without the modules
    return _Named(re.sub(r"\[(\.\.\., )?Any(, Any)*\]", "", text).replace("ndarray, ", "").replace("~", ""))


def _text(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if get_origin(annotation) in (Union, UnionType):
        return " | ".join(map(_text, get_args(annotation)))
    return "None" if annotation is NoneType else inspect.formatannotation(annotation)
