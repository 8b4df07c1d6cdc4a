"""Experiments: environments x learners x repeats, described once, run anywhere, resumed at any time.

`graphbandit.studies` has studies made of them: the paper's claims, the leaderboard, how much to explore.
"""

from graphbandit.base.public_names import listing, no_attribute
from graphbandit.experiments import figures
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Grid
from graphbandit.experiments.describe.own_kinds import register
from graphbandit.experiments.describe.toml_reader import load
from graphbandit.experiments.running.engines import Cluster, Engine, InProcess, Processes
from graphbandit.experiments.running.runner import Progress, run, run_all

__all__ = [
    "Cluster",
    "Engine",
    "Experiment",
    "Grid",
    "InProcess",
    "Processes",
    "Progress",
    "Results",
    "load",
    "register",
    "run",
    "run_all",
    "write_report",
    *figures.__all__,
]

__dir__ = listing(__all__)

_LATER = {
    "Results": "results.reading",
    "write_report": "report.experiment",
}


def __getattr__(name: str) -> object:
    """Load results and figures on first use: they need Arrow, which is slow to import."""
    if name in figures.__all__:
        return getattr(figures, name)
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(f"graphbandit.experiments.{_LATER[name]}"), name)
    raise no_attribute(__name__, name, __all__)
