"""Which experiments the reproduction of the paper consists of, and how large it makes them.

Each experiment is a file beside this one, complete in itself. ``presets.toml`` says what the presets change in them:
how many repeats, which values of a list, which numbers of rounds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.errors import SettingError
from graphbandit.experiments.describe.experiment import Experiment, Grid
from graphbandit.experiments.describe.packaged import packaged
from graphbandit.experiments.describe.registry import Value, expected

TITLES = {
    "ablation": "Three kinds of graph",
    "clique-table": "The clique-group table",
    "flixster": "A social network",
    "parts": "What each part does",
    "independence": "Regret against the independence number",
    "arms": "Regret against the number of arms",
    "horizon": "Regret against the number of rounds",
    "reward-scale": "Regret against the reward scale",
    "directed": "Directed graphs",
}
"""The experiments by name, in order, with a title for readers; the first three are the paper's own."""

PRESETS = ("quick", "full")

READINGS = {"literal": 1.0, "rescaled": 8.0}
"""What the rewards are divided by in each reading of the paper."""

FORMS = {"paper": "AdaCB.G, paper", "ours": "AdaCB.G, ours"}
"""The two forms of the algorithm, by the names of their learners."""

FORM_NAMES = {"paper": "paper's form", "ours": "our form"}
"""The same for readers."""

BASELINES = ("RegCB.G", "FALCON")

MAIN = (*FORMS.values(), *BASELINES)
"""The learners of every panel."""


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What to run: a preset's sizes, on `network` (a file of edges; None: the stand-in) in place of Flixster.

    `only` names the experiments, all if it is empty. `repeats` and `rounds`, if given, stand for the preset's.

    >>> [experiment.n_runs for experiment in Reproduction(only=("ablation",)).experiments().values()]
    [192]
    """

    preset: str = "quick"
    seed: int = 0
    network: Path | None = None
    only: tuple[str, ...] = ()
    repeats: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        setting_choice("preset", self.preset, PRESETS)
        setting_integer("seed", self.seed, at_least=0)
        for name in ("repeats", "rounds"):
            if getattr(self, name) is not None:
                setting_integer(name, getattr(self, name), at_least=1)
        for name in self.only:
            if name not in TITLES:
                raise SettingError(f"only is {name!r}; {expected(name, TITLES)}")
        if self.network is not None:
            if self.only and "flixster" not in self.only:
                raise SettingError(f"graph is {str(self.network)!r}; expected none without the experiment 'flixster'")
            if not self.network.is_file():
                raise SettingError(f"graph is {str(self.network)!r}; expected a file of edges, and there is none")

    @property
    def names(self) -> tuple[str, ...]:
        """The experiments to run, in order."""
        return tuple(name for name in TITLES if not self.only or name in self.only)

    def experiments(self) -> dict[str, Experiment]:
        """Every experiment to run by the name of its directory; one with several numbers of rounds is several."""
        planned: dict[str, Experiment] = {}
        for name in self.names:
            sizes = dict(_sizes(self.preset, name))
            rounds = sizes.pop("rounds", None) if self.rounds is None else self.rounds
            experiment = self._sized(packaged(name), sizes)
            if name == "flixster" and self.network is not None:
                experiment = _with_axes(experiment, {"file": str(self.network.resolve())}, add=True)
            if isinstance(rounds, list):
                planned |= {f"{name}-{n}": replace(experiment, rounds=n) for n in rounds}
            else:
                planned[name] = experiment if rounds is None else replace(experiment, rounds=rounds)
        return planned

    def _sized(self, experiment: Experiment, sizes: dict[str, Any]) -> Experiment:
        repeats = sizes.pop("repeats", experiment.repeats) if self.repeats is None else self.repeats
        sizes.pop("repeats", None)
        return replace(_with_axes(experiment, sizes), repeats=repeats, seed=self.seed)


def family(directory: str) -> str:
    """The experiment that a directory of results belongs to.

    >>> family("horizon-128"), family("reward-scale")
    ('horizon', 'reward-scale')
    """
    start, _, end = directory.rpartition("-")
    return start if end.isdigit() else directory


def _sizes(preset: str, name: str) -> Mapping[str, Any]:
    """What the preset says of one experiment, over what it says of all."""
    text = files("graphbandit.studies.paper").joinpath("presets.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text).get(preset, {})
    common = {key: value for key, value in told.items() if not isinstance(value, dict)}
    return {**common, **told.get(name, {})}


def _with_axes(experiment: Experiment, axes: Mapping[str, Value | list[Value]], *, add: bool = False) -> Experiment:
    """Other values for settings of the environments that have them, or, with `add`, for all environments."""
    environments = {
        name: Grid(grid.kind, {**grid.settings, **{key: axes[key] for key in axes if add or key in grid.settings}})
        for name, grid in experiment.environments.items()
    }
    return replace(experiment, environments=environments)
