"""Print the tables: ``python -m benchmarks.evaluation efficiency --repeats 2000``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> None:
    """Run one of the studies."""
    from benchmarks.evaluation import coverage, efficiency, real_data

    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument("study", choices=["efficiency", "coverage", "data"])
    parser.add_argument("--repeats", type=int, default=None, help="default: 2,000 for efficiency, 200 for coverage")
    parser.add_argument("--out", type=Path, default=None, help="also write the table to this file")
    parser.add_argument("--data", type=Path, default=None, help="the folder of data sets, for the study data")
    chosen = parser.parse_args(arguments)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        print(f"\r{done} done", end="", file=sys.stderr, flush=True)

    if chosen.study == "efficiency":
        repeats = chosen.repeats or 2000
        text = efficiency.markdown(efficiency.all_graphs(repeats, step), repeats)
    elif chosen.study == "data":
        if chosen.data is None:
            parser.error("data needs --data FOLDER, with open_bandit_small and classification_small in it")
        text = real_data.markdown(chosen.data)
    else:
        found = coverage.all_cells(chosen.repeats or 200, step)
        text = coverage.markdown(found)
        if chosen.out is not None:
            chosen.out.with_suffix(".csv").write_text(coverage.as_csv(found), encoding="utf-8")
    print(file=sys.stderr)
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
