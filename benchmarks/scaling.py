"""Memory and time as the number of arms goes to a million, and as the number of rounds grows.

Each row is measured in a process of its own. Memory is what the process holds at its peak while it decides, graph and
functions included, and how much that is above what it held before the first decision.
"""

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.pages import ROOT
from benchmarks.settings import Settings
from benchmarks.timing import Progress, summary

EDGES_PER_ARM = 7
LEARNERS: dict[str, dict[str, Any]] = {
    "ours": {},
    "paper": {"radius": "paper", "coverage": "paper", "eta": 1.0},
    "all arms candidates": {"candidate_set": False, "coverage": "paper", "gamma": "natural", "eta": 1.0},
}


def in_child(task: dict[str, Any], **environment: str) -> dict[str, Any]:
    """What `benchmarks.child` measures in a fresh process."""
    found: dict[str, Any] = fresh_process(["-m", "benchmarks.child", json.dumps(task)], **environment)
    return found


def fresh_process(arguments: list[str], **environment: str) -> Any:
    """The JSON that a Python process prints, or the error that ended it. It keeps bytecode, as users' processes do."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**inherited, "PYTHONPATH": str(ROOT), **environment},
    )
    if found.returncode != 0:
        return {"error": (found.stderr.strip().splitlines() or [f"ended with {found.returncode}"])[-1]}
    return json.loads(found.stdout.splitlines()[-1])


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Rows of kind "arms" and "rounds"."""
    tasks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for n_arms in settings.scaling_arms:
        for name, learner in LEARNERS.items():
            task = {"task": "decisions", "n_arms": n_arms, "learner": learner, "count": settings.scaling_decisions}
            task["edges_per_arm"] = EDGES_PER_ARM
            tasks.append(({"kind": "arms", "n_arms": n_arms, "learner": name}, task))
    for rounds in settings.scaling_rounds:
        label = {"kind": "rounds", "rounds": rounds, "n_arms": 50, "learner": "paper"}
        tasks.append((label, {"task": "simulation", "rounds": rounds, "n_arms": 50}))
    rows = []
    for done, (label, task) in enumerate(tasks):
        progress(f"scaling {label.get('rounds', label['n_arms'])}", done, len(tasks))
        found = in_child(task)
        if "error" not in found:
            found["times"] = {"decide" if label["kind"] == "arms" else "simulate": summary(found.pop("seconds"))}
            found["growth_bytes"] = max(found["peak_bytes"] - found["bytes_before"], 0)
        rows.append({**label, **found})
    return rows
