"""Regret against one number: independence number, arms, rounds, reward scale, density of a directed graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.analysis.intervals import Interval, slope_interval
from graphbandit.studies.findings import Findings
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

    def slope(self, learner: str) -> Interval:
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
    if name == "horizon":
        return _horizon_trends(findings)
    finding = findings.get(name)
    if finding is None:
        return []
    axis, found = AXES[name], []
    readings = {"": None} if name == "reward-scale" else READINGS
    for kind in finding.experiment.environments:
        for reading, scale in readings.items():
            points = finding.points(name=kind) if scale is None else finding.points(name=kind, reward_scale=scale)
            bounds = {}
            if name == "independence":
                drawn = [independence_bound(point, finding.experiment.rounds) for point in points]
                bounds = {MINIMAX: np.array(drawn)}
            found.append(
                Trend(
                    title=kind,
                    reading=reading,
                    values=np.array([float(point.settings[axis.setting]) for point in points]),
                    regrets={name: np.stack([finding.by_repeat(point, name) for point in points]) for name in MAIN},
                    bounds=bounds,
                    rounds=finding.experiment.rounds,
                )
            )
    return found


def _horizon_trends(findings: Findings) -> list[Trend]:
    """The trends over the number of rounds, each of which is an experiment of its own."""
    several = findings.family("horizon")
    if not several:
        return []
    horizons = np.array([float(finding.experiment.rounds) for finding in several])
    found = []
    for reading, scale in READINGS.items():
        points = [finding.points(reward_scale=scale)[0] for finding in several]
        regrets = {
            name: np.stack([finding.by_repeat(point, name) for finding, point in zip(several, points, strict=True)])
            for name in MAIN
        }
        bounds = horizon_bounds(points[0], horizons, seed=findings.plan.seed)
        found.append(
            Trend(
                title=points[0].name,
                reading=reading,
                values=horizons,
                regrets=regrets,
                bounds={MINIMAX: bounds.minimax, GAP_DEPENDENT: bounds.gap_dependent},
            )
        )
    return found
