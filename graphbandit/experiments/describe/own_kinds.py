"""Learners, environments and function classes of one's own, named by where they are: "my_module:MyLearner".

An experiment file names code of its author, and running it imports that code: from the folder of the file, the current
folder, or wherever Python finds the module. Nothing else imports code by a name: neither results nor saved bandits.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from graphbandit.errors import SettingError

Made = TypeVar("Made", bound=Callable[..., Any])
Entry = TypeVar("Entry")

_registered: dict[str, str] = {}


class Kinds(dict[str, Entry]):
    """What the package has by name, and what people have by address. Going through it names the package's own alone."""

    def __init__(self, known: Mapping[str, Entry], own: Callable[[str], Entry]) -> None:
        super().__init__(known)
        self._own = functools.cache(own)

    def __missing__(self, name: str) -> Entry:
        if not is_address(name):
            raise KeyError(name)
        return self._own(name)


def is_address(name: object) -> bool:
    """Whether this names code by its module.

    >>> is_address("my_module:MyLearner"), is_address("AdaCBG")
    (True, False)
    """
    return isinstance(name, str) and ":" in name


def register(made: Made, name: str | None = None) -> Made:
    """Let experiments call a learner, environment or function class of one's own by a short name; also a decorator.

    The name is another spelling of its address and known in this process: files of results hold the address.

    - `made`: the class, or a function that makes one; at the top of a module.
    - `name`: the short name; None (default): its own.
    """
    short = getattr(made, "__name__", None) if name is None else name
    if not isinstance(short, str) or not short or ":" in short:
        raise SettingError(f"name is {short!r}; expected text without a colon")
    where = address(made)
    if _registered.setdefault(short, where) != where:
        raise SettingError(f"name is {short!r}, which is registered for {_registered[short]}; expected another one")
    return made


def spelt_out(name: Any) -> Any:
    """The address of what was registered under this name, or of the class or function itself; else what was given."""
    if isinstance(name, str):
        return _registered.get(name, name)
    return address(name) if callable(name) else name


def address(made: Callable[..., Any]) -> str:
    """Where a class or function is, as "module:Name".

    >>> address(SettingError)
    'graphbandit.errors:SettingError'
    """
    module, name = getattr(made, "__module__", None), getattr(made, "__qualname__", "<none>")
    if not module or "<" in name:
        raise SettingError(f"{made!r} is inside a function; expected a class or function at the top of a module")
    return f"{module}:{name}"


def found_at(where: str) -> Callable[..., Any]:
    """The class or function at an address; its module is imported."""
    module, _, path = where.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:  # whatever somebody else's module may raise
        raise SettingError(
            f"{where!r} cannot be imported: {type(error).__name__}: {error}; expected MODULE:NAME of a module that "
            "Python finds (worker processes too: a notebook's own classes need the engine InProcess())"
        ) from error
    if not callable(found):
        raise SettingError(f"{where!r} is {found!r}; expected a class, or a function that makes one")
    made: Callable[..., Any] = found
    return made


@functools.cache
def source_digest(where: str) -> str:
    """A digest of the source at an address: its module, and those of its base classes from outside the package."""
    found = found_at(where)
    modules = [one.__module__ for one in inspect.getmro(found)] if inspect.isclass(found) else [found.__module__]
    digest = hashlib.sha256()
    for name in dict.fromkeys(modules):
        if name.partition(".")[0] not in {"graphbandit", *sys.stdlib_module_names} or name == "__main__":
            digest.update(_source(sys.modules[name], found).encode())
    return digest.hexdigest()


def import_from(*folders: Path) -> None:
    """Let modules in these folders be imported, behind all others; worker processes inherit it."""
    for folder in map(str, folders):
        if folder not in sys.path:
            sys.path.append(folder)


def _source(module: Any, found: Any) -> str:
    """The text of a module; of a notebook, which is none, that of the class or function."""
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        pass
    try:
        parts = vars(found).values() if inspect.isclass(found) else [found]
        return "".join(inspect.getsource(part) for part in parts if inspect.isfunction(part))
    except (OSError, TypeError) as error:
        raise SettingError(
            f"{found!r} has no source that could be read, so nobody would notice that it changed; expected it in a file"
        ) from error
