"""Trained modules as functions: kept on the processor, evaluated anywhere, with bits that no batch can change."""

import copy
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.function_classes.from_scratch import BLOCK, in_blocks
from graphbandit.function_classes.training import over_modules, precision_of, tensor

if TYPE_CHECKING:
    import torch
    from torch.overrides import TorchFunctionMode

ALIGNED = 16
"""Rows of a matrix product begin at multiples of this many numbers: a whole vector of the processor."""

ROLLS = (1, 37, 128)
"""By how many places rows are moved to see whether their values change."""


@cache
def _aligned_products() -> "type[TorchFunctionMode]":
    """Linear layers that sum in the same order for every row of a block.

    A processor reads a row of numbers a vector at a time, and in another order if it begins in the middle of one. So
    rows are filled up with zeros, which change no sum, to whole vectors.
    """
    from torch.nn import functional
    from torch.overrides import TorchFunctionMode

    class Aligned(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is functional.linear and len(args) >= 2 and (missing := -args[0].shape[-1] % ALIGNED):
                rows, weights, *bias = args
                args = (functional.pad(rows, (0, missing)), functional.pad(weights, (0, missing)), *bias)
            return function(*args, **(kwargs or {}))

    return Aligned


class TrainedModules:
    """Trained modules of one kind, from rows (n, d) to (n, outputs) or (n,).

    The modules stay on the processor. Each device gets copies when they are first needed, which are never pickled: so
    what was pickled beside a GPU can be loaded anywhere.
    """

    def __init__(self, modules: "Sequence[torch.nn.Module]", *, outputs: int) -> None:
        self.modules = tuple(modules)
        self._outputs = outputs
        self._placed: dict[tuple[tuple[int, ...], torch.device], Placed] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_placed": {}}

    def values(
        self,
        which: tuple[int, ...],
        rows: Float[np.ndarray, "n d"],
        device: "torch.device",
        *,
        most: int = BLOCK,
    ) -> Float[np.ndarray, "n which outputs"]:
        """The outputs of some of the modules, by number, computed side by side; rows in blocks as in `in_blocks`."""
        placed = self._placed.get((which, device))
        if placed is None:
            placed = Placed([self.modules[i] for i in which], rows.shape[1], device)
            self._placed[which, device] = placed
        size = (len(which), self._outputs)

        def evaluate(index: Int[np.ndarray, " block"]) -> Float[np.ndarray, "block which outputs"]:
            return placed(rows[index]).reshape(len(index), *size)

        if most > BLOCK:
            return in_blocks(len(rows), evaluate, size, most=most)
        return in_blocks(len(rows), evaluate, size, least=placed.block, most=placed.block)


class Placed:
    """Some modules on a device, and how many rows they are given at a time: `block`.

    That is BLOCK, if rows have the same values wherever in a block they stand: by themselves, or once matrix products
    are aligned. Else it is 1.
    """

    def __init__(self, modules: "Sequence[torch.nn.Module]", dimension: int, device: "torch.device") -> None:
        from torch.func import stack_module_state

        there = [module if device.type == "cpu" else copy.deepcopy(module).to(device) for module in modules]
        self._device, self._precision = device, precision_of(there[0])
        self._call: Callable[[torch.Tensor], torch.Tensor] = there[0]
        self._turn: AbstractContextManager[Any] = nullcontext()
        if len(there) > 1:
            state = stack_module_state(there)
            side = over_modules(copy.deepcopy(there[0]), of_each=False)
            self._call = lambda rows: side(*state, rows).transpose(0, 1)
            self._turn = threading.Lock()  # the copy holds the members' states while they are evaluated
        self.block, self._aligned = BLOCK, False
        if not self._ignores_places(dimension):
            self._aligned = True
            if not self._ignores_places(dimension):
                self.block, self._aligned = 1, False

    def __call__(self, rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n ..."]:
        """What the modules give, without a gradient."""
        import torch

        products = _aligned_products()() if self._aligned else nullcontext()
        with self._turn, torch.inference_mode(), products:
            output = self._call(tensor(rows, self._precision, self._device))
            found: Float[np.ndarray, "n ..."] = output.double().cpu().numpy()
        return found

    def _ignores_places(self, dimension: int) -> bool:
        """Whether rows have the same values, to the last bit, wherever in a block they stand."""
        rows = np.random.default_rng(0).standard_normal((BLOCK, dimension))
        values = self(rows)
        moved = (np.roll(self(np.roll(rows, roll, axis=0)), -roll, axis=0) for roll in ROLLS)
        return all(np.array_equal(values, again, equal_nan=True) for again in moved)


def evaluated(module: "torch.nn.Module", rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n ..."]:
    """What a module on the processor gives, without a gradient."""
    import torch

    with torch.inference_mode():
        output: Float[np.ndarray, "n ..."] = (
            module(tensor(rows, precision_of(module), torch.device("cpu"))).double().numpy()
        )
    return output
