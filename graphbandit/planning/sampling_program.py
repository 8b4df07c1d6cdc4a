"""The sampling program, the heart of the method: explore through the arms that are cheap and reveal much.

    minimise    sum_a p(a) c(a)                                                          equation (2) of the paper
    subject to  q(a) = sum over j that reveal a of p(j)  >=  b(a)      for every arm a != best
                p >= 0,  sum_a p(a) = 1,  p(j) = 0 for arms not available

with b(a) = max of p~(j) over the arms j that reveal a ("paper" coverage), or b(a) = 1 / (|S| + gamma c(a)) for
candidates and 0 elsewhere ("tight" coverage). The public function is `solve_sampling_lp`. It tries the compiled dual
simplex, then HiGHS, then takes the best feasible point. Every answer has a certificate (`planning.certified_program`).
"""

import threading
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMask, PerArm
from graphbandit.base.checks import BOOL, FLOAT, available_array, everyone, setting_choice
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.program_constants import GIVEN_SUMS_TO_ONE, ROW_LIMIT
from graphbandit.base.trusted import tuple_of
from graphbandit.errors import InputError, SettingError, SolverError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_graph
from graphbandit.planning.anytime import Effort, improve
from graphbandit.planning.certified_program import Program, SamplingSolution, solution
from graphbandit.planning.counters import count
from graphbandit.planning.demands import paper_demand
from graphbandit.planning.exploration import arm_array, check_graph, checked_best, gap_array
from graphbandit.planning.highs import highs_program, largest_factor
from graphbandit.planning.repair import repaired

if TYPE_CHECKING:
    from graphbandit.kernels.planning.program import Room, Solvers

DEFAULT_EFFORT = Effort()
Solver = Literal["auto", "simplex", "highs", "anytime"]
_SOLVERS = get_args(Solver)

UNDERSTATED = 1.0 - 1e-9
"""Taken times the largest factor: with the very largest, feasible p lie on the edge, and solvers may find none."""


def solve_sampling_lp(
    graph: FeedbackGraph,
    baseline: "npt.ArrayLike | None",
    gaps: "npt.ArrayLike",
    *,
    best: int | None = None,
    available: "npt.ArrayLike | None" = None,
    demand: "npt.ArrayLike | None" = None,
    solver: Solver = "auto",
    effort: Effort = DEFAULT_EFFORT,
) -> SamplingSolution:
    """Solve the sampling program (2) for one round, with a certificate.

    If gaps differ only by rounding, it can happen that no solver certifies an optimum to 1e-9. The answer is then the
    best feasible point that was found, its `solver` is "anytime", and `uncertified_count` counts it.

    - `graph`: who reveals whom.
    - `baseline`: p~, from which the paper's demands b(a) follow; it may be None if `demand` is given.
    - `gaps`: c, at least 0 and 0 for `best`.
    - `best`: the arm of gap 0; None (default): the arm of the smallest gap.
    - `available`: the arms that may be played, a boolean mask; None (default): all.
    - `demand`: b(a), 0 where nothing is asked; None (default): the paper's. `tight_demand` makes the sharper ones.
    - `solver`: "simplex" (compiled, exact), "highs" (exact), "anytime" (improves the baseline as long as `effort`
      says), or "auto" (default): the simplex, HiGHS if the simplex finds no certificate, and "anytime" if more than
      `ROW_LIMIT` arms are constrained.
    - `effort`: when an anytime answer is good enough; by default at a relative gap of 0.01.

    The star of the paper's figure: arm 1 is the best leaf, and the hub, which costs little and reveals all leaves, is
    played to explore the others.

    >>> from graphbandit import graphs
    >>> star, gaps = graphs.star(6, hub=0), np.array([0.1, 0.0, 1.0, 1.0, 1.0, 1.0])
    >>> answer = solve_sampling_lp(star, np.array([0, 0.6, 0.1, 0.1, 0.1, 0.1]), gaps)
    >>> answer.probabilities.round(12), round(answer.objective, 12), answer.solver
    (array([0.1, 0.9, 0. , 0. , 0. , 0. ]), 0.01, 'simplex')
    """
    if solver == "auto" and (baseline is None) != (demand is None):
        asked = baseline if demand is None else demand
        found = _at_once(graph, asked, demand is None, gaps, -1 if best is None else best, available)
        if found is not None:
            return found
    check_graph(graph)
    n = graph.n_arms
    costs = gap_array(gaps, n) if available is None else arm_array("gaps", gaps, n)
    mask = available_array(available, 1, n)
    offered = everyone(n) if mask is None else np.ascontiguousarray(mask[0])
    if best is None:
        chosen = int((costs if mask is None else np.where(offered, costs, np.inf)).argmin())
    else:
        chosen = checked_best(best, n)
    smallest = 0.0 if mask is None else costs[offered].min()
    if not (offered[chosen] and costs[chosen] == 0 and smallest >= 0):
        raise InputError(f"best is arm {chosen}; expected an available arm of gap 0, the smallest of all gaps")
    start = None if baseline is None else _distribution(baseline, offered)
    if demand is not None:
        rows = np.array(arm_array("demand", demand, n))
        rows[chosen] = 0.0
        if rows.min() < 0:
            arm = int(np.argmax(rows < 0))
            raise InputError(f"demand has {rows[arm]} at arm {arm}; expected probabilities of at least 0")
    elif start is None:
        raise InputError("baseline and demand are both None; expected one of them")
    else:
        rows = paper_demand(graph, start, chosen)
    setting_choice("solver", solver, _SOLVERS)
    if not isinstance(effort, Effort):
        raise SettingError(f"effort is {effort!r}; expected an Effort")
    return solve(Program(graph, rows, costs, chosen, offered), start=start, solver=solver, effort=effort)


