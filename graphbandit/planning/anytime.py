"""Sampling programs too large for an exact answer: start from the baseline, stop early, certify how near it is.

The baseline p~ is feasible, and every feasible p that costs no more than p~ keeps the paper's guarantees. So above
a few thousand constrained arms the question is not "exact or nothing": p~ is improved until the certified relative gap
is small enough, the work is used up, or a deadline passes. Work is counted in edges walked over, not in seconds, so
the same program always gives the same answer unless a deadline is asked for.
"""

import time
from dataclasses import dataclass

import numpy as np

from graphbandit.base.arrays import ArmIndices, ArmMask, PerArm
from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.graphs.graph import FeedbackGraph

FIRST_STEPS = 4
"""Proximal steps of one sweep each before the first look at the gap: many short steps are best at first."""
SWEEPS = 3
"""Sweeps of every later step, after each of which the gap is looked at: a few longer ones close it."""
WALKS = 14
"""Walks over all edges up to the first look at the gap, and about as many from one to the next."""
SHARPNESS = 0.4
"""e of the proximal steps over what a play elsewhere than at the best arm costs on average."""
TRIFLE = 0.01
"""Probabilities below this share of the smallest demand are dropped before a point is made feasible."""

LOWEST_EXPONENT = -500.0
"""Powers below are far below the least probability, and take several times as long where they are no normal numbers."""


@savable
@dataclass(frozen=True, kw_only=True)
class Effort:
    """When an anytime answer is good enough.

    - `gap`: the relative duality gap to stop at, 0.01 by default.
    - `work`: edges to walk over at most, 200,000,000 by default, which take 0.2 to 1 s, the more the larger the graph.
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

    began = time.perf_counter()
    out, back = kernels.Lists(*graph.csr()), kernels.Lists(*graph.in_csr())
    scale = float(gaps[available].max()) or 1.0
    c, b = np.where(available, gaps / scale, np.inf), np.maximum(demand, 0.0)
    paid = np.where(available, c, 0.0)
    y, free, best_y, bound = np.zeros(len(b)), 0.0, np.zeros(len(b)), 0.0
    best_p, cost = start, float(paid @ start)
    if cost <= 0.0 or not b.any():  # nothing is cheaper than to play where it costs nothing
        return (start if cost <= 0.0 else (np.arange(len(b)) == best).astype(np.float64)), y
    # e in the units of a cost: a part of what a play costs that the start makes elsewhere than at `best`
    e = SHARPNESS * cost / (1.0 - float(start[best]))
    powers = np.exp(np.maximum(-c / e, LOWEST_EXPONENT))
    p = np.where(available, np.maximum(float(b[b > 0.0].mean()) * powers, kernels.LEAST), 0.0)
    p[best] = max(1.0 - (p.sum() - p[best]), 0.5)
    fillers, covered, spare = np.empty(len(b), dtype=np.int32), np.empty(len(b)), np.empty(len(b))
    work, steps, sweeps, least = 0, FIRST_STEPS, 1, TRIFLE * float(b[b > 0.0].min())
    while True:
        for step in range(steps):
            if step or work:
                kernels.proximal_step(out, c, e, y, free, p)
            free = kernels.meet_rows(back, b, e, sweeps, p, y, free)
        feasible, duals = np.where(p >= least, p, 0.0), y.copy()
        kernels.most_of(back, p, fillers)
        if kernels.polish(out, b, best, fillers, _dearest_first(feasible, fillers, b, gaps), feasible, covered):
            reached = float(paid @ feasible)
            if reached < cost:
                best_p, cost = feasible, reached
        raised = kernels.lower_bound(out, back, c, b, min(free, 0.0), duals, spare)
        if raised > bound:
            best_y, bound = duals, raised
        work += WALKS * max(graph.n_edges, 1)
        late = effort.deadline is not None and time.perf_counter() - began > effort.deadline
        if cost - bound <= effort.gap * max(cost, 1e-6) or work > effort.work or late:
            return best_p, best_y * scale
        steps, sweeps = 1, SWEEPS


def _dearest_first(p: PerArm, fillers: ArmIndices, demand: PerArm, gaps: PerArm) -> ArmIndices:
    """The arms that have a probability or may be given one, from the dearest down: a third of all, or fewer."""
    used = p > 0.0
    asked = fillers[demand > 0.0]
    used[asked[asked >= 0]] = True
    arms = np.flatnonzero(used)
    return arms[np.argsort(-gaps[arms], kind="stable")].astype(np.int32)
