"""Which experiments a study consists of, and how large it makes them.

Each experiment is a file beside this one, complete in itself; ``presets.toml`` says how small --quick makes them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.environments.datasets import DIRECTORY_VARIABLE
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.packaged import packaged_file
from graphbandit.experiments.running.batch import Whole, run_batch

EXPLORATION = {
    "finite": "50 functions",
    "linear": "linear, new arms",
    "still": "linear, one context",
    "logistic": "logistic",
    "poisson": "Poisson",
    "kernel": "kernel",
    "boosting": "boosting",
    "network": "network",
}
"""The files of the study of exploration, one for each panel of its figure, with titles for readers."""

CLASSES = ("linear", "data", "data_refits")
"""The files of the study of function classes; those on data have a stand-in, ``bundled``, for who has no files."""

STUDIES = ("exploration", "classes")
PRESETS = ("quick", "full")

REFIT_WORK = {"kernel": 2, "boosting": 15, "network": 25}
"""How much longer a round takes a class that is refitted; for the time left, no more."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run; `only` names files of the study, all if it is empty.

    >>> list(Plan(study="exploration", only=("still",)).experiments())
    ['still']
    """

    study: str
    preset: str = "quick"
    repeats: int | None = None
    rounds: int | None = None
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        setting_choice("study", self.study, STUDIES)
        setting_choice("preset", self.preset, PRESETS)
        for name in ("repeats", "rounds"):
            if getattr(self, name) is not None:
                setting_integer(name, getattr(self, name), at_least=1)
        for name in self.only:
            setting_choice("only", name, self.files)

    @property
    def files(self) -> tuple[str, ...]:
        """Of the whole study."""
        return tuple(EXPLORATION) if self.study == "exploration" else CLASSES

    @property
    def stand_in(self) -> bool:
        """Whether scikit-learn's data sets stand in for those in files, because no directory of files is named."""
        return self.study == "classes" and not os.environ.get(DIRECTORY_VARIABLE)

    def experiments(self) -> dict[str, Experiment]:
        """Every experiment to run by the name of its file."""
        sizes = _sizes(self.preset)
        planned = {}
        for name in self.files:
            if self.only and name not in self.only:
                continue
            file = name.replace("data", "bundled") if self.stand_in else name
            experiment = packaged_file(f"studies/{self.study}_{file}.toml")
            repeats = sizes.get("repeats", experiment.repeats) if self.repeats is None else self.repeats
            rounds = sizes.get("rounds", experiment.rounds) if self.rounds is None else self.rounds
            planned[file] = replace(experiment, repeats=min(repeats, experiment.repeats), rounds=rounds)
        return planned


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """An experiment, and the final regrets of its runs."""

    experiment: Experiment
    regrets: FinalRegrets


def run_plan(
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: Callable[[Whole], None] | None = None,
) -> dict[str, Finding]:
    """Run what is not finished yet in `workers` processes (None: one a core), which changes no result."""
    experiments = plan.experiments()
    found = run_batch(experiments, out=out, work=_work, workers=workers, progress=progress)
    return {
        name: Finding(experiment=experiments[name], regrets=FinalRegrets.of(results)) for name, results in found.items()
    }


def _sizes(preset: str) -> dict[str, int]:
    text = files("graphbandit.studies").joinpath("presets.toml").read_text(encoding="utf-8")
    sizes: dict[str, int] = tomllib.loads(text).get(preset, {})
    return sizes


def _work(experiment: Experiment) -> float:
    """Rounds of all runs, those of classes that are refitted counting as several."""
    learners = sum(REFIT_WORK.get(str(p.settings.get("function_class")), 1) for p in experiment.learner_points())
    return float(learners * len(experiment.environment_points()) * experiment.repeats * experiment.rounds)
