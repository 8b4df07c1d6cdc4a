"""A small real experiment, and a folder of its results, for tests of everything that reads results."""

from pathlib import Path

from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Grid
from graphbandit.experiments.results.reading import Results
from graphbandit.experiments.running.engines import InProcess
from graphbandit.experiments.running.runner import run

SMALL = Experiment(
    name="small",
    rounds=64,
    repeats=3,
    seed=5,
    curve_points=12,
    environments={
        "star": Grid("paper", {"graph": "star", "n_arms": [6, 9], "reward_scale": 4.0}),
        "cliques": Grid("paper", {"graph": "clique_group", "n_cliques": 2, "n_arms": 6}),
    },
    learners={
        "ours": Grid("AdaCBG", {"eta": [0.5, 1.0]}),
        "FALCON": Grid("Falcon"),
        "uniform": Grid("Uniform"),
    },
)


def small_results(folder: Path) -> Results:
    """Run the small experiment in this process, into `folder`."""
    return run(SMALL, out=folder, engine=InProcess())


def content(directory: Path) -> dict[str, bytes]:
    """The files of results that must not depend on workers and kills."""
    return {name: (directory / name).read_bytes() for name in ("plan.parquet", "runs.parquet", "curves.parquet")}
