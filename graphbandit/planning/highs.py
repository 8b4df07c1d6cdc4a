"""Solve the sampling program with HiGHS: slower than the compiled simplex, and independent of it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.array_types import PerArm
from graphbandit.base.shapes import Float
from graphbandit.errors import SolverError
from graphbandit.planning.certified_program import Program

if TYPE_CHECKING:
    from scipy.sparse import csr_array

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def highs_program(program: Program) -> tuple[PerArm, PerArm]:
    """Return p and y, solved on the rows with a demand and the columns that can serve them."""
    demand, gaps = program.demand, program.gaps
    rows = np.flatnonzero(demand > 0)
    asked = program.reveals[rows]
    useful = np.asarray(asked.sum(axis=0)).ravel() > 0
    useful[program.best] = True
    columns = np.flatnonzero(useful & program.available)
    scale = float(gaps[columns].max()) or 1.0
    result = cheapest(asked[:, columns], gaps[columns] / scale, demand[rows])
    if result.status != 0:
        raise SolverError(f"the sampling program has no solution: {result.message}")
    p, y = np.zeros(len(demand)), np.zeros(len(demand))
    p[columns] = np.maximum(result.x, 0.0)
    p /= p.sum()
    y[rows] = np.maximum(-result.ineqlin.marginals, 0.0) * scale
    return p, y


def cheapest(asked: "csr_array", costs: Float[np.ndarray, " columns"], demand: Float[np.ndarray, " rows"]) -> Any:
    """The result of HiGHS for: min costs x subject to asked x >= demand, sum x = 1, x >= 0."""
    from scipy.optimize import linprog

    return linprog(  # type: ignore[call-overload]  # the stubs know no sparse A_ub
        costs,
        A_ub=-asked,
        b_ub=-demand,
        A_eq=np.ones((1, len(costs))),
        b_eq=[1.0],
        bounds=(0, None),
        method="highs-ds",
        options=OPTIONS,
    )


def largest_factor(program: Program) -> tuple[float, PerArm]:
    """(s, p): max s subject to q(a) >= s b(a), sum_a p(a) = 1, p >= 0, s <= 1, and a p that reaches it."""
    demand, columns = program.demand, np.flatnonzero(program.available)
    rows = np.flatnonzero(demand > 0)
    share, found = largest_share(program.reveals[rows][:, columns], demand[rows])
    p = np.zeros(len(demand))
    p[columns] = np.maximum(found, 0.0)
    return share, p / p.sum()


def largest_share(
    asked: "csr_array", demand: Float[np.ndarray, " rows"]
) -> tuple[float, Float[np.ndarray, " columns"]]:
    """(s, x): max s subject to asked x >= s demand, sum x = 1, x >= 0, s <= 1, and the x that reaches it."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    rows, n = asked.shape
    result = linprog(  # type: ignore[call-overload]
        np.append(np.zeros(n), -1.0),
        A_ub=hstack([-asked, csr_array(demand[:, None])], format="csr"),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(0, 1)],
        method="highs-ds",
        options=OPTIONS,
    )
    if result.x is None:
        raise SolverError(f"HiGHS could not find how much of the demands can be met: {result.message}")
    return float(result.x[-1]), result.x[:-1]
