"""The suite of the leaderboard: which groups of problems there are, and how large a run makes them.

Each group is a file beside this one, complete in itself, with the learners that fit; a learner that cannot play a
group's problems is absent from its file. ``presets.toml`` says how small --quick makes them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.environments.datasets import DIRECTORY_VARIABLE
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.packaged import packaged_file
from graphbandit.experiments.running.batch import Whole, run_batch

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results

GROUPS = {
    "finite_small": "finite class, small gaps",
    "finite_large": "finite class, large gaps",
    "linear_new": "linear, new arms",
    "linear_fixed": "linear, fixed arms",
    "linear_still": "linear, one context",
    "clicks": "clicks",
    "arms": "arms without contexts",
    "bundled": "small data sets",
    "data": "data sets in files",
    "shifting": "adversarial: shifting levels",
}
"""The files of the suite, with titles for readers."""

ADVERSARIAL = frozenset({"shifting"})
"""Groups whose rewards are not drawn alike in all rounds."""

FROM_FILES = frozenset({"data"})
"""Groups that are there only where the environment variable of data sets names a directory."""

PRESETS = ("quick", "full")


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What to run; `only` names groups, all if it is empty.

    >>> experiment = Suite(preset="full", only=("shifting",)).experiments()["shifting"]
    >>> experiment.rounds, len(experiment.environment_points()), len(experiment.learner_points())
    (2048, 4, 23)
    """

    preset: str = "full"
    repeats: int | None = None
    rounds: int | None = None
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        setting_choice("preset", self.preset, PRESETS)
        for name in ("repeats", "rounds"):
            if getattr(self, name) is not None:
                setting_integer(name, getattr(self, name), at_least=1)
        for name in self.only:
            setting_choice("only", name, tuple(GROUPS))

    @property
    def missing(self) -> tuple[str, ...]:
        """Groups that were asked for and cannot be run, because no directory of data sets is named."""
        asked = self.only or tuple(GROUPS)
        return tuple(name for name in asked if name in FROM_FILES and not os.environ.get(DIRECTORY_VARIABLE))

    def experiments(self) -> dict[str, Experiment]:
        """Every group that can be run, by the name of its file."""
        sizes = _sizes(self.preset)
        planned = {}
        for name in GROUPS:
            if (self.only and name not in self.only) or name in self.missing:
                continue
            experiment = packaged_file(f"studies/leaderboard/{name}.toml")
            repeats = sizes.get("repeats", experiment.repeats) if self.repeats is None else self.repeats
            rounds = sizes.get("rounds", experiment.rounds) if self.rounds is None else self.rounds
            planned[name] = replace(experiment, repeats=min(repeats, experiment.repeats), rounds=rounds)
        return planned


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupResults:
    """A group as it was run."""

    title: str
    adversarial: bool
    experiment: Experiment
    results: Results


def run_suite(
    suite: Suite,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: Callable[[Whole], None] | None = None,
) -> list[GroupResults]:
    """Run what is not finished yet in `workers` processes (None: one a core), which changes no regret."""
    experiments = suite.experiments()
    found = run_batch(experiments, out=out, work=_work, workers=workers, progress=progress)
    return [
        GroupResults(title=GROUPS[name], adversarial=name in ADVERSARIAL, experiment=experiments[name], results=results)
        for name, results in found.items()
    ]


def _sizes(preset: str) -> dict[str, int]:
    text = files("graphbandit.studies.leaderboard").joinpath("presets.toml").read_text(encoding="utf-8")
    sizes: dict[str, int] = tomllib.loads(text).get(preset, {})
    return sizes


def _work(experiment: Experiment) -> float:
    return float(experiment.n_runs * experiment.rounds)
