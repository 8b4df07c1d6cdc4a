"""Kernels that are called in every round, without Numba's look at the types of their arguments."""

from importlib import import_module
from typing import Any


class AtOnce:
    """A kernel for callers whose arguments are of one type each, which they have made sure of.

    Numba works out the types of all arguments at every call, which takes microseconds where named tuples are among
    them. The first call does so and compiles or loads the kernel; later ones go straight to its code.

    - `module`, `name`: where the kernel is, below `graphbandit.kernels`; it is imported with the first call.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def call(self, *arguments: Any) -> Any:
        """What the kernel returns."""
        from graphbandit.kernels.jit import entry

        kernel = getattr(import_module(f"graphbandit.kernels.{self._module}"), self._name)
        found = kernel(*arguments)
        self.call = entry(kernel)  # type: ignore[method-assign]
        return found
