"""The sampling program of one round: built near the demanded arms only, solved, and spread over all arms again."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from graphbandit.base.array_types import PerArm
from graphbandit.base.program_constants import GIVEN_SUMS_TO_ONE
from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.graphs.incidence import revealing
from graphbandit.kernels.jit import behind_pointer, for_python, inner, kernel
from graphbandit.kernels.planning.certificate import FLOATS, PROGRAM, Program, certify_program
from graphbandit.kernels.planning.demands import paper_demand
from graphbandit.kernels.planning.one_demand import meet_one_demand
from graphbandit.kernels.planning.simplex import (
    INFEASIBLE,
    NOT_CERTIFIED,
    OPTIMAL,
    call_simplex,
    simplex_pointer,
)
from graphbandit.kernels.planning.simplex_workspace import Scratch, scratch

SOLVED = 0
"""An optimum with its certificate."""
UNSOLVED = 1
"""No certificate: the point found, from which a repair can start, or zeros."""
TOO_LARGE = 2
NO_SOLUTION = 3
UNFIT = 4
"""The input has a bad value; the caller says which."""


class Room(NamedTuple):
    """Room for the programs of one thread. Pages that no program reaches are never touched."""

    indices: Int[np.ndarray, " indices"]
    """an index for each arm; a mark for each, -1 everywhere before and after each program; the integers of `Scratch`"""
    floats: Float[np.ndarray, " floats"]
    """those of `Scratch`, with the inverse first"""
    side: int
    """rows and columns of the inverse"""


class Solvers(NamedTuple):
    """The addresses of `solve_program` and of the simplex, 0 if they are not needed, and the most rows."""

    program: int
    simplex: int
    row_limit: int


def room(n_arms: int, row_limit: int) -> Room:
    """Room for programs of this many arms."""
    own = scratch(n_arms, min(n_arms, row_limit))
    indices = np.empty(2 * n_arms + own.integers.size, dtype=np.int32)
    indices[n_arms : 2 * n_arms] = -1
    return Room(indices, np.empty(own.inverse.size + own.floats.size), len(own.inverse))


@kernel()
def solve_program(
    program: Program, solvers: Solvers, room: Room, probabilities: PerArm, duals: PerArm
) -> tuple[int, float, float]:
    """Solve a program: fill `probabilities` and `duals`; return (status, objective, relative duality gap)."""
    graph, demand, gaps, best, available = program
    n_arms = demand.shape[0]
    n_rows: Any = np.int64(0)  # not a literal: functions that receive it would be compiled once more for it
    demanded = 0
    for a in range(n_arms):
        probabilities[a] = 0.0
        duals[a] = 0.0
        if demand[a] > 0.0:
            n_rows += 1
            demanded = a
    if n_rows > solvers.row_limit:
        return TOO_LARGE, np.nan, np.nan
    if n_rows == 1:
        met, objective, gap = meet_one_demand(program, demanded, probabilities, duals)
        if met:
            return SOLVED, objective, gap
    row_of, marks, inverse = room.indices[:n_arms], room.indices[n_arms : 2 * n_arms], room.floats[: room.side**2]
    rows = np.empty(n_rows, np.int32)
    b = np.empty(n_rows)
    i = 0
    for a in range(n_arms):
        if demand[a] > 0.0:
            rows[i] = a
            b[i] = demand[a]
            row_of[a] = i
            i += 1
    columns, incidence = revealing(graph, rows, row_of, best, available, marks)
    n_columns = columns.shape[0]
    c = np.empty(n_columns)
    start = 0
    for k in range(n_columns):
        c[k] = gaps[columns[k]]
        if columns[k] == best:
            start = k
    p = np.empty(n_columns)
    y = np.empty(n_rows)
    scratch = Scratch(room.floats[inverse.size :], room.indices[2 * n_arms :], inverse.reshape(room.side, room.side))
    status, objective, gap, _ = call_simplex(solvers.simplex, (incidence, c, b, start, p, y, scratch))
    if status not in (OPTIMAL, NOT_CERTIFIED):
        return (NO_SOLUTION if status == INFEASIBLE else UNSOLVED), np.nan, np.nan
    for k in range(n_columns):
        probabilities[columns[k]] = p[k]
    for k in range(n_rows):
        duals[rows[k]] = y[k]
    return (SOLVED if status == OPTIMAL else UNSOLVED), objective, gap


ROOM = types.NamedTuple((types.int32[::1], FLOATS, types.int64), Room)
SOLVERS = types.NamedUniTuple(types.int64, 3, Solvers)
SIGNATURE = types.Tuple((types.int64, types.float64, types.float64))(PROGRAM, SOLVERS, ROOM, FLOATS, FLOATS)

call_program, program_pointer = behind_pointer(solve_program, SIGNATURE)
"""Call `solve_program` by its address, with a tuple of its arguments; and find the address."""


def solvers(row_limit: int) -> Solvers:
    """The compiled solvers of sampling programs."""
    return Solvers(program_pointer(), simplex_pointer(), row_limit)


@inner()
def certified_answer(
    program: Program, solvers: Solvers, room: Room, probabilities: PerArm, duals: PerArm, observed: PerArm
) -> tuple[int, float, float, float, float]:
    """`solve_program` with a certificate; returns the status and the four numbers of `certify_program`."""
    status, _, _ = call_program(solvers.program, (program, solvers, room, probabilities, duals))
    if status != SOLVED:
        return status, np.nan, np.nan, np.nan, np.nan
    violation, objective, bound, largest = certify_program(program, probabilities, duals, observed)
    return status, violation, objective, bound, largest


answer_program = for_python(certified_answer)
"""`certified_answer` for callers in Python."""


@kernel()
def answer_at_once(
    asked: Program, is_baseline: bool, solvers: Solvers, room: Room, answer: Float[np.ndarray, "4 arms"]
) -> tuple[int, float, float, float, float]:
    """`answer_program` for input of which only shapes and types have been checked; UNFIT if a value is bad.

    - `asked`: the program, with the baseline in place of the demands if they follow from it, and with -1 for `best` if
      that has to be found.
    - `answer`: receives p, y, q and the demands.
    """
    graph, numbers, gaps, best, available = asked
    n_arms = gaps.shape[0]
    total, fit = 0.0, True
    for a in range(n_arms):
        total += numbers[a]
        fit = fit and 0.0 <= numbers[a] < np.inf and -np.inf < gaps[a] < np.inf
        if available[a]:
            fit = fit and gaps[a] >= 0.0
            if best < 0 and gaps[a] == 0.0:
                best = a
        elif is_baseline:
            fit = fit and numbers[a] == 0.0
    if best < 0 or not available[best] or gaps[best] != 0.0 or (is_baseline and abs(total - 1.0) > GIVEN_SUMS_TO_ONE):
        fit = False
    if not fit:
        return UNFIT, np.nan, np.nan, np.nan, np.nan
    demand = answer[3]
    if is_baseline:
        paper_demand(graph, numbers, best, room.indices[: len(gaps)], demand)
    else:
        for a in range(n_arms):
            demand[a] = numbers[a]
        demand[best] = 0.0
    program = Program(graph, demand, gaps, best, available)
    return certified_answer(program, solvers, room, answer[0], answer[1], answer[2])
