"""Ensembles of together: the processor against a GPU, members trained in one batch against one by one.

    python -m benchmarks.accelerators [--quick] [--output FILE]

An MLP of three hidden layers of 256, 20 members, 100,000 observations of 20 features and 5 arms. Training is measured
by the optimisation step, one for every member: the time of many steps less that of few, over the difference, so that
what is done once does not count. The processor is given fewer steps than the GPU, as each takes longer. The contenders
take turns, and the least times count. A pass over all observations is as many steps as it has batches. Decisions
ask all members for their values. Where there is no GPU, its rows say so. Needs PyTorch, NumPy, SciPy and lazy_loader,
and compiles nothing.
"""

import argparse
import json
import math
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.run import processor
from benchmarks.texts import seconds
from benchmarks.timing import no_collection, timed
from graphbandit.function_classes.devices import DeviceName, device_of
from graphbandit.function_classes.trained_modules import TrainedModules
from graphbandit.function_classes.training import Examples, Training, train_alone, train_together

NO_GPU = "no GPU"
ARMS, DIMENSION = 5, 20
FEW = 5
"""Steps that are taken away from those measured, with all that is done once; after them, values are compared."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How large everything is."""

    observations: int = 100_000
    members: int = 20
    width: int = 256
    batch_sizes: tuple[int, ...] = (64, 1024)
    steps: tuple[int, int] = (20, 100)
    """on the processor, on the GPU"""
    contexts: tuple[int, ...] = (1, 1024)
    turns: int = 5


QUICK = Sizes(observations=2_000, members=3, width=16, batch_sizes=(64,), steps=(3, 3), contexts=(1, 300), turns=1)


def module_maker(width: int) -> Callable[[], nn.Module]:
    """Three hidden layers."""

    def make() -> nn.Module:
        layers: list[nn.Module] = []
        for inputs in (DIMENSION, width, width):
            layers += [nn.Linear(inputs, width), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(width, ARMS))

    return make


def examples_of(count: int) -> Examples:
    """Rewards that no linear function explains."""
    rng = np.random.default_rng(0)
    rows, arms = rng.standard_normal((count, DIMENSION)), rng.integers(ARMS, size=count)
    targets = np.tanh(rows[:, 0] * rows[:, 1] + arms * rows[:, 2]) + 0.3 * rng.standard_normal(count)
    return Examples(rows=rows, arms=arms, targets=targets, weights=np.ones(count))


def trained(
    sizes: Sizes, examples: Examples, device: torch.device, *, batched: bool, batch_size: int, steps: int
) -> list[nn.Module]:
    """All members after this many steps, each on observations drawn with replacement."""
    make = module_maker(sizes.width)
    settings = Training(passes=1, batch_size=batch_size, learning_rate=1e-3, weight_decay=0.0)
    drawn = np.random.default_rng(1).integers(len(examples.arms), size=(sizes.members, steps * batch_size))
    seeds = list(range(sizes.members))
    if batched:
        return train_together(make, examples, drawn, settings, seeds, device)
    return [train_alone(make, examples, drawn[i], settings, seeds[i], device) for i in seeds]


def contenders(sizes: Sizes, batch_size: int) -> list[dict[str, Any]]:
    """One row for each device and way of training; those of a GPU that is not there say so."""
    devices: tuple[DeviceName, DeviceName] = ("cpu", "cuda")
    return [
        {"device": name, "batched": batched, "batch_size": batch_size, "steps": steps}
        | ({"missing": NO_GPU} if name == "cuda" and not torch.cuda.is_available() else {})
        for name, steps in zip(devices, sizes.steps, strict=True)
        for batched in (False, True)
    ]


