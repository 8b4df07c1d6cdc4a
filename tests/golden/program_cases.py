"""The programs that turn estimates into probabilities, on fixed random instances; and the closed forms and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit import planning, theory
from tests.golden.played import Arrays
from tests.golden.problems import random_matrices
from tests.golden.registry import Outcome, add
from tests.helpers.lp_instances import COSTS, FAMILIES, random_costs, random_graph

SIZES = (5, 12, 20)

SAMPLING_FIELDS = (
    "probabilities", "observation_probabilities", "objective", "duality_gap", "infeasibility", "demand", "duals",
)  # fmt: skip
SQUARECB_FIELDS = (
    "probabilities", "observation_probabilities", "z", "objective", "duality_gap", "iterations", "weights",
    "outer_slopes", "inner_slopes",
)  # fmt: skip


def _join(found: list[Arrays]) -> Arrays:
    """Answers of programs of different sizes, end to end."""
    return {name: np.concatenate([np.ravel(answer[name]) for answer in found]) for name in found[0]}


def _graph(matrix: np.ndarray) -> gb.FeedbackGraph:
    return gb.FeedbackGraph.from_dense(matrix, require_loops=False)


def _sampling_solution(graph: Any, gaps: np.ndarray, **settings: Any) -> Arrays:
    """`settings`: baseline or demand, best, available, solver."""
    baseline = settings.pop("baseline", None)
    answer = gb.solve_sampling_lp(graph, baseline, gaps, **settings)
    return {
        **{name: np.asarray(getattr(answer, name)) for name in SAMPLING_FIELDS},
        "solver": np.array(answer.solver, dtype="S16"),
    }


def _squarecb_solution(graph: Any, losses: np.ndarray, gamma: float, available: np.ndarray | None = None) -> Arrays:
    answer = planning.solve_squarecb_program(graph, losses, gamma, available=available)
    return {name: np.asarray(getattr(answer, name)) for name in SQUARECB_FIELDS}


def sampling(family: str, solver: str, coverage: str) -> Outcome:
    """Every kind of costs and three sizes; in every other instance some arms are not on offer."""
    rng = np.random.default_rng(61)
    found: list[Arrays] = []
    for n_arms in SIZES:
        for i, kind in enumerate(COSTS):
            matrix, gaps = random_graph(family, n_arms, rng), random_costs(kind, n_arms, rng)
            graph, gamma = _graph(matrix), 10 ** rng.uniform(0, 3)
            best = int(np.argmin(gaps))
            candidates = (rng.random(n_arms) < 0.7) | (np.arange(n_arms) == best)
            explored = gb.exploration_set(graph, candidates, gaps)
            mask = np.zeros(n_arms, dtype=np.bool_)
            mask[explored] = True
            baseline = planning.inverse_gap_baseline(explored, gaps, gamma)
            demand = planning.tight_demand(candidates, gaps, best=best, size=len(explored), gamma=gamma)
            offered = (rng.random(n_arms) < 0.8) | mask | (np.arange(n_arms) == best)
            if solver == "highs" and kind == "spread":
                continue  # costs over eighteen orders of magnitude are beyond it
            asked: dict[str, Any] = {"baseline": baseline} if coverage == "paper" else {"demand": demand}
            found.append(
                {
                    "explored": explored,
                    "baseline": baseline,
                    **_sampling_solution(
                        graph, gaps, **asked, solver=solver, best=best, available=offered if i % 2 else None
                    ),
                }
            )
    arrays = _join(found)
    return Outcome(arrays, {"objectives": float(arrays["objective"].sum()), "largest": float(arrays["duals"].max())})


def squarecb(family: str) -> Outcome:
    """Three sizes and gammas from 1 to 10,000."""
    rng = np.random.default_rng(62)
    found = []
    for n_arms in SIZES:
        for gamma in (1.0, 30.0, 1e4):
            graph, losses = _graph(random_graph(family, n_arms, rng)), rng.random(n_arms)
            found.append(_squarecb_solution(graph, losses, gamma))
            offered = rng.random(n_arms) < 0.7
            offered[0] = True
            found.append(_squarecb_solution(graph, losses, gamma, offered))
    arrays = _join(found)
    return Outcome(arrays, {"objectives": float(arrays["objective"].sum()), "steps": float(arrays["iterations"].sum())})


def squarecb_batch(loops: bool) -> Outcome:
    """Thirty programs at once."""
    rng = np.random.default_rng(63)
    graphs = gb.FeedbackGraphs.from_dense(random_matrices(30, 9, 0.2, 64, loops=loops), require_loops=False)
    answers = planning.solve_squarecb_programs(graphs, rng.random((30, 9)), 10 ** rng.uniform(0, 3, 30))
    arrays = {name: getattr(answers, name) for name in ("probabilities", "objective", "duality_gap", "iterations")}
    return Outcome(arrays, {"objectives": float(arrays["objective"].sum())})


def closed_forms() -> Outcome:
    rng = np.random.default_rng(65)
    losses, forms = rng.random((10, 6)), planning.squarecb_formulas
    arrays = {
        kind: np.stack([getattr(forms, kind)(row, 20.0) for row in losses])
        for kind in ("inverse_gap_weighting", "complete_graph", "cops_and_robbers", "inventory")
    }
    arrays["apple_tasting"] = np.stack([forms.apple_tasting(row[:2], 20.0) for row in losses])
    return Outcome(arrays, {"first": float(arrays["inventory"][0, 0])})


def bounds() -> Outcome:
    """The paper's bounds of regret, for fixed settings."""
    common: dict[str, Any] = {"horizon": np.array([10.0, 100.0, 2048.0]), "log_size": 4.0}
    arrays = {
        "minimax": theory.minimax_bound(**common, mean_independence_number=3.0, n_arms=20),
        "lower": theory.minimax_lower_bound(**common, independence_number=3.0),
        "gaps": theory.context_gaps(np.linspace(0, 1, 12).reshape(3, 4) ** 2),
    }
    return Outcome(arrays, {"minimax": float(arrays["minimax"][-1])})


for _family in FAMILIES:
    for _coverage in ("paper", "tight"):
        for _solver in ("auto", "simplex", "highs", "anytime"):
            if _solver == "anytime" and _coverage == "tight":
                continue  # it starts from a baseline
            add(
                f"programs/sampling/{_family}/{_coverage}/{_solver}",
                lambda chunk, f=_family, s=_solver, c=_coverage: sampling(f, s, c),
            )
    add(f"programs/squarecb/{_family}", lambda chunk, f=_family: squarecb(f))
add("programs/squarecb/batch", lambda chunk: squarecb_batch(True))
add("programs/squarecb/batch, weak", lambda chunk: squarecb_batch(False))
add("programs/squarecb/closed forms", lambda chunk: closed_forms())
add("programs/bounds", lambda chunk: bounds())
