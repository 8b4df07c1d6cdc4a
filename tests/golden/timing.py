"""Microseconds per decision, observation and simulated round of every learner, in two checkouts of the package.

    python -m tests.golden.timing --old PATH_OF_OLD_CHECKOUT
    python -m tests.golden.timing --old PATH --only AdaCBG --arms 50 --rounds 512 --repeats 9

Both checkouts are measured in one run, in turns, each in a process of its own; the table has medians of processor time
and the ratios new / old. "both" is a decision and its observation: what one learns in `decide` another may learn in
`observe`. The first measurement of each learner, which compiles, is not counted.

Learners whose epochs were longer in the first version are measured twice: as they are, and with those epochs
("as often"), where both checkouts learn equally often.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from tests.golden.learner_cases import PAPER, VARIANTS

WHAT = ("decide", "observe", "both", "simulate")
ROOT = Path(__file__).parents[2]

FIRST_GROWTH = {"AdaCBG": 2.0, "AdaCB": 2.0, "IDSG": 1.2}
"""The default `epoch_growth` of the first version, where it was another."""

Settings = tuple[str, dict[str, Any]]


def as_often(kind: str, settings: dict[str, Any]) -> Settings:
    """The learner with the epochs of the first version."""
    if "learner" in settings:
        return kind, {**settings, "learner": as_often(*settings["learner"])}
    if kind not in FIRST_GROWTH or settings.get("gamma") == "width" or PAPER.items() <= settings.items():
        return kind, settings
    return kind, {"epoch_growth": FIRST_GROWTH[kind], **settings}


class Checkout:
    """A process that measures the package of one checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("timing_child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root), "OMP_NUM_THREADS": "1"},
        )
        package = Path(self._answer()["package"])
        if not package.is_relative_to(self.root):
            raise SystemExit(f"{package} was imported; expected the package of {self.root}")

    def measure(self, learner: Settings, rounds: int, arms: int) -> dict[str, float]:
        """Microseconds, by what takes them."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"learner": learner, "rounds": rounds, "arms": arms}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"measuring {self.root} ended with an error, see above")
        found: dict[str, Any] = json.loads(line)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.timing", description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, required=True, help="a checkout to compare with")
    parser.add_argument("--new", type=Path, default=ROOT, help="by default this one")
    parser.add_argument("--only", default="", help="only learners whose names hold this")
    parser.add_argument("--rounds", type=int, default=256)
    parser.add_argument("--arms", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    names = [name for name in VARIANTS if options.only in name]
    if not names:
        parser.error(f"no learner has {options.only!r} in its name")
    sides = {"old": Checkout(options.old), "new": Checkout(options.new)}
    ratios: dict[str, dict[str, list[float]]] = {kind: {what: [] for what in WHAT} for kind in ("as it is", "as often")}
    print(f"{'microseconds: old, new, new / old':34}" + "".join(f"{what:>27}" for what in WHAT))
    for name in names:
        row = measured(sides, name, VARIANTS[name], options)
        equal = as_often(*VARIANTS[name])
        equal_row = row if equal == VARIANTS[name] else measured(sides, f"{name}, as often", equal, options)
        for what in WHAT:
            ratios["as it is"][what].append(row[what])
            ratios["as often"][what].append(equal_row[what])
    for kind, found in ratios.items():
        print(f"{'geometric mean, ' + kind:34}" + "".join(f"{_mean(found[what]):27.3f}" for what in WHAT))
    for side in sides.values():
        side.close()


def measured(sides: dict[str, Checkout], name: str, learner: Settings, options: argparse.Namespace) -> dict[str, float]:
    """Print a row of the table, and return its ratios."""
    found: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for repeat in range(options.repeats + 1):
        for side in sides if repeat % 2 else reversed(sides):
            answer = sides[side].measure(learner, options.rounds, options.arms)
            if repeat:
                found[side].append(answer)
    row, ratios = f"{name:34}", {}
    for what in WHAT:
        old, new = (median(answer[what] for answer in found[side]) for side in ("old", "new"))
        ratios[what] = new / old
        row += f"{old:10.1f}{new:10.1f}{new / old:7.2f}"
    print(row, flush=True)
    return ratios


def _mean(values: list[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


if __name__ == "__main__":
    main()
