"""Sampling programs too large for an exact answer: start from the baseline, stop early, certify how near it is.

The baseline p~ is feasible, and every feasible p that costs no more than p~ keeps the paper's guarantees. So above
a few thousand constrained arms the question is not "exact or nothing": p~ is improved until the certified relative gap
is small enough, the work is used up, or a deadline passes. Work is counted in edges walked over, not in seconds, so
the same program always gives the same answer unless a deadline is asked for.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmMask, PerArm
from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.program_constants import SMALLEST_OBJECTIVE
from graphbandit.base.saved_files import savable
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import listed_graph

if TYPE_CHECKING:
    from graphbandit.kernels.planning.anytime import LargeProgram

FIRST_STEPS = 3
"""Proximal steps, of one sweep each, before the gap is computed for the first time: short steps are best at first."""
SWEEPS = 3
"""Sweeps of every later step; the gap is computed after each step."""
WALKS = 10
"""About how many walks over all edges are made before each computation of the gap."""
SHARPNESS = 0.4
"""e of the proximal steps, relative to the average cost of playing an arm other than the best."""
TRIFLE = 0.01
"""Probabilities below this share of the smallest demand are dropped before a point is made feasible."""

AT_ONCE = 100_000
"""With at least this many edges, two threads compute the feasible point and the bound; they share no output."""
MOST = 65535.0
"""The largest integer of 16 bits."""

LOWEST_EXPONENT = -500.0
"""Smaller powers are far below the least probability, and subnormal numbers are several times slower."""

First = TypeVar("First")
Second = TypeVar("Second")


@savable
@dataclass(frozen=True, kw_only=True)
class Effort:
    """When an anytime answer is good enough.

    - `gap`: the relative duality gap to stop at, 0.01 by default.
    - `work`: the most edges to walk over, 200,000,000 by default, which takes 0.2 to 1 s, longer for larger graphs. A
      first answer is found even if that takes more.
    - `deadline`: stop after this many seconds; answers then depend on the machine's speed. None (default): no deadline.
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
    """Return (p, y): a feasible p that costs no more than the feasible `start`, and duals that prove a lower bound."""
    from graphbandit.kernels.planning import anytime as kernels

    began = time.perf_counter()
    scale = float(gaps[available].max()) or 1.0
    c, b = np.where(available, gaps / scale, np.inf), np.maximum(demand, 0.0)
    paid = np.where(available, c, 0.0)
    y, free, best_y, bound = np.zeros(len(b)), 0.0, np.zeros(len(b)), 0.0
    best_p, cost = start, float(paid @ start)
    if cost <= 0.0 or not b.any():  # nothing is cheaper than an arm that costs nothing
        return (start if cost <= 0.0 else (np.arange(len(b)) == best).astype(np.float64)), y
    # e has the unit of a cost: a share of what `start` pays for a play of an arm other than `best`
    e = SHARPNESS * cost / (1.0 - float(start[best]))
    asked = b[b > 0.0]
    reference = np.full(len(b), float(asked.mean()))
    powers = np.exp(np.maximum(-c / e, LOWEST_EXPONENT))
    p = np.where(available, np.maximum(reference * powers, kernels.LEAST), 0.0)
    p[best] = reference[best] = max(1.0 - (p.sum() - p[best]), 0.5)
    reference[p <= kernels.SMALL] = 0.0
    program, point = kernels.LargeProgram(listed_graph(graph), c, b), kernels.Iterate(p, reference, y)
    spare, walked, steps, sweeps = np.empty(len(b)), 0, FIRST_STEPS, 1
    while True:
        for step in range(steps):
            if step or walked:
                kernels.proximal_step(program, e, point, free)
            free = kernels.meet_rows(program, e, sweeps, point, free)
        duals = y.copy()
        feasible, raised = both(
            partial(_feasible, program, best, p, TRIFLE * float(asked.min())),
            partial(kernels.lower_bound, program, e, point._replace(y=duals), free, spare),
            at_once=graph.n_edges >= AT_ONCE,
        )
        if feasible is not None:
            reached = float(paid @ feasible)
            if reached < cost:
                best_p, cost = feasible, reached
        if raised > bound:
            best_y, bound = duals, raised
        walked += WALKS * max(graph.n_edges, 1)
        late = effort.deadline is not None and time.perf_counter() - began > effort.deadline
        close = cost - bound <= effort.gap * max(cost, SMALLEST_OBJECTIVE)
        if close or walked + WALKS * graph.n_edges > effort.work or late:
            return best_p, best_y * scale
        steps, sweeps = 1, SWEEPS


def _feasible(program: "LargeProgram", best: int, p: PerArm, least: float) -> PerArm | None:
    """A feasible point near p, without probabilities below `least`; None if it would sum to more than 1."""
    from graphbandit.kernels.planning import anytime as kernels

    feasible, slack = np.where(p >= least, p, 0.0), np.empty(len(p))
    kernels.cover(program, feasible, slack)
    for _ in range(3):
        total = kernels.fill(program.graph, p, best, feasible, slack)
        total -= kernels.shed(program.graph, best, _dearest_first(feasible, program.c), feasible, slack)
        if total <= 1.0 + 1e-12:
            feasible[best] += 1.0 - total
            return feasible
    return None


def both(first: Callable[[], First], second: Callable[[], Second], *, at_once: bool) -> tuple[First, Second]:
    """Run both and return their results, which do not depend on `at_once` if neither changes what the other reads.

    - `at_once`: whether the second runs in a thread of its own, which ends before this function returns.

    >>> both(lambda: 1, lambda: 2, at_once=True)
    (1, 2)
    """
    if not at_once:
        return first(), second()
    with ThreadPoolExecutor(1) as other:
        running = other.submit(second)
        found = first()
    return found, running.result()


def _dearest_first(p: PerArm, c: PerArm) -> ArmIndices:
    """The arms of positive probability, most expensive first, by costs cut to 16 bits, which NumPy sorts faster."""
    arms = np.flatnonzero(p > 0.0).astype(np.int32)
    return arms[np.argsort((MOST * (1.0 - c[arms])).astype(np.uint16), kind="stable")]
