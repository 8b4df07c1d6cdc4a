"""The sampling program, the heart of the method: explore through the arms that are cheap and reveal much.

    minimise    sum_a p(a) c(a)                                                          equation (2) of the paper
    subject to  q(a) = sum over j that reveal a of p(j)  >=  b(a)      for every arm a != best
                p >= 0,  sum_a p(a) = 1,  p(j) = 0 for arms not available

with b(a) = max of p~(j) over the arms j that reveal a ("paper" coverage), or b(a) = 1 / (|S| + gamma c(a)) for
candidates and 0 elsewhere ("tight" coverage). One public function, `solve_sampling_lp`; two solvers behind it,
the compiled dual simplex and HiGHS; and no answer without its certificate. Weak duality makes the certificate
short: for any y >= 0,

    sum_a b(a) y(a) + min over available j of (c(j) - sum over a revealed by j of y(a))

is a lower bound on the optimum, so a feasible p with that cost is optimal, whoever found it.
"""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import available_array, setting_choice
from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import InputError, SolverError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.planning.anytime import Effort, improve
from graphbandit.planning.exploration import arm_array, arm_number, check_graph, gap_array, kernel_graph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-9
"""Largest infeasibility and largest relative duality gap of an answer that counts as exact."""

SMALLEST_SCALE = 1e-6
"""The gap is relative to the objective, or to this share of the largest gap c(a) where the objective is smaller."""

DEFAULT_EFFORT = Effort()

CERTIFIED, NO_SOLUTION = 0, 3
"""Two of the answers of `kernels.program`, which is not to be imported before it is needed."""

