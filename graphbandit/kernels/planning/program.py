"""The sampling program of one round: built near the demanded arms only, solved, and spread over all arms again."""

from typing import Any

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.kernels.graphs.adjacency import observation_probabilities, restrict, transpose_lists
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.simplex import INFEASIBLE, OPTIMAL, solve_covering_lp, workspace
from graphbandit.kernels.planning.simplex_workspace import Workspace

CERTIFIED = 0
UNSOLVED = 1
TOO_LARGE = 2
NO_SOLUTION = 3


@kernel()
def program_workspace(n_arms: int, row_limit: int) -> Workspace:
    """Room for the programs of one thread. Pages that a program does not reach are never touched."""
    return workspace(n_arms, min(n_arms, row_limit))


@kernel()
def solve_program(
    graph: Any,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
    row_limit: int,
    row_of: Int[np.ndarray, " arms"],
    marks: Int[np.ndarray, " arms"],
    work: Workspace,
    probabilities: Float[np.ndarray, " arms"],
    duals: Float[np.ndarray, " arms"],
) -> tuple[int, float, float]:
    """min sum p c  s.t.  q(a) >= demand(a), p >= 0, sum p = 1, p = 0 outside `available`.

    Fills `probabilities` and `duals` and returns (status, objective, relative duality gap). `marks` must hold -1
    throughout and does so again afterwards; `row_of` is scratch, `work` a workspace of `program_workspace`.
    """
    n_arms = demand.shape[0]
    n_rows = 0
    for a in range(n_arms):
        if demand[a] > 0.0:
            n_rows += 1
    if n_rows > row_limit:
        return TOO_LARGE, np.nan, np.nan
    rows = np.empty(n_rows, np.int32)
    b = np.empty(n_rows)
    i = 0
    for a in range(n_arms):
        if demand[a] > 0.0:
            rows[i] = a
            b[i] = demand[a]
            row_of[a] = i
            i += 1
    columns, column_pointers, column_rows = restrict(graph, row_of, rows, best, available, marks)
    row_pointers, row_columns = transpose_lists(column_pointers, column_rows, n_rows)
    n_columns = columns.shape[0]
    c = np.empty(n_columns)
    start = 0
    for k in range(n_columns):
        c[k] = gaps[columns[k]]
        if columns[k] == best:
            start = k
    p = np.empty(n_columns)
    y = np.empty(n_rows)
    status, objective, gap, _ = solve_covering_lp(
        column_pointers, column_rows, row_pointers, row_columns, c, b, start, p, y, work
    )
    probabilities[:] = 0.0
    duals[:] = 0.0
    if status != OPTIMAL:
        return (NO_SOLUTION if status == INFEASIBLE else UNSOLVED), np.nan, np.nan
    for k in range(n_columns):
        probabilities[columns[k]] = p[k]
    for k in range(n_rows):
        duals[rows[k]] = y[k]
    return CERTIFIED, objective, gap


@kernel()
def solve_programs(
    words: Any,
    index: Int[np.ndarray, " n"],
    demands: Float[np.ndarray, "n arms"],
    gaps: Float[np.ndarray, "n arms"],
    best: Int[np.ndarray, " n"],
    row_limit: int,
    probabilities: Float[np.ndarray, "n arms"],
    observed: Float[np.ndarray, "n arms"],
    numbers: Float[np.ndarray, "n 3"],
) -> None:
    """`solve_program` for each round of a batch of bit-packed graphs with all arms available.

    `numbers` receives (status, objective, relative gap); p and q are for rounds of status CERTIFIED.
    """
    n, n_arms = demands.shape
    scratch = np.empty(n_arms, np.int32)
    marks = np.full(n_arms, -1, np.int32)
    available = np.ones(n_arms, np.bool_)
    duals = np.empty(n_arms)
    work = program_workspace(n_arms, row_limit)
    for t in range(n):
        graph = words[index[t]]
        status, objective, gap = solve_program(
            graph, demands[t], gaps[t], best[t], available, row_limit, scratch, marks, work, probabilities[t], duals
        )
        numbers[t, 0], numbers[t, 1], numbers[t, 2] = status, objective, gap
        observation_probabilities(graph, probabilities[t], scratch, observed[t])
