"""Training of PyTorch modules on squared errors: one alone, or several of one kind in one batched computation."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.array_types import PerRound, RoundIndices
from graphbandit.base.shapes import Float, Int
from graphbandit.function_classes.devices import private_randomness

if TYPE_CHECKING:
    import torch

Make = Callable[[], "torch.nn.Module"]


@dataclass(frozen=True, kw_only=True)
class Training:
    """How modules are trained: a number of passes over the data in random batches, with AdamW."""

    passes: int
    batch_size: int
    learning_rate: float
    weight_decay: float

    def optimizer(self, parameters: "Sequence[torch.Tensor]") -> "torch.optim.Optimizer":
        """AdamW, which treats every number alone: so one optimizer trains many modules as many would."""
        import torch

        # fused is one kernel a step instead of a dozen; on the processor it gains nothing
        fused = True if parameters[0].is_cuda else None
        return torch.optim.AdamW(parameters, lr=self.learning_rate, weight_decay=self.weight_decay, fused=fused)


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """What modules are trained on: rows and arms, targets, and how much each counts."""

    rows: Float[np.ndarray, "n d"]
    arms: RoundIndices
    targets: PerRound
    weights: PerRound

    def on(self, device: "torch.device", precision: "torch.dtype") -> "Tensors":
        """The same data as tensors on this device, in this precision."""
        import torch

        return Tensors(
            rows=tensor(self.rows, precision, device),
            arms=torch.tensor(self.arms, device=device),
            targets=tensor(self.targets, precision, device),
            weights=tensor(self.weights, precision, device),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Tensors:
    """Examples on a device."""

    rows: "torch.Tensor"
    arms: "torch.Tensor"
    targets: "torch.Tensor"
    weights: "torch.Tensor"

    def loss(self, output: "torch.Tensor", index: "torch.Tensor") -> "torch.Tensor":
        """The mean of w (f(x, a) - y)^2 over the examples of `index`; a sum of such means, one a row of `index`.

        `output` has f there: of every arm or, with a last axis of one or none, of the arm that the row is about.
        """
        if output.numel() == index.numel():
            values = output.reshape(index.shape)
        else:
            values = output.gather(-1, self.arms[index].unsqueeze(-1)).squeeze(-1)
        return (self.weights[index] * (values - self.targets[index]).square()).mean(dim=-1).sum()


def train_alone(
    make: Make, examples: Examples, index: RoundIndices, training: Training, seed: int, device: "torch.device"
) -> "torch.nn.Module":
    """A new module, trained on the examples of `index` on the device and handed back on the processor."""
    import torch

    with private_randomness(seed, device):
        module = make().to(device)
        tensors, chosen = examples.on(device, precision_of(module)), torch.from_numpy(index)
        optimizer = training.optimizer(list(module.parameters()))
        module.train()
        for _ in range(training.passes):
            # shuffled on the processor whatever the device: both see the same batches
            order = chosen[torch.randperm(len(chosen))].to(device)
            for batch in order.split(training.batch_size):  # type: ignore[no-untyped-call]
                optimizer.zero_grad()
                tensors.loss(module(tensors.rows[batch]), batch).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    return module.eval().to("cpu")


def train_together(
    make: Make,
    examples: Examples,
    indices: Int[np.ndarray, "modules n"],
    training: Training,
    seeds: Sequence[int],
    device: "torch.device",
) -> "list[torch.nn.Module]":
    """As many new modules as seeds, each trained on the examples of its own index, all in one computation.

    Each has the initial weights and batches that `train_alone` gives it, and so the same parameters to rounding;
    dropout draws other random numbers.
    """
    import torch
    from torch.func import stack_module_state

    modules, generators = [], []
    for seed in seeds:
        with private_randomness(seed):
            modules.append(make().train())
            generators.append(torch.Generator().set_state(torch.random.get_rng_state()))
    with private_randomness(seeds[0], device):
        parameters, buffers = stack_module_state([module.to(device) for module in modules])
        call = over_modules(modules[0], of_each=True)
        tensors, chosen = examples.on(device, precision_of(modules[0])), torch.from_numpy(indices)
        optimizer = training.optimizer(list(parameters.values()))
        for _ in range(training.passes):
            orders = [torch.randperm(chosen.shape[1], generator=generator) for generator in generators]
            order = chosen.gather(1, torch.stack(orders)).to(device)
            for batch in order.split(training.batch_size, dim=1):  # type: ignore[no-untyped-call]
                optimizer.zero_grad()
                output = call(parameters, buffers, tensors.rows[batch])
                tensors.loss(output, batch).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    for i, module in enumerate(modules):
        with torch.no_grad():
            for name, own in (*module.named_parameters(), *module.named_buffers()):
                own.copy_((parameters if name in parameters else buffers)[name][i])
        module.eval().to("cpu")
    return modules


def why_not_together(make: Make, dimension: int) -> str | None:
    """Why modules that `make` makes cannot be trained in one batch; None if they can, or cannot be trained at all.

    Two of them are run together, twice in training mode; then each must give what it gives alone.
    """
    import torch
    from torch.func import stack_module_state

    modules = []
    for seed in (0, 1):
        with private_randomness(seed):
            modules.append(make())
    with private_randomness(0):
        rows = torch.randn(4, dimension, dtype=precision_of(modules[0]))
        try:
            copy.deepcopy(modules[0]).train()(rows).sum().backward()
        except Exception:  # somebody else's code; the fit will fail in the same way, and say so
            return None
        try:
            state = stack_module_state(modules)
            for module in modules:
                module.train()
            for _ in range(2):
                output = over_modules(modules[0], of_each=True)(*state, torch.stack([rows, rows]))
                output.sum().backward()  # type: ignore[no-untyped-call]
            with torch.inference_mode():
                alone = torch.stack([module.eval()(rows) for module in modules])
                together = over_modules(modules[0], of_each=False)(*stack_module_state(modules), rows)
        except Exception as error:  # somebody else's code again
            return f"{type(error).__name__}: {str(error).strip()}"
    if not torch.allclose(alone, together, rtol=1e-3, atol=1e-5, equal_nan=True):
        return "they differ in more than their parameters and buffers"
    return None


def over_modules(module: "torch.nn.Module", *, of_each: bool) -> "Callable[..., torch.Tensor]":
    """(parameters, buffers, rows) -> outputs of many modules of this kind, whose states are stacked.

    With `of_each` every module has rows of its own, else all have the same.
    """
    from torch.func import functional_call, vmap

    def one(parameters: "dict[str, torch.Tensor]", buffers: "dict[str, torch.Tensor]", rows: "torch.Tensor") -> Any:
        return functional_call(module, (parameters, buffers), (rows,))

    return vmap(one, in_dims=(0, 0, 0 if of_each else None), randomness="different")


def tensor(array: Float[np.ndarray, "..."], precision: "torch.dtype", device: "torch.device") -> "torch.Tensor":
    """A copy of the array there, in this precision."""
    import torch

    return torch.tensor(array, dtype=precision, device=device)


def precision_of(module: "torch.nn.Module") -> "torch.dtype":
    """That of the module's parameters; PyTorch's own if there are none."""
    import torch

    return next((weights.dtype for weights in module.parameters()), torch.get_default_dtype())
