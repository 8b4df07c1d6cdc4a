"""Programs against exact arithmetic and SciPy: feasible, as good as they say, and no better than is possible."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

import graphbandit as gb
from graphbandit import planning
from graphbandit.base.program_constants import SMALLEST_OBJECTIVE
from graphbandit.errors import SolverError
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.exact import fractions, least_cost, least_cost_bound, squarecb_value

PROGRAMS = 12
SLACK = Fraction(1, 10**8)


def graph(rng: np.random.Generator, n: int, loops: bool) -> np.ndarray:
    """Who reveals whom; every arm is revealed by some arm."""
    matrix = rng.random((n, n)) < rng.choice([0.05, 0.3, 0.8])
    arms = np.arange(n)
    if loops:
        matrix[arms, arms] = True
    else:
        matrix[(arms + 1) % n, arms] = True
    return np.asarray(matrix)


def gaps(rng: np.random.Generator, n: int) -> np.ndarray:
    """Gaps of many kinds: ties, near ties, none, spread over many scales."""
    kind = rng.integers(6)
    values = rng.random(n)
    if kind == 1:
        values = rng.integers(3, size=n) / 2
    elif kind == 2:
        values = 1 - 1e-12 * rng.integers(0, 9, size=n)
    elif kind == 3:
        values = np.zeros(n)
    elif kind == 4:
        values = 10.0 ** rng.uniform(-12, 12, size=n)
    elif kind == 5:
        values *= 10.0 ** rng.integers(-9, 9)
    return np.asarray(values - values.min(), dtype=float)


def sampling(case: Case, n: int) -> None:
    """One sampling program of n arms."""
    rng = case.rng
    matrix, costs = graph(rng, n, bool(rng.integers(2))), gaps(rng, n)
    shown = gb.FeedbackGraph.from_dense(matrix, require_loops=False)
    demand = np.where(
        rng.random(n) < rng.random(), 10.0 ** rng.uniform(-9, rng.choice([0.0, 0.0, 1.0]), size=n) / n, 0.0
    )
    demand[int(np.argmin(costs))] = 0.0
    told = f"{matrix.tolist()} {costs.tolist()} {demand.tolist()}"
    solver = str(rng.choice(["auto", "auto", "auto", "simplex", "highs"]))
    exact = least_cost(matrix, demand, costs) if n <= 6 else None
    try:
        answer = gb.solve_sampling_lp(shown, None, costs, demand=demand, solver=solver)
    except SolverError as error:
        if solver == "simplex":
            case.count("programs that one solver alone gives up on")
            return
        infeasible = exact is None if n <= 6 else _by_scipy(matrix, demand, costs).status == 2
        if not infeasible:
            raise Defect(f"refused, but it is feasible: {error}; {told}") from error
        case.count("programs that nothing satisfies")
        return
    case.count(f"sampling programs, {answer.solver}")
    p = fractions(answer.probabilities)
    short = max(
        (
            b - sum((p[j] for j in range(n) if matrix[j, a]), Fraction(0))
            for a, b in enumerate(fractions(demand))
            if b > 0
        ),
        default=Fraction(0),
    )
    if min(p) < 0 or abs(sum(p) - 1) > SLACK or short > SLACK:
        raise Defect(f"{answer.probabilities} is not feasible: {told}")
    cost = sum((x * c for x, c in zip(p, fractions(costs), strict=True)), Fraction(0))
    scale = max(cost, Fraction(float(costs.max())) * Fraction(SMALLEST_OBJECTIVE))
    bound = least_cost_bound(matrix, demand, costs, answer.duals)
    if cost - bound > (Fraction(answer.duality_gap) + SLACK) * scale:
        raise Defect(f"the certificate says {answer.duality_gap}, and is {float((cost - bound) / scale)}")
    if n <= 6 and exact is None:
        case.count("programs that are feasible but for rounding")
        return
    if n > 6:
        largest = float(costs.max())
        if largest > 0:
            # to SciPy's own tolerance; the certificate has been checked to more than that
            reference = _by_scipy(matrix, demand, costs / largest)
            if reference.status == 0 and abs(reference.fun - float(cost) / largest) >= 1e-5:
                raise Defect(f"costs {float(cost)}, which SciPy disputes: {told}")
        return
    assert exact is not None
    if abs(cost - exact) > (Fraction(answer.duality_gap) + SLACK) * scale:
        raise Defect(f"costs {float(cost)}, the optimum {float(exact)}: {told}")


def _by_scipy(matrix: np.ndarray, demand: np.ndarray, costs: np.ndarray) -> Any:
    """SciPy's answer to a sampling program."""
    return linprog(costs, A_ub=-matrix.T.astype(float), b_ub=-demand, A_eq=np.ones((1, len(costs))), b_eq=[1.0])


