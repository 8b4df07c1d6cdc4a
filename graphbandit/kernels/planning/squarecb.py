"""SquareCB.G's convex program of one round, solved by a primal-dual interior-point method made for it.

In units of 1 / gamma, with costs c(a) = gamma (l(a) - min l) and q(b) the probability that b is revealed, the program
is  min over distributions p of  sum_b p(b) c(b) + Z,  Z = max_a [ sum_b p(b)^2 / q(b) + (1 - 2 p(a)) / q(a) - c(a) ].
With Z = Y + sum_b y(b) it takes K pairs of 2 x 2 cones that share nothing but p and Y:

    minimise  sum_a (p(a) c(a) + y(a)) + Y
    s.t.      outer(a) = [[q(a), 1 - p(a)], [1 - p(a), Y + c(a) + y(a)]]  positive semidefinite,
              inner(a) = [[q(a), p(a)], [p(a), y(a)]]                     positive semidefinite,   p >= 0, sum p = 1.

The dual point of outer(a) has the weight w(a) of constraint a at (2, 2) and that of inner(a) has 1 - w(a); their
entries at (1, 2) give r(a) = -(1, 2) / w(a) and rho(a) = -(1, 2) / (1 - w(a)). From these w, r and rho follows the
certificate that `planning.squarecb_program` states, whatever p is. `squarecb_point` has the iterates, `squarecb_step`
the steps.
"""

import numpy as np
from numba import types

from graphbandit.base.array_types import ArmsByArms, Offers, PerArm, PerRound, RoundsByArms
from graphbandit.base.program_constants import ACCEPTED
from graphbandit.base.shapes import Float
from graphbandit.kernels.graphs.adjacency import Graphs, graph_of, reveals
from graphbandit.kernels.jit import behind_pointer, inner, kernel
from graphbandit.kernels.planning.bordered_cholesky import roomy
from graphbandit.kernels.planning.cones import clear, sandwich
from graphbandit.kernels.planning.squarecb_point import (
    Data,
    Iterate,
    advance,
    ahead,
    centre,
    change_basis,
    complementarity,
    dual_point,
    lengths,
    start,
    weighted_rows,
)
from graphbandit.kernels.planning.squarecb_step import System, build, direct

GOAL = 2e-10
"""The relative gap at which the method stops, well below what a certificate requires."""

STEPS = 60
"""The most steps; 10 to 20 are usual."""

PATIENCE = 6
"""It also stops after this many steps in a row that did not improve the gap, because rounding limits it."""

REFINED = 1e-4
"""Steps are refined below this gap: the nearer to the optimum, the more digits the linear system loses."""


@inner()
def certify(data: Data, p: PerArm, weights: PerArm, outer_slopes: PerArm, inner_slopes: PerArm) -> tuple[float, float]:
    """(objective of p, lower bound of the optimum by w, r and rho), in units of 1 / gamma, from the data alone."""
    costs, revealing, revealed = data
    n = costs.shape[0]
    q, prices, earned = roomy(n), np.empty(n), roomy(n)
    mean, squares, bound = 0.0, 0.0, 0.0
    for j in range(n):
        r, rho, w = outer_slopes[j], inner_slopes[j], weights[j]
        prices[j] = w * r * r + (1.0 - w) * rho * rho
        bound += w * (2.0 * r - costs[j])
        mean += p[j] * costs[j]
    weighted_rows(revealing, p, q)
    weighted_rows(revealed, prices, earned)
    for b in range(n):
        squares += p[b] * p[b] / q[b]
    worst, lowest = -np.inf, np.inf
    for j in range(n):
        worst = max(worst, squares + (1.0 - 2.0 * p[j]) / q[j] - costs[j])
        reduced = costs[j] - 2.0 * weights[j] * outer_slopes[j] + 2.0 * (1.0 - weights[j]) * inner_slopes[j]
        lowest = min(lowest, reduced - earned[j])
    return mean + worst, bound + lowest


@inner()
def _roomy_rows(matrix: ArmsByArms) -> Float[np.ndarray, "arms room"]:
    """A copy whose rows are padded with 0 to a multiple of eight."""
    n = matrix.shape[0]
    rows = np.zeros((n, n + 7 & -8))
    for i in range(n):
        for k in range(n):
            rows[i, k] = matrix[i, k]
    return rows


