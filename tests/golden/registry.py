"""What a golden case is, and the digest of what it gives."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

CHUNK = 1024
"""Rounds that are held in memory at a time, unless told otherwise; no result may depend on it."""


@dataclass(frozen=True)
class Outcome:
    """What a case gives: arrays, of which a digest is kept, and a few numbers for readers."""

    arrays: Mapping[str, np.ndarray]
    numbers: Mapping[str, float] = field(default_factory=dict)

    def frozen(self) -> dict[str, Any]:
        """The digest of all arrays, the start of that of each, to see which differ, and the numbers."""
        whole = hashlib.sha256()
        fields = {}
        for name, array in self.arrays.items():
            one = array_digest(array)
            whole.update(f"{name} {one}\n".encode())
            fields[name] = one[:4]
        numbers = {name: float(f"{value:.8g}") for name, value in self.numbers.items()}
        return {"digest": whole.hexdigest(), "numbers": numbers, "fields": fields}


def array_digest(array: np.ndarray) -> str:
    """sha256 of type, shape and bytes; every nan is the same nan."""
    found = np.ascontiguousarray(array)
    if found.dtype.kind == "f":
        found = np.where(np.isnan(found), np.full((), np.nan, dtype=found.dtype), found)
    digest = hashlib.sha256(f"{found.dtype.str} {array.shape}\n".encode())
    digest.update(found.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Case:
    """`run(chunk)` gives the outcome. `slow`: left out of the tests unless all cases are asked for."""

    name: str
    run: Callable[[int], Outcome]
    slow: bool
    needs_data: bool

    def frozen(self, chunk: int = CHUNK) -> dict[str, Any]:
        """As golden.json has it. Warnings are not results."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.run(chunk).frozen()


CASES: dict[str, Case] = {}


def add(name: str, run: Callable[[int], Outcome], *, slow: bool = False, needs_data: bool = False) -> None:
    """Make a case known."""
    if name in CASES:
        raise ValueError(f"{name!r} is there twice")
    CASES[name] = Case(name=name, run=run, slow=slow, needs_data=needs_data)


def one_thread() -> AbstractContextManager[object]:
    """Run everything in one thread: no result depends on it, and small fits take far longer in several.

    Libraries are imported first, as only those that are loaded can be limited.
    """
    for library in ("sklearn.ensemble", "torch"):
        import_module(library)
    return threadpool_limits(limits=1)
