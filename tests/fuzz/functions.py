"""Every public function of the rooms that reach kernels, called with valid and with hostile arguments.

They are found by looking, methods and constructors too, so a new one is tried without being named here. A call may
answer or raise; it may not end the process, and no kernel may read or write beyond an array, which shows for sure with
``--bounds``.
"""

import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.errors import GraphBanditError
from tests.fuzz.bad_input import STRANGE
from tests.fuzz.damaged_files import _limit_memory
from tests.fuzz.driver import Case, Defect, Part, TooLong, time_limit
from tests.fuzz.recipes import World, arguments, instance

CALLS = 6

LEFT_OUT = {
    "base": "below kernels",
    "kernels": "trust what they are given; the functions here check it",
    "plots": "pictures",
    "logs": "tables and files",
    "interop": "tables and files",
    "evaluation": "tables and files",
    "experiments": "see experiment_files",
    "studies": "made of experiments",
    "service": "another process",
    "cli": "see experiment_files",
}
"""Rooms that are not tried here, and why not. A new room is tried."""


def rooms() -> list[str]:
    """The rooms that are tried, by looking at the package's folder."""
    folder = Path(gb.__file__).parent
    found = [path.stem for path in sorted(folder.iterdir()) if path.suffix == ".py" or (path / "__init__.py").exists()]
    return [name for name in found if not name.startswith("_") and name not in LEFT_OUT and name != "errors"]


def public(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of a room, and of modules that are public names of it."""
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", None) == module.__name__]
    for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
        one = getattr(module, name)
        if inspect.ismodule(one):
            yield from public(one)
        elif inspect.isclass(one) or inspect.isfunction(one):
            yield name, one


@cache
def found() -> dict[str, tuple[type | None, Any]]:
    """All that is called: name, the class whose instance it needs, and the function."""
    every: dict[str, tuple[type | None, Any]] = {}
    for room in rooms():
        for name, one in public(importlib.import_module(f"graphbandit.{room}")):
            if inspect.isfunction(one):
                every[name] = None, one
            elif not issubclass(one, BaseException):
                every.update(_of_class(name, one))
    return dict(sorted(every.items()))


def _of_class(name: str, kind: type) -> Iterator[tuple[str, tuple[type | None, Any]]]:
    if not inspect.isabstract(kind):
        yield name, (None, kind)
    for attribute in dir(kind):
        static = inspect.getattr_static(kind, attribute)
        if attribute.startswith("_"):
            continue
        if isinstance(static, staticmethod | classmethod):
            yield f"{name}.{attribute}", (None, getattr(kind, attribute))
        elif inspect.isfunction(static) and not inspect.isabstract(kind):
            yield f"{name}.{attribute}", (kind, static)


def hostile(value: Any, rng: np.random.Generator, n_arms: int) -> Any:
    """Something in the place of a value: like it and wrong, or nothing like it."""
    if isinstance(value, np.ndarray) and rng.random() < 0.8:
        return hostile_array(value, rng, n_arms)
    if isinstance(value, int | np.integer) and rng.random() < 0.8:
        return int(rng.choice([-1, 0, n_arms, n_arms + 1, -(10**9), 10**9, 2**31, 2**62]))
    if isinstance(value, float) and rng.random() < 0.8:
        return float(rng.choice([0.0, -1.0, np.nan, np.inf, -np.inf, 1e308, 1e-308, 1e18]))
    if isinstance(value, list | tuple) and value and rng.random() < 0.6:
        return [*value[1:], hostile(value[0], rng, n_arms)] if rng.random() < 0.7 else []
    if isinstance(value, gb.FeedbackGraph) and rng.random() < 0.7:
        return gb.graphs.complete(int(rng.choice([1, n_arms + 1, n_arms + 63, n_arms + 64])))
    if isinstance(value, gb.FeedbackGraphs) and rng.random() < 0.7:
        return gb.FeedbackGraphs.repeat(
            gb.graphs.complete(int(rng.choice([1, n_arms, n_arms + 64]))), int(rng.integers(0, 5))
        )
    return STRANGE[rng.integers(len(STRANGE))]


def hostile_array(value: np.ndarray, rng: np.random.Generator, n_arms: int) -> np.ndarray:
    """An array of other values, another shape, type or layout."""
    kind = rng.integers(9)
    if kind == 0 and value.size:
        made = value.copy()
        odd = [-1, n_arms, 10**9, -(10**9), 2**62] if made.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 1e300, 1e-300]
        with np.errstate(all="ignore"):
            made.flat[rng.integers(made.size)] = np.array(odd[rng.integers(len(odd))]).astype(made.dtype)
        return made
    if kind == 1:
        return value[:-1] if value.ndim else value[None]
    if kind == 2:
        return value[..., :-1] if value.ndim else value[None]
    if kind == 3:
        return value[None]
    if kind == 4:
        return np.zeros((0,) * max(value.ndim, 1), dtype=value.dtype)
    if kind == 5:
        return np.asfortranarray(value)[::-1] if value.ndim else value
    if kind == 6:
        kinds = ["f4", "i4", "i8", "?", "u1", "f2", "O"] if value.dtype.kind in "biuf" else ["O"]
        with np.errstate(all="ignore"):
            return value.astype(str(rng.choice(kinds)))
    if kind == 7:
        return np.concatenate([value] * 3) if value.ndim else value
    return np.broadcast_to(value, (2, *value.shape))


def called(function: Callable[..., Any], given: dict[str, Any], case: Case) -> None:
    """Call it; whatever it raises is counted by its kind."""
    try:
        with time_limit():
            result = function(**given)
            if inspect.isgenerator(result):
                next(result, None)
        case.count("calls answered")
    except GraphBanditError:
        case.count("calls refused with a typed error")
    except TooLong:
        case.count("calls that were ended because they took too long")
    except MemoryError:
        case.count("calls that asked for too much memory")
    except IndexError as error:
        if str(error) == "index is out of bounds":  # as compiled code says it
            raise Defect(f"a kernel went beyond an array, with {_short(given)}") from error
        case.count("calls refused by Python or NumPy")
    except SystemError as error:
        raise Defect(f"{error}, with {_short(given)}") from error
    except Exception:
        case.count("calls refused by Python or NumPy")


def _short(given: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}={value.dtype}{value.shape}" if isinstance(value, np.ndarray) else f"{name}={value!r}"[:120]
        for name, value in given.items()
    )


def run(case: Case) -> None:
    every, rng = found(), case.rng
    name = list(every)[case.number % len(every)]
    kind, function = every[name]
    case.told = name
    _limit_memory()
    owner = kind or (function if inspect.isclass(function) else getattr(function, "__self__", None))
    world = World(rng, owner if inspect.isclass(owner) else None)
    for number in range(CALLS):
        target = function
        if kind is not None:
            one = instance(kind, world)
            if one is None:
                case.count("methods without an instance this time")
                return
            target = getattr(one, name.rpartition(".")[2])
        given = arguments(target, world)
        if number >= 2 and given:
            for _ in range(int(rng.choice([1, 1, 2]))):
                chosen = list(given)[rng.integers(len(given))]
                given[chosen] = hostile(given[chosen], rng, world.n_arms)
        called(target, given, case)
    case.count("functions, methods and constructors")


PART = Part("public functions with valid and hostile arguments", 60, run)
