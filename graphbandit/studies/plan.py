"""A plan: which experiments of a study to run, and how large."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.base.similar_names import expected
from graphbandit.environments.named_datasets import DIRECTORY_VARIABLE
from graphbandit.errors import ExperimentError, GraphBanditError, SettingError
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Grid
from graphbandit.experiments.describe.kinds import FILE, Value
from graphbandit.studies.study import Study, study_named

Preset = Literal["quick", "full"]
PRESETS = ("quick", "full")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run of a study.

    - `study`: "paper", "leaderboard", "exploration" or "classes".
    - `preset`: a table of the study's ``presets.toml``. "quick" (default) takes a minute or two; "full" runs the
      experiments as in their files.
    - `only`: the names of the experiments to run; empty (default): all.
    - `repeats`: the largest number of repeats; None (default): that of the preset.
    - `rounds`: the number of rounds of each run; None (default): that of the preset.
    - `seed`: the same seed gives the same results; 0 by default.
    - `network`: a file of edges for the experiment that takes one; None (default): a generated network is used.
    - `learners`: your own learners, such as "my_module:MyLearner", which join the others wherever they can play; empty
      (default): none.

    >>> list(Plan(study="exploration", only=("still",)).experiments())
    ['still']
    >>> [experiment.n_runs for experiment in Plan(study="paper", only=("ablation",)).experiments().values()]
    [192]
    """

    study: str
    preset: Preset = "quick"
    only: tuple[str, ...] = ()
    repeats: int | None = None
    rounds: int | None = None
    seed: int = 0
    network: Path | None = None
    learners: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        study = self.described
        setting_choice("preset", self.preset, PRESETS)
        setting_integer("seed", self.seed, at_least=0)
        for name in ("repeats", "rounds"):
            if getattr(self, name) is not None:
                setting_integer(name, getattr(self, name), at_least=1)
        for name in self.only:
            if name not in study.experiments:
                raise SettingError(f"only is {name!r}; {expected(name, study.experiments)}")
        if len(set(self.own)) < len(self.learners):
            raise SettingError(f"learners is {self.learners!r}; expected different ones")
        if self.network is not None:
            if study.network not in self.names:
                raise SettingError(f"network is {str(self.network)!r}; expected none without the experiment 'flixster'")
            if not self.network.is_file():
                raise SettingError(f"network is {str(self.network)!r}; expected a file of edges, and there is none")

    @property
    def described(self) -> Study:
        """The study."""
        return study_named(self.study)

    @property
    def names(self) -> tuple[str, ...]:
        """The experiments to run, in order."""
        return tuple(name for name in self.described.experiments if not self.only or name in self.only)

    @property
    def own(self) -> dict[str, Grid]:
        """Your own learners, by name."""
        grids = [Grid(learner) for learner in self.learners]
        return {grid.kind.rpartition(":")[2]: grid for grid in grids}

    @property
    def command(self) -> str:
        """The command that runs this plan."""
        words = [f"graphbandit {self.described.command} --{self.preset}"]
        words += [f"--seed {self.seed}"] if self.seed or self.study == "paper" else []
        words += [f"--network {self.network}"] if self.network is not None else []
        words += [f"--only {name}" for name in self.only]
        words += [f"--learner {grid.kind}" for grid in self.own.values()]
        words += [
            f"--{name} {getattr(self, name)}" for name in ("repeats", "rounds") if getattr(self, name) is not None
        ]
        return " ".join(words)

    @property
    def remark(self) -> str:
        """What is left out or replaced, and why; empty if nothing is."""
        return " ".join(filter(None, [self._without_data(), *self._without_learners()]))

    def _without_learners(self) -> list[str]:
        """A sentence for each of your own learners and each experiment that it cannot play."""
        told = []
        for asked in self.names if self.learners else ():
            name = self.described.available(asked)
            if name is not None:
                _, cannot = _with_learners(self.described.experiment(name), self.own)
                told += [f"{who} cannot play {asked}: {why}." for who, why in cannot.items()]
        return told

    def _without_data(self) -> str:
        available = {name: self.described.available(name) for name in self.names}
        missing = [name for name, found in available.items() if found is None]
        if missing:
            return f"{DIRECTORY_VARIABLE} names no folder of data sets; not run: {', '.join(missing)}."
        if any(found != name for name, found in available.items()):
            return f"{DIRECTORY_VARIABLE} names no folder of data sets: scikit-learn's small ones stand in for them."
        return ""

    def experiments(self) -> dict[str, Experiment]:
        """Every experiment to run, by the name of its folder; each number of rounds has a folder of its own."""
        planned: dict[str, Experiment] = {}
        excuses: dict[str, str] = {}
        for asked in self.names:
            name = self.described.available(asked)
            if name is None:
                continue
            experiment, sizes = self.described.experiment(name), self.described.sizes(self.preset, asked)
            repeats = sizes.pop("repeats", experiment.repeats)
            repeats = repeats if self.repeats is None else self.repeats
            rounds = sizes.pop("rounds", experiment.rounds)
            rounds = rounds if self.rounds is None else self.rounds
            environments = _with_settings(experiment.environments, sizes)
            if asked == self.described.network and self.network is not None:
                environments = _with_settings(environments, {FILE: str(self.network.resolve())}, add=True)
            repeats = min(repeats, experiment.repeats)
            lengths = {f"{name}-{n}": n for n in rounds} if isinstance(rounds, list) else {name: rounds}
            for folder, n in lengths.items():
                # all at once, because every replacement builds and checks all environments and learners again
                made = replace(experiment, environments=environments, repeats=repeats, seed=self.seed, rounds=n)
                planned[folder], cannot = _with_learners(made, self.own)
                excuses |= cannot
        for who, why in excuses.items():
            if not any(who in experiment.learners for experiment in planned.values()):
                raise SettingError(f"learner is {who!r}, which can play none of {', '.join(planned)}: {why}")
        return planned


def _with_learners(experiment: Experiment, learners: Mapping[str, Grid]) -> tuple[Experiment, dict[str, str]]:
    """The experiment with those of the learners that can play it, and why the others cannot."""
    cannot: dict[str, str] = {}
    for name, grid in learners.items():
        if name in experiment.learners:
            raise SettingError(f"learner is {name!r}, which is there already; expected another name")
        try:
            experiment = replace(experiment, learners={**experiment.learners, name: grid})
        except ExperimentError as error:
            refused = error.place[:2] == ("learners", name) and error.place[2:] != ("kind",)
            if not refused or not isinstance(error.__cause__, GraphBanditError):
                raise
            cannot[name] = error.message
    return experiment, cannot


def _with_settings(
    environments: Mapping[str, Grid], settings: Mapping[str, Value | list[Value]], *, add: bool = False
) -> dict[str, Grid]:
    """Replace settings of the environments that have them or, with `add`, of all environments."""
    return {
        name: Grid(
            grid.kind, {**grid.settings, **{key: settings[key] for key in settings if add or key in grid.settings}}
        )
        for name, grid in environments.items()
    }
