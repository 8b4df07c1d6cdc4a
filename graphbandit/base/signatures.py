"""Signatures as `help` shows them: types by their names alone, and a line for each argument if one line is too long."""

import inspect
import re
from collections.abc import Callable
from functools import cached_property
from types import FunctionType, MappingProxyType, NoneType, UnionType
from typing import Any, ForwardRef, TypeVar, Union, get_args, get_origin

WIDTH = 100
"""Longer signatures have a line for each argument; from Python 3.13 on, `help` breaks the lines itself."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Readable:
    """Makes the signatures of a class and of its subclasses readable: ``__signature__ = Readable()`` in the class.

    Public names are readable without it (`base.public_names`). It is for classes whose `__new__` would hide the
    settings, and for those whose objects people hold without looking up the class. The signatures are made when they
    are first asked for, so importing the class takes no longer.
    """

    def __get__(self, instance: object, kind: type) -> inspect.Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        init: Any = kind.__init__  # type: ignore[misc]  # of this class alone
        if not isinstance(getattr(init, "__signature__", None), _Signature):
            make_readable(kind)
        found = inspect.signature(init)  # a user's own class keeps its own
        return found.replace(parameters=[*found.parameters.values()][1:], return_annotation=found.empty)


def make_readable(thing: object) -> None:
    """Let `help` show the signatures of a function, or of a class and its methods, in readable form.

    Each signature is made when it is first asked for.
    """
    if isinstance(thing, FunctionType):
        readable(thing)
    for base in thing.__mro__ if isinstance(thing, type) else ():
        for value in vars(base).values() if base.__module__.startswith("graphbandit") else ():
            function = getattr(value, "__func__", value)
            if isinstance(function, FunctionType):
                readable(function)


def readable(function: Function) -> Function:
    """The function, whose signature `help` shows in readable form."""
    given = vars(function).get("__signature__")
    if not isinstance(given, _Signature):
        function.__signature__ = _Later(function, given)  # type: ignore[attr-defined]
    return function


class _Signature(inspect.Signature):
    def __str__(self) -> str:
        line = super().__str__()
        if len(line) <= WIDTH:
            return line
        arguments = [*self.parameters.values()]
        by_name = [one.kind is one.KEYWORD_ONLY for one in arguments]
        by_place = sum(one.kind is one.POSITIONAL_ONLY for one in arguments)
        lines = [str(one) for one in arguments]
        if True in by_name and all(one.kind is not one.VAR_POSITIONAL for one in arguments):
            lines.insert(by_name.index(True), "*")
        if by_place:
            lines.insert(by_place, "/")
        returned = "" if self.return_annotation is self.empty else f" -> {self.return_annotation!r}"
        return "".join(["(\n", *(f"    {one},\n" for one in lines), ")", returned])


class _Later(_Signature):
    """The readable signature of a function, made when its arguments are first asked for."""

    def __init__(self, function: Callable[..., Any], given: inspect.Signature | None) -> None:
        self._function = function
        self._given = given

    @cached_property
    def _made(self) -> _Signature:
        found = inspect.signature(_unmarked(self._function)) if self._given is None else self._given
        returned = found.empty if self._function.__name__ == "__init__" else _named(found.return_annotation)
        arguments = [one.replace(annotation=_named(one.annotation)) for one in found.parameters.values()]
        return _Signature(arguments, return_annotation=returned)

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        return self._made.parameters

    @property
    def return_annotation(self) -> Any:
        return self._made.return_annotation

    def replace(self, **changes: Any) -> _Signature:  # type: ignore[override]  # no longer made later
        return self._made.replace(**changes)

    def __reduce__(self) -> Any:
        return self._made.__reduce__()


def _unmarked(function: Any) -> FunctionType:
    """The same function without a `__signature__`, which would hide that of the code."""
    code, scope, name = function.__code__, function.__globals__, function.__name__
    plain = FunctionType(code, scope, name, function.__defaults__, function.__closure__)
    plain.__kwdefaults__, plain.__annotations__ = function.__kwdefaults__, function.__annotations__
    vars(plain).update({key: value for key, value in vars(function).items() if key != "__signature__"})
    return plain


class _Named:
    """A type in words."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


_PATHS = re.compile(r"Literal\[[^\]]*\]|\b[A-Za-z_]\w*\.(?=\w)|['\"~]")
"""Choices, and what a reader can do without: modules, quotes and the mark of a type variable."""


def _named(annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty or isinstance(annotation, _Named):
        return annotation
    text = _PATHS.sub(lambda found: found[0] if found[0].startswith("Literal") else "", _text(annotation))
    return _Named(re.sub(r"\[(\.\.\., )?Any(, Any)*\]", "", text).replace("ndarray, ", "").replace("[ ", "["))


def _text(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    if get_origin(annotation) in (Union, UnionType):
        return " | ".join(map(_text, get_args(annotation)))
    return "None" if annotation is NoneType else inspect.formatannotation(annotation)
