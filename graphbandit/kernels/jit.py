"""How kernels are compiled: cached on disk, without the GIL, and announced the one time it takes a while."""

import sys
from functools import partial

import numba
from numba.core import event

kernel = partial(numba.njit, cache=True, nogil=True, error_model="numpy")
"""Decorator of every kernel. Strict IEEE arithmetic in the order written, so results never depend on the batch."""


class _Announcement(event.Listener):
    """Says on standard error, once a process, that kernels are being compiled; silent when the cache has them."""

    def __init__(self) -> None:
        self.done = False

    def on_start(self, event: event.Event) -> None:
        module = getattr(getattr(event.data["dispatcher"], "py_func", None), "__module__", "")
        if not self.done and module.startswith("graphbandit."):
            self.done = True
            print("graphbandit: compiling its kernels, once (about half a minute) ...", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
