"""The frozen results: golden.json, how it is read and written, and how results differ from it."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llvmlite import binding

FILE = Path(__file__).with_name("golden.json")

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "torch")


@dataclass(frozen=True)
class Frozen:
    """What golden.json holds: the machine and the libraries that it was made with, and the results by case."""

    made_with: dict[str, str]
    results: dict[str, dict[str, Any]]


def here() -> dict[str, str]:
    """What the last bits of a result depend on besides the code: machine and libraries."""
    return {
        "machine": f"{platform.machine()} {binding.get_host_cpu_name()}",
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in LIBRARIES},
    }


def read() -> Frozen:
    """Empty if there is no file yet."""
    if not FILE.exists():
        return Frozen({}, {})
    content = json.loads(FILE.read_text(encoding="utf-8"))
    layouts = content["layouts"]
    results = {
        name: {
            "digest": digest,
            "fields": dict(zip(layouts[layout], fields.split(), strict=True)),
            "numbers": numbers,
        }
        for name, (digest, layout, fields, numbers) in content["results"].items()
    }
    return Frozen(content["made with"], results)


def write(results: dict[str, dict[str, Any]]) -> None:
    """One line a case, so that a change is a change of lines: digest, names of the fields, theirs, and numbers.

    Names of fields are the same in many cases, so they are written once, as a layout.
    """
    layouts: dict[tuple[str, ...], int] = {}
    lines = []
    for name, result in results.items():
        layout = layouts.setdefault(tuple(result["fields"]), len(layouts))
        row = [result["digest"], layout, " ".join(result["fields"].values()), result["numbers"]]
        lines.append(f"  {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}")
    rows, kinds = ",\n".join(lines), ",\n".join(f"  {json.dumps(fields)}" for fields in layouts)
    made_with = json.dumps(here())
    FILE.write_text(
        f'{{\n "made with": {made_with},\n "layouts": [\n{kinds}\n ],\n "results": {{\n{rows}\n }}\n}}\n',
        encoding="utf-8",
    )


DISCRETE = ("action", "best", "candidates", "exploration_set", "epoch", "revealed", "open")
"""Fields that rounding does not touch, so that they are the same on every machine."""


def differences_elsewhere(frozen: dict[str, dict[str, Any]], found: dict[str, dict[str, Any]]) -> list[str]:
    """A line for each case that differs in what was decided, or in a number by more than rounding."""
    lines = []
    for name, now in found.items():
        before = frozen[name]
        wrong = [field for field in DISCRETE if before["fields"].get(field) != now["fields"].get(field)]
        for key, value in before["numbers"].items():
            number = now["numbers"].get(key)
            if number is None or not (_same(value, number) or math.isclose(value, number, rel_tol=1e-6)):
                wrong.append(f"{key}: {value} -> {number}")
        if wrong:
            lines.append(f"{name}: {', '.join(wrong)}")
    return lines


def differences(frozen: dict[str, dict[str, Any]], found: dict[str, dict[str, Any]]) -> list[str]:
    """A line for each case that is new or differs, and below it the fields and numbers that do."""
    lines = []
    for name, now in found.items():
        before = frozen.get(name)
        if before is None:
            lines.append(f"{name}: not in {FILE.name}")
            continue
        if before["digest"] == now["digest"]:
            continue
        lines.append(f"{name}: differs")
        fields = [
            field
            for field in dict.fromkeys([*before["fields"], *now["fields"]])
            if before["fields"].get(field) != now["fields"].get(field)
        ]
        lines.append(f"    fields: {', '.join(fields)}")
        lines += [
            f"    {key}: {before['numbers'].get(key)} -> {now['numbers'].get(key)}"
            for key in dict.fromkeys([*before["numbers"], *now["numbers"]])
            if not _same(before["numbers"].get(key), now["numbers"].get(key))
        ]
    return lines


def _same(one: float | None, other: float | None) -> bool:
    return one == other or (one != one and other != other)
