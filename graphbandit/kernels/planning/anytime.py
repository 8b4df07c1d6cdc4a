"""Large sampling programs: a feasible p and a lower bound that close in on each other, to be stopped at any time.

The program is min c p with sum p = 1, p >= 0 and, for each arm a that is asked for, sum of p(j) over the arms j that
reveal a >= b(a). The graph comes as two lists: `out` has the arms that an arm reveals, `back` those that reveal it. An
arm that may not be played has an infinite cost.

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
from graphbandit.base.shapes import Int
from graphbandit.kernels.jit import inner, kernel

LEAST = 1e-200
"""Probabilities do not fall below this, so that every row can be met again."""
STEEPEST = np.exp(30.0)
"""The largest factor by which a probability is multiplied at the start of a step."""
SMALL = 1e-100
"""A probability above this does not fall to `LEAST` within a step."""


class Lists(NamedTuple):
    """The arms that belong to each arm: those of arm a are `arms[pointers[a] : pointers[a + 1]]`."""

    pointers: Int[np.ndarray, " pointers"]
    arms: Int[np.ndarray, " entries"]


@kernel()
def meet_rows(back: Lists, b: PerArm, e: float, sweeps: int, p: PerArm, y: PerArm, free: float) -> float:
    """Sweep over the rows, forwards and backwards in turn, and meet each; return the new dual of sum p = 1, `free`.

    A row that is met without its dual keeps y = 0.
    """
    n_arms = b.shape[0]
    for sweep in range(sweeps):
        for step in range(n_arms):
            a = n_arms - 1 - step if sweep % 2 else step
            if b[a] <= 0.0:
                continue
            met = 0.0
            for k in range(back.pointers[a], back.pointers[a + 1]):
                met += p[back.arms[k]]
            if met >= b[a] and y[a] == 0.0:
                continue
            raised = max(y[a] + e * np.log(b[a] / met), 0.0)
            factor = b[a] / met if raised > 0.0 else np.exp(-y[a] / e)
            y[a] = raised
            for k in range(back.pointers[a], back.pointers[a + 1]):
                p[back.arms[k]] = max(p[back.arms[k]] * factor, LEAST) if p[back.arms[k]] > 0.0 else 0.0
        total = p.sum()
        free -= e * np.log(total)
        for j in range(n_arms):
            p[j] /= total
    return free


@inner()
def less_duals(out: Lists, c: PerArm, y: PerArm, j: int) -> float:
    """c(j) less the duals of what j reveals."""
    cost: float = c[j]
    for k in range(out.pointers[j], out.pointers[j + 1]):
        cost -= y[out.arms[k]]
    return cost


@kernel()
def proximal_step(out: Lists, c: PerArm, e: float, y: PerArm, free: float, p: PerArm, reference: PerArm) -> None:
    """Make p the reference of the next step: every p(j) times exp((A'y + free - c) / e), which is p / `reference`.

    The factor is computed from the lists if `reference` is 0: then p is or was so small that it may have been held at
    `LEAST`.
    """
    for j in range(p.shape[0]):
        if p[j] > 0.0:
            ratio = p[j] / reference[j] if reference[j] > 0.0 else np.exp((free - less_duals(out, c, y, j)) / e)
            p[j] = max(p[j] * min(ratio, STEEPEST), LEAST)
            reference[j] = p[j] / ratio if p[j] > SMALL else 0.0


@kernel()
def cover(out: Lists, b: PerArm, p: PerArm, slack: PerArm) -> None:
    """Write by how much q exceeds b in each row; infinite where b is 0."""
    for a in range(b.shape[0]):
        slack[a] = -b[a] if b[a] > 0.0 else np.inf
    for j in range(p.shape[0]):
        if p[j] > 0.0:
            for k in range(out.pointers[j], out.pointers[j + 1]):
                slack[out.arms[k]] += p[j]


@kernel()
def fill(out: Lists, back: Lists, key: PerArm, best: int, p: PerArm, slack: PerArm) -> float:
    """Move `best` to where p sums to 1, then meet every row that falls short; returns the sum of p.

    Rows are met through the arm of the largest `key` among those that reveal them, the first on ties.
    """
    total: float = p.sum()
    shift = max(1.0 - total, -p[best])
    p[best] += shift
    total += shift
    for k in range(out.pointers[best], out.pointers[best + 1]):
        slack[out.arms[k]] += shift
    for a in range(p.shape[0]):
        short = -slack[a]
        if short > 0.0:
            j = back.arms[back.pointers[a]]
            for k in range(back.pointers[a] + 1, back.pointers[a + 1]):
                if key[back.arms[k]] > key[j]:
                    j = back.arms[k]
            p[j] += short
            total += short
            for k in range(out.pointers[j], out.pointers[j + 1]):
                slack[out.arms[k]] += short
    return total


@kernel()
def shed(out: Lists, best: int, order: ArmIndices, p: PerArm, slack: PerArm) -> float:
    """Lower the arms other than `best`, in this order, by all that their rows can spare; returns the total."""
    spared = 0.0
    for place in range(order.shape[0]):
        j = order[place]
        if j == best:
            continue
        spare = p[j]
        for k in range(out.pointers[j], out.pointers[j + 1]):
            spare = min(spare, slack[out.arms[k]])
            if spare <= 0.0:
                break
        if spare > 0.0:
            p[j] -= spare
            spared += spare
            for k in range(out.pointers[j], out.pointers[j + 1]):
                slack[out.arms[k]] -= spare
    return spared


@kernel()
def lower_bound(
    out: Lists,
    back: Lists,
    c: PerArm,
    b: PerArm,
    e: float,
    free: float,
    p: PerArm,
    reference: PerArm,
    y: PerArm,
    spare: PerArm,
) -> float:
    """sum b y + min(free, 0) with y moved to fit A'y + min(free, 0) <= c, each row by all that its arms can spare.

    `spare` of an arm is negative if its constraint is violated. Its rows are then lowered, but not below 0, so all
    constraints hold after one walk, because they hold for y = 0.
    """
    for j in range(p.shape[0]):
        if p[j] <= 0.0:
            spare[j] = np.inf
        elif reference[j] > 0.0:
            spare[j] = max(free, 0.0) - e * np.log(p[j] / reference[j])
        else:
            spare[j] = less_duals(out, c, y, j) - min(free, 0.0)
    bound = min(free, 0.0)
    for a in range(b.shape[0]):
        if b[a] <= 0.0:
            continue
        least = np.inf
        for k in range(back.pointers[a], back.pointers[a + 1]):
            least = min(least, spare[back.arms[k]])
        change = max(least, -y[a])
        if change != 0.0:
            y[a] += change
            for k in range(back.pointers[a], back.pointers[a + 1]):
                spare[back.arms[k]] -= change
        bound += b[a] * y[a]
    return bound