def squarecb(case: Case, n: int) -> None:
    """One program of SquareCB.G of n arms."""
    rng = case.rng
    matrix = graph(rng, n, bool(rng.integers(2)))
    losses, gamma = gaps(rng, n) * 10.0 ** rng.integers(-2, 2), float(10.0 ** rng.uniform(-3, 10))
    answer = planning.solve_squarecb_program(gb.FeedbackGraph.from_dense(matrix, require_loops=False), losses, gamma)
    case.count("SquareCB.G's programs")
    p = answer.probabilities
    if not ((p >= 0).all() and abs(p.sum() - 1) < 1e-9):
        raise Defect(f"{p} are no probabilities")
    value = squarecb_value(p, losses, matrix, gamma)
    told = f"{losses.tolist()} {matrix.tolist()} {gamma}"
    if value is None:
        raise Defect(f"{p} reveals some arm never: {told}")
    spread = Fraction(float(losses.max() - losses.min()))
    scale = max(abs(value - Fraction(float(losses.min()))), 1 / Fraction(gamma), spread * Fraction(1, 10**7))
    if abs(Fraction(answer.objective) - value) > Fraction(1, 10**6) * scale:
        raise Defect(f"the objective is {float(value)}, and told to be {answer.objective}: {told}")
    # no distribution of a few simple ones is better than the certificate allows
    for other in (np.full(n, 1 / n), 0.5 * p + 0.5 / n, 0.99 * p + 0.01 / n):
        better = squarecb_value(other, losses, matrix, gamma)
        if better is not None and value - better > (Fraction(answer.duality_gap) + Fraction(1, 10**6)) * scale:
            raise Defect(f"{other} is better by {float(value - better)}: {told}")


def sets(case: Case, n: int) -> None:
    """Exploration sets and independence numbers, by trying everything."""
    rng = case.rng
    matrix, costs = graph(rng, n, True), gaps(rng, n)
    shown = gb.FeedbackGraph.from_dense(matrix)
    candidates = rng.random(n) < 0.6
    candidates[int(np.argmin(costs))] = True
    found = gb.exploration_set(shown, candidates, costs)
    arms = np.flatnonzero(found) if found.dtype == np.bool_ else np.asarray(found)
    if not matrix[arms][:, candidates].any(axis=0).all() or not candidates[arms].all():
        raise Defect(f"{arms} does not reveal {np.flatnonzero(candidates)}: {matrix.tolist()}")
    either = matrix | matrix.T
    largest = max(
        size
        for size in range(1, n + 1)
        if any(not np.triu(either[np.ix_(some, some)], 1).any() for some in combinations(range(n), size))
    )
    bounds = gb.graphs.independence_number(shown)
    if not bounds.lower <= largest <= bounds.upper:
        raise Defect(f"the independence number is {largest}, and told to be {bounds}: {matrix.tolist()}")
    case.count("sets by trying everything")


def run(case: Case) -> None:
    for _ in range(PROGRAMS):
        small = int(case.rng.integers(2, 7))
        sampling(case, small if case.rng.random() < 0.7 else int(case.rng.integers(7, 40)))
        squarecb(case, small)
    sets(case, int(case.rng.integers(2, 8)))


PART = Part("programs against exact arithmetic and SciPy", 6, run)
