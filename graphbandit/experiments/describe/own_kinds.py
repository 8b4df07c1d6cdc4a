"""Your own learners, environments and function classes, named by their address: "my_module:MyLearner".

An experiment file may name code of its author, and running the experiment imports that code: from the folder of the
file, from the current folder, or from wherever Python finds the module. Nothing else imports code by name: neither
results nor saved bandits do.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from graphbandit.errors import SettingError
from graphbandit.experiments.describe.own_code import sources_of

Made = TypeVar("Made", bound=Callable[..., Any])
Entry = TypeVar("Entry")

_registered: dict[str, str] = {}
_digested: dict[str, tuple[object, str]] = {}


class Kinds(dict[str, Entry]):
    """The package's kinds by name, and the user's own by address; iterating gives only the package's."""

    def __init__(self, known: Mapping[str, Entry], own: Callable[[str], Entry]) -> None:
        super().__init__(known)
        self._own = own

    def __missing__(self, name: str) -> Entry:
        if not is_address(name):
            raise KeyError(name)
        return self._own(name)


def is_address(name: object) -> bool:
    """Whether this is the address of code, as "module:Name".

    >>> is_address("my_module:MyLearner"), is_address("AdaCBG")
    (True, False)
    """
    return isinstance(name, str) and ":" in name


def register(made: Made, name: str | None = None) -> Made:
    """Give your own learner, environment or function class a short name for experiments; also a decorator.

    The name stands for the address and is known in this process only; files of results hold the address.

    - `made`: the class, or a function that makes one, at the top level of a module.
    - `name`: the short name; None (default): the name of the class or function.
    """
    short = getattr(made, "__name__", None) if name is None else name
    if not isinstance(short, str) or not short or ":" in short:
        raise SettingError(f"name is {short!r}; expected text without a colon")
    where = address(made)
    if _registered.setdefault(short, where) != where:
        raise SettingError(f"name is {short!r}, which is registered for {_registered[short]}; expected another one")
    return made


def spelt_out(name: Any) -> Any:
    """The address of a registered name, or of a class or function; anything else is returned as it is."""
    if isinstance(name, str):
        return _registered.get(name, name)
    return address(name) if callable(name) else name


def address(made: Callable[..., Any]) -> str:
    """The address of a class or function, as "module:Name".

    >>> address(SettingError)
    'graphbandit.errors:SettingError'
    """
    module, name = getattr(made, "__module__", None), getattr(made, "__qualname__", "<none>")
    if not module or "<" in name:
        raise SettingError(f"{made!r} is inside a function; expected a class or function at the top of a module")
    return f"{module}:{name}"


def found_at(where: str) -> Callable[..., Any]:
    """Import the module of an address, and return the class or function."""
    module, _, path = where.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:  # the user's module may raise anything
        raise SettingError(
            f"{where!r} cannot be imported: {type(error).__name__}: {error}; expected MODULE:NAME of a module that "
            "Python finds (worker processes too: a notebook's own classes need the engine InProcess())"
        ) from error
    if not callable(found):
        raise SettingError(f"{where!r} is {found!r}; expected a class, or a function that makes one")
    made: Callable[..., Any] = found
    return made


def source_digest(where: str) -> str:
    """A digest of the current source at an address, and of the modules that it builds on (`sources_of`).

    Raises SettingError if the source was edited after it was imported.
    """
    found, digest = found_at(where), hashlib.sha256()
    for name, text in sources_of(found):
        digest.update(f"{name}\0{text}\0".encode())
    now = digest.hexdigest()
    before = _digested.get(where)
    if before is not None and before[0] is found and before[1] != now:
        raise SettingError(
            f"the source of {where!r} has changed since it was imported; expected importlib.reload() of its module, "
            "or a new process"
        )
    _digested[where] = (found, now)
    return now


def import_from(*folders: Path) -> None:
    """Append these folders to the import path, which worker processes inherit."""
    for folder in map(str, folders):
        if folder not in sys.path:
            sys.path.append(folder)
