"""How kernels are compiled: once per installation, kept on disk by the hash of their sources, and without the GIL.

Numba compiles a kernel together with all that it calls, and optimises their code again at every level: a chain of calls
costs the square of its length. So a function that only kernels call is `inner`: optimised only where it is
called. And `behind_pointer` breaks a chain: a kernel behind a pointer is compiled by itself, for one signature, and its
callers know only its address.
"""

import atexit
import gc
import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import cgutils, event, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target
from numba.core.typing.typeof import typeof_impl
from numba.extending import intrinsic
from numba.np import numpy_support

Function = TypeVar("Function", bound=Callable[..., Any])


def _import_array_functions() -> None:
    """Import Numba's array functions without the import of SciPy's linear algebra by which they check for SciPy.

    That import takes a third of the time of a first decision. SciPy is always there, and Numba imports it later where a
    kernel needs it.
    """
    from numba.np import linalg

    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look


_import_array_functions()


def _tell_plain_arrays() -> None:
    """Let Numba type a plain array without importing numpy.ma to ask whether it is masked.

    That import would take a twentieth of the time of a first decision. Numba types all other arrays as before.
    """
    tell = typeof_impl.dispatch(np.ndarray)

    def told(array: Any, context: Any) -> Any:
        if type(array) is not np.ndarray or array.dtype not in _PLAIN:
            return tell(array, context)
        layout, readonly = numpy_support.map_layout(array), not array.flags.writeable
        return types.Array(numpy_support.from_dtype(array.dtype), array.ndim, layout, readonly=readonly)

    typeof_impl.register(np.ndarray, told)


_PLAIN = {np.dtype(kind) for kind in (np.bool_, np.int32, np.int64, np.uint64, np.float64)}

_tell_plain_arrays()
cpu_target.target_context.refresh()  # as Numba does with the first kernel


def kernel(**options: Any) -> Callable[[Function], Function]:
    """Decorator of every kernel. Strict IEEE arithmetic in the order written, so results never depend on the batch."""

    def decorate(function: Function) -> Function:
        dispatcher = numba.njit(nogil=True, error_model="numpy", pipeline_class=_KernelCompiler, **options)(function)
        try:
            dispatcher._cache = _KernelCache(function)
        except (RuntimeError, OSError):  # no place on disk that can be written to
            _say_uncached()
        return cast(Function, dispatcher)

    return decorate


class _KernelCompiler(Compiler):
    """Numba's own compiler, but for how Python hands in arrays: a kernel that returns numbers alone borrows them.

    Python holds them during the call. Counting references to each takes longer than many a kernel with 20 arrays.
    """

    def __init__(self, typing: Any, target: Any, *arguments: Any) -> None:
        super().__init__(typing, target, *arguments)
        context = self.state.targetctx
        context.create_cpython_wrapper = partial(_wrap_for_python, context)


def _wrap_for_python(context: Any, library: Any, kernel: Any, *arguments: Any, **options: Any) -> None:
    if _is_number(kernel.restype):
        context = context.subtarget(enable_nrt=False)
        context.__dict__.pop("nrt", None)  # what the other context has kept
    type(context).create_cpython_wrapper(context, library, kernel, *arguments, **options)


def _is_number(kind: Any) -> bool:
    """Whether values of this type are numbers, tuples of numbers, or None."""
    if isinstance(kind, types.Tuple | types.UniTuple | types.NamedTuple | types.NamedUniTuple):
        return all(_is_number(part) for part in kind)
    return isinstance(kind, types.Number | types.Boolean | types.NoneType)


class _PartLibrary(JITCodeLibrary):
    """Code that is optimised and becomes machine code in the kernels that call it, and not before.

    Machine code of its own would be slow, and all kernels of this process would call it where they do not inline it.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    """Numba's own compiler, but for where it puts the code, and that there is nothing that Python could call."""

    def __init__(self, typing: Any, target: Any, library: Any, *arguments: Any) -> None:
        super().__init__(typing, target, library or _PartLibrary(target.codegen(), "part"), *arguments)
        self.state.targetctx.get_executable = lambda *_: object()  # by which Numba knows the function


def inner(**options: Any) -> Callable[[Function], Function]:
    """Decorator of kernels that only kernels call: Python cannot call them, and they are optimised in their callers."""
    alone: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler}

    def decorate(function: Function) -> Function:
        def refused(*_: Any, **__: Any) -> Any:
            raise TypeError(f"{function.__name__} is an inner kernel; expected a kernel to call it, not Python")

        dispatcher = numba.njit(nogil=True, error_model="numpy", **alone, **options)(function)
        # a call from Python would jump to code that is not there
        dispatcher._insert, dispatcher._compile_for_args = lambda *_, **__: None, refused
        return cast(Function, dispatcher)

    return decorate


def inlined() -> Callable[[Function], Function]:
    """Decorator of inner kernels that take less time than a call with many arrays, or than counting references to them.

    They become part of their callers and count no references, so they must not allocate or return arrays.
    """
    return inner(forceinline=True, _nrt=False)


