"""The source of the user's own code: its module, those of its base classes, and the helper modules beside them."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from graphbandit.errors import SettingError

_OTHERS = frozenset({"graphbandit", *sys.stdlib_module_names}) - {"__main__"}


def sources_of(made: Any) -> list[tuple[str, str]]:
    """The name and the text of every module that a class or function is made of.

    These are its module and those of its base classes, except for this package and the standard library, and all
    modules that they import, directly or indirectly, from the same package or, without a package, from the same folder.
    Modules that are installed elsewhere are left out. In a notebook, the text is that of the cells that define it.
    """
    classes = inspect.getmro(made) if inspect.isclass(made) else (made,)
    found: dict[str, str] = {}
    for name in dict.fromkeys(one.__module__ for one in classes):
        if name.partition(".")[0] in _OTHERS:
            continue
        path = _file(getattr(sys.modules[name], "__file__", None))
        if path is None:
            found[name] = _cells([one for one in classes if one.__module__ == name])
        else:
            found |= _with_helpers(name, path)
    return sorted(found.items())


def _with_helpers(name: str, path: Path) -> dict[str, str]:
    """The texts of a module and of the helper modules that it imports."""
    package, folder = getattr(sys.modules[name], "__package__", None) or "", path.parent
    found: dict[str, str] = {}
    waiting = [(name, path, package)]
    while waiting:
        name, path, within = waiting.pop()
        found[name] = importlib.util.decode_source(path.read_bytes())
        try:
            imported = set(_imports(found[name], within))
        except SyntaxError as error:
            raise SettingError(f"{path} cannot be read: {error}; expected Python") from error
        for other in imported - found.keys():
            helper = _beside(other, folder, package.partition(".")[0])
            if helper is not None:
                waiting.append((other, *helper))
    return found


def _imports(text: str, package: str) -> Iterator[str]:
    """The names of all modules that this text may import, at the top level or in a function."""
    parts = package.split(".")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _beside(name: str, folder: Path, root: str) -> tuple[Path, str] | None:
    """The file and the package of a module if it is in the package `root`, or else in the folder; None otherwise."""
    top = name.partition(".")[0]
    if top in _OTHERS or (root and top != root):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a name in a module, or a module that does not exist
        return None
    path = None if spec is None else _file(spec.origin)
    if spec is None or path is None:
        return None
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    if not root and (installed or not path.is_relative_to(folder)):
        return None
    return path, spec.parent or ""


def _file(name: str | None) -> Path | None:
    return Path(name) if name is not None and name.endswith(".py") and Path(name).is_file() else None


def _cells(written: list[Any]) -> str:
    """The text of the notebook cells that define these classes and functions."""
    texts: dict[str, None] = {}
    for one in written:
        for name, part in vars(one).items() if inspect.isclass(one) else [("", one)]:
            function = getattr(part, "__func__", getattr(part, "fget", part))
            if not isinstance(function, FunctionType):
                texts[f"{name} = {part!r}\n" if isinstance(part, bool | int | float | str | tuple) else ""] = None
                continue
            cell = "".join(linecache.getlines(function.__code__.co_filename))
            if not cell and not (
                is_dataclass(one) and name.startswith("__")
            ):  # methods that dataclass adds have no source
                raise SettingError(
                    f"{one!r} has no source that could be read, so nobody would notice that it changed; "
                    "expected it in a file"
                )
            texts[cell] = None
    return "".join(texts)
