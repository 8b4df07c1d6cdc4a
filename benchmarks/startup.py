"""Start-up: importing the package, and the first decision without and with compiled kernels on disk."""

import tempfile
from typing import Any

from benchmarks.scaling import fresh_process, in_child
from benchmarks.settings import Settings
from benchmarks.timing import Progress, ratio, summary

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
OURS, THEIRS = "graphbandit", "numpy, scipy"
LEARNERS = ("AdaCB.G", "IDS.G", "greedy", "LinUCB")


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Rows of kind "import" and "first decision"."""
    samples: dict[str, list[float]] = {OURS: [], THEIRS: []}
    total = settings.startup_passes + 1
    for i in range(settings.startup_passes):
        progress("import", i, total)
        for modules, seconds in samples.items():
            seconds.append(fresh_process(["-c", IMPORT.format(modules)]))
    times = {modules: summary(seconds) for modules, seconds in samples.items()}
    rows: list[dict[str, Any]] = [
        {"kind": "import", "times": times, "ratios": {"of_numpy_scipy": ratio(times[OURS], times[THEIRS])}}
    ]
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