def for_python(part: Function) -> Function:
    """An inner kernel as one that Python can call. It is compiled only if Python does."""
    return cast(Function, kernel()(cast(Any, part).py_func))


def behind_pointer(function: Any, signature: Any) -> tuple[Any, Callable[[], int]]:
    """Break a chain of kernels: how kernels call this one by its address, and how Python finds the address."""
    return caller(signature), cache(partial(pointer, function, signature))


def pointer(function: Any, signature: Any) -> int:
    """The address of a kernel, compiled for `signature`, to be called by a `caller` of that signature."""
    function.compile(tuple(signature.args))  # arguments alone, as callers do: a returned type makes another on disk
    compiled = function.get_compile_result(signature)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def caller(signature: Any) -> Any:
    """A function for kernels: it calls the kernel of this signature at an address, with a tuple of arguments."""
    arguments = types.Tuple(signature.args)

    def call(typing_context: Any, address: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            kind = context.call_conv.get_function_type(signature.return_type, signature.args)
            function = builder.inttoptr(values[0], kind.as_pointer())
            status, result = context.call_conv.call_function(
                builder, function, signature.return_type, signature.args, cgutils.unpack_tuple(builder, values[1])
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return signature.return_type(types.int64, arguments), generate

    return intrinsic(call)


@cache
def sources_hash() -> str:
    """The hash of all kernels' sources: a compiled kernel holds code of those it calls, in other files too."""
    folder = Path(__file__).parent
    sources = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        sources.update(source.relative_to(folder).as_posix().encode())
        sources.update(source.read_bytes())
    return sources.hexdigest()[:32]


class _KernelCache(FunctionCache):
    """Numba's cache, wherever it lies, in a folder named by the hash of the kernels' sources.

    Numba looks only at a kernel's own file to see whether what it has on disk is still good.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        place = Path(self._cache_path)
        _drop_stale_kernels(place)
        self._cache_path = str(place / sources_hash())
        os.makedirs(self._cache_path, exist_ok=True)
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, sources_hash())


@cache
def _drop_stale_kernels(place: Path) -> None:
    """Delete kernels compiled from other sources, where the folder is the package's own and no other version's."""
    if Path(__file__).parent not in place.parents:
        return
    with suppress(OSError):
        for other in place.iterdir():
            if other.suffix in (".nbi", ".nbc"):
                other.unlink(missing_ok=True)
            elif other.is_dir() and len(other.name) == len(sources_hash()) and other.name != sources_hash():
                shutil.rmtree(other, ignore_errors=True)


@cache
def _say_uncached() -> None:
    print(
        "graphbandit: compiled kernels cannot be kept, as neither the package's folder nor the user's cache can be "
        "written to; set NUMBA_CACHE_DIR to a folder that can",
        file=sys.stderr,
    )


class Compilations(event.Listener):
    """Counts and times the compilations of this process, and says so once per installation.

    Garbage is collected after each, not during it: Numba makes many objects and drops few, and looking through them
    takes a ninth of the time.
    """

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.count, self.seconds = 0, 0.0
        self._open: dict[int, tuple[int, float]] = {}
        self._collects = False

    def on_start(self, event: event.Event) -> None:
        """Begin, or go one level deeper."""
        module = getattr(getattr(event.data["dispatcher"], "py_func", None), "__module__", "")
        thread = threading.get_ident()
        depth, began = self._open.get(thread, (0, time.perf_counter()))
        if depth == 0 and not module.startswith("graphbandit."):
            return
        if not self._open:
            self._collects = gc.isenabled()
            gc.disable()
        self._open[thread] = depth + 1, began
        self.count += 1
        if module.startswith("graphbandit."):
            self.modules.add(module.removeprefix("graphbandit.").removeprefix("kernels."))
        if self.count == 1 and _first_of_installation():
            print("graphbandit: compiling kernels, once per installation ...", file=sys.stderr, flush=True)
            atexit.register(self._say_done)

    def on_end(self, event: event.Event) -> None:
        """Come back from one level."""
        thread = threading.get_ident()
        depth, began = self._open.pop(thread, (0, 0.0))
        if depth > 1:
            self._open[thread] = depth - 1, began
        elif depth == 1:
            self.seconds += time.perf_counter() - began
            if self._collects and not self._open:
                gc.enable()

    def summary(self) -> str:
        """How much was compiled, for which rooms, and how long it took."""
        rooms = sorted({name.partition(".")[0].replace("_", " ") for name in self.modules})
        return f"compiled {self.count} kernels ({', '.join(rooms)}) in {self.seconds:.1f} s"

    def _say_done(self) -> None:
        print(f"graphbandit: {self.summary()}; the next process has them from disk", file=sys.stderr)


def _first_of_installation() -> bool:
    """Whether no process has announced a compilation where kernels are kept; from now on, one has."""
    try:
        Path(_KernelCache(_first_of_installation).cache_path, "announced").touch(exist_ok=False)
    except FileExistsError:
        return False
    except (RuntimeError, OSError):
        return True
    return True


compilations = Compilations()
event.register("numba:compile", compilations)