ROW_LIMIT = 3000
"""Constrained arms up to which the compiled simplex is tried; above it a dense inverse no longer pays."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingSolution:
    """An answer of the sampling program with its certificate.

    `probabilities` is p, `observation_probabilities` q, `demand` b, `duals` y; `duality_gap` is relative.
    """

    probabilities: Float[np.ndarray, " arms"]
    observation_probabilities: Float[np.ndarray, " arms"]
    objective: float
    duality_gap: float
    infeasibility: float
    solver: str
    demand: Float[np.ndarray, " arms"]
    duals: Float[np.ndarray, " arms"]


def solve_sampling_lp(
    graph: FeedbackGraph,
    baseline: npt.ArrayLike | None,
    gaps: npt.ArrayLike,
    *,
    best: int | None = None,
    available: npt.ArrayLike | None = None,
    demand: npt.ArrayLike | None = None,
    solver: str = "auto",
    effort: Effort = DEFAULT_EFFORT,
) -> SamplingSolution:
    """Solve the sampling program (2) for one round, with a certificate.

    `baseline` is p~ and gives the demands b(a) of the paper; with `demand` these are taken as they are instead
    (0 where nothing is asked; `tight_demand` makes the sharper ones) and `baseline` may be None. `best` is the arm
    of the smallest gap unless given. `solver` is "simplex" (compiled, exact), "highs" (exact), "anytime" (improves the
    baseline as long as `effort` says), or "auto": the first, the second where the first has no certificate, and the
    third where more than `ROW_LIMIT` arms are constrained.

    The star of the paper's figure: the best leaf is arm 1, and all exploring of the other leaves goes
    through the hub, which costs little and reveals them all.

    >>> from graphbandit import graphs
    >>> star, gaps = graphs.star(6, hub=0), np.array([0.1, 0.0, 1.0, 1.0, 1.0, 1.0])
    >>> answer = solve_sampling_lp(star, np.array([0, 0.6, 0.1, 0.1, 0.1, 0.1]), gaps)
    >>> answer.probabilities.round(12), round(answer.objective, 12), answer.solver
    (array([0.1, 0.9, 0. , 0. , 0. , 0. ]), 0.01, 'simplex')
    """
    check_graph(graph)
    n = graph.n_arms
    costs = gap_array(gaps, n) if available is None else arm_array("gaps", gaps, n)
    mask = available_array(available, 1, n)
    offered = np.ones(n, dtype=np.bool_) if mask is None else np.ascontiguousarray(mask[0])
    chosen = int(np.argmin(np.where(offered, costs, np.inf))) if best is None else arm_number("best", best, n)
    if not (offered[chosen] and costs[chosen] == 0 and costs[offered].min() >= 0):
        raise InputError(f"best is arm {chosen}; expected an available arm of gap 0, the smallest of all gaps")
    if demand is not None:
        rows = np.where(np.arange(n) == chosen, 0.0, arm_array("demand", demand, n))
        if (rows < 0).any():
            arm = int(np.argmax(rows < 0))
            raise InputError(f"demand has {rows[arm]} at arm {arm}; expected probabilities of at least 0")
    elif baseline is None:
        raise InputError("baseline and demand are both None; expected one of them")
    start = None if baseline is None else _distribution(baseline, offered)
    if demand is None and start is not None:
        rows = paper_demand(graph, start, chosen)
    return solve_program(graph, rows, costs, chosen, offered, start=start, solver=solver, effort=effort)


def paper_demand(graph: FeedbackGraph, baseline: Float[np.ndarray, " arms"], best: int) -> Float[np.ndarray, " arms"]:
    """b(a) = max of p~(j) over the arms j that reveal a, 0 for a = best: the right-hand side of (2)."""
    from graphbandit.kernels.planning import exploration

    demand = np.empty(graph.n_arms)
    scratch = np.empty(graph.n_arms, dtype=np.int32)
    exploration.paper_demand(kernel_graph(graph), baseline, best, scratch, demand)
    return demand


def tight_demand(
    candidates: Bool[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    *,
    best: int,
    size: int,
    gamma: float,
) -> Float[np.ndarray, " arms"]:
    """b(a) = 1 / (|S| + gamma c(a)) for candidates a != best and 0 elsewhere; `size` is |S|.

    All that the proofs need, and less than the paper asks for; the baseline stays feasible.
    """
    from graphbandit.kernels.planning import exploration

    demand = np.empty(len(gaps))
    exploration.tight_demand(candidates, best, size, gamma, gaps, demand)
    return demand


def solve_program(
    graph: FeedbackGraph,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
    *,
    start: Float[np.ndarray, " arms"] | None,
    solver: str = "auto",
    effort: Effort = DEFAULT_EFFORT,
) -> SamplingSolution:
    """`solve_sampling_lp` for arrays that have been checked already; `start` is the baseline."""
    setting_choice("solver", solver, ("auto", "simplex", "highs", "anytime"))
    large = solver == "auto" and start is not None and np.count_nonzero(demand) > ROW_LIMIT
    if solver == "anytime" or large:
        return _anytime(graph, demand, gaps, best, available, start, effort)
    if solver != "highs":
        p, y, status = _simplex(graph, demand, gaps, best, available)
        if status == NO_SOLUTION:
            raise SolverError("the sampling program has no solution: the demands ask for more than one unit of mass")
        if status == CERTIFIED:
            answer = _certified(graph, demand, gaps, available, p, y, "simplex")
            if _is_exact(answer):
                return answer
        if solver == "simplex":
            raise SolverError(f"the simplex has no certified answer for these {graph.n_arms} arms")
        _count_fallback()
    p, y = highs_program(_reveals(graph), demand, gaps, best, available)
    answer = _certified(graph, demand, gaps, available, p, y, "highs")
    if not _is_exact(answer):
        raise SolverError(f"no certified answer of the sampling program for these {graph.n_arms} arms")
    return answer


def solve_scaled_program(
    graph: FeedbackGraph,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
) -> tuple[SamplingSolution, float]:
    """The program with all demands times s, and s: 1 if that has a solution, else the largest that does.

    For graphs in which some arms do not reveal themselves. Every demanded arm must be revealed by an available one.

    >>> from graphbandit import graphs
    >>> loops, everyone = graphs.bandit(2), np.ones(2, dtype=bool)
    >>> answer, s = solve_scaled_program(loops, np.array([0.8, 0.8]), np.array([0.0, 1.0]), 0, everyone)
    >>> round(s, 6), answer.probabilities.round(6)
    (0.625, array([0.5, 0.5]))
    """
    if np.count_nonzero(demand) <= ROW_LIMIT:
        p, y, status = _simplex(graph, demand, gaps, best, available)
        if status == CERTIFIED:
            answer = _certified(graph, demand, gaps, available, p, y, "simplex")
            if _is_exact(answer):
                return answer, 1.0
    largest = largest_factor(_reveals(graph), demand, available)
    if largest >= 1.0:
        _count_fallback()
        return solve_program(graph, demand, gaps, best, available, start=None, solver="highs"), 1.0
    count_scaling()
    # At the very largest factor no p is more than barely feasible, so that solvers may call it infeasible.
    factor = largest * (1.0 - TOLERANCE)
    return solve_program(graph, factor * demand, gaps, best, available, start=None, solver="highs"), factor


def certificate(
    graph: FeedbackGraph,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    probabilities: Float[np.ndarray, " arms"],
    duals: Float[np.ndarray, " arms"],
) -> tuple[float, float]:
    """(largest violation of a constraint, relative duality gap) of a p and any y >= 0, from the data alone."""
    answer = _certified(graph, demand, gaps, available, probabilities, duals, "none")
    return answer.infeasibility, answer.duality_gap


def fallback_count() -> int:
    """How many programs of this process the compiled simplex could not certify, so that HiGHS stood in."""
    return _fallbacks


def scaling_count() -> int:
    """How many programs of this process asked for more than their weakly observable graph reveals."""
    return _scalings


_fallbacks = 0
_scalings = 0
_lock = threading.Lock()


def _count_fallback() -> None:
    global _fallbacks
    with _lock:
        _fallbacks += 1


def count_scaling() -> None:
    """Count a program for `scaling_count`."""
    global _scalings
    with _lock:
        _scalings += 1


def _distribution(baseline: npt.ArrayLike, available: Bool[np.ndarray, " arms"]) -> Float[np.ndarray, " arms"]:
    p = arm_array("baseline", baseline, len(available))
    if (p < 0).any() or abs(p.sum() - 1.0) > 1e-6 or (p[~available] != 0).any():
        raise InputError(
            f"baseline has smallest entry {p.min():g} and sum {p.sum():g}; expected a distribution over available arms"
        )
    return p


def _simplex(
    graph: FeedbackGraph,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
) -> tuple[Float[np.ndarray, " arms"], Float[np.ndarray, " arms"], int]:
    from graphbandit.kernels.planning import program

    n = graph.n_arms
    p, y = np.empty(n), np.empty(n)
    scratch, marks = np.empty(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    work = program.program_workspace(n, ROW_LIMIT)
    status, _, _ = program.solve_program(
        kernel_graph(graph), demand, gaps, best, available, ROW_LIMIT, scratch, marks, work, p, y
    )
    return p, y, int(status)


def _reveals(graph: FeedbackGraph) -> "csr_array":
    """[a, j] is 1 where j reveals a."""
    return graph.to_sparse().astype(np.float64).T.tocsr()


def highs_program(
    reveals: "csr_array",
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
) -> tuple[Float[np.ndarray, " arms"], Float[np.ndarray, " arms"]]:
    """The reference: p and y by HiGHS on the rows that ask for something and the columns that answer.

    `reveals[a, j]` is the probability that j reveals a, 0 or 1 unless edges have probabilities.
    """
    from scipy.optimize import linprog

    rows = np.flatnonzero(demand > 0)
    asked = reveals[rows]
    useful = np.asarray(asked.sum(axis=0)).ravel() > 0
    useful[best] = True
    columns = np.flatnonzero(useful & available)
    scale = float(gaps[columns].max()) or 1.0
    result = linprog(  # type: ignore[call-overload]  # the stubs know no sparse A_ub
        gaps[columns] / scale,
        A_ub=-asked[:, columns],
        b_ub=-demand[rows],
        A_eq=np.ones((1, len(columns))),
        b_eq=[1.0],
        bounds=(0, None),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise SolverError(f"the sampling program has no solution: {result.message}")
    p, y = np.zeros(len(demand)), np.zeros(len(demand))
    p[columns] = np.maximum(result.x, 0.0)
    p /= p.sum()
    y[rows] = np.maximum(-result.ineqlin.marginals, 0.0) * scale
    return p, y


def largest_factor(
    reveals: "csr_array", demand: Float[np.ndarray, " arms"], available: Bool[np.ndarray, " arms"]
) -> float:
    """max s subject to q(a) >= s b(a), sum_a p(a) = 1, p >= 0, s <= 1, by HiGHS."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    rows = np.flatnonzero(demand > 0)
    asked = reveals[rows][:, np.flatnonzero(available)]
    n = asked.shape[1]
    result = linprog(
        np.concatenate([np.zeros(n), [-1.0]]),
        A_ub=hstack([-asked, csr_array(demand[rows][:, None])], format="csr"),
        b_ub=np.zeros(len(rows)),
        A_eq=np.concatenate([np.ones(n), [0.0]])[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(0, 1)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.x is None:
        raise SolverError(f"how much of the demands can be met has no answer: {result.message}")
    return float(result.x[-1])


def _anytime(
    graph: FeedbackGraph,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    best: int,
    available: Bool[np.ndarray, " arms"],
    start: Float[np.ndarray, " arms"] | None,
    effort: Effort,
) -> SamplingSolution:
    if start is None:
        raise InputError("baseline is None; expected a feasible one for the anytime solver to start from")
    p, y = improve(graph, demand, gaps, best, available, start, effort)
    answer = _certified(graph, demand, gaps, available, p, y, "anytime")
    if answer.infeasibility > TOLERANCE:
        raise SolverError("the baseline does not meet the demands; expected a feasible one to start from")
    return answer


def _certified(
    graph: FeedbackGraph,
    demand: Float[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    p: Float[np.ndarray, " arms"],
    y: Float[np.ndarray, " arms"],
    solver: str,
) -> SamplingSolution:
    """An answer with what its certificate says of it, good or bad."""
    from graphbandit.kernels.planning.certificate import certify_program

    scratch, observed = np.empty(graph.n_arms, dtype=np.int32), np.empty(graph.n_arms)
    infeasibility, objective, bound, largest = certify_program(
        kernel_graph(graph), demand, gaps, available, p, y, scratch, observed
    )
    scale = max(objective, SMALLEST_SCALE * largest)
    return SamplingSolution(
        probabilities=p,
        observation_probabilities=observed,
        objective=objective,
        duality_gap=max(objective - bound, 0.0) / scale if scale > 0 else 0.0,
        infeasibility=infeasibility,
        solver=solver,
        demand=demand,
        duals=y,
    )


def _is_exact(answer: SamplingSolution) -> bool:
    return answer.infeasibility <= TOLERANCE and answer.duality_gap <= TOLERANCE
