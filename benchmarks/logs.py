"""Logs of many rows, in and out: ``python -m benchmarks.logs --rows 1000000 --folder FOLDER``.

Each step runs in a process of its own, so that its memory is its own: processor seconds, and the most memory it took
above what the process had before. A star of ten arms, five context numbers, 2.8 rewards a round.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import graphbandit as gb

ARMS, NUMBERS = 10, 5
STEPS = (
    "write our log",
    "read our log",
    "log to dsjson",
    "dsjson to log",
    "log to text",
    "text to log",
    "log to obp",
    "obp to log",
    "Bandit.learn",
    "Bandit with a log, decide and observe",
)
SINGLE = 100
"""Of the last step, which goes round by round, one row in so many."""


def made(rows: int) -> Any:
    """A log of uniform play."""
    rng = np.random.default_rng(0)
    graph = gb.graphs.star(ARMS, hub=0)
    actions = rng.integers(ARMS, size=rows)
    rewards = rng.random((rows, ARMS)).round(3)
    rewards[~gb.FeedbackGraphs.repeat(graph, rows).revealed(actions)] = np.nan
    return gb.evaluation.Log.from_arrays(
        contexts=rng.normal(size=(rows, NUMBERS)).round(4),
        graphs=graph,
        actions=actions,
        probabilities=np.full((rows, ARMS), 1 / ARMS),
        rewards=rewards,
    )


def step(name: str, rows: int, folder: Path) -> dict[str, Any]:
    """One step, measured."""
    from graphbandit.interop.convert import convert

    log = made(rows) if name == "write our log" else None
    begin, before = time.process_time(), memory()
    names = {"dsjson": "log.dsjson", "text": "log.txt", "obp": "log.npz"}
    size = None
    if log is not None:
        log.write(folder / "log")
        size = sum(path.stat().st_size for path in (folder / "log").rglob("*.parquet"))
    elif name == "read our log":
        gb.evaluation.Log.read(folder / "log").summary()
    elif name.startswith("log to"):
        file = folder / names[name.split()[-1]]
        convert(folder / "log", file)
        size = file.stat().st_size
    elif name.endswith("to log"):
        convert(folder / names[name.split()[0]], folder / f"log from {name.split()[0]}")
    elif name == "Bandit.learn":
        bandit().learn(folder / "log")
    else:
        rows //= SINGLE
        play(bandit(folder / "log of a bandit"), rows)
    return {
        "step": name,
        "rows": rows,
        "seconds": time.process_time() - begin,
        "megabytes": memory() - before,
        "file": size,
    }


def bandit(log: Path | None = None) -> gb.Bandit:
    """A bandit for these rounds."""
    functions = gb.LinearClass(n_arms=ARMS, dimension=NUMBERS, parameters="per-arm")
    problem = gb.Problem(n_arms=ARMS, function_class=functions, noise=0.5)
    return gb.Bandit(gb.AdaCBG(), problem, graph=gb.graphs.star(ARMS, hub=0), log=log)


def play(one: gb.Bandit, rounds: int) -> None:
    """Decide and observe, round by round."""
    contexts = np.random.default_rng(0).normal(size=(rounds, NUMBERS))
    for context in contexts:
        decision = one.decide(context)
        one.observe(decision, dict.fromkeys(decision.revealed.tolist(), 0.5))


def memory() -> float:
    """The most memory so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> None:
    """Measure all steps, or one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.logs", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=None, help="where the files go; a temporary folder by default")
    parser.add_argument("--step", choices=STEPS, default=None, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.step is not None:
        print(json.dumps(step(chosen.step, chosen.rows, chosen.folder)))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        print("| step | rounds | processor | memory, at most | file |\n| --- | --- | --- | --- | --- |")
        for name in STEPS:
            command = [sys.executable, "-m", "benchmarks.logs", "--rows", str(chosen.rows), "--folder", folder]
            ran = subprocess.run([*command, "--step", name], stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(ran.stdout.splitlines()[-1])
            size = "" if found["file"] is None else f"{found['file'] / 2**20:,.0f} MB"
            print(
                f"| {name} | {found['rows']:,} | {found['seconds']:.1f} s | {found['megabytes']:,.0f} MB | {size} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
