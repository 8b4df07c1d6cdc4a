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


def run_parts(seed: int, wanted: dict[str, tuple[int, int]]) -> dict[str, Outcome]:
    """Run these cases of each part in a process; where one ends it, start another one after that case."""
    outcomes = {name: Outcome() for name in wanted}
    left = dict(wanted)
    while left:
        stopped = _run_until_it_ends(seed, left, outcomes)
        if stopped is None:
            break
        name, number = stopped
        names = list(left)
        left = {other: left[other] for other in names[names.index(name) :]}
        left[name] = number + 1, left[name][1]
    return outcomes


def _run_until_it_ends(
    seed: int, wanted: dict[str, tuple[int, int]], outcomes: dict[str, Outcome]
) -> tuple[str, int] | None:
    """Run cases; the one that has ended the process, if one has."""
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
    arguments = [f"{name}:{first}:{stop}" for name, (first, stop) in wanted.items()]
    command = [sys.executable, "-m", "tests.fuzz.worker", str(seed), *arguments]
    with tempfile.TemporaryFile("w+") as errors:
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        said: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read, args=(worker, said), daemon=True).start()
        running: tuple[str, int] = next(iter(wanted)), next(iter(wanted.values()))[0]
        hung, at_work = False, True
        while True:
            try:
                line = said.get(timeout=part_named(running[0]).seconds)
            except queue.Empty:
                hung = True
                worker.kill()
                break
            if line is None:
                break
            message = json.loads(line)
            at_work = "begin" in message
            if at_work:
                running = message["begin"][0], message["begin"][1]
                continue
            outcome = outcomes[running[0]]
            outcome.cases += 1
            outcome.seconds += message["took"]
            outcome.counts.update(message["counts"])
            outcome.defects += [(message["end"], defect) for defect in message["defects"]]
        code = worker.wait()
        errors.seek(0)
        last = errors.read()[-2000:]
    if code == 0 and not at_work:
        return None
    what = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    told = "the case did not end in time" if hung else f"the process ended with {what}\n{last}"
    outcomes[running[0]].defects.append((running[1], told))
    outcomes[running[0]].cases += 1
    return running


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
    wanted = {
        name: (0, part_named(name).scaled(given.scale)) if given.case is None else (given.case, given.case + 1)
        for name in given.only or PARTS
    }
    outcomes = run_parts(given.seed, wanted)
    for name, outcome in outcomes.items():
        report(name, part_named(name), outcome, given.seed)
    defects = sum(len(outcome.defects) for outcome in outcomes.values())
    print(f"seed {given.seed}, scale {given.scale:g}: {defects} defects")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
