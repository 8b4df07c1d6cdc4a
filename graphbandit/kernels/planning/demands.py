"""What the sampling program asks for: the right-hand sides b(a) of its constraints q(a) >= b(a)."""

from typing import NamedTuple

import numpy as np
from numba import types

from graphbandit.base.array_types import ArmIndices, ArmMask, PerArm
from graphbandit.base.program_constants import COVER_ARMS, COVERAGES
from graphbandit.base.shapes import Float
from graphbandit.kernels.graphs.adjacency import Graph, reveals, reveals_among
from graphbandit.kernels.graphs.arm_sets import set_of
from graphbandit.kernels.jit import behind_pointer, inner, kernel
from graphbandit.kernels.planning.certificate import PROGRAM, Program
from graphbandit.kernels.planning.exploration import BELIEFS, FLOATS, INDICES, MASK, Beliefs

PAPER_COVERAGE = COVERAGES.index("paper")


class Task(NamedTuple):
    """A program whose demands are to be made, and what they follow from."""

    program: Program
    candidates: ArmMask
    beliefs: Beliefs
    deviations: Float[np.ndarray, " arms_or_none"]
    """standard deviations of the gaps; empty if P does not follow from them"""


TASK = types.NamedTuple((PROGRAM, MASK, BELIEFS, FLOATS), Task)
"""Its type, for signatures."""


# repeats the loop of `adjacency.observation_probabilities`, with the largest instead of the sum
@inner()
def paper_demand(graph: Graph, baseline: PerArm, best: int, scratch: ArmIndices, demand: PerArm) -> None:
    """b(a) = max of p~(j) over the arms j that reveal a, for a != best: the right-hand side of program (2)."""
    for a in range(demand.shape[0]):
        demand[a] = 0.0
    for j in range(baseline.shape[0]):
        if baseline[j] > 0.0:
            count = reveals(graph, j, scratch)
            for k in range(count):
                if baseline[j] > demand[scratch[k]]:
                    demand[scratch[k]] = baseline[j]
    demand[best] = 0.0


@inner()
def tight_demand(
    candidates: ArmMask, best: int, size: int, gamma: float, beliefs: Beliefs, ceilings: PerArm, demand: PerArm
) -> None:
    """b(a) = max(min(1 / (|S| + gamma c(a)), u(a)), min(d P(a), 1 / |S|)) for candidates a != best, 0 elsewhere.

    1 / (|S| + gamma c(a)) is all that the proofs need.
    """
    gaps, chances, _, doubt = beliefs
    for a in range(candidates.shape[0]):
        least = max(min(1.0 / (size + gamma * gaps[a]), ceilings[a]), min(doubt * chances[a], 1.0 / size))
        demand[a] = least if candidates[a] else 0.0
    demand[best] = 0.0


@inner()
def set_ceilings(task: Task, scratch: ArmIndices, ceilings: PerArm) -> None:
    """u(a) = max(P(a), max over j that reveal a of min(1, W(j) / c(j))), W(j) = sum over out(j) of P(b) c(b).

    To play arm j with probability W(j) / c(j) costs as much as to play each arm b that it reveals with probability
    P(b), as Thompson sampling does. u(a) = 1 if P is not known, with more than `COVER_ARMS` arms, and for arms of
    deviation 0.
    """
    graph, _, gaps, _, available = task.program
    chances, known = task.beliefs.chances, task.beliefs.known
    n_arms = gaps.shape[0]
    limited = known and n_arms <= COVER_ARMS
    for a in range(n_arms):
        ceilings[a] = chances[a] if limited else 1.0
    if not limited:
        return
    among = set_of(task.candidates)
    for j in range(n_arms):
        if available[j]:
            count = reveals_among(graph, j, among, scratch)
            worth = 0.0
            for k in range(count):
                worth += chances[scratch[k]] * gaps[scratch[k]]
            often = worth / gaps[j] if worth < gaps[j] else 1.0
            for k in range(count):
                if often > ceilings[scratch[k]]:
                    ceilings[scratch[k]] = often
    for a in range(task.deviations.shape[0]):
        if task.deviations[a] <= 0.0:
            ceilings[a] = 1.0  # refits may agree on an arm because none has seen it


@kernel()
def set_demand(
    task: Task, coverage: int, size: int, gamma: float, baseline: PerArm, scratch: ArmIndices, ceilings: PerArm
) -> None:
    """Write the demands of a rule into its program; `ceilings` is scratch as well."""
    graph, demand, _, best, _ = task.program
    if coverage == PAPER_COVERAGE:
        paper_demand(graph, baseline, best, scratch, demand)
    else:
        set_ceilings(task, scratch, ceilings)
        tight_demand(task.candidates, best, size, gamma, task.beliefs, ceilings, demand)


call_demand, demand_pointer = behind_pointer(
    set_demand, types.none(TASK, types.int64, types.int64, types.float64, FLOATS, INDICES, FLOATS)
)
"""Call `set_demand` by its address, with a tuple of its arguments; and find the address."""
