"""The theorems' bounds, to compare with measured regret. Their constant is set to 1: compare shapes, not levels.

The bounds are for rewards in [0, 1], which neither reading of the paper's rewards has. Theorem 3.1 needs a uniform gap,
which normal contexts do not have (some come arbitrarily close to a tie), so the median gap is used instead.
"""

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.environments.synthetic import SyntheticEnvironment
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.describe.grids import Point
from graphbandit.theory import context_gaps, disagreement_coefficient, gap_dependent_bound, minimax_bound

CONTEXTS = 1024
"""How many contexts are drawn to represent their distribution."""

INSTANCES = 5
"""The gap-dependent bound is averaged over this many instances, those of the first repeats."""


def independence_bound(point: Point, horizon: int) -> float:
    """Theorem 3.2 for disjoint cliques; the independence number is the number of cliques."""
    sizes = _sizes(point)
    return minimax_bound(horizon=float(horizon), n_arms=int(point.settings["n_arms"]), **sizes)


def horizon_bounds(
    point: Point, horizons: Float[np.ndarray, " horizons"], *, seed: int
) -> tuple[Float[np.ndarray, " horizons"], Float[np.ndarray, " horizons"]]:
    """Theorem 3.2 and Theorem 3.1 at several horizons, for an environment of disjoint cliques."""
    sizes = _sizes(point)
    minimax = minimax_bound(horizon=horizons, n_arms=int(point.settings["n_arms"]), **sizes)
    environment = build_environment(point.kind, point.settings)
    assert isinstance(environment, SyntheticEnvironment)
    curves = []
    for repeat in range(INSTANCES):
        instance = environment.instance(seed, repeat)
        rounds = instance.rounds(0, CONTEXTS)
        theta = disagreement_coefficient(instance.functions, rounds.contexts, instance.truth)
        gap = float(np.median(context_gaps(rounds.means)))
        curves.append(gap_dependent_bound(horizon=horizons, gap=gap, disagreement=theta, **sizes))
    return minimax, np.mean(curves, axis=0)


def _sizes(point: Point) -> dict[str, float]:
    environment = build_environment(point.kind, point.settings)
    assert isinstance(environment, SyntheticEnvironment)
    cliques = float(point.settings["n_cliques"])
    return {"mean_independence_number": cliques, "log_size": float(np.log(environment.n_functions))}
