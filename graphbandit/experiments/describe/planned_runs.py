"""The runs an experiment asks for, each with a key that names everything its result depends on."""

import hashlib
import json
from dataclasses import dataclass
from typing import NamedTuple

from graphbandit.experiments.describe.environment_kinds import ENVIRONMENT_KINDS
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.grids import Point
from graphbandit.experiments.describe.identity import identity
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS

FORMAT = 1
"""The format of results. It increases when the same settings give other results, or when the files change."""


class Conditions(NamedTuple):
    """What all runs of an experiment share."""

    rounds: int
    seed: int
    horizon_known: bool
    curve_points: int
    keep_decisions: bool

    @classmethod
    def of(cls, experiment: Experiment) -> "Conditions":
        """Those of the experiment."""
        return cls(*(getattr(experiment, name) for name in cls._fields))


@dataclass(frozen=True)
class PlannedRun:
    """One learner on one environment, once."""

    key: str
    environment: Point
    learner: Point
    repeat: int


def planned_runs(experiment: Experiment) -> list[PlannedRun]:
    """All runs, in the order of environments, learners and repeats.

    A key is a digest of everything that determines the result: the settings of environment and learner, including
    defaults and the content of data files; their names (the learner's name is part of its random stream); rounds,
    repeat and seed; whether the horizon is known; and what is recorded. It does not depend on the rest of the
    experiment.
    """
    common = [FORMAT, *Conditions.of(experiment)]
    learners = [(point, identity(point.kind, point.settings, LEARNER_KINDS)) for point in experiment.learner_points()]
    runs = []
    for environment in experiment.environment_points():
        where = identity(environment.kind, environment.settings, ENVIRONMENT_KINDS)
        for learner, who in learners:
            for repeat in range(experiment.repeats):
                text = json.dumps([common, environment.name, where, learner.name, who, repeat], ensure_ascii=False)
                key = hashlib.sha256(text.encode()).hexdigest()[:24]
                runs.append(PlannedRun(key, environment, learner, repeat))
    return runs
