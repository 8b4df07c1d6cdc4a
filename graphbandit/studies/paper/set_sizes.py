"""The sizes of exploration sets compared with the independence number, on directed and on undirected graphs.

On an undirected graph S is an independent set, so |S| <= alpha(G). On a directed graph an arm of S may reveal one that
was added to S before it, so |S| may exceed alpha(G), the size of the largest set of arms no two of which are joined in
either direction. This module counts both, round by round, for real decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.saved_files import write_atomically
from graphbandit.base.shapes import Int
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.learner_kinds import build_learner
from graphbandit.graphs.parameters import independence_number
from graphbandit.rounds.decisions import Decisions
from graphbandit.simulate import run_repeat
from graphbandit.studies.paper.names import READINGS

if TYPE_CHECKING:
    import pyarrow as pa

ROUNDS = 256
"""How many rounds are counted: the first ones of the first repeat, in the rescaled reading."""


@dataclass(frozen=True, kw_only=True)
class SetSizes:
    """Sizes by round.

    - `sizes`: |S| by environment and learner.
    - `independence`: alpha(G) in the same rounds, by environment.
    """

    sizes: dict[str, dict[str, Int[np.ndarray, " rounds"]]]
    independence: dict[str, Int[np.ndarray, " rounds"]]

    def excess(self, environment: str, learner: str) -> tuple[int, int]:
        """The number of rounds in which |S| is larger than alpha(G), and the largest difference."""
        over = self.sizes[environment][learner] - self.independence[environment]
        return int((over > 0).sum()), max(0, int(over.max()))

    def table(self) -> pa.Table:
        """One row per round: environment, learner, round, size, independence."""
        import pyarrow as pa

        rows = [
            {"environment": place, "learner": name, "round": t + 1, "size": int(size), "independence": int(alpha)}
            for place, learners in self.sizes.items()
            for name, sizes in learners.items()
            for t, (size, alpha) in enumerate(zip(sizes, self.independence[place], strict=True))
        ]
        return pa.Table.from_pylist(rows)

    def write(self, path: Path) -> None:
        """Write a Parquet file, with the same bytes each time."""
        from pyarrow import parquet

        write_atomically(path, lambda file: parquet.write_table(self.table(), file, compression="zstd"))


def set_sizes(experiment: Experiment, control: Experiment) -> SetSizes:
    """Count the sizes in every environment of `experiment`, and on the undirected random graphs of `control`."""
    points = [
        point
        for each in (experiment, control)
        for point in each.environment_points()
        if point.settings["reward_scale"] == READINGS["rescaled"] and (each is experiment or point.name == "random")
    ]
    learners = [(point.name, build_learner(point.kind, point.settings)) for point in experiment.learner_points()]
    learners = [(name, learner) for name, learner in learners if name != "FALCON"]  # FALCON has no exploration set
    rounds = min(ROUNDS, experiment.rounds)
    sizes, independence = {}, {}
    for point in points:
        environment = build_environment(point.kind, point.settings)
        played = run_repeat(
            learners, environment, rounds=rounds, repeat=0, seed=experiment.seed, keep_decisions=True, chunk=rounds
        )
        sizes[point.label] = {
            name: Decisions.concatenate(run.decisions).exploration_set.sum(axis=1)
            for (name, _), run in zip(learners, played, strict=True)
        }
        graphs = environment.instance(experiment.seed, 0).rounds(0, rounds).graphs
        independence[point.label] = np.array([independence_number(graph).value for graph in graphs])
    return SetSizes(sizes=sizes, independence=independence)


def short_place(place: str) -> str:
    """A label without the reward scale, which is the same for all of them.

    >>> short_place("directed probability=0.02 reward_scale=8.0")
    'directed p = 0.02'
    """
    words = [word for word in place.split() if not word.startswith("reward_scale=")]
    return " ".join(words).replace("probability=", "p = ").replace("random", "random, undirected")
