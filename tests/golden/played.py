"""What cases of several rooms look at: decisions field by field, graphs as matrices, a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.base.program_constants import SOLVERS

Arrays = dict[str, np.ndarray]

DECISION_FIELDS = (
    "action",
    "probability",
    "probabilities",
    "observation_probabilities",
    "best",
    "gaps",
    "baseline",
    "candidates",
    "exploration_set",
    "gamma",
    "epoch",
    "objective",
    "duality_gap",
    "solver",
    "coverage_factor",
)
"""Of `Decisions` and of `Decision`."""


def dense(graphs: Any) -> np.ndarray:
    """One graph, or the graphs of all rounds, as a matrix each."""
    return graphs.to_dense() if hasattr(graphs, "to_dense") else np.stack([one.to_dense() for one in graphs])


def decision_arrays(decisions: Any) -> Arrays:
    """A batch of decisions by field; solvers by their names."""
    found = {name: np.asarray(getattr(decisions, name)) for name in DECISION_FIELDS}
    found["solver"] = np.array([SOLVERS[code] for code in found["solver"]], dtype="S16")
    return found


def simulated(
    learner: Any, environment: Any, *, rounds: int, repeats: int, seed: int, horizon_known: bool, chunk: int
) -> Arrays:
    """Cumulative regret (repeats, rounds), and all decisions of all repeats in turn."""
    result = gb.simulate(
        learner,
        environment,
        rounds=rounds,
        repeats=repeats,
        seed=seed,
        horizon_known=horizon_known,
        keep_decisions=True,
        chunk=chunk,
    )
    (regret,), (decisions,) = result.regret.values(), result.decisions.values()
    parts = [decision_arrays(one) for one in decisions]
    return {"regret": regret, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}}
