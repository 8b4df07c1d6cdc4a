"""What a study has run: its experiments and their results, looked up by what was run and not by label."""

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

    - `experiment`: what was asked for.
    - `results`: what came of it.
    """

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
        return self.regrets.by_repeat(point.label, learner)


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """What was asked for and what came of it.

    - `plan`: what was asked for.
    - `experiments`: each experiment by the name of its folder.
    """

    plan: Plan
    experiments: Mapping[str, Finding]

    def get(self, name: str) -> Finding | None:
        """An experiment with one number of rounds; None if it was not run."""
        return self.experiments.get(name)

    def family(self, name: str) -> list[Finding]:
        """All folders of one experiment: several if it has several numbers of rounds, none if it was not run."""
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
