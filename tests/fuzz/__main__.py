"""Runs parts of the trial, prints what was counted and every defect; the exit code is 1 if there is one."""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.fuzz.driver import PARTS, Part, part_named

SHOWN = 5
"""Defects of a part that are printed in full."""


@dataclass
class Outcome:
    """What a part has counted, and its defects, each with the number of its case."""

    counts: Counter[str] = field(default_factory=Counter)
    defects: list[tuple[int, str]] = field(default_factory=list)
    cases: int = 0
    seconds: float = 0.0


def run_part(name: str, part: Part, seed: int, first: int, stop: int) -> Outcome:
    """Run cases in a process; where one ends it, start another one after that case."""
    outcome, began = Outcome(), time.perf_counter()
    while first < stop:
        first = _run_until_it_ends(name, part, seed, first, stop, outcome)
    outcome.seconds = time.perf_counter() - began
    return outcome


def _run_until_it_ends(name: str, part: Part, seed: int, first: int, stop: int, outcome: Outcome) -> int:
    """Run cases from `first` on; the case to go on with."""
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
    arguments = [sys.executable, "-m", "tests.fuzz.worker", *map(str, (seed, name, first, stop))]
    with tempfile.TemporaryFile("w+") as errors:
        worker = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        said: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read, args=(worker, said), daemon=True).start()
        running, hung = first, False
        while True:
            try:
                line = said.get(timeout=part.seconds)
            except queue.Empty:
                hung = True
                worker.kill()
                break
            if line is None:
                break
            message = json.loads(line)
            if "begin" in message:
                running = message["begin"]
                continue
            running = message["end"] + 1
            outcome.cases += 1
            outcome.counts.update(message["counts"])
            outcome.defects += [(message["end"], defect) for defect in message["defects"]]
        code = worker.wait()
        errors.seek(0)
        last = errors.read()[-2000:]
    if hung:
        outcome.defects.append((running, f"the case did not end within {part.seconds:g} s"))
    elif code != 0:
        what = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        outcome.defects.append((running, f"the process ended with {what}\n{last}"))
    elif running < stop:
        outcome.defects.append((running, "the process ended early"))
    else:
        return stop
    outcome.cases += 1
    return running + 1


def _read(worker: "subprocess.Popen[str]", said: "queue.Queue[str | None]") -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        said.put(line)
    said.put(None)


def report(name: str, part: Part, outcome: Outcome, seed: int) -> None:
    """Print what a part has done."""
    print(f"{name}: {outcome.cases} cases, {len(outcome.defects)} defects, {outcome.seconds:.0f} s ({part.about})")
    for what, n in sorted(outcome.counts.items()):
        print(f"    {n:>9,}  {what}")
    for number, defect in outcome.defects[:SHOWN]:
        print(f"  DEFECT, again with: python -m tests.fuzz --seed {seed} --only {name} --case {number}")
        print("    " + defect.replace("\n", "\n    "))
    if len(outcome.defects) > SHOWN:
        others = sorted({number for number, _ in outcome.defects[SHOWN:]})
        print(f"  and {len(outcome.defects) - SHOWN} more, in the cases {others[:40]}")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="A hostile trial of the package.")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases")
    parser.add_argument("--scale", type=float, default=1.0, help="how many times as long as the part of make test")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part alone; may be given several times")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument(
        "--bounds",
        metavar="FOLDER",
        help="check every index in kernels too: they are compiled anew, into this folder, which takes minutes",
    )
    given = parser.parse_args(arguments)
    if given.bounds is not None:
        os.environ.update(NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=os.path.abspath(given.bounds))
    defects = 0
    for name in given.only or PARTS:
        part = part_named(name)
        first, stop = (0, part.scaled(given.scale)) if given.case is None else (given.case, given.case + 1)
        outcome = run_part(name, part, given.seed, first, stop)
        report(name, part, outcome, given.seed)
        defects += len(outcome.defects)
    print(f"seed {given.seed}, scale {given.scale:g}: {defects} defects")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
