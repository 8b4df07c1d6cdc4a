"""Running the reproduction: all its experiments by the same workers, into one directory, resumed at any time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.packaged import packaged
from graphbandit.experiments.describe.registry import build_environment, build_learner
from graphbandit.experiments.running.batch import Whole, run_batch
from graphbandit.simulate import run_repeat
from graphbandit.studies.paper.findings import Findings, Study
from graphbandit.studies.paper.plans import Reproduction
from graphbandit.studies.paper.set_sizes import set_sizes

ALL_ARMS = 5
"""A learner with all arms in its linear programs takes about this many times as long: for the time left, no more."""

SET_SIZES = "set-sizes.parquet"


def reproduce(
    asked: Reproduction,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: Callable[[Whole], None] | None = None,
) -> Findings:
    """Run what is not finished yet in `workers` processes (None: one a core), which changes no result.

    The results of each experiment go to its own directory in ``out/runs``.
    """
    experiments = asked.experiments()
    found = run_batch(experiments, out=out, work=_work, workers=workers, progress=progress)
    studies = {name: Study(experiment=experiments[name], results=results) for name, results in found.items()}
    sizes = None
    if "directed" in experiments:
        sizes = set_sizes(experiments["directed"], packaged("ablation"))
        sizes.write(Path(out) / SET_SIZES)
    return Findings(asked=asked, studies=studies, set_sizes=sizes)


def compile_kernels() -> float:
    """Run every learner for a moment, so that what must be compiled is; the seconds it took."""
    start = time.perf_counter()
    experiment = packaged("parts")
    learners = [(p.name, build_learner(p.kind, p.settings)) for p in experiment.learner_points()]
    learners += [("FALCON", build_learner("Falcon", {}))]
    for graph in ("star", "clique_group", "random", "network"):
        environment = build_environment("paper", {"n_arms": 6, "graph": graph})
        run_repeat(learners, environment, rounds=64, repeat=0, seed=0)
    return time.perf_counter() - start


def _work(experiment: Experiment) -> float:
    """Rounds times arms of all runs; a learner whose programs have all arms in them counts as several."""
    arms = sum(int(point.settings["n_arms"]) for point in experiment.environment_points())
    usual = {"candidate_set": True, "baseline": "exploration-set", "radius_factor": 1.0}
    learners = sum(
        1 if all(point.settings.get(name, value) == value for name, value in usual.items()) else ALL_ARMS
        for point in experiment.learner_points()
    )
    return float(arms * learners * experiment.repeats * experiment.rounds)
