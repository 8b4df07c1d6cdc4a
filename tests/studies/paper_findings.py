"""Made-up findings of the reproduction: regrets as one would like them, around means that a test may change."""

from collections.abc import Callable

import numpy as np

from graphbandit.experiments.describe.grids import Point
from graphbandit.studies import Finding, Findings, Plan
from tests.helpers.experiment_results import made_up

Means = Callable[[str, Point, str], float]
REGCBG = {"k-tree": 980.0, "cliques": 300.0, "random": 700.0, "network": 900.0, "directed": 800.0}
ADACBG = {"k-tree": 60.0, "cliques": 100.0, "random": 200.0, "network": 230.0, "directed": 250.0}
PRINTED = {20: 329.86, 40: 311.34, 60: 300.64, 80: 292.60, 100: 277.35}


def as_claimed(study: str, point: Point, learner: str) -> float:
    """Mean regrets that bear out every claim of the paper."""
    arms, cliques = int(point.settings["n_arms"]), float(point.settings.get("n_cliques", 5))
    if study == "clique-table" and learner not in ("RegCB.G", "FALCON", "AdaCB.G, ours"):
        return PRINTED[arms]
    if learner == "FALCON":
        return 1000.0
    if learner == "RegCB.G":
        return REGCBG[point.name]
    whole = (ADACBG[point.name] if "paper" in learner else 10.0) * (cliques / 5) ** 0.5
    if point.name == "k-tree" and learner.endswith("no program"):
        return 600.0
    if learner.endswith("all arms candidates"):
        return 100.0 if point.name == "k-tree" else 400.0
    return whole


def findings(means: Means = as_claimed, *, noise: float = 0.01, repeats: int = 8, **asked: object) -> Findings:
    """`means` with a relative noise, of which half is shared by all learners and environments of a repeat."""
    plan = Plan(study="paper", repeats=repeats, **asked)
    rng = np.random.default_rng(3)
    shared = rng.normal(0, noise / 2, repeats)
    found = {}
    for name, experiment in plan.experiments().items():
        regrets = {
            (point.label, learner): (
                means(name, point, learner) * (1 + shared + rng.normal(0, noise / 2, repeats))
            ).tolist()
            for point in experiment.environment_points()
            for learner in experiment.learners
        }
        found[name] = Finding(experiment=experiment, results=made_up(regrets, name=name))
    return Findings(plan=plan, experiments=found)
