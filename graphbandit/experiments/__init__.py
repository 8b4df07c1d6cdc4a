"""Experiments: environments x learners x repeats, described once, run anywhere, resumed at any time.

The paper's own experiments are such descriptions too; `clique_table` lays one beside the printed figures.
"""

from graphbandit.experiments.clique_table import CliqueTable, CliqueTableResult, run_clique_table
from graphbandit.experiments.engines import Cluster, Engine, InProcess, Processes
from graphbandit.experiments.experiment import Experiment, Grid
from graphbandit.experiments.runner import Progress, run
from graphbandit.experiments.toml_reader import load

__all__ = [
    "CliqueTable",
    "CliqueTableResult",
    "Cluster",
    "Engine",
    "Experiment",
    "Grid",
    "InProcess",
    "Processes",
    "Progress",
    "Results",
    "load",
    "run",
    "run_clique_table",
]


def __getattr__(name: str) -> object:
    """`Results` is loaded when it is asked for: it needs Arrow, which takes a while."""
    if name == "Results":
        from graphbandit.experiments.results import Results

        return Results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
