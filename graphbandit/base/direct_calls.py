"""Kernels for callers in Python: imported when they are first needed, and called without a look at their types."""

import os
import re
from functools import cache
from importlib import import_module
from typing import Any


@cache
def kernels_of(module: str) -> Any:
    """A module of kernels by its name, such as "planning.squarecb"; importing the package imports none of them."""
    return import_module(f"graphbandit.kernels.{module}")


_CHECKS = os.environ.get("GRAPHBANDIT_CHECK_SHAPES") == "1"


class DirectCall:
    """A kernel for callers that make sure their arguments have the same types in every call.

    Numba works out the types of all arguments at every call, which takes microseconds where named tuples are among
    them. The first call does so and compiles or loads the kernel; later ones go straight to its code. With
    GRAPHBANDIT_CHECK_SHAPES=1 every call is checked.

    - `module`: of kernels, as in `kernels_of`.
    - `name`: of the kernel.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._types = ""

    def call(self, *arguments: Any) -> Any:
        """Call the kernel and return its result."""
        kernel = getattr(kernels_of(self._module), self._name)
        types = tuple(map(kernel.typeof_pyval, arguments))
        if _CHECKS:
            named = re.sub(r", (True|False), aligned", ", aligned", str(types))  # read-only or not does not matter
            if self._types not in ("", named):
                raise TypeError(f"{self._name} was called with {named}; expected {self._types}, as in the first call")
            self._types = named
        found = kernel(*arguments)
        compiled = kernel.overloads.get(types)
        if compiled is not None and not _CHECKS:
            self.call = compiled.entry_point  # type: ignore[method-assign]
        return found
