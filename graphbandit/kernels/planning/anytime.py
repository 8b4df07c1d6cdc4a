"""Large sampling programs: a feasible p and a lower bound that close in on each other, to be stopped at any time.

The program is min c p with sum p = 1, p >= 0 and, for each arm a that is asked for, sum of p(j) over the arms j that
reveal a >= b(a). Lists of arms say which: `out` what an arm reveals, `back` which arms reveal it. An arm that may not
be played has an infinite cost.

Proximal steps in relative entropy (Censor & Zenios 1992) minimise c p + e KL(p, p of the step before). Its duals are
raised one row after the other, each to where its row is met exactly: p(j) = p of the step before times exp((sum of y
over what j reveals + y of sum p = 1 - c(j)) / e), so a change of y(a) multiplies all p(j) that reveal a by one
factor, and no exponential is worked out anew. `polish` makes a feasible p of any such point, `lower_bound` a valid
bound of any duals, each in a few walks over the lists; both are kept only where they improve.
"""

from typing import NamedTuple

import numpy as np

from graphbandit.base.arrays import ArmIndices, PerArm
from graphbandit.base.shapes import Int
from graphbandit.kernels.jit import kernel

LEAST = 1e-200
"""Below this a probability does not fall, so that every row can be met again."""


class Lists(NamedTuple):
    """The arms that belong to each arm: those of arm a are `arms[pointers[a] : pointers[a + 1]]`."""

    pointers: Int[np.ndarray, " pointers"]
    arms: Int[np.ndarray, " entries"]


@kernel()
def meet_rows(back: Lists, b: PerArm, e: float, sweeps: int, p: PerArm, y: PerArm, free: float) -> float:
    """Sweep over the rows, forwards and backwards in turn, meeting each; the dual of sum p = 1, `free` before, after.

    A row that is met without its dual keeps y = 0.
    """
    n_arms = b.shape[0]
    for sweep in range(sweeps):
        for step in range(n_arms):
            a = step if sweep % 2 else n_arms - 1 - step
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


@kernel()
def proximal_step(out: Lists, c: PerArm, e: float, y: PerArm, free: float, p: PerArm) -> None:
    """Make p the reference of the next step: every p(j) times exp((A'y + free - c) / e)."""
    for j in range(c.shape[0]):
        if p[j] > 0.0:
            reduced = c[j] - free
            for k in range(out.pointers[j], out.pointers[j + 1]):
                reduced -= y[out.arms[k]]
            p[j] = max(p[j] * np.exp(min(-reduced / e, 30.0)), LEAST)


@kernel()
def most_of(back: Lists, key: PerArm, most: ArmIndices) -> None:
    """For each arm that of the largest key among those that reveal it, the first on ties; -1 if none does."""
    for a in range(most.shape[0]):
        most[a] = -1
        for k in range(back.pointers[a], back.pointers[a + 1]):
            if most[a] < 0 or key[back.arms[k]] > key[most[a]]:
                most[a] = back.arms[k]


@kernel()
def polish(
    out: Lists, b: PerArm, best: int, fillers: ArmIndices, by_cost: ArmIndices, p: PerArm, covered: PerArm
) -> bool:
    """Make p feasible and drop what it does not need; False if it asks for more than one unit of mass.

    Rows that fall short are filled through their arm in `fillers`, mass in excess is taken from `best`, and then arms
    give up, from the dearest (`by_cost`) down, all that every row of theirs can spare; what they give goes to `best`.
    `by_cost` has at least the arms of positive p and the fillers.
    """
    n_arms = p.shape[0]
    for a in range(n_arms):
        covered[a] = 0.0
    total = 0.0
    for j in range(n_arms):
        total += p[j]
        if p[j] > 0.0:
            for k in range(out.pointers[j], out.pointers[j + 1]):
                covered[out.arms[k]] += p[j]
    for _ in range(3):
        shift = max(1.0 - total, -p[best])
        p[best] += shift
        total += shift
        for k in range(out.pointers[best], out.pointers[best + 1]):
            covered[out.arms[k]] += shift
        for a in range(n_arms):
            short = b[a] - covered[a]
            if short > 0.0 and b[a] > 0.0:
                j = fillers[a]
                p[j] += short
                total += short
                for k in range(out.pointers[j], out.pointers[j + 1]):
                    covered[out.arms[k]] += short
        spared = 0.0
        for order in range(by_cost.shape[0]):
            j = by_cost[order]
            if p[j] > 0.0 and j != best:
                spare = p[j]
                for k in range(out.pointers[j], out.pointers[j + 1]):
                    if b[out.arms[k]] > 0.0:
                        spare = min(spare, covered[out.arms[k]] - b[out.arms[k]])
                if spare > 0.0:
                    p[j] -= spare
                    spared += spare
                    for k in range(out.pointers[j], out.pointers[j + 1]):
                        covered[out.arms[k]] -= spare
        total -= spared
        if total <= 1.0:
            break
    if total > 1.0 + 1e-12:
        return False
    p[best] += 1.0 - total
    return True


@kernel()
def lower_bound(out: Lists, back: Lists, c: PerArm, b: PerArm, free: float, y: PerArm, spare: PerArm) -> float:
    """sum b y + free with y made to fit A'y + free <= c: lowered row by row, then raised by all that is spared."""
    n_arms = c.shape[0]
    for j in range(n_arms):
        spare[j] = 0.0
        for k in range(out.pointers[j], out.pointers[j + 1]):
            spare[j] += y[out.arms[k]]
        room = c[j] - free
        spare[j] = spare[j] / room if room > 0.0 else (np.inf if spare[j] > 0.0 else 0.0)
    for a in range(n_arms):
        most = 1.0
        for k in range(back.pointers[a], back.pointers[a + 1]):
            most = max(most, spare[back.arms[k]])
        y[a] /= most
    for j in range(n_arms):
        spare[j] = c[j] - free
        for k in range(out.pointers[j], out.pointers[j + 1]):
            spare[j] -= y[out.arms[k]]
    bound = free
    for a in range(n_arms - 1, -1, -1):
        if b[a] <= 0.0:
            continue
        least = np.inf
        for k in range(back.pointers[a], back.pointers[a + 1]):
            least = min(least, spare[back.arms[k]])
        if least > 0.0:
            y[a] += least
            for k in range(back.pointers[a], back.pointers[a + 1]):
                spare[back.arms[k]] -= least
        bound += b[a] * y[a]
    return bound