def solve(
    program: Program, *, start: PerArm | None, solver: Solver = "auto", effort: Effort = DEFAULT_EFFORT
) -> SamplingSolution:
    """Solve the program with the given solver; `start` is the baseline, which must be feasible, or None.

    Raises SolverError where the demands cannot be met, and where "simplex" has no certificate.
    """
    large = solver == "auto" and start is not None and np.count_nonzero(program.demand) > ROW_LIMIT
    if solver == "anytime" or large:
        return _anytime(program, start, effort)
    points: list[PerArm] = [] if start is None else [start]
    duals: list[PerArm] = []
    if solver != "highs" and isinstance(program.graph, FeedbackGraph):
        try:
            answer = _simplex(program, program.graph)
        except SolverError:
            if start is None or solver == "simplex":
                raise
        else:
            if answer.is_exact:
                return answer
            if solver == "simplex":
                raise SolverError(f"the simplex has no certified answer for these {len(program.gaps)} arms")
            points.append(answer.probabilities)
            duals.append(answer.duals)
        count("fallback")
    try:
        p, y = highs_program(program)
    except SolverError:
        if not points:
            raise
    else:
        answer = program.certified(p, y, "highs")
        if answer.is_exact:
            return answer
        points.append(p)
        duals.append(y)
    answer = repaired(program, points, duals)
    if answer.is_exact:
        return replace(answer, solver="highs")
    count("uncertified")
    return answer


def solve_scaled(program: Program, *, start: PerArm | None) -> tuple[SamplingSolution, float]:
    """Solve the program with all demands times s; return the answer and s: 1 if that has a solution, else the largest.

    For graphs in which some arms do not reveal themselves. Every demanded arm must be revealed by an available one.

    >>> from graphbandit import graphs
    >>> loops, everyone = graphs.bandit(2), np.ones(2, dtype=bool)
    >>> program = Program(loops, np.array([0.8, 0.8]), np.array([0.0, 1.0]), 0, everyone)
    >>> answer, s = solve_scaled(program, start=None)
    >>> round(s, 6), answer.probabilities.round(6)
    (0.625, array([0.5, 0.5]))

    Arm 1 costs nothing to play and reveals arm 0 half of the time, which is half of what arm 0 needs.

    >>> matrix, demand, gaps = np.array([[1.0, 0.0], [0.5, 1.0]]), np.array([0.75, 0.0]), np.array([1.0, 0.0])
    >>> answer, s = solve_scaled(Program(matrix, demand, gaps, 1, everyone), start=np.array([0.75, 0.25]))
    >>> answer.probabilities.round(6), answer.observation_probabilities.round(6), s
    (array([0.5, 0.5]), array([0.75, 0.5 ]), 1.0)
    """
    sure = isinstance(program.graph, FeedbackGraph)
    if isinstance(program.graph, FeedbackGraph) and np.count_nonzero(program.demand) <= ROW_LIMIT:
        try:
            answer = _simplex(program, program.graph)
        except SolverError:  # one unit of mass cannot meet the demands: look for their largest share
            pass
        else:
            if answer.is_exact:
                return answer, 1.0
    factor = 1.0
    if start is None or not (program.observed(start) >= program.demand).all():
        largest, start = largest_factor(program)
        if largest < 1.0:
            count("scaling")
            factor = largest * UNDERSTATED
    if sure and factor == 1.0:
        count("fallback")
    return solve(program if factor == 1.0 else program.scaled(factor), start=start, solver="highs"), factor


