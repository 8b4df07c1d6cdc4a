"""One sampling program: its data, its answers, and the certificate that judges them.

    minimise    sum_a p(a) c(a)
    subject to  q(a) = sum_j p(j) P[j, a]  >=  b(a),   p >= 0,   sum_a p(a) = 1,   p(j) = 0 for arms not available

P[j, a] is the probability that playing j reveals a: 0 or 1 where the graph is known. Weak duality makes the certificate
short: for any y >= 0,

    sum_a b(a) y(a) + min over available j of (c(j) - sum_a P[j, a] y(a))

is a lower bound on the optimum, so a feasible p with that cost is optimal, whichever solver found it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.array_types import ArmMask, ArmsByArms, PerArm
from graphbandit.base.direct_calls import kernels_of
from graphbandit.base.program_constants import CERTIFIED, SMALLEST_OBJECTIVE
from graphbandit.base.trusted import trusted
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_graph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from graphbandit.kernels.graphs.adjacency import Graph
    from graphbandit.kernels.planning import certificate as kernels


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingSolution:
    """An answer of the sampling program with its certificate.

    - `probabilities`, `observation_probabilities`: p and q.
    - `objective`: sum_a p(a) c(a).
    - `duality_gap`: how far the objective is above a proven lower bound, relative to it.
    - `infeasibility`: by how much the constraint that is violated most is violated.
    - `solver`: "simplex", "highs" or "anytime", whichever found it.
    - `demand`: b.
    - `duals`: y, which prove the lower bound.
    """

    probabilities: PerArm
    observation_probabilities: PerArm
    objective: float
    duality_gap: float
    infeasibility: float
    solver: str
    demand: PerArm
    duals: PerArm

    @property
    def is_feasible(self) -> bool:
        """Whether no constraint is violated by more than 1e-9."""
        return self.infeasibility <= CERTIFIED

    @property
    def is_exact(self) -> bool:
        """Whether p is feasible, and its cost within a relative 1e-9 of a proven lower bound."""
        return self.infeasibility <= CERTIFIED and self.duality_gap <= CERTIFIED


@dataclass(frozen=True, eq=False)
class Program:
    """The data of one program; nothing is checked.

    - `graph`: the feedback graph, or the matrix P of edge probabilities.
    - `demand`: b, 0 where nothing is asked for.
    - `gaps`: c, 0 for `best` and at least 0 for available arms.
    - `best`: the available arm of gap 0.
    - `available`: the arms that may be played.
    """

    graph: FeedbackGraph | ArmsByArms
    demand: PerArm
    gaps: PerArm
    best: int
    available: ArmMask

    @cached_property
    def reveals(self) -> "csr_array":
        """The transpose of P: entry [a, j] is P[j, a]."""
        from scipy.sparse import csr_array

        if isinstance(self.graph, FeedbackGraph):
            return self.graph.to_sparse().astype(np.float64).T.tocsr()
        return csr_array(self.graph.T)

    def in_kernels(self, graph: "Graph") -> "kernels.Program":
        """The program as kernels take it, with its graph in their form."""
        form = kernels_of("planning.certificate").Program
        made: kernels.Program = form(graph, self.demand, self.gaps, self.best, self.available)
        return made

    def scaled(self, factor: float) -> "Program":
        """The same program with all demands times `factor`."""
        return replace(self, demand=factor * self.demand)

    def observed(self, p: PerArm) -> PerArm:
        """q, summed in a fixed order; BLAS would sum in an order of its own."""
        if isinstance(self.graph, FeedbackGraph):
            from graphbandit.kernels.planning.single_steps import observation_probabilities

            q = np.empty(len(p))
            observation_probabilities(kernel_graph(self.graph), p, q)
            return q
        return np.asarray((p[:, None] * self.graph).sum(axis=0))

    def certified(self, p: PerArm, y: PerArm, solver: str) -> SamplingSolution:
        """Return p with its certificate, whether it holds or not; negative duals count as 0."""
        if isinstance(self.graph, FeedbackGraph):
            from graphbandit.kernels.planning.single_steps import certify_program

            q = np.empty(len(p))
            violation, objective, bound, largest = certify_program(self.in_kernels(kernel_graph(self.graph)), p, y, q)
        else:
            q, objective = self.observed(p), float((p * self.gaps).sum())
            prices = np.maximum(y, 0.0)
            short = np.where(self.demand > 0.0, self.demand - q, 0.0)
            violations = (short.max(), -p.min(), np.abs(p[~self.available]).max(initial=0.0), abs(p.sum() - 1.0), 0.0)
            violation = float(max(violations))
            reduced = self.gaps - (self.graph * prices).sum(axis=1)
            bound = float((self.demand * prices).sum() + reduced[self.available].min())
            largest = float(self.gaps[self.available].max())
        return solution(self.demand, p, y, q, (violation, objective, bound, largest), solver)


def solution(
    demand: PerArm, p: PerArm, y: PerArm, q: PerArm, certificate: Sequence[float], solver: str
) -> SamplingSolution:
    """Build the answer; `certificate` is (largest violation, objective, lower bound, largest cost)."""
    violation, objective, bound, largest = certificate
    scale = max(objective, SMALLEST_OBJECTIVE * largest)
    return trusted(
        SamplingSolution,
        {
            "probabilities": p,
            "observation_probabilities": q,
            "objective": objective,
            "duality_gap": max(objective - bound, 0.0) / scale if scale > 0 else 0.0,
            "infeasibility": violation,
            "solver": solver,
            "demand": demand,
            "duals": y,
        },
    )
