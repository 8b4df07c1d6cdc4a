"""What the reproduction has found: the results of its experiments, looked up by what was run and not by label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.experiments.describe.experiment import Experiment, Point
from graphbandit.experiments.describe.registry import Value
from graphbandit.studies.paper.plans import Reproduction, family

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results
    from graphbandit.studies.paper.set_sizes import SetSizes


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """One experiment and its results."""

    experiment: Experiment
    results: Results

    @cached_property
    def regrets(self) -> FinalRegrets:
        """The final regrets of all finished runs."""
        return FinalRegrets.of(self.results)

    def points(self, **settings: Value) -> list[Point]:
        """The environments with these settings, in order; ``name`` is that of their table."""
        return [
            point
            for point in self.experiment.environment_points()
            if all((point.name if key == "name" else point.settings.get(key)) == settings[key] for key in settings)
        ]

    def by_repeat(self, point: Point, learner: str) -> Float[np.ndarray, " repeats"]:
        """Final regrets of a learner there, one a repeat."""
        regrets = self.regrets
        found: Float[np.ndarray, " repeats"] = regrets.values[
            regrets.environment(point.label), regrets.learner(learner)
        ]
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """The studies by the names of their directories, and what they were asked for.

    `set_sizes` are of the experiment on directed graphs, if it was run.
    """

    asked: Reproduction
    studies: Mapping[str, Study]
    set_sizes: SetSizes | None = None

    def family(self, name: str) -> list[Study]:
        """The studies of one experiment: several if it has several numbers of rounds, none if it was not run."""
        return [study for directory, study in self.studies.items() if family(directory) == name]

    def study(self, name: str) -> Study | None:
        """The study of an experiment with one number of rounds; None if it was not run."""
        return self.studies.get(name)
