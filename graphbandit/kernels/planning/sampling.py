"""Whole rounds: from estimates and candidates to a drawn arm, its probabilities and what explains them."""

from typing import Any

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.kernels.graphs.adjacency import observation_probabilities
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.exploration import (
    best_arm,
    draw_arm,
    greedy_exploration_set,
    paper_demand,
    set_baseline,
    tight_demand,
)
from graphbandit.kernels.planning.program import CERTIFIED, program_workspace, solve_program
from graphbandit.kernels.planning.simplex_workspace import Workspace

NO_PROGRAM = 0
PAPER_COVERAGE = 1
TIGHT_COVERAGE = 2

SOLVER_NONE = 0
SOLVER_TRIVIAL = 1
SOLVER_SIMPLEX = 2
SOLVER_PENDING = -1

GAMMAS = 11
"""How many values of gamma, each twice the one before, the width rule tries."""


@kernel()
def _probabilities_at(
    graph: Any,
    gamma: float,
    explored: Int[np.ndarray, " size"],
    best: int,
    gaps: Float[np.ndarray, " arms"],
    candidates: Bool[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    coverage: int,
    row_limit: int,
    scratch: Int[np.ndarray, " arms"],
    marks: Int[np.ndarray, " arms"],
    work: Workspace,
    demand: Float[np.ndarray, " arms"],
    duals: Float[np.ndarray, " arms"],
    baseline: Float[np.ndarray, " arms"],
    probabilities: Float[np.ndarray, " arms"],
) -> tuple[int, float, float]:
    """Baseline and program at one gamma. Returns (solver, objective, relative gap)."""
    set_baseline(explored, best, gamma, gaps, baseline)
    if coverage != NO_PROGRAM and baseline[best] < 1.0:
        if coverage == PAPER_COVERAGE:
            paper_demand(graph, baseline, best, scratch, demand)
        else:
            tight_demand(candidates, best, explored.shape[0], gamma, gaps, demand)
        status, objective, gap = solve_program(
            graph, demand, gaps, best, available, row_limit, scratch, marks, work, probabilities, duals
        )
        return (SOLVER_SIMPLEX if status == CERTIFIED else SOLVER_PENDING), objective, gap
    objective = 0.0
    for a in range(gaps.shape[0]):
        probabilities[a] = baseline[a]
        objective += baseline[a] * gaps[a]
    if coverage == NO_PROGRAM:
        return SOLVER_NONE, objective, np.nan
    return SOLVER_TRIVIAL, objective, 0.0


@kernel()
def decide_round(
    graph: Any,
    values: Float[np.ndarray, " arms"],
    candidates: Bool[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    widths: Float[np.ndarray, " arms_or_none"],
    explore_all: bool,
    coverage: int,
    rate: float,
    uniform: float,
    row_limit: int,
    scratch: Int[np.ndarray, " arms"],
    marks: Int[np.ndarray, " arms"],
    work: Workspace,
    order: Int[np.ndarray, " arms"],
    demand: Float[np.ndarray, " arms"],
    duals: Float[np.ndarray, " arms"],
    probabilities: Float[np.ndarray, " arms"],
    observed: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    baseline: Float[np.ndarray, " arms"],
    explored: Bool[np.ndarray, " arms"],
) -> tuple[int, int, float, float, float, int]:
    """One round, steps 1 to 7 of the algorithm. Returns (action, best, gamma, objective, gap, solver).

    gamma = rate sqrt(|S|), or, when `widths` are given, rate times the gamma that makes the bound
    2 |S| / gamma + (gamma / 4) sum_a q(a) w(a)^2 smallest. SOLVER_PENDING leaves the program to the caller.
    """
    n_arms = values.shape[0]
    best = best_arm(values, available)
    for a in range(n_arms):
        gaps[a] = values[best] - values[a]
    if explore_all:
        size = 0
        for a in range(n_arms):
            if available[a]:
                order[size] = a
                size += 1
    else:
        size = greedy_exploration_set(graph, candidates, gaps, scratch, order)
    chosen = order[:size]
    for a in range(n_arms):
        explored[a] = False
    for i in range(size):
        explored[chosen[i]] = True

    gamma = rate * np.sqrt(size)
    squares = 0.0
    for a in range(widths.shape[0]):
        squares += widths[a] * widths[a]
    if widths.shape[0] > 0 and squares > 0.0:
        lowest_bound = np.inf
        trial = np.sqrt(8.0 * size / squares)
        gamma = rate * trial
        for _ in range(GAMMAS):
            solver, objective, gap = _probabilities_at(
                graph, trial, chosen, best, gaps, candidates, available, coverage, row_limit,
                scratch, marks, work, demand, duals, baseline, probabilities,
            )  # fmt: skip
            # A program that is left to the caller is judged by its baseline, which is feasible as well.
            played = baseline if solver == SOLVER_PENDING else probabilities
            observation_probabilities(graph, played, scratch, observed)
            error = 0.0
            for a in range(n_arms):
                error += observed[a] * widths[a] * widths[a]
            bound = 2.0 * size / trial + 0.25 * trial * error
            if bound < lowest_bound * (1.0 - 1e-12):
                lowest_bound = bound
                gamma = rate * trial
            trial *= 2.0
    if widths.shape[0] > 0 and squares <= 0.0:
        gamma = np.inf
        baseline[:] = 0.0
        baseline[best] = 1.0
        probabilities[:] = baseline
        solver, objective, gap = SOLVER_TRIVIAL, 0.0, 0.0
    else:
        solver, objective, gap = _probabilities_at(
            graph, gamma, chosen, best, gaps, candidates, available, coverage, row_limit,
            scratch, marks, work, demand, duals, baseline, probabilities,
        )  # fmt: skip
    if solver == SOLVER_PENDING:
        return -1, best, gamma, objective, gap, solver
    observation_probabilities(graph, probabilities, scratch, observed)
    return draw_arm(probabilities, uniform), best, gamma, objective, gap, solver


@kernel()
def decide_packed(
    words: Any,
    index: Int[np.ndarray, " n"],
    values: Float[np.ndarray, "n arms"],
    candidates: Bool[np.ndarray, "n arms"],
    available: Bool[np.ndarray, "masks arms"],
    widths: Float[np.ndarray, "n arms_or_none"],
    explore_all: bool,
    coverage: int,
    rate: float,
    uniforms: Float[np.ndarray, " n"],
    row_limit: int,
    probabilities: Float[np.ndarray, "n arms"],
    observed: Float[np.ndarray, "n arms"],
    gaps: Float[np.ndarray, "n arms"],
    baseline: Float[np.ndarray, "n arms"],
    explored: Bool[np.ndarray, "n arms"],
    integers: Int[np.ndarray, "n 3"],
    numbers: Float[np.ndarray, "n 4"],
) -> None:
    """`decide_round` for each round of a batch of bit-packed graphs.

    `integers` receives (action, best, solver), `numbers` (probability, gamma, objective, gap).
    """
    n, n_arms = values.shape
    scratch = np.empty(n_arms, np.int32)
    marks = np.full(n_arms, -1, np.int32)
    order = np.empty(n_arms, np.int32)
    demand = np.empty(n_arms)
    duals = np.empty(n_arms)
    work = program_workspace(n_arms, row_limit)
    for t in range(n):
        action, best, gamma, objective, gap, solver = decide_round(
            words[index[t]], values[t], candidates[t], available[t if available.shape[0] > 1 else 0], widths[t],
            explore_all, coverage, rate, uniforms[t], row_limit, scratch, marks, work, order, demand, duals,
            probabilities[t], observed[t], gaps[t], baseline[t], explored[t],
        )  # fmt: skip
        integers[t, 0], integers[t, 1], integers[t, 2] = action, best, solver
        numbers[t, 0] = probabilities[t, action] if action >= 0 else np.nan
        numbers[t, 1], numbers[t, 2], numbers[t, 3] = gamma, objective, gap


@kernel()
def decide_listed(
    graph: Any,
    values: Float[np.ndarray, " arms"],
    candidates: Bool[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    widths: Float[np.ndarray, " arms_or_none"],
    explore_all: bool,
    coverage: int,
    rate: float,
    uniform: float,
    row_limit: int,
    probabilities: Float[np.ndarray, " arms"],
    observed: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    baseline: Float[np.ndarray, " arms"],
    explored: Bool[np.ndarray, " arms"],
) -> tuple[int, int, float, float, float, int]:
    """`decide_round` for one large graph, given as neighbour lists."""
    n_arms = values.shape[0]
    return decide_round(
        graph, values, candidates, available, widths, explore_all, coverage, rate, uniform, row_limit,
        np.empty(n_arms, np.int32), np.full(n_arms, -1, np.int32), program_workspace(n_arms, row_limit),
        np.empty(n_arms, np.int32), np.empty(n_arms), np.empty(n_arms), probabilities, observed,
        gaps, baseline, explored,
    )  # fmt: skip
