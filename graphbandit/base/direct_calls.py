"""Call a kernel in every round without Numba inspecting the types of its arguments each time."""

from collections.abc import Callable
from typing import Any


class DirectCall:
    """A kernel for callers that make sure their arguments have the same types in every call.

    Numba works out the types of all arguments at every call, which takes microseconds where named tuples are among
    them. The first call does so and compiles or loads the kernel; later ones go straight to its code.

    - `find`: returns the kernel; it is called at the first call, so that nothing is imported earlier.
    """

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find

    def call(self, *arguments: Any) -> Any:
        """Call the kernel and return its result."""
        kernel = self._find()
        found = kernel(*arguments)
        compiled = kernel.overloads.get(tuple(map(kernel.typeof_pyval, arguments)))
        if compiled is not None:
            self.call = compiled.entry_point  # type: ignore[method-assign]
        return found