@kernel()
def solve_dense(
    costs: PerArm, graph: ArmsByArms, p: PerArm, weights: PerArm, outer_slopes: PerArm, inner_slopes: PerArm
) -> tuple[float, float, int]:
    """Solve for at least two arms; `graph[j, b]` is 1.0 where j reveals b. Returns (objective, bound, steps).

    `p` receives the best distribution found, the other arrays the best certificate, each on its own.
    """
    n = costs.shape[0]
    data = Data(costs, _roomy_rows(graph), _roomy_rows(graph.T))
    point = Iterate(
        np.empty(n), roomy(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
        np.empty(n), np.empty(n), np.empty(n), np.empty(n),
        np.empty(n), np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
    )  # fmt: skip
    groups = (n + 7) // 8
    system = System(
        np.zeros((n, groups), np.uint8), np.empty((groups, 256)),
        np.empty((n + 1, n + 8 & -8)), roomy(n + 1), np.empty((n, 3)), np.empty((n, 3)),
        np.empty((n, 3)), np.empty((n, 3)), np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty(n),
    )  # fmt: skip
    for j in range(n):
        for b in range(n):
            if graph[j, b] > 0.0:
                system.bits[j, b >> 3] |= np.uint8(1 << (b & 7))
    q = roomy(n)
    trial = np.empty((4, n))
    start(data, point.p)
    nu = centre(data, point)
    first = point.p.copy()
    objective, bound, smallest, steps, idle = np.inf, -np.inf, np.inf, 0, 0
    while True:
        change_basis(point)
        total = complementarity(point)
        dual_point(data, point, trial)
        value, proof = certify(data, trial[0], trial[1], trial[2], trial[3])
        if value < objective:
            objective = value
            p[:] = trial[0]
        if proof > bound:
            bound = proof
            weights[:], outer_slopes[:], inner_slopes[:] = trial[1], trial[2], trial[3]
        gap = (objective - bound) / max(objective, 1.0)
        idle = 0 if gap < 0.9 * smallest else idle + 1
        smallest = min(smallest, gap)
        if gap <= GOAL or steps == STEPS or (idle >= PATIENCE and gap <= 1e-7):
            break
        steps += 1
        build(data, point, system)
        clear(system.outer_second)
        clear(system.inner_second)
        for a in range(n):
            system.second[a] = 0.0
        direct(data, point, nu, 0.0, gap < REFINED, system)
        primal, dual = lengths(point)
        primal, dual = min(primal, 1.0), min(dual, 1.0)
        share, caution = 1.0, 0.9 + 0.09 * min(primal, dual)
        if min(primal, dual) > 0.1:
            share = min(1.0, (ahead(point, primal, dual) / total) ** 3)
        target = max(share * total, 0.02 * GOAL * max(objective, 1.0)) / (5 * n)
        sandwich(system.outer_inverse, point.outer_step, point.outer_dual_step, system.outer_second)
        sandwich(system.inner_inverse, point.inner_step, point.inner_dual_step, system.inner_second)
        for a in range(n):
            system.second[a] = point.dp[a] * point.ds[a]
        dnu = direct(data, point, nu, target, gap < REFINED, system)
        primal, dual = lengths(point)
        primal, dual = min(caution * primal, 1.0), min(caution * dual, 1.0)
        if not (primal > 0.0 and dual > 0.0):
            break
        nu += dual * dnu
        advance(data, point, primal, dual, q)
    if not (objective - bound <= ACCEPTED * max(objective, 1.0)):
        known = bound
        objective, bound = settle(data, first, objective, bound, p, weights, trial)
        if not (known >= bound):
            outer_slopes[:] = 0.0
            inner_slopes[:] = 0.0
    return objective, bound, steps


@inner()
def settle(
    data: Data,
    first: PerArm,
    objective: float,
    bound: float,
    p: PerArm,
    weights: PerArm,
    trial: Float[np.ndarray, "4 arms"],
) -> tuple[float, float]:
    """An answer with a gap of at most 1 if rounding spoilt the steps; returns its (objective, bound).

    The starting point is feasible, and so is the cheapest arm alone if it reveals all. With w all on an arm of cost 0,
    and r = rho = 0, the bound is 0.
    """
    n = data.costs.shape[0]
    cheapest = 0
    for a in range(n):
        if data.costs[a] < data.costs[cheapest]:
            cheapest = a
    for attempt in range(2):
        lowest = 1.0
        for a in range(n):
            trial[0, a] = first[a] if attempt == 0 else 0.0
            if attempt == 1:
                lowest = min(lowest, data.revealing[cheapest, a])
            for k in range(1, 4):
                trial[k, a] = 0.0
        if attempt == 1:
            if lowest == 0.0:
                break
            trial[0, cheapest] = 1.0
        trial[1, cheapest] = 1.0
        value, proof = certify(data, trial[0], trial[1], trial[2], trial[3])
        if not (objective <= value):
            objective = value
            for a in range(n):
                p[a] = trial[0, a]
        if not (bound >= proof):
            bound = proof
            for a in range(n):
                weights[a] = trial[1, a]
    return objective, bound


VECTOR, MATRIX = types.float64[::1], types.float64[:, ::1]
SIGNATURE = types.Tuple((types.float64, types.float64, types.int64))(VECTOR, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR)

call_dense, dense_pointer = behind_pointer(solve_dense, SIGNATURE)
"""Call `solve_dense` by its address, with a tuple of its arguments; and find the address."""


@kernel()
def solve_rounds(
    graphs: Graphs,
    losses: RoundsByArms,
    available: Offers,
    gammas: PerRound,
    dense: int,
    probabilities: RoundsByArms,
    certificates: Float[np.ndarray, "n_or_1 3 arms"],
    numbers: Float[np.ndarray, "n 3"],
) -> None:
    """The programs of a batch, each on its available arms.

    - `dense`: the address of `solve_dense`.
    - `certificates`: receives w, r and rho, 0 for arms not available. It has one row for all rounds if the caller does
      not need them.
    - `numbers`: receives (objective, relative gap, steps), with 0 steps if only one arm is available. If no available
      arm reveals the available arm b, there is no solution, and -1 - b is written instead of the steps.
    """
    n, n_arms = losses.shape
    scratch, place, arms = np.empty(n_arms, np.int32), np.empty(n_arms, np.int32), np.empty(n_arms, np.int32)
    for t in range(n):
        graph, gamma, p = graph_of(graphs, t), gammas[t], probabilities[t]
        offered = available[t if available.shape[0] > 1 else 0]
        certificate = certificates[t if certificates.shape[0] > 1 else 0]
        count, smallest = 0, np.inf
        for a in range(n_arms):
            p[a], place[a] = 0.0, -1
            for k in range(3):
                certificate[k, a] = 0.0
            if offered[a]:
                arms[count], place[a] = a, count
                count += 1
                smallest = min(smallest, losses[t, a])
        if count == 1:
            p[arms[0]] = 1.0
            certificate[0, arms[0]] = 1.0
            numbers[t, 0], numbers[t, 1], numbers[t, 2] = 0.0, 0.0, 0.0
            continue
        costs, revealing = np.empty(count), np.empty((count, count))
        hidden = count
        for i in range(count):
            costs[i] = gamma * (losses[t, arms[i]] - smallest)
            for b in range(count):
                revealing[i, b] = 0.0
            seen = reveals(graph, arms[i], scratch)
            for k in range(seen):
                if place[scratch[k]] >= 0:
                    revealing[i, place[scratch[k]]] = 1.0
        for b in range(count - 1, -1, -1):
            total = 0.0
            for i in range(count):
                total += revealing[i, b]
            if total == 0.0:
                hidden = b
        if hidden < count:
            numbers[t, 0], numbers[t, 1], numbers[t, 2] = np.inf, np.inf, -1 - arms[hidden]
            continue
        found = np.empty((4, count))
        objective, bound, steps = call_dense(dense, (costs, revealing, found[0], found[1], found[2], found[3]))
        for i in range(count):
            p[arms[i]] = found[0, i]
            for k in range(3):
                certificate[k, arms[i]] = found[k + 1, i]
        numbers[t, 0], numbers[t, 2] = objective / gamma, steps
        numbers[t, 1] = max(objective - bound, 0.0) / max(objective, 1.0)
