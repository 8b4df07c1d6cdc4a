"""The results of a study, looked up by the settings of its experiments instead of by label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Point
from graphbandit.experiments.describe.kinds import Value
from graphbandit.studies.plan import Plan

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """One experiment and its results.

    - `experiment`: the experiment.
    - `results`: its results.
    """

    experiment: Experiment
    results: Results

    @cached_property
    def regrets(self) -> FinalRegrets:
        """The final regrets of all finished runs."""
        return FinalRegrets.of(self.results)

    def points(self, **settings: Value) -> list[Point]:
        """The environments with these settings, in order; ``name`` is the name of the table in the file."""
        return [
            point
            for point in self.experiment.environment_points()
            if all((point.name if key == "name" else point.settings.get(key)) == settings[key] for key in settings)
        ]

    def by_repeat(self, point: Point, learner: str) -> Float[np.ndarray, " repeats"]:
        """Final regrets of a learner in that environment, one per repeat."""
        return self.regrets.by_repeat(point.label, learner)


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """All results of a study.

    - `plan`: the plan that was run.
    - `experiments`: from the names of the results' folders to experiments with results.
    """

    plan: Plan
    experiments: Mapping[str, Finding]

    @cached_property
    def regrets(self) -> FinalRegrets:
        """The final regrets of all experiments; a name stands for the same environment or learner in all of them."""
        return FinalRegrets.joined([finding.regrets for finding in self.experiments.values()])

    @cached_property
    def rounds(self) -> dict[str, int]:
        """The number of rounds in every environment."""
        return {
            point.label: finding.experiment.rounds
            for finding in self.experiments.values()
            for point in finding.experiment.environment_points()
        }

    def get(self, name: str) -> Finding | None:
        """The experiment in that folder; None if it was not run."""
        return self.experiments.get(name)

    def family(self, name: str) -> list[Finding]:
        """The results of one experiment: several if it has several numbers of rounds, none if it was not run."""
        return [finding for folder, finding in self.experiments.items() if family(folder) == name]

    @property
    def results(self) -> list[Results]:
        """The results of every experiment."""
        return [finding.results for finding in self.experiments.values()]


def family(folder: str) -> str:
    """The experiment that a folder of results belongs to.

    >>> family("horizon-128"), family("reward-scale")
    ('horizon', 'reward-scale')
    """
    start, _, end = folder.rpartition("-")
    return start if end.isdigit() else folder
