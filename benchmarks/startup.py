"""Start-up: importing the package, and the first decision without and with compiled kernels on disk."""

import tempfile
from typing import Any

from benchmarks.scaling import fresh_process, in_child
from benchmarks.settings import Settings
from benchmarks.timing import Progress, ratio, summary

TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
OURS, THEIRS, USED = "graphbandit", "numpy, scipy", "what ten lines need"
IMPORTS = {
    OURS: "import graphbandit",
    THEIRS: "import numpy, scipy",
    USED: "from graphbandit import Bandit, FeedbackGraph, IDSG, LinearClass, Problem",
}
"""What is imported. The package loads its names when they are first asked for, so USED is what a program waits for."""
LEARNERS = ("AdaCB.G", "IDS.G", "greedy", "LinUCB")


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Rows of kind "import" and "first decision"."""
    samples: dict[str, list[float]] = {what: [] for what in IMPORTS}
    total = settings.startup_passes + 1
    for i in range(settings.startup_passes):
        progress("import", i, total)
        for what, seconds in samples.items():
            seconds.append(fresh_process(["-c", TIMED.format(IMPORTS[what])]))
    times = {what: summary(seconds) for what, seconds in samples.items()}
    ratios = {"of_numpy_scipy": ratio(times[OURS], times[THEIRS]), "used": ratio(times[USED], times[THEIRS])}
    rows: list[dict[str, Any]] = [{"kind": "import", "times": times, "ratios": ratios}]
    progress("first decision", settings.startup_passes, total)
    for learner in LEARNERS:
        with tempfile.TemporaryDirectory() as folder:
            if settings.startup_empty_cache:
                rows.append(first_decision(learner, "no kernels on disk", NUMBA_CACHE_DIR=folder))
                rows.append(first_decision(learner, "kernels on disk", NUMBA_CACHE_DIR=folder))
            else:
                in_child({"task": "first_decision", "learner": learner})
                rows.append(first_decision(learner, "kernels on disk"))
    return rows


def first_decision(learner: str, label: str, **environment: str) -> dict[str, Any]:
    """One row: the first three rounds of a process."""
    found = in_child({"task": "first_decision", "learner": learner}, **environment)
    return {"kind": "first decision", "learner": learner, "cache": label, **found}
