"""What a file cannot hold and is handed in again when a bandit is loaded: callables, modules, transformers."""

import inspect
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphbandit.errors import SavedFileError, SettingError
from graphbandit.features import ArmFeatures, TransformerFeatures
from graphbandit.learners.loop import Loop


class HandedIn:
    """Puts what was given where the file has a description of it, and checks that it is the same.

    - `path`: of the file.
    - `given`: the values that the file cannot hold: `function_class`, `features` and `arm_features`, each None if none.
    """

    def __init__(self, path: str | os.PathLike[str], given: Mapping[str, Any]) -> None:
        self._path, self._given = path, given
        self._used: set[str] = set()

    def replace(self, description: dict[str, Any]) -> Any:
        """The value that the file describes."""
        if description.get("class") == "TransformerFeatures":
            return self._transformer(description)
        given = self._given["function_class"]
        if given is None:
            raise SavedFileError(
                f"{self._path} was saved with a function class that a file cannot hold, {description}; "
                "expected the same one again as load(path, function_class=...)"
            )
        found = given.__external__() if hasattr(given, "__external__") else given
        if found != description:
            raise SavedFileError(f"function_class is {found!r}; expected the one saved in {self._path}, {description}")
        self._used.add("function_class")
        return given

    def _transformer(self, description: dict[str, Any]) -> TransformerFeatures:
        """The given features that are as described."""
        told = description["transformer"]
        differs = []
        for name in ("features", "arm_features"):
            given = self._given[name]
            if given is None:
                continue
            try:
                made = TransformerFeatures.described(
                    given.encoder if isinstance(given, ArmFeatures) else given, description
                )
            except SettingError as error:
                differs.append(f"{name}: {error}")
                continue
            unlike = _unlike(made.__external__(), description)
            if unlike is None:
                self._used.add(name)
                return made
            differs.append(f"{name} has another {unlike}")
        if not differs:
            raise SavedFileError(
                f"{self._path} was saved with a transformer, which a file cannot hold, {told}; expected the same one "
                "again, fitted as it was, as load(path, features=...), or arm_features=... if it encodes arms"
            )
        raise SavedFileError(
            f"{'; '.join(differs)}; expected the transformer saved in {self._path}, {told}, as features=..., or "
            "arm_features=... if it encodes arms"
        )

    def check(self, loop: Loop) -> None:
        """Raise if a value was given that the file holds itself, and the two differ."""
        held = {
            "function_class": getattr(loop.learner, "function_class", None) or loop.problem.function_class,
            "features": loop.problem.features,
            "arm_features": loop.problem.arm_features,
        }
        for name, given in self._given.items():
            if given is not None and name not in self._used:
                unlike = _unlike_setting(given, held[name])
                if unlike is not None:
                    raise SavedFileError(
                        f"{name} {unlike} in {self._path}; expected load(path) alone, as the file has its {name}"
                    )


def _unlike(found: dict[str, Any], described: dict[str, Any]) -> str | None:
    """The first part in which two descriptions differ."""
    for name in ("transformer", "columns", "feature_names"):
        if found[name] != described[name]:
            return f"{name}, {found[name]}"
    one, other = found["fitted"], described.get("fitted", {})
    return next((path for path in sorted({*one, *other}) if one.get(path) != other.get(path)), None)


def _unlike_setting(given: Any, held: Any) -> str | None:
    """How these differ, such as "is a KernelClass, but it is a LinearClass"; None if they are alike."""
    if type(given) is not type(held):
        return f"is a {_kind(given)}, but it is a {_kind(held)}"
    for name in inspect.signature(type(held)).parameters:
        one, other = getattr(given, name, None), getattr(held, name, None)
        if not _same(one, other):
            return f"has {name} {one!r}, but it is {other!r}"
    return None


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _kind(value: Any) -> str:
    return value.__name__ + " itself" if isinstance(value, type) else type(value).__name__
