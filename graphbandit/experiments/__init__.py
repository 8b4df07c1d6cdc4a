"""Experiments: environments x learners x repeats, described once, run anywhere, resumed at any time.

The paper's own experiments are such descriptions too; `paper` runs them all and says which of its claims hold.
"""

from graphbandit.experiments.engines import Cluster, Engine, InProcess, Processes
from graphbandit.experiments.experiment import Experiment, Grid
from graphbandit.experiments.runner import Progress, run, run_all
from graphbandit.experiments.toml_reader import load

__all__ = [
    "Cluster",
    "Engine",
    "Experiment",
    "Grid",
    "InProcess",
    "Processes",
    "Progress",
    "Reproduction",
    "Results",
    "load",
    "plot_heatmap",
    "plot_paired",
    "plot_ranks",
    "plot_regret",
    "plot_regret_versus_time",
    "reproduce",
    "run",
    "run_all",
    "write_report",
]


_LATER = {
    "Reproduction": "paper.plans",
    "Results": "results",
    "plot_heatmap": "figures",
    "plot_paired": "figures",
    "plot_ranks": "figures",
    "plot_regret": "figures",
    "plot_regret_versus_time": "figures",
    "reproduce": "paper.reproduce",
    "write_report": "report",
}


def __getattr__(name: str) -> object:
    """Results and pictures are loaded when they are asked for: they need Arrow, which takes a while."""
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(f"graphbandit.experiments.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
