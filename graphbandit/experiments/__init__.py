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
    "plot_heatmap",
    "plot_paired",
    "plot_ranks",
    "plot_regret",
    "plot_regret_versus_time",
    "run",
    "run_clique_table",
    "write_report",
]


_LATER = {
    "Results": "results",
    "plot_heatmap": "figures",
    "plot_paired": "figures",
    "plot_ranks": "figures",
    "plot_regret": "figures",
    "plot_regret_versus_time": "figures",
    "write_report": "report",
}


def __getattr__(name: str) -> object:
    """Results and pictures are loaded when they are asked for: they need Arrow, which takes a while."""
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(f"graphbandit.experiments.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
