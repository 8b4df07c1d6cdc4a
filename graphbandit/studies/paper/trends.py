"""Regret against one number: independence number, arms, rounds, reward scale, density of a directed graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.repeat_intervals import RepeatInterval, slope_interval
from graphbandit.experiments.describe.grids import Point
from graphbandit.experiments.describe.kinds import Value
from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.paper.bounds import horizon_bounds, independence_bound
from graphbandit.studies.paper.names import MAIN, READINGS

MINIMAX, GAP_DEPENDENT = "Theorem 3.2 (minimax), constant 1", "Theorem 3.1 (gaps), constant 1"
"""The bounds that are drawn."""


class Trend(NamedTuple):
    """One panel: `regrets[learner]` by value and repeat, and the theorems' bounds at these values.

    `rounds` is None if the number of rounds is what varies.
    """

    title: str
    reading: str
    values: Float[np.ndarray, " values"]
    regrets: dict[str, Float[np.ndarray, "values repeats"]]
    bounds: dict[str, Float[np.ndarray, " values"]]
    rounds: int | None = None

    def slope(self, learner: str) -> RepeatInterval:
        """The exponent with which the learner's mean regret grows, with its interval."""
        return slope_interval(self.values, self.regrets[learner])


class Axis(NamedTuple):
    """The setting that varies, its name for readers, and what the theory says about the exponent."""

    setting: str
    label: str
    theory: str


AXES = {
    "independence": Axis(
        "n_cliques", "independence number, at K = 50", "Theorem 3.2 has exponent 1/2 in the independence number"
    ),
    "arms": Axis("n_arms", "number of arms, in 5 cliques", "the theorems have exponent 0 in K, up to logarithms"),
    "horizon": Axis("rounds", "number of rounds", "Theorem 3.2 has exponent 1/2 in T, Theorem 3.1 a power of log T"),
    "reward-scale": Axis("reward_scale", "reward scale", "gaps fall as 1 / scale while the noise stays"),
    "directed": Axis("probability", "probability of an edge", "the theorems are for undirected graphs"),
}
"""The experiments that vary one number."""


def trends(findings: Findings, name: str) -> list[Trend]:
    """The panels of one of `AXES`; none if it was not run."""
    several, found = findings.family(name), []
    readings: dict[str, dict[str, Value]] = {reading: {"reward_scale": scale} for reading, scale in READINGS.items()}
    if name == "reward-scale":
        readings = {"": {}}
    for kind in several[0].experiment.environments if several else ():
        for reading, settings in readings.items():
            places = [(finding, point) for finding in several for point in finding.points(name=kind, **settings)]
            values = np.array([_value(name, finding, point) for finding, point in places])
            regrets = {who: np.stack([finding.by_repeat(point, who) for finding, point in places]) for who in MAIN}
            bounds = _bounds(name, places, values, findings.plan.seed)
            rounds = None if name == "horizon" else several[0].experiment.rounds
            found.append(
                Trend(title=kind, reading=reading, values=values, regrets=regrets, bounds=bounds, rounds=rounds)
            )
    return found


def _value(name: str, finding: Finding, point: Point) -> float:
    """The number that varies; each number of rounds is an experiment of its own."""
    return float(finding.experiment.rounds if name == "horizon" else point.settings[AXES[name].setting])


def _bounds(
    name: str, places: Sequence[tuple[Finding, Point]], values: Float[np.ndarray, " values"], seed: int
) -> dict[str, Float[np.ndarray, " values"]]:
    """The theorems' bounds at these values; none where they say nothing of the number that varies."""
    if name == "independence":
        return {MINIMAX: np.array([independence_bound(point, finding.experiment.rounds) for finding, point in places])}
    if name == "horizon":
        minimax, gap_dependent = horizon_bounds(places[0][1], values, seed=seed)
        return {MINIMAX: minimax, GAP_DEPENDENT: gap_dependent}
    return {}