def measure(sizes: Sizes, progress: Callable[[str], None] = print) -> dict[str, Any]:
    """All rows, batch size by batch size."""
    examples = examples_of(sizes.observations)
    rows: list[dict[str, Any]] = []
    for batch_size in sizes.batch_sizes:
        found = contenders(sizes, batch_size)
        rows += found
        measured = [row for row in found if "missing" not in row]
        for row in measured:  # what comes first is slow, so it is not measured
            take_turn(dict(row, steps=1), sizes, examples)
        for turn in range(sizes.turns):
            for row in measured:
                progress(f"turn {turn + 1}: {row['device']}, {way(row)}, batches of {batch_size:,}")
                take_turn(row, sizes, examples)
        values = measured[0]["values"]
        for row in measured:
            # too few steps, as in a quick run, can be lost in the noise of what is done once
            step = row["seconds_a_step"] = max(row["many"] - row["few"], 1e-6) / row["steps"]
            row["seconds_a_pass"] = step * math.ceil(sizes.observations / batch_size)
            row["times_faster"] = measured[0]["seconds_a_step"] / step
            row["difference"] = float(np.abs(row.pop("values") - values).max())
    return {"machine": machine(), "sizes": vars(sizes), "rows": rows}


def take_turn(row: dict[str, Any], sizes: Sizes, examples: Examples) -> None:
    """Time training and decisions once more, and keep the lesser times."""
    device, batched, steps = device_of(row["device"]), row["batched"], row["steps"]

    def train(count: int) -> list[nn.Module]:
        return trained(sizes, examples, device, batched=batched, batch_size=row["batch_size"], steps=count)

    with no_collection():
        many, _ = timed(train, FEW + steps)
        few, modules = timed(train, FEW)
    row["many"], row["few"] = min(row.get("many", math.inf), many), min(row.get("few", math.inf), few)
    together, everyone = TrainedModules(modules, outputs=ARMS), tuple(range(sizes.members))
    row["values"] = together.values(everyone, contexts_of(256), device_of("cpu"))
    decisions = row.setdefault("decision_seconds", {})
    for count in sizes.contexts:
        spent = decision_seconds(together, contexts_of(count), device, batched=batched)
        decisions[str(count)] = min(decisions.get(str(count), math.inf), spent)


def contexts_of(count: int) -> np.ndarray:
    """New ones."""
    return np.random.default_rng(2).standard_normal((count, DIMENSION))


def decision_seconds(together: TrainedModules, rows: np.ndarray, device: torch.device, *, batched: bool) -> float:
    """The time in which all members are evaluated, once they are on the device."""
    everyone = tuple(range(len(together.modules)))
    groups = [everyone] if batched else [(i,) for i in everyone]

    def ask() -> None:
        for group in groups:
            together.values(group, rows, device)

    ask()
    with no_collection():
        return min(timed(ask)[0] for _ in range(3))


def way(row: dict[str, Any]) -> str:
    """How members are trained and evaluated."""
    return "one batch" if row["batched"] else "one by one"


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "pytorch": torch.__version__,
        "python": platform.python_version(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else NO_GPU,
    }


def table(results: dict[str, Any]) -> str:
    """The rows in Markdown."""
    counts = results["sizes"]["contexts"]
    head = ["device", "members", "batch size", "a step", "a pass", *(f"{n:,} contexts" for n in counts)]
    head += ["x", "differs by"]
    lines = [head, ["---"] * 2 + ["---:"] * (len(head) - 2)]
    for row in results["rows"]:
        start = [row["device"], way(row), f"{row['batch_size']:,}"]
        if "missing" in row:
            lines.append(start + [row["missing"]] * (len(head) - 3))
            continue
        times = [row["seconds_a_step"], row["seconds_a_pass"], *(row["decision_seconds"][str(n)] for n in counts)]
        end = [f"{row['times_faster']:.3g}", f"{row['difference']:.0e}"]
        lines.append(start + [seconds(time) for time in times] + end)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure, print the table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    chosen = parser.parse_args()
    results = measure(QUICK if chosen.quick else Sizes(), lambda line: print(line, flush=True))
    print(json.dumps(results["machine"]), table(results), sep="\n")
    if chosen.output is not None:
        chosen.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