def _distribution(baseline: npt.ArrayLike, available: ArmMask) -> PerArm:
    p = arm_array("baseline", baseline, len(available))
    if p.min() < 0 or abs(p.sum() - 1.0) > GIVEN_SUMS_TO_ONE or (p[~available] != 0).any():
        raise InputError(
            f"baseline has smallest entry {p.min():g} and sum {p.sum():g}; expected a distribution over available arms"
        )
    return p


def _at_once(
    graph: object, asked: object, is_baseline: bool, gaps: object, best: object, available: object
) -> SamplingSolution | None:
    """The exact answer in one compiled call; None if the input is unusual or no answer is certified."""
    if not (isinstance(graph, FeedbackGraph) and type(best) is int and best < graph.n_arms):
        return None
    n = graph.n_arms
    mask = everyone(n) if available is None else available
    if not (_fits(gaps, n, FLOAT) and _fits(asked, n, FLOAT) and _fits(mask, n, BOOL)):
        return None
    kernels, answer = kernels_of("planning.program"), np.empty((4, n))
    program = tuple_of(kernels.Program, (kernel_graph(graph), asked, gaps, best, mask))
    status, *certificate = _answer.call(
        program, is_baseline, compiled_solvers(ROW_LIMIT), kept_room(n, ROW_LIMIT), answer
    )
    if status != kernels.SOLVED:
        return None
    p, y, q, rows = answer
    found = solution(rows, p, y, q, certificate, "simplex")
    return found if found.is_exact else None


def _fits(value: object, n_arms: int, dtype: np.dtype[Any]) -> bool:
    """Whether kernels can take this array without conversion."""
    return (
        type(value) is np.ndarray
        and value.shape == (n_arms,)
        and value.dtype is dtype
        and value.flags.carray  # contiguous, aligned and writeable: kernels are compiled for one type
    )


_answer = DirectCall("planning.program", "answer_at_once")


_rooms = threading.local()
"""Room for programs, kept for the next one of the same size; one for each thread."""


def kept_room(n_arms: int, row_limit: int) -> "Room":
    """Room for the programs of this thread."""
    kept: tuple[int, int, Room] | None = getattr(_rooms, "kept", None)
    if kept is None or kept[0] != n_arms or kept[1] != row_limit:
        kept = _rooms.kept = n_arms, row_limit, kernels_of("planning.program").room(n_arms, row_limit)
    return kept[2]


@lru_cache(maxsize=4)
def compiled_solvers(row_limit: int) -> "Solvers":
    """The addresses of the compiled solvers."""
    solvers: Solvers = kernels_of("planning.program").solvers(row_limit)
    return solvers


def _simplex(program: Program, graph: FeedbackGraph) -> SamplingSolution:
    """The compiled simplex's answer, exact or not; SolverError if it proves that there is none."""
    kernels, n = kernels_of("planning.program"), graph.n_arms
    p, y, q = np.empty((3, n))
    status, *certificate = kernels.answer_program(
        program.in_kernels(kernel_graph(graph)), compiled_solvers(ROW_LIMIT), kept_room(n, ROW_LIMIT), p, y, q
    )
    if status == kernels.NO_SOLUTION:
        raise SolverError("the sampling program has no solution: the demands ask for more than one unit of mass")
    if status != kernels.SOLVED:
        return program.certified(p, y, "none")
    return solution(program.demand, p, y, q, certificate, "simplex")


def _anytime(program: Program, start: PerArm | None, effort: Effort) -> SamplingSolution:
    if start is None:
        raise InputError("baseline is None; expected a feasible one for the anytime solver to start from")
    if not isinstance(program.graph, FeedbackGraph):
        raise InputError("graph is a matrix of probabilities; expected a FeedbackGraph for the anytime solver")
    p, y = improve(program.graph, program.demand, program.gaps, program.best, program.available, start, effort)
    answer = program.certified(p, y, "anytime")
    if not answer.is_feasible:
        raise SolverError("the baseline does not meet the demands; expected a feasible one to start from")
    return answer
