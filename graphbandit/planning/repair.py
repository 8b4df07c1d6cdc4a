"""The best feasible answer where no solver reaches a certified optimum, as when arms nearly tie.

Points that violate a constraint a little are made feasible, and duals that price an arm a little above its cost are
lowered. The answer is the cheapest point with the highest bound: feasible to 1e-9, with a certified gap that may be
larger.
"""

import numpy as np

from graphbandit.base.array_types import PerArm
from graphbandit.base.program_constants import CERTIFIED
from graphbandit.errors import SolverError
from graphbandit.planning.certified_program import Program, SamplingSolution
from graphbandit.planning.highs import largest_factor

PASSES = 5
"""How often rows that fall short are filled: mass taken from `best` for some rows may be missing in others."""


def repaired(program: Program, points: list[PerArm], duals: list[PerArm]) -> SamplingSolution:
    """The cheapest of the points, made feasible if necessary, with the best bound. Raises if none can be made feasible.

    >>> from graphbandit import graphs
    >>> loops = Program(graphs.bandit(2), np.array([0.0, 0.25]), np.array([0.0, 1.0]), 0, np.ones(2, dtype=bool))
    >>> answer = repaired(loops, [np.array([1.0, 0.0])], [np.array([0.0, 1.1])])
    >>> answer.probabilities, round(answer.duality_gap, 12)
    (array([0.75, 0.25]), 0.0)
    """
    nothing = np.zeros(len(program.gaps))
    best: SamplingSolution | None = None
    for p in [*points, *(filled(program, p) for p in points)]:
        answer = program.certified(p, nothing, "anytime")
        if answer.is_feasible and (best is None or answer.objective < best.objective):
            best = answer
    if best is None:
        factor, p = largest_factor(program)
        best = program.certified(p, nothing, "anytime")
        if not best.is_feasible:
            raise SolverError(
                f"the sampling program has no solution: only {factor:.6g} of the demands can be met by one unit of mass"
            )
    for y in duals:
        for tried in (y, lowered(program, y)):
            answer = program.certified(best.probabilities, tried, "anytime")
            if answer.duality_gap < best.duality_gap:
                best = answer
    return best


def filled(program: Program, p: PerArm) -> PerArm:
    """Raise p where a row falls short, through the arm that does it at the least cost; the mass comes from `best`."""
    p, reveals = np.where(program.available, np.maximum(p, 0.0), 0.0), program.reveals
    for _ in range(PASSES):
        p[program.best] += 1.0 - p.sum()
        short = np.where(program.demand > 0.0, program.demand - reveals @ p, 0.0)
        if p[program.best] < 0.0 or short.max() <= 0.1 * CERTIFIED:
            break
        for a in np.flatnonzero(short > 0.0):
            arms = reveals.indices[reveals.indptr[a] : reveals.indptr[a + 1]]
            chances = reveals.data[reveals.indptr[a] : reveals.indptr[a + 1]]
            useful = program.available[arms] & (chances > 0.0) & (arms != program.best)
            if useful.any():
                j = int(np.argmin(np.where(useful, program.gaps[arms] / np.maximum(chances, 1e-300), np.inf)))
                p[arms[j]] += short[a] / chances[j]
    return p


def lowered(program: Program, y: PerArm) -> PerArm:
    """Lower the duals until no available arm has a reduced cost below that of `best`: the bound uses the lowest one."""
    y, columns = np.maximum(y, 0.0), program.reveals.T.tocsr()
    reduced = program.gaps - columns @ y
    goal = reduced[program.best]
    for j in np.flatnonzero(program.available & (reduced < goal)):
        rows = columns.indices[columns.indptr[j] : columns.indptr[j + 1]]
        chances = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
        lacking = goal - (program.gaps[j] - chances @ y[rows])
        for k in np.argsort(program.demand[rows], kind="stable"):
            if lacking > 0.0 and y[rows[k]] > 0.0 and chances[k] > 0.0:
                taken = min(y[rows[k]], lacking / chances[k])
                y[rows[k]] -= taken
                lacking -= taken * chances[k]
    return y
