"""Logs of many rows, in and out: ``python -m benchmarks.logs``, a million rounds through every format.

``python -m benchmarks.logs --rows 10000000 --only ours`` writes, reads, copies and evaluates ten million rounds of our
own format. Each step runs in a process of its own, so that its memory is its own: processor seconds, and the most
memory it took above what the process had before. A star of ten arms, five context numbers, 2.8 rewards a round.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import graphbandit as gb
from benchmarks.child import memory

ARMS, NUMBERS = 10, 5
OURS = ("write a log", "read and check a log", "copy a log", "evaluate a log")
OTHERS = (
    "log to dsjson",
    "dsjson to log",
    "log to text",
    "text to log",
    "log to obp",
    "obp to log",
    "Bandit.learn",
    "Bandit with a log, decide and observe",
)
PARTS = {"ours": OURS, "others": (OURS[0], *OTHERS), "all": (*OURS, *OTHERS)}
PIECE = 1 << 16
"""Rounds that are made and written at a time."""
SINGLE = 100
"""The last step goes round by round, so it takes one row in this many."""


def write(folder: Path, rows: int) -> None:
    """A log of uniform play, made along the way."""
    rng = np.random.default_rng(0)
    graph = gb.graphs.star(ARMS, hub=0)
    with gb.evaluation.LogWriter(folder, n_arms=ARMS, context_shape=(NUMBERS,)) as writer:
        for start in range(0, rows, PIECE):
            n = min(PIECE, rows - start)
            actions = rng.integers(ARMS, size=n)
            ids = writer.append_decisions(
                contexts=rng.normal(size=(n, NUMBERS)).round(4),
                graphs=graph,
                actions=actions,
                probabilities=np.full((n, ARMS), 1 / ARMS),
            )
            places, arms = np.nonzero(gb.FeedbackGraphs.repeat(graph, n).revealed(actions))
            writer.append_rewards(decisions=ids[places], revealed_arms=arms, rewards=rng.random(len(arms)).round(3))


def evaluate(folder: Path) -> None:
    """Two policies and their difference, graph-DR with and without side observations, betting."""
    log = gb.evaluation.Log.read(folder)
    policies = {"first": np.eye(ARMS)[0], "uniform": "uniform"}
    table = gb.evaluation.evaluate(log, policies, reward_range=(0, 1))
    found = [table["uniform"], table["first"]]
    if not all(value.low <= 0.5 <= value.high for value in found):  # rewards are uniform in [0, 1]
        raise SystemExit(f"the values are {found}; expected intervals that hold 0.5")


def step(name: str, rows: int, folder: Path) -> dict[str, Any]:
    """One step, measured."""
    from graphbandit.interop.convert import convert

    begin, before = time.process_time(), memory()["peak"]
    names = {"dsjson": "log.dsjson", "text": "log.txt", "obp": "log.npz"}
    log, size = folder / "log", None
    if name == "write a log":
        write(log, rows)
        size = sum(path.stat().st_size for path in log.rglob("*.parquet"))
    elif name == "read and check a log":
        gb.evaluation.Log.read(log).summary()
    elif name == "copy a log":
        gb.evaluation.Log.read(log).write(folder / "copy")
    elif name == "evaluate a log":
        evaluate(log)
    elif name.startswith("log to"):
        file = folder / names[name.split()[-1]]
        convert(log, file)
        size = file.stat().st_size
    elif name.endswith("to log"):
        convert(folder / names[name.split()[0]], folder / f"log from {name.split()[0]}")
    elif name == "Bandit.learn":
        bandit().learn(log)
    else:
        rows //= SINGLE
        play(bandit(folder / "log of a bandit"), rows)
    return {
        "step": name,
        "rows": rows,
        "seconds": time.process_time() - begin,
        "megabytes": (memory()["peak"] - before) / 2**20,
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


def main(arguments: list[str] | None = None) -> None:
    """Measure all steps, or one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.logs", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=None, help="where the files go; a temporary folder by default")
    parser.add_argument("--only", choices=PARTS, default="all", help="ours: our own format; others: all others")
    parser.add_argument("--step", choices=PARTS["all"], default=None, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.step is not None:
        print(json.dumps(step(chosen.step, chosen.rows, chosen.folder)))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        print("| step | rounds | processor | memory, at most | file |\n| --- | --- | --- | --- | --- |")
        for name in PARTS[chosen.only]:
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
