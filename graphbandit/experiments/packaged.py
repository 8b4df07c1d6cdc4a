"""Experiments that come with the package: a file to start from, and the paper's own."""

from importlib.resources import as_file, files

from graphbandit.checks import setting_choice
from graphbandit.experiments.experiment import Experiment
from graphbandit.experiments.toml_reader import load

_FOLDER = files("graphbandit.experiments")

PACKAGED = {
    "starter": "starter.toml",
    "ablation": "paper/ablation.toml",
    "clique-table": "paper/clique_table.toml",
    "flixster": "paper/flixster.toml",
    "parts": "paper/parts.toml",
    "independence": "paper/independence.toml",
    "arms": "paper/arms.toml",
    "horizon": "paper/horizon.toml",
    "reward-scale": "paper/reward_scale.toml",
    "directed": "paper/directed.toml",
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
