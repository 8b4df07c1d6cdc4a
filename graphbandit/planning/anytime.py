"""Sampling programs too large for an exact answer: start from the baseline, stop early, certify how near it is.

The baseline p~ is feasible, and every feasible p that costs no more than p~ keeps the paper's guarantees. So above
a few thousand constrained arms the question is not "exact or nothing": p~ is improved until the certified relative gap
is small enough, the work is used up, or a deadline passes. Work is counted in edges walked over, not in seconds, so
the same program always gives the same answer unless a deadline is asked for.
"""

import time
from dataclasses import dataclass

import numpy as np

from graphbandit.base.arrays import ArmMask, PerArm
from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.graphs.graph import FeedbackGraph

STEPS = 40
"""First-order steps between two looks at the gap."""


@savable
@dataclass(frozen=True, kw_only=True)
class Effort:
    """When an anytime answer is good enough.

    - `gap`: the relative duality gap to stop at, 0.01 by default.
    - `work`: edges to walk over at most, 200,000,000 by default, which take 0.2 to 4 s, the more the larger the graph.
    - `deadline`: seconds to stop after, with which answers depend on the machine's speed; None (default): no deadline.
    """

    gap: float = 0.01
    work: int = 200_000_000
    deadline: float | None = None

    def __post_init__(self) -> None:
        setting_number("gap", self.gap, at_least=0.0)
        setting_integer("work", self.work, at_least=0)
        if self.deadline is not None:
            setting_number("deadline", self.deadline, at_least=0.0)


def improve(
    graph: FeedbackGraph, demand: PerArm, gaps: PerArm, best: int, available: ArmMask, start: PerArm, effort: Effort
) -> tuple[PerArm, PerArm]:
    """(p, y): a feasible p that costs no more than the feasible `start`, and duals that bound how much it can cost."""
    from graphbandit.kernels.planning import anytime as kernels
    from graphbandit.kernels.planning.parts import transpose_lists
    from graphbandit.kernels.planning.simplex_workspace import Incidence

    began = time.perf_counter()
    rows = np.flatnonzero(demand > 0)
    row_of = np.full(graph.n_arms, -1, dtype=np.int32)
    row_of[rows] = np.arange(len(rows), dtype=np.int32)
    out = graph.csr()
    wanted = row_of[out.indices] >= 0
    sources = out.row_numbers()
    useful = np.zeros(graph.n_arms, dtype=np.bool_)
    useful[sources[wanted]] = True
    useful &= available
    useful[best] = True
    columns = np.flatnonzero(useful)
    kept = wanted & useful[sources]
    col_rows = row_of[out.indices[kept]]
    counts = np.bincount(sources[kept], minlength=graph.n_arms)[columns]
    col_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    lists = Incidence(col_ptr, col_rows, *transpose_lists(col_ptr, col_rows, len(rows)))

    scale = float(gaps[columns].max()) or 1.0
    c, b = gaps[columns] / scale, demand[rows]
    first = int(np.searchsorted(columns, best))
    cheapest = np.empty(len(rows), dtype=np.int32)
    kernels.cheapest_columns(lists, c, cheapest)
    by_cost = np.argsort(-c, kind="stable").astype(np.int32)
    # Steps in p and in y are balanced on the rows that matter: those that playing `best` does not cover anyway.
    uncovered = np.ones(len(rows), dtype=np.bool_)
    uncovered[col_rows[col_ptr[first] : col_ptr[first + 1]]] = False
    weight = float(np.linalg.norm(c) / np.linalg.norm(b[uncovered] if uncovered.any() else b))

    best_p, covered, reduced = start[columns], np.empty(len(rows)), np.empty(len(columns))
    best_y = np.zeros(len(rows))
    cost, bound = float(c @ best_p), -np.inf
    # The first point, before any step: every row filled through the column that costs least per row it covers.
    p, y = np.zeros(len(columns)), np.zeros(len(rows) + 1)
    effective = np.empty(len(rows), dtype=np.int32)
    kernels.cheapest_columns(lists, c / np.maximum(np.diff(col_ptr), 1), effective)
    if not kernels.polish(lists, b, first, effective, by_cost, p, covered):
        p = best_p.copy()
    work = 0
    while True:
        feasible, duals = p.copy(), np.maximum(y[:-1], 0.0)
        if kernels.polish(lists, b, first, cheapest, by_cost, feasible, covered):
            reached = float(c @ feasible)
            if reached < cost:
                best_p, cost = feasible, reached
        raised = kernels.lower_bound(lists, c, b, duals, reduced)
        if raised > bound:
            best_y, bound = duals, raised
        work += (2 * STEPS + 8) * max(len(col_rows), 1)
        late = effort.deadline is not None and time.perf_counter() - began > effort.deadline
        if cost - bound <= effort.gap * max(cost, 1e-6) or work > effort.work or late:
            break
        kernels.first_order_steps(lists, c, b, weight, STEPS, p, y)
    probabilities, all_duals = np.zeros(graph.n_arms), np.zeros(graph.n_arms)
    probabilities[columns] = best_p
    all_duals[rows] = best_y * scale
    return probabilities, all_duals
