"""Large sampling programs: a feasible p and a lower bound that close in on each other, to be stopped at any time.

The program is min c p with sum p = 1, p >= 0 and, for each arm a that is asked for, sum of p(j) over the arms j that
reveal a >= b(a). An arm that may not be played has an infinite cost.

Proximal steps in relative entropy (Censor & Zenios 1992) minimise c p + e KL(p, p of the step before). Its duals are
raised one row after the other, each to where its row is met exactly: p(j) = p of the step before times exp((sum of y
over what j reveals + y of sum p = 1 - c(j)) / e), so a change of y(a) multiplies all p(j) that reveal a by one
factor, and no exponential is computed again. The factor by which p(j) has changed since the step began gives the
reduced cost of arm j, so the next step and the bound begin without a walk over the lists. `fill` and `shed` turn any
such point into a feasible p, and `lower_bound` turns any duals into a valid bound, each in one or two walks over the
lists. A new p or bound is kept only if it is an improvement.
"""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmIndices, PerArm
from graphbandit.kernels.graphs.adjacency import Graph
from graphbandit.kernels.jit import inner, kernel

LEAST = 1e-200
"""Probabilities do not fall below this, so that every row can be met again."""
STEEPEST = np.exp(30.0)
"""The largest factor by which a probability is multiplied at the start of a step."""
SMALL = 1e-100
"""A probability above this does not fall to `LEAST` within a step."""


class LargeProgram(NamedTuple):
    """The data of the program."""

    graph: Graph
    """always listed, because every step walks over all lists"""
    c: PerArm
    b: PerArm


class Iterate(NamedTuple):
    """Where the proximal steps are."""

    p: PerArm
    reference: PerArm
    """p of the step before, or 0: see `proximal_step`"""
    y: PerArm


@kernel()
def meet_rows(program: LargeProgram, e: float, sweeps: int, point: Iterate, free: float) -> float:
    """Sweep over the rows, forwards and backwards in turn, and meet each; return the new dual of sum p = 1, `free`.

    A row that is met without its dual keeps y = 0.
    """
    graph, _, b = program
    p, _, y = point
    n_arms = b.shape[0]
    for sweep in range(sweeps):
        for step in range(n_arms):
            a = n_arms - 1 - step if sweep % 2 else step
            if b[a] <= 0.0:
                continue
            met = 0.0
            for k in range(graph.in_pointers[a], graph.in_pointers[a + 1]):
                met += p[graph.in_arms[k]]
            if met >= b[a] and y[a] == 0.0:
                continue
            raised = max(y[a] + e * np.log(b[a] / met), 0.0)
            factor = b[a] / met if raised > 0.0 else np.exp(-y[a] / e)
            y[a] = raised
            for k in range(graph.in_pointers[a], graph.in_pointers[a + 1]):
                p[graph.in_arms[k]] = max(p[graph.in_arms[k]] * factor, LEAST) if p[graph.in_arms[k]] > 0.0 else 0.0
        total = p.sum()
        free -= e * np.log(total)
        for j in range(n_arms):
            p[j] /= total
    return free


@inner()
def less_duals(program: LargeProgram, y: PerArm, j: int) -> float:
    """c(j) less the duals of what j reveals."""
    graph = program.graph
    cost: float = program.c[j]
    for k in range(graph.pointers[j], graph.pointers[j + 1]):
        cost -= y[graph.arms[k]]
    return cost


@kernel()
def proximal_step(program: LargeProgram, e: float, point: Iterate, free: float) -> None:
    """Make p the reference of the next step: every p(j) times exp((A'y + free - c) / e), which is p / `reference`.

    The factor is computed from the lists if `reference` is 0: then p is or was so small that it may have been held at
    `LEAST`.
    """
    p, reference, y = point
    for j in range(p.shape[0]):
        if p[j] > 0.0:
            ratio = p[j] / reference[j] if reference[j] > 0.0 else np.exp((free - less_duals(program, y, j)) / e)
            p[j] = max(p[j] * min(ratio, STEEPEST), LEAST)
            reference[j] = p[j] / ratio if p[j] > SMALL else 0.0


@kernel()
def cover(program: LargeProgram, p: PerArm, slack: PerArm) -> None:
    """Write by how much q exceeds b in each row; infinite where b is 0."""
    graph, _, b = program
    for a in range(b.shape[0]):
        slack[a] = -b[a] if b[a] > 0.0 else np.inf
    for j in range(p.shape[0]):
        if p[j] > 0.0:
            for k in range(graph.pointers[j], graph.pointers[j + 1]):
                slack[graph.arms[k]] += p[j]


@kernel()
def fill(graph: Graph, key: PerArm, best: int, p: PerArm, slack: PerArm) -> float:
    """Move `best` to where p sums to 1, then meet every row that falls short; returns the sum of p.

    Rows are met through the arm of the largest `key` among those that reveal them, the first on ties.
    """
    total: float = p.sum()
    shift = max(1.0 - total, -p[best])
    p[best] += shift
    total += shift
    for k in range(graph.pointers[best], graph.pointers[best + 1]):
        slack[graph.arms[k]] += shift
    for a in range(p.shape[0]):
        short = -slack[a]
        if short > 0.0:
            j = graph.in_arms[graph.in_pointers[a]]
            for k in range(graph.in_pointers[a] + 1, graph.in_pointers[a + 1]):
                if key[graph.in_arms[k]] > key[j]:
                    j = graph.in_arms[k]
            p[j] += short
            total += short
            for k in range(graph.pointers[j], graph.pointers[j + 1]):
                slack[graph.arms[k]] += short
    return total


@kernel()
def shed(graph: Graph, best: int, order: ArmIndices, p: PerArm, slack: PerArm) -> float:
    """Lower the arms other than `best`, in this order, by all that their rows can spare; returns the total."""
    spared = 0.0
    for place in range(order.shape[0]):
        j = order[place]
        if j == best:
            continue
        spare = p[j]
        for k in range(graph.pointers[j], graph.pointers[j + 1]):
            spare = min(spare, slack[graph.arms[k]])
            if spare <= 0.0:
                break
        if spare > 0.0:
            p[j] -= spare
            spared += spare
            for k in range(graph.pointers[j], graph.pointers[j + 1]):
                slack[graph.arms[k]] -= spare
    return spared


@kernel()
def lower_bound(program: LargeProgram, e: float, point: Iterate, free: float, spare: PerArm) -> float:
    """sum b y + min(free, 0) with y moved to fit A'y + min(free, 0) <= c, each row by all that its arms can spare.

    `spare` of an arm is negative if its constraint is violated. Its rows are then lowered, but not below 0, so all
    constraints hold after one walk, because they hold for y = 0.
    """
    graph, _, b = program
    p, reference, y = point
    for j in range(p.shape[0]):
        if p[j] <= 0.0:
            spare[j] = np.inf
        elif reference[j] > 0.0:
            spare[j] = max(free, 0.0) - e * np.log(p[j] / reference[j])
        else:
            spare[j] = less_duals(program, y, j) - min(free, 0.0)
    bound = min(free, 0.0)
    for a in range(b.shape[0]):
        if b[a] <= 0.0:
            continue
        least = np.inf
        for k in range(graph.in_pointers[a], graph.in_pointers[a + 1]):
            least = min(least, spare[graph.in_arms[k]])
        change = max(least, -y[a])
        if change != 0.0:
            y[a] += change
            for k in range(graph.in_pointers[a], graph.in_pointers[a + 1]):
                spare[graph.in_arms[k]] -= change
        bound += b[a] * y[a]
    return bound
