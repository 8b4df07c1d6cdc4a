"""How kernels are compiled: cached on disk, without the GIL, and announced the one time it takes a while."""

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(**options: Any) -> Callable[[Function], Function]:
    """Decorator of every kernel. Strict IEEE arithmetic in the order written, so results never depend on the batch."""

    def decorate(function: Function) -> Function:
        compiled = partial(numba.njit, nogil=True, error_model="numpy", **options)
        try:
            return cast(Function, compiled(cache=True)(function))
        except RuntimeError:  # no place on disk that can be written to
            _say_uncached()
            return cast(Function, compiled()(function))

    return decorate


@cache
def _say_uncached() -> None:
    print(
        "graphbandit: compiled kernels cannot be kept, as neither the package's folder nor the user's cache can be "
        "written to; set NUMBA_CACHE_DIR to a folder that can",
        file=sys.stderr,
    )


class _Announcement(event.Listener):
    """Says on standard error, once a process, that kernels are being compiled; silent when the cache has them."""

    def __init__(self) -> None:
        self.done = False

    def on_start(self, event: event.Event) -> None:
        module = getattr(getattr(event.data["dispatcher"], "py_func", None), "__module__", "")
        if not self.done and module.startswith("graphbandit."):
            self.done = True
            print("graphbandit: compiling its kernels, once (half a minute to a minute) ...", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


def _drop_stale_kernels() -> None:
    """Delete compiled kernels made from other sources.

    Numba compiles a kernel together with those it calls, in other files too, but looks only at the kernel's own file
    to see whether what it has on disk is still good.
    """
    folder = Path(__file__).parent
    sources = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        sources.update(source.read_bytes())
    stamp = folder / "__pycache__" / "kernels.sha256"
    with suppress(OSError):
        if not stamp.exists() or stamp.read_text() != sources.hexdigest():
            for compiled in folder.rglob("__pycache__/*.nb[ci]"):
                compiled.unlink(missing_ok=True)
            stamp.parent.mkdir(exist_ok=True)
            stamp.write_text(sources.hexdigest())


_drop_stale_kernels()
