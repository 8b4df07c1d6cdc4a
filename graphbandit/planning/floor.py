"""A floor for observation probabilities: every arm on offer is observed often enough, at the least expected regret.

A learner's own distribution p is kept as far as the floor f allows. It counts as one more arm, "own", that reveals
arm a with its observation probability q(a) and costs nothing; playing arm j instead costs its gap c(j):

    minimise    sum_j x(j) (c(j) + e)                                   the sampling program once more
    subject to  x(own) q(a) + sum_j x(j) P[j, a]  >=  s f               for every arm a on offer
                x >= 0,   x(own) + sum_j x(j) = 1,   x(j) = 0 for arms not on offer

and the round plays p' = x(own) p + x. P[j, a] is the probability that playing j reveals a, 0 or 1 where the graph is
known. e is a millionth of the largest gap: among answers of the same regret, it selects the one that changes p least.
s is 1 if the program then has a solution; otherwise it is the largest number with which it has one, as for weakly
observable graphs. An arm that no arm on offer reveals has no row. On a star the cheapest answer is often to play the
hub once in 1 / f rounds. If q is above the floor already, nothing is solved.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.array_types import ArmMask, ArmMasks, ArmsByArms, PerArm, PerRound
from graphbandit.base.checks import everyone
from graphbandit.base.program_constants import SOLVERS
from graphbandit.errors import SolverError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.planning.highs import cheapest, largest_share
from graphbandit.planning.sampling_program import UNDERSTATED
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.drawn_arms import draw

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SLACK = 1e-9
"""How far below the floor q may be: about the accuracy of the solvers."""

LEAST_MOVED = 1e-6
"""e over the largest gap."""

OWN = SOLVERS.index("highs")


def with_floor(
    decisions: Decisions,
    floor: float,
    *,
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    available: ArmMasks | None,
    uniforms: PerRound,
) -> Decisions:
    """Raise the decisions so that every arm on offer is observed with probability at least `floor`, and draw again.

    In rounds that change, `baseline` is the learner's own p, and `coverage_factor` the smaller of its own value and s.
    """
    n_arms = graphs.n_arms
    offered = np.broadcast_to(everyone(n_arms), (len(graphs), n_arms)) if available is None else available
    short = ((decisions.observation_probabilities < floor - SLACK) & offered).any(axis=1)
    if not short.any():
        return decisions
    probabilities, factors = decisions.probabilities.copy(), decisions.coverage_factor.copy()
    solvers, gaps = decisions.solver.copy(), decisions.duality_gap.copy()
    for t in np.flatnonzero(short).tolist():
        graph = graphs[t] if isinstance(graphs, FeedbackGraphs) else graphs.matrix(t)
        moved, share = raised(
            decisions.probabilities[t],
            decisions.observation_probabilities[t],
            decisions.gaps[t],
            floor,
            graph=graph,
            available=offered[t],
        )
        if moved is None:
            short[t] = False
            continue
        probabilities[t], factors[t] = moved, min(factors[t], share)
        solvers[t], gaps[t] = OWN, np.nan
    actions, observed = draw(probabilities, graphs, uniforms)
    costs = np.where(offered, decisions.gaps, 0.0)
    return replace(
        decisions,
        action=np.where(short, actions, decisions.action),
        probability=np.where(short, probabilities[np.arange(len(short)), actions], decisions.probability),
        probabilities=probabilities,
        observation_probabilities=np.where(short[:, None], observed, decisions.observation_probabilities),
        baseline=np.where(short[:, None], decisions.probabilities, decisions.baseline),
        objective=np.where(short, (probabilities * costs).sum(axis=1), decisions.objective),
        solver=solvers,
        duality_gap=gaps,
        coverage_factor=factors,
    )


def raised(
    own: PerArm, observed: PerArm, gaps: PerArm, floor: float, *, graph: FeedbackGraph | ArmsByArms, available: ArmMask
) -> tuple[PerArm | None, float]:
    """Return (p', s) of one round; p' is None if no arm on offer reveals any of the arms below the floor.

    >>> from graphbandit import graphs
    >>> p, gaps, everyone = np.array([0.0, 1.0, 0.0, 0.0]), np.array([0.3, 0.0, 0.5, 0.5]), np.ones(4, dtype=bool)
    >>> star = graphs.star(4, hub=0)
    >>> better, s = raised(p, np.array([1.0, 1.0, 0.0, 0.0]), gaps, 0.05, graph=star, available=everyone)
    >>> better.round(9), s
    (array([0.05, 0.95, 0.  , 0.  ]), 1.0)
    """
    from scipy.sparse import csr_array, hstack

    columns = np.flatnonzero(available)
    reveals = graph.to_sparse().astype(np.float64).T.tocsr() if isinstance(graph, FeedbackGraph) else csr_array(graph.T)
    reveals = reveals[columns][:, columns]
    rows = np.flatnonzero(np.asarray(reveals.sum(axis=1)).ravel() > 0.0)
    if (observed[columns[rows]] >= floor - SLACK).all():
        return None, 1.0
    asked = hstack([reveals[rows], csr_array(observed[columns[rows], None])], format="csr")
    costs = np.maximum(gaps[columns], 0.0)
    largest = float(costs.max())
    costs = np.append(costs / largest if largest > 0.0 else costs, -LEAST_MOVED) + LEAST_MOVED
    share = 1.0
    found = _cheapest(asked, costs, floor)
    if found is None:
        share = largest_share(asked, np.full(asked.shape[0], floor))[0] * UNDERSTATED
        found = _cheapest(asked, costs, share * floor)
        if found is None:
            raise SolverError(f"no distribution observes a share {share:g} of the floor {floor:g}; expected one")
    moved = found[-1] * own
    moved[columns] += found[:-1]
    return moved / moved.sum(), share


def _cheapest(asked: "csr_array", costs: PerRound, level: float) -> PerRound | None:
    """The solution x, or None if there is none."""
    result = cheapest(asked, costs, np.full(asked.shape[0], level))
    return None if result.status != 0 else np.maximum(result.x, 0.0) / np.maximum(result.x, 0.0).sum()
