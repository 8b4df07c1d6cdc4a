"""Where PyTorch computes, the processor or a GPU, and private random numbers there."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from graphbandit.errors import SettingError

if TYPE_CHECKING:
    import torch

DeviceName = Literal["cpu", "cuda", "auto"]

_one_at_a_time = threading.Lock()
"""PyTorch has one random generator for each device and process: one thread at a time uses it, and restores it."""


def device_of(name: DeviceName) -> "torch.device":
    """The device of this name; "auto" takes a GPU if there is one. SettingError if there is no such device."""
    import torch

    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        build = "" if torch.version.cuda else ", built without CUDA,"
        raise SettingError(
            f"device is 'cuda', but PyTorch {torch.__version__}{build} finds no GPU here; expected 'cpu', or 'auto', "
            "which takes a GPU only where there is one"
        )
    if name == "cpu" or not there:
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device())


@contextmanager
def private_randomness(seed: int, device: "torch.device | None" = None) -> Iterator[None]:
    """Seed PyTorch's generator, and the GPU's, for one thread at a time; restore their states afterwards."""
    import torch

    gpus = [device] if device is not None and device.type == "cuda" else []
    with _one_at_a_time, torch.random.fork_rng(devices=gpus):
        # not torch.manual_seed: it also seeds other GPUs, whose states are not restored
        torch.default_generator.manual_seed(seed)
        for gpu in gpus:
            with torch.cuda.device(gpu):
                torch.cuda.manual_seed(seed)
        yield
