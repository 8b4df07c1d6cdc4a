"""Freeze the results, or compare with the frozen ones.

    python -m tests.golden                      run all cases and write golden.json
    python -m tests.golden --check              run all cases and list what differs
    python -m tests.golden --check --only 'learners/AdaCBG*'
    python -m tests.golden --check --chunk 7    the same with other portions of rounds: nothing may differ
    python -m tests.golden --list               names and seconds, nothing compared

Set GRAPHBANDIT_DATA to the directory of data sets for the cases that need them; without it they are left alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import nullcontext

from graphbandit.environments.named_datasets import DIRECTORY_VARIABLE
from tests.golden.cases import CASES, Case
from tests.golden.frozen import differences, here, read, write
from tests.golden.registry import CHUNK, one_thread


def chosen(only: str | None) -> list[Case]:
    """The cases whose names match the pattern, or hold it; those that need data only if it is there."""
    from fnmatch import fnmatchcase

    data = bool(os.environ.get(DIRECTORY_VARIABLE))
    return [
        case
        for case in CASES.values()
        if (data or not case.needs_data) and (only is None or only in case.name or fnmatchcase(case.name, only))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with golden.json instead of writing it")
    parser.add_argument("--only", metavar="PATTERN", help="only cases whose names match or hold this")
    parser.add_argument("--chunk", type=int, default=CHUNK, help="rounds held in memory at a time")
    parser.add_argument("--threads", action="store_true", help="let libraries use as many threads as they like")
    parser.add_argument("--list", action="store_true", help="print each case and its processor seconds")
    options = parser.parse_args()
    cases = chosen(options.only)
    if not cases:
        parser.error(f"no case matches {options.only!r}")
    began, found, failed = time.process_time(), {}, 0
    for case in cases:
        start = time.process_time()
        try:
            with nullcontext() if options.threads else one_thread():
                found[case.name] = case.frozen(options.chunk)
        except Exception as error:
            failed += 1
            print(f"{case.name}\n    failed: {type(error).__name__}: {error}")
        if options.list:
            print(f"{time.process_time() - start:8.2f}  {case.name}", flush=True)
    seconds = time.process_time() - began
    if options.check:
        frozen = read()
        lines = differences(frozen.results, found)
        print("\n".join(lines), end="\n" if lines else "")
        if frozen.made_with != here():
            print(f"made with {frozen.made_with}\nhere is   {here()}")
        wrong = {line for line in lines if not line.startswith(" ")}
        print(f"{len(found)} cases in {seconds:.0f} s of processor time: {len(wrong)} differ, {failed} failed")
        return 1 if lines or failed else 0
    print(f"{len(found)} cases in {seconds:.0f} s of processor time, {failed} failed")
    if options.list or failed:
        return 1 if failed else 0
    before = read().results if options.only or len(found) < len(CASES) else {}
    write({name: {**before, **found}[name] for name in CASES if name in found or name in before})
    return 0


if __name__ == "__main__":
    sys.exit(main())
