"""The process in which cases run: ``python -m tests.fuzz.worker SEED PART:FIRST:STOP ...``. It tells what it does.

A case that ends the process, or does not end, is found by whoever reads this: the last case that was begun.
"""

import contextlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

from tests.fuzz.driver import Case, part_named, run_case


def scratch() -> str | None:
    """A folder in memory, where there is one: saved files are flushed to disk, which takes long."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main(seed: int, wanted: list[str]) -> None:
    """Run these cases of these parts."""
    tell = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what is printed on the way goes where errors go
    warnings.simplefilter("ignore")
    for name, first, stop in (words.split(":") for words in wanted):
        part = part_named(name)
        for number in range(int(first), int(stop)):
            print(json.dumps({"begin": [name, number]}), file=tell, flush=True)
            began = time.perf_counter()
            empty = tempfile.TemporaryDirectory(prefix="graphbandit-fuzz-", dir=scratch(), ignore_cleanup_errors=True)
            with empty as folder, contextlib.chdir(folder):  # some calls write to names that they are handed
                case = Case(name, number, seed, Path(folder))
                run_case(part, case)
            said = {"end": number, "counts": case.counts, "defects": case.defects, "took": time.perf_counter() - began}
            print(json.dumps(said), file=tell, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
