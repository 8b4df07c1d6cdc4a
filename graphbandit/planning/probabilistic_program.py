"""The sampling program where an edge is there with a probability: q(a) = sum_j p(j) P[j, a], by HiGHS, certified."""

import numpy as np

from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import SolverError
from graphbandit.planning.sampling_program import (
    SMALLEST_SCALE,
    TOLERANCE,
    SamplingSolution,
    count_scaling,
    highs_program,
    largest_factor,
)


def solve_uncertain_program(
    matrix: Float[np.ndarray, "arms arms"],
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
    *,
    start: Float[np.ndarray, " arms"],
) -> tuple[SamplingSolution, float]:
    """The program with all demands times s, and s: 1 if that has a solution, else the largest that does.

        minimise    sum_a p(a) c(a)
        subject to  sum_j p(j) P[j, a] >= s b(a),  p >= 0,  sum_a p(a) = 1,  p(j) = 0 for arms not available

    P is `matrix`, b `demand`; every demanded arm must have a revealing arm that is available. Where `start`, the
    baseline, meets the demands, s = 1 needs no program of its own. The certificate is that of `sampling_lp`, with
    P[j, a] in place of an edge.

    Arm 1 costs nothing to play and reveals arm 0 half of the time, which is half of what arm 0 needs.

    >>> matrix, everyone = np.array([[1.0, 0.0], [0.5, 1.0]]), np.ones(2, dtype=bool)
    >>> demand, gaps, start = np.array([0.75, 0.0]), np.array([1.0, 0.0]), np.array([0.75, 0.25])
    >>> answer, s = solve_uncertain_program(matrix, demand, gaps, 1, everyone, start=start)
    >>> answer.probabilities.round(6), answer.observation_probabilities.round(6), s
    (array([0.5, 0.5]), array([0.75, 0.5 ]), 1.0)
    """
    from scipy.sparse import csr_array

    reveals = csr_array(matrix.T)
    factor = 1.0
    if not (_observed(matrix, start) >= demand).all():
        largest = largest_factor(reveals, demand, available)
        if largest < 1.0:
            count_scaling()
            factor = largest * (1.0 - TOLERANCE)  # as for weakly observable graphs: a little room for the solver
    p, y = highs_program(reveals, factor * demand, gaps, best, available)
    answer = _certified(matrix, factor * demand, gaps, available, p, y)
    if not (answer.infeasibility <= TOLERANCE and answer.duality_gap <= TOLERANCE):
        raise SolverError(
            f"no certified answer of the sampling program for these {len(gaps)} arms: "
            f"infeasible by {answer.infeasibility:.2g}, duality gap {answer.duality_gap:.2g}"
        )
    return answer, factor


def _observed(matrix: Float[np.ndarray, "arms arms"], p: Float[np.ndarray, " arms"]) -> Float[np.ndarray, " arms"]:
    """q(a), summed in NumPy's own order and not in BLAS's."""
    q: Float[np.ndarray, " arms"] = (p[:, None] * matrix).sum(axis=0)
    return q


def _certified(
    matrix: Float[np.ndarray, "arms arms"],
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    p: Float[np.ndarray, " arms"],
    y: Float[np.ndarray, " arms"],
) -> SamplingSolution:
    """The answer with its violation and the gap to the bound sum b y + min over j of (c(j) - sum_a P[j, a] y(a))."""
    q, objective = _observed(matrix, p), float((p * gaps).sum())
    violations = np.concatenate([demand - q, -p, np.abs(p[~available]), [abs(p.sum() - 1.0)]])
    reduced = gaps - (matrix * y).sum(axis=1)
    bound = float((demand * y).sum() + reduced[available].min())
    scale = max(objective, SMALLEST_SCALE * float(gaps[available].max()))
    return SamplingSolution(
        probabilities=p,
        observation_probabilities=q,
        objective=objective,
        duality_gap=max(objective - bound, 0.0) / scale if scale > 0 else 0.0,
        infeasibility=max(float(violations.max()), 0.0),
        solver="highs",
        demand=demand,
        duals=y,
    )
