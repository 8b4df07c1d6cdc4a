"""What Python and the kernels must agree on about the programs of a round: names, their numbers, and tolerances."""

from typing import Literal, get_args

SolverName = Literal["none", "trivial", "simplex", "highs", "anytime", "interior-point"]

SOLVERS: tuple[SolverName, ...] = get_args(SolverName)
"""How a round's probabilities came about; `Decisions.solver` holds positions in this tuple.

"none": the learner asks for no linear program; "trivial": all mass on the best arm, nothing to solve;
"simplex": the compiled exact solver; "highs": HiGHS, in place of the compiled solver; "anytime": a large program,
stopped at a certified gap; "interior-point": the compiled solver of SquareCB.G's convex program.
"""

ExploreName = Literal["candidates", "all", "best"]

EXPLORES: tuple[ExploreName, ...] = get_args(ExploreName)
"""What the exploration set is: the greedy one of the candidates, all arms on offer, or the best arm alone."""

CoverageName = Literal["none", "paper", "tight", "cover"]

COVERAGES: tuple[CoverageName, ...] = get_args(CoverageName)
"""What a sampling program demands: nothing (the baseline is played), the paper's demands, or what its proofs need.
"cover" has no program: it plays uniformly on a few arms that reveal all candidates."""

CERTIFIED = 1e-9
"""The most that the infeasibility and the relative duality gap of an exact answer may be."""

SMALLEST_OBJECTIVE = 1e-6
"""A duality gap is relative to the objective, or to this share of the largest cost where the objective is smaller."""

SUMS_TO_ONE = 1e-9
"""By how much the sum of a distribution that a program or a learner made may differ from one."""

GIVEN_SUMS_TO_ONE = 1e-6
"""The same for a baseline that somebody hands in."""

ROW_LIMIT = 3000
"""Constrained arms up to which the compiled simplex is tried; above it a dense inverse no longer pays."""

ACCEPTED = 1e-6
"""The relative gap that SquareCB.G's solver aims for; answers with a larger gap are counted."""

COVER_ARMS = 512
"""The most arms for which a cover is counted in every round; with more, that would take longer than the program."""
