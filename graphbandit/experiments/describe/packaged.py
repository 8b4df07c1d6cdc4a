"""Experiments that come with the package: a file to start from, and the paper's own."""

from importlib.resources import as_file, files

from graphbandit.base.checks import setting_choice
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.toml_reader import load

_FOLDER = files("graphbandit")

PACKAGED = {
    "starter": "experiments/describe/starter.toml",
    "ablation": "studies/paper/ablation.toml",
    "clique-table": "studies/paper/clique_table.toml",
    "flixster": "studies/paper/flixster.toml",
    "parts": "studies/paper/parts.toml",
    "independence": "studies/paper/independence.toml",
    "arms": "studies/paper/arms.toml",
    "horizon": "studies/paper/horizon.toml",
    "reward-scale": "studies/paper/reward_scale.toml",
    "directed": "studies/paper/directed.toml",
}
"""Their names and files."""


def packaged_text(name: str) -> str:
    """The file, with its comments."""
    return _FOLDER.joinpath(_relative(name)).read_text(encoding="utf-8")


def packaged(name: str) -> Experiment:
    """One of `PACKAGED`.

    >>> packaged("clique-table").n_runs
    2400
    """
    return packaged_file(_relative(name))


def packaged_file(relative: str) -> Experiment:
    """The experiment of a file in the folder of this one."""
    with as_file(_FOLDER.joinpath(relative)) as path:
        return load(path)


def _relative(name: str) -> str:
    setting_choice("the name of an experiment", name, list(PACKAGED))
    return PACKAGED[name]
