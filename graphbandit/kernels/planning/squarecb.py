"""SquareCB.G's convex program of one round, solved by a primal-dual interior-point method made for it.

In units of 1 / gamma, with costs c(a) = gamma (l(a) - min l) and q(b) the probability that b is revealed, the program
is  min over distributions p of  sum_b p(b) c(b) + Z,  Z = max_a [ sum_b p(b)^2 / q(b) + (1 - 2 p(a)) / q(a) - c(a) ].
With Z = Y + sum_b y(b) it takes K pairs of 2 x 2 cones that share nothing but p and Y:

    minimise  sum_a (p(a) c(a) + y(a)) + Y
    s.t.      outer(a) = [[q(a), 1 - p(a)], [1 - p(a), Y + c(a) + y(a)]]  positive semidefinite,
              inner(a) = [[q(a), p(a)], [p(a), y(a)]]                     positive semidefinite,   p >= 0, sum p = 1.

The dual point of outer(a) has the weight w(a) of constraint a at (2, 2) and that of inner(a) has 1 - w(a); the
rest of them is r(a) = -(1, 2) / w(a) and rho(a) = -(1, 2) / (1 - w(a)). As w u^2 / q >= w (2 r u - r^2 q) for every
number r, any distribution w and any numbers r and rho prove

    optimum >= sum_a w(a) (2 r(a) - c(a)) + min over arms j of
        [ c(j) - 2 w(j) r(j) + 2 (1 - w(j)) rho(j) - sum_{b revealed by j} (w(b) r(b)^2 + (1 - w(b)) rho(b)^2) ]

which is the certificate: it knows nothing of p. Each step solves one linear system of K + 1 unknowns: y(a) is
eliminated arm by arm, which leaves a form in q(a), p(a) and Y for every arm (HKM direction, with Mehrotra's corrector).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int, UInt8
from graphbandit.kernels.function_classes.cholesky import solve_lower, solve_upper
from graphbandit.kernels.graphs.adjacency import reveals
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.bordered_cholesky import add_rows, factorise
from graphbandit.kernels.planning.cones import inner, invert, longest_step, move, sandwich

GOAL = 2e-10
"""The relative gap at which the method stops; a certificate asks for less."""

STEPS = 60
"""It stops after so many steps in any case; 10 to 20 are usual."""

PATIENCE = 6
"""And after so many in a row that improved the gap no more: rounding has the last word."""

REFINED = 1e-4
"""From this gap on the steps are refined: the nearer to the optimum, the more digits the linear system loses."""

BISECTIONS = 45

SUM_CURVATURE = 1.0
"""Added to the whole matrix. The steps of p sum to zero, so it changes none of them; without it the matrix has next
to nothing on the arm that has next to all mass, and solving with it loses digits."""


class Iterate(NamedTuple):
    """A primal and a dual point, and a direction from them; every array has one row an arm.

    Near the optimum the determinants of the 2 x 2 matrices are far smaller than their entries, so the entries are not
    what is kept. A primal matrix [[q, u], [u, x]] is q, u / q and its slack x - u^2 / q; in the basis in which it is
    diagonal it is (q, slack, 0). A dual matrix is [[h + w g^2, -w g], [-w g, w]] by its weight w, slope g and excess h;
    in the same basis it is (h + w (u / q - g)^2, w, w (u / q - g)). Steps are in that basis too, and nothing cancels.
    """

    p: Float[np.ndarray, " arms"]
    s: Float[np.ndarray, " arms"]
    """duals of p >= 0"""
    outer: Float[np.ndarray, "arms 3"]
    inner: Float[np.ndarray, "arms 3"]
    outer_dual: Float[np.ndarray, "arms 3"]
    inner_dual: Float[np.ndarray, "arms 3"]
    outer_slope: Float[np.ndarray, " arms"]
    inner_slope: Float[np.ndarray, " arms"]
    outer_excess: Float[np.ndarray, " arms"]
    inner_excess: Float[np.ndarray, " arms"]
    dp: Float[np.ndarray, " arms"]
    ds: Float[np.ndarray, " arms"]
    outer_step: Float[np.ndarray, "arms 3"]
    inner_step: Float[np.ndarray, "arms 3"]
    outer_dual_step: Float[np.ndarray, "arms 3"]
    inner_dual_step: Float[np.ndarray, "arms 3"]


class System(NamedTuple):
    """The linear system of a step: its matrix, and what the elimination of y needs again."""

    bits: UInt8[np.ndarray, "arms groups"]
    """what each arm reveals, eight arms a byte"""
    sums: Float[np.ndarray, "groups 256"]
    """of the numbers of the arms of a group, over each of its 256 subsets"""
    matrix: Float[np.ndarray, "size size"]
    ones: Float[np.ndarray, " size"]
    """the solution for the right-hand side (1, ..., 1, 0)"""
    outer_inverse: Float[np.ndarray, "arms 3"]
    inner_inverse: Float[np.ndarray, "arms 3"]
    outer_second: Float[np.ndarray, "arms 3"]
    inner_second: Float[np.ndarray, "arms 3"]
    second: Float[np.ndarray, " arms"]
    """second-order terms of complementarity, 0 in the predictor"""
    outer_force: Float[np.ndarray, "arms 3"]
    inner_force: Float[np.ndarray, "arms 3"]
    force: Float[np.ndarray, " arms"]
    """what the duals lack to the complementarity aimed at"""


@kernel()
def _weighted_rows(
    rows: Float[np.ndarray, "n n"], factors: Float[np.ndarray, " n"], out: Float[np.ndarray, " n"]
) -> None:
    """sum_i factors[i] * rows[i]: q for p and who reveals, what an arm earns for prices and who is revealed."""
    n = out.shape[0]
    out[:] = 0.0
    add_rows(out, 0, rows, np.arange(n), factors, n)


@kernel()
def certify(
    costs: Float[np.ndarray, " arms"],
    revealing: Float[np.ndarray, "arms arms"],
    revealed: Float[np.ndarray, "arms arms"],
    p: Float[np.ndarray, " arms"],
    weights: Float[np.ndarray, " arms"],
    outer_slopes: Float[np.ndarray, " arms"],
    inner_slopes: Float[np.ndarray, " arms"],
) -> tuple[float, float]:
    """(objective of p, lower bound of the optimum by w, r and rho), in units of 1 / gamma, from the data alone."""
    n = costs.shape[0]
    q, prices, earned = np.empty(n), np.empty(n), np.empty(n)
    mean, squares, bound = 0.0, 0.0, 0.0
    for j in range(n):
        r, rho, w = outer_slopes[j], inner_slopes[j], weights[j]
        prices[j] = w * r * r + (1.0 - w) * rho * rho
        bound += w * (2.0 * r - costs[j])
        mean += p[j] * costs[j]
    _weighted_rows(revealing, p, q)
    _weighted_rows(revealed, prices, earned)
    for b in range(n):
        squares += p[b] * p[b] / q[b]
    worst, lowest = -np.inf, np.inf
    for j in range(n):
        worst = max(worst, squares + (1.0 - 2.0 * p[j]) / q[j] - costs[j])
        reduced = costs[j] - 2.0 * weights[j] * outer_slopes[j] + 2.0 * (1.0 - weights[j]) * inner_slopes[j]
        lowest = min(lowest, reduced - earned[j])
    return mean + worst, bound + lowest


@kernel()
def _start(
    costs: Float[np.ndarray, " arms"], revealing: Float[np.ndarray, "arms arms"], p: Float[np.ndarray, " arms"]
) -> None:
    """A distribution that reveals b with probability of about 1 / (K + c(b)), by its cheapest revealer."""
    n = costs.shape[0]
    best = 0
    for a in range(n):
        if costs[a] < costs[best]:
            best = a
    second = np.inf
    for a in range(n):
        if a != best:
            second = min(second, costs[a])
    total = 0.0
    for a in range(n):
        p[a] = 1.0 / (2.0 * n + costs[a])
        total += p[a]
    for b in range(n):
        cheapest = -1
        for j in range(n):
            if revealing[j, b] > 0.0 and (cheapest < 0 or costs[j] < costs[cheapest]):
                cheapest = j
        # when all but nothing is on `best`, its own constraint asks for little: the others ask that it be revealed
        asked = second if b == best and revealing[best, best] == 0.0 else costs[b]
        p[cheapest] += 1.0 / (2.0 * n + asked)
        total += 1.0 / (2.0 * n + asked)
    if total < 1.0:
        p[best] += 1.0 - total
        total = 1.0
    for a in range(n):
        p[a] /= total


@kernel()
def _centre(
    costs: Float[np.ndarray, " arms"],
    revealing: Float[np.ndarray, "arms arms"],
    revealed: Float[np.ndarray, "arms arms"],
    point: Iterate,
) -> float:
    """Fill in y, Y and the duals around p so that all cones have complementarity 1. Returns nu.

    For given p the best y(a) and w(a) are closed forms of Y, and sum_a w(a) = 1 determines Y.
    """
    n = costs.shape[0]
    p, q, levels = point.p, np.empty(n), np.empty(n)
    _weighted_rows(revealing, p, q)
    low, high = np.inf, -np.inf
    for a in range(n):
        levels[a] = costs[a] + (2.0 * p[a] - 1.0) / q[a]
        low, high = min(low, -levels[a]), max(high, -levels[a])
    high += n
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        total = 0.0
        for a in range(n):
            total += _weight(levels[a] + middle)
        if total > 1.0:
            low = middle
        else:
            high = middle
    total = 0.0
    for a in range(n):
        total += _weight(levels[a] + high)
    for a in range(n):
        w = _weight(levels[a] + high) / total
        inner_slack = 1.0 / (1.0 - w)
        point.outer[a, 0], point.outer[a, 1], point.outer[a, 2] = q[a], levels[a] + high + inner_slack, 0.0
        point.inner[a, 0], point.inner[a, 1], point.inner[a, 2] = q[a], inner_slack, 0.0
        point.outer_dual[a, 1], point.inner_dual[a, 1] = w, 1.0 - w
        point.outer_slope[a], point.inner_slope[a] = (1.0 - p[a]) / q[a], p[a] / q[a]
        point.outer_excess[a], point.inner_excess[a] = 1.0 / q[a], 1.0 / q[a]
    _reduced_costs(costs, revealed, point, point.s)
    mean, least = 0.0, -np.inf
    for j in range(n):
        mean += p[j] * point.s[j]
        least = max(least, 0.2 / p[j] - point.s[j])
    nu = float(max(n - mean, least))
    for j in range(n):
        point.s[j] += nu
    return nu


@kernel()
def _weight(level: float) -> float:
    """The w between 0 and 1 with 1 / w - 1 / (1 - w) = level."""
    return 2.0 / (level + 2.0 + math.sqrt(level * level + 4.0))


@kernel()
def _reduced_costs(
    costs: Float[np.ndarray, " arms"],
    revealed: Float[np.ndarray, "arms arms"],
    point: Iterate,
    out: Float[np.ndarray, " arms"],
) -> None:
    """The derivative of the Lagrangian by each p(j), but for s and nu."""
    n = costs.shape[0]
    prices = np.empty(n)
    for b in range(n):
        g, k = point.outer_slope[b], point.inner_slope[b]
        w, v = point.outer_dual[b, 1], point.inner_dual[b, 1]
        prices[b] = (point.outer_excess[b] + w * g * g) + (point.inner_excess[b] + v * k * k)
    _weighted_rows(revealed, prices, out)
    for j in range(n):
        w, v = point.outer_dual[j, 1], point.inner_dual[j, 1]
        out[j] = costs[j] - 2.0 * w * point.outer_slope[j] + 2.0 * v * point.inner_slope[j] - out[j]


@kernel()
def _change_basis(point: Iterate) -> None:
    """The dual matrices in the basis of the primal ones."""
    for a in range(point.p.shape[0]):
        q, w, v = point.outer[a, 0], point.outer_dual[a, 1], point.inner_dual[a, 1]
        off = (1.0 - point.p[a]) / q - point.outer_slope[a]
        point.outer_dual[a, 0], point.outer_dual[a, 2] = point.outer_excess[a] + w * off * off, w * off
        off = point.p[a] / q - point.inner_slope[a]
        point.inner_dual[a, 0], point.inner_dual[a, 2] = point.inner_excess[a] + v * off * off, v * off


@kernel()
def _slopes(point: Iterate, a: int) -> tuple[float, float, float, float]:
    """Of the outer and the inner slack of an arm: w / slack each, and what ties them to t and v."""
    outer_slack, inner_slack = point.outer[a, 1], point.inner[a, 1]
    return (
        point.outer_dual[a, 1] / outer_slack,
        point.inner_dual[a, 1] / inner_slack,
        -point.outer_dual[a, 2] / outer_slack,
        point.inner_dual[a, 2] / inner_slack,
    )


@kernel()
def _subset_sums(numbers: Float[np.ndarray, " arms"], sums: Float[np.ndarray, "groups 256"]) -> None:
    """sums[g, m] = sum of numbers[8 g + i] over the bits i of m: what two arms both reveal, summed by table."""
    for g in range(sums.shape[0]):
        sums[g, 0] = 0.0
        for i in range(8):
            number = numbers[8 * g + i] if 8 * g + i < numbers.shape[0] else 0.0
            for m in range(1 << i):
                sums[g, (1 << i) + m] = sums[g, m] + number


@kernel()
def _build(
    revealing: Float[np.ndarray, "arms arms"],
    revealed: Float[np.ndarray, "arms arms"],
    point: Iterate,
    system: System,
) -> None:
    """The matrix of the step, factorised: for each arm a form in the steps of q(a), p(a) and Y.

    With x = dY + (2 / q) dp + ((1 - 2 p) / q^2) dq, the slack of the inner cone steps by eta, that of the outer by
    x + eta, and their third entries by v = dp - rho dq and -t, t = dp + r dq. A cone (q, slack, 0) with dual (d, w, e)
    has d dq^2 / q + 2 e dq v / q + (d / slack + w / q) v^2 + 2 e v eta / slack + w eta^2 / slack; eta is eliminated.
    """
    n = point.p.shape[0]
    matrix = system.matrix
    matrix[:, :] = 0.0
    curvature, mixed, border = np.empty(n), np.empty(n), np.empty(n)
    invert(point.outer, system.outer_inverse)
    invert(point.inner, system.inner_inverse)
    for a in range(n):
        q, p = point.outer[a, 0], point.p[a]
        r, rho = (1.0 - p) / q, p / q
        by_p, by_q = 2.0 / q, (1.0 - 2.0 * p) / (q * q)
        d, w, e = point.outer_dual[a, 0], point.outer_dual[a, 1], point.outer_dual[a, 2]
        f, v, g = point.inner_dual[a, 0], point.inner_dual[a, 1], point.inner_dual[a, 2]
        outer_slack, inner_slack = point.outer[a, 1], point.inner[a, 1]
        k, m, i, j = _slopes(point, a)
        # as a form in dq, t, v and x
        qt, qv = -e / q, g / q
        tt = d / outer_slack + w / q - i * i / (k + m)
        vv = f / inner_slack + v / q - j * j / (k + m)
        tv, tx, vx, xx = -i * j / (k + m), m * i / (k + m), -k * j / (k + m), k * m / (k + m)
        # and then in dq, dp and dY
        t_p, v_p = tt + tv + tx * by_p, tv + vv + vx * by_p
        x_p = tx + vx + xx * by_p
        t_q, v_q, x_q = (
            qt + tt * r - tv * rho + tx * by_q,
            qv + tv * r - vv * rho + vx * by_q,
            tx * r - vx * rho + xx * by_q,
        )
        matrix[a, a] = t_p + v_p + by_p * x_p + point.s[a] / p
        mixed[a] = t_q + v_q + by_p * x_q
        curvature[a] = (d + f) / q + (qt * r - qv * rho) + r * t_q - rho * v_q + by_q * x_q
        matrix[a, n] = x_p
        border[a] = x_q
        matrix[n, n] += xx
    _subset_sums(curvature, system.sums)
    groups = system.bits.shape[1]
    for j in range(n):
        for b in range(n):
            matrix[j, n] += revealing[j, b] * border[b]
        for k in range(j, n):
            total = mixed[k] * revealing[j, k] + mixed[j] * revealed[j, k] + SUM_CURVATURE
            for g in range(groups):
                total += system.sums[g, system.bits[j, g] & system.bits[k, g]]
            matrix[j, k] += total
    factorise(matrix)
    system.ones[:] = 1.0
    system.ones[n] = 0.0
    solve_lower(matrix, system.ones)
    solve_upper(matrix, system.ones)


@kernel()
def _direct(
    costs: Float[np.ndarray, " arms"],
    revealing: Float[np.ndarray, "arms arms"],
    revealed: Float[np.ndarray, "arms arms"],
    point: Iterate,
    nu: float,
    target: float,
    refine: bool,
    system: System,
) -> float:
    """The direction towards complementarity `target`, into the steps of `point`. Returns the step of nu.

    With `refine` what rounding left of the equations is solved for once more.
    """
    n = costs.shape[0]
    residual, missing = np.empty(n), np.empty(n)
    _reduced_costs(costs, revealed, point, residual)
    excess = -1.0
    for a in range(n):
        for k in range(3):
            system.outer_force[a, k] = (
                target * system.outer_inverse[a, k] - point.outer_dual[a, k] - system.outer_second[a, k]
            )
            system.inner_force[a, k] = (
                target * system.inner_inverse[a, k] - point.inner_dual[a, k] - system.inner_second[a, k]
            )
        system.force[a] = (target - system.second[a]) / point.p[a] - point.s[a]
        residual[a] += nu - point.s[a]
        missing[a] = point.outer_dual[a, 1] + point.inner_dual[a, 1] - 1.0
        excess += point.outer_dual[a, 1]
    point.outer_step[:, :], point.inner_step[:, :] = 0.0, 0.0
    point.outer_dual_step[:, :], point.inner_dual_step[:, :] = 0.0, 0.0
    point.dp[:], point.ds[:] = 0.0, 0.0
    nu_step = _step(revealing, revealed, point, system, residual, missing, excess)
    if refine:
        system.outer_force[:, :], system.inner_force[:, :], system.force[:] = 0.0, 0.0, 0.0
        prices, earned = np.empty(n), np.empty(n)
        for a in range(n):
            q, p = point.outer[a, 0], point.p[a]
            r, rho = (1.0 - p) / q, p / q
            f, g = point.outer_dual_step[a], point.inner_dual_step[a]
            prices[a] = (f[0] - 2.0 * r * f[2] + r * r * f[1]) + (g[0] - 2.0 * rho * g[2] + rho * rho * g[1])
            residual[a] += 2.0 * (f[2] - r * f[1]) - 2.0 * (g[2] - rho * g[1]) + nu_step - point.ds[a]
            missing[a] += f[1] + g[1]
            excess += f[1]
        _weighted_rows(revealed, prices, earned)
        for a in range(n):
            residual[a] -= earned[a]
        nu_step += _step(revealing, revealed, point, system, residual, missing, excess)
    return nu_step


@kernel()
def _step(
    revealing: Float[np.ndarray, "arms arms"],
    revealed: Float[np.ndarray, "arms arms"],
    point: Iterate,
    system: System,
    residual: Float[np.ndarray, " arms"],
    missing: Float[np.ndarray, " arms"],
    excess: float,
) -> float:
    """Solve the system for the forces on the cones and the residuals of the dual equations; add to the steps."""
    n = point.p.shape[0]
    solution, pull, earned = np.empty(n + 1), np.empty(n), np.empty(n)
    solution[n] = excess
    for a in range(n):
        q, p = point.outer[a, 0], point.p[a]
        k, m, i, j = _slopes(point, a)
        force, other = system.outer_force[a], system.inner_force[a]
        both = (force[1] + other[1] + missing[a]) / (k + m)
        by_x, by_t, by_v = force[1] - k * both, -2.0 * force[2] - i * both, 2.0 * other[2] - j * both
        pull[a] = force[0] + other[0] + (1.0 - p) / q * by_t - p / q * by_v + (1.0 - 2.0 * p) / (q * q) * by_x
        solution[a] = by_t + by_v + 2.0 / q * by_x + system.force[a] - residual[a]
        solution[n] += by_x
    _weighted_rows(revealed, pull, earned)
    for a in range(n):
        solution[a] += earned[a]
    solve_lower(system.matrix, solution)
    solve_upper(system.matrix, solution)
    mass, room = -1.0, 0.0
    for a in range(n):
        mass += solution[a] + point.p[a] + point.dp[a]
        room += system.ones[a]
    nu_step = mass / room
    for a in range(n + 1):
        solution[a] -= nu_step * system.ones[a]
    _weighted_rows(revealing, solution, pull)
    outer_change, inner_change = np.empty((n, 3)), np.empty((n, 3))
    for a in range(n):
        q, p, dp, dq = point.outer[a, 0], point.p[a], solution[a], pull[a]
        k, m, i, j = _slopes(point, a)
        t, v = dp + (1.0 - p) / q * dq, dp - p / q * dq
        x = solution[n] + 2.0 / q * dp + (1.0 - 2.0 * p) / (q * q) * dq
        both = system.outer_force[a, 1] + system.inner_force[a, 1] + missing[a]
        eta = (both - i * t - j * v - k * x) / (k + m)
        outer_change[a, 0], outer_change[a, 1], outer_change[a, 2] = dq, x + eta, -t
        inner_change[a, 0], inner_change[a, 1], inner_change[a, 2] = dq, eta, v
        point.dp[a] += dp
        point.ds[a] += system.force[a] - point.s[a] / p * dp
    move(point.outer_step, 1.0, outer_change)
    move(point.inner_step, 1.0, inner_change)
    _answer(system.outer_inverse, outer_change, point.outer_dual, system.outer_force, point.outer_dual_step)
    _answer(system.inner_inverse, inner_change, point.inner_dual, system.inner_force, point.inner_dual_step)
    return nu_step


@kernel()
def _advance(
    revealing: Float[np.ndarray, "arms arms"], point: Iterate, primal: float, dual: float, q: Float[np.ndarray, " arms"]
) -> None:
    """Take the steps: first the duals, in the old basis, then the primal point."""
    n = point.p.shape[0]
    for a in range(n):
        old = point.outer[a, 0]
        point.outer_slope[a], point.outer_excess[a] = _moved(
            point.outer_dual[a], dual, point.outer_dual_step[a], (1.0 - point.p[a]) / old
        )
        point.inner_slope[a], point.inner_excess[a] = _moved(
            point.inner_dual[a], dual, point.inner_dual_step[a], point.p[a] / old
        )
        point.p[a] += primal * point.dp[a]
        point.s[a] += dual * point.ds[a]
    _weighted_rows(revealing, point.p, q)
    for a in range(n):
        t, v = primal * point.outer_step[a, 2], primal * point.inner_step[a, 2]
        point.outer[a, 1] += primal * point.outer_step[a, 1] - t * t / q[a]
        point.inner[a, 1] += primal * point.inner_step[a, 1] - v * v / q[a]
        point.outer[a, 0] = point.inner[a, 0] = q[a]


@kernel()
def _moved(
    dual: Float[np.ndarray, " 3"], length: float, step: Float[np.ndarray, " 3"], ratio: float
) -> tuple[float, float]:
    """Move the weight of a dual matrix; returns its new slope and excess."""
    dual[1] += length * step[1]
    off = (dual[2] + length * step[2]) / dual[1]
    return ratio - off, dual[0] + length * step[0] - dual[1] * off * off


@kernel()
def _answer(
    inverse: Float[np.ndarray, "n 3"],
    change: Float[np.ndarray, "n 3"],
    dual: Float[np.ndarray, "n 3"],
    force: Float[np.ndarray, "n 3"],
    dual_step: Float[np.ndarray, "n 3"],
) -> None:
    """The dual step that goes with a primal one: the force, less the symmetric part of inverse * change * dual."""
    product = np.empty_like(change)
    sandwich(inverse, change, dual, product)
    move(dual_step, 1.0, force)
    move(dual_step, -1.0, product)


@kernel()
def _longest(x: Float[np.ndarray, " n"], dx: Float[np.ndarray, " n"]) -> float:
    """The largest t at which x + t dx has no negative entry."""
    length = np.inf
    for i in range(x.shape[0]):
        if dx[i] < 0.0:
            length = min(length, -x[i] / dx[i])
    return length


@kernel()
def _lengths(point: Iterate) -> tuple[float, float]:
    """How far the primal and the dual step may go."""
    primal = min(longest_step(point.outer, point.outer_step), longest_step(point.inner, point.inner_step))
    dual = min(
        longest_step(point.outer_dual, point.outer_dual_step), longest_step(point.inner_dual, point.inner_dual_step)
    )
    return min(primal, _longest(point.p, point.dp)), min(dual, _longest(point.s, point.ds))


@kernel()
def _complementarity(point: Iterate) -> float:
    total = inner(point.outer, point.outer_dual) + inner(point.inner, point.inner_dual)
    for a in range(point.p.shape[0]):
        total += point.p[a] * point.s[a]
    return total


@kernel()
def solve_dense(
    costs: Float[np.ndarray, " arms"],
    revealing: Float[np.ndarray, "arms arms"],
    p: Float[np.ndarray, " arms"],
    weights: Float[np.ndarray, " arms"],
    outer_slopes: Float[np.ndarray, " arms"],
    inner_slopes: Float[np.ndarray, " arms"],
) -> tuple[float, float, int]:
    """Solve for at least two arms; `revealing[j, b]` is 1.0 where j reveals b. Returns (objective, bound, steps).

    `p` receives the best distribution found, the other arrays the best certificate, each on its own.
    """
    n = costs.shape[0]
    revealed = revealing.T.copy()
    point = Iterate(
        np.empty(n), np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
        np.empty(n), np.empty(n), np.empty(n), np.empty(n),
        np.empty(n), np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
    )  # fmt: skip
    groups = (n + 7) // 8
    system = System(
        np.zeros((n, groups), np.uint8), np.empty((groups, 256)),
        np.empty((n + 1, n + 1)), np.empty(n + 1), np.empty((n, 3)), np.empty((n, 3)),
        np.empty((n, 3)), np.empty((n, 3)), np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty(n),
    )  # fmt: skip
    for j in range(n):
        for b in range(n):
            if revealing[j, b] > 0.0:
                system.bits[j, b >> 3] |= np.uint8(1 << (b & 7))
    q = np.empty(n)
    trial = np.empty((4, n))
    _start(costs, revealing, point.p)
    nu = _centre(costs, revealing, revealed, point)
    objective, bound, smallest, steps, idle = np.inf, -np.inf, np.inf, 0, 0
    while True:
        _change_basis(point)
        total = _complementarity(point)
        _dual_point(costs, revealed, point, trial)
        value, proof = certify(costs, revealing, revealed, trial[0], trial[1], trial[2], trial[3])
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
        _build(revealing, revealed, point, system)
        system.outer_second[:, :] = 0.0
        system.inner_second[:, :] = 0.0
        system.second[:] = 0.0
        _direct(costs, revealing, revealed, point, nu, 0.0, gap < REFINED, system)
        primal, dual = _lengths(point)
        primal, dual = min(primal, 1.0), min(dual, 1.0)
        share, caution = 1.0, 0.9 + 0.09 * min(primal, dual)
        if min(primal, dual) > 0.1:
            share = min(1.0, (_ahead(point, primal, dual) / total) ** 3)
        target = max(share * total, 0.02 * GOAL * max(objective, 1.0)) / (5 * n)
        sandwich(system.outer_inverse, point.outer_step, point.outer_dual_step, system.outer_second)
        sandwich(system.inner_inverse, point.inner_step, point.inner_dual_step, system.inner_second)
        for a in range(n):
            system.second[a] = point.dp[a] * point.ds[a]
        dnu = _direct(costs, revealing, revealed, point, nu, target, gap < REFINED, system)
        primal, dual = _lengths(point)
        primal, dual = min(caution * primal, 1.0), min(caution * dual, 1.0)
        if not (primal > 0.0 and dual > 0.0):
            break
        nu += dual * dnu
        _advance(revealing, point, primal, dual, q)
    return objective, bound, steps


@kernel()
def _ahead(point: Iterate, primal: float, dual: float) -> float:
    """The complementarity after steps of these lengths: it is bilinear."""
    here = _complementarity(point)
    by_primal = inner(point.outer_step, point.outer_dual) + inner(point.inner_step, point.inner_dual)
    by_dual = inner(point.outer, point.outer_dual_step) + inner(point.inner, point.inner_dual_step)
    both = inner(point.outer_step, point.outer_dual_step) + inner(point.inner_step, point.inner_dual_step)
    for a in range(point.p.shape[0]):
        by_primal += point.dp[a] * point.s[a]
        by_dual += point.p[a] * point.ds[a]
        both += point.dp[a] * point.ds[a]
    return max(here + primal * by_primal + dual * by_dual + primal * dual * both, 0.0)


@kernel()
def _dual_point(
    costs: Float[np.ndarray, " arms"],
    revealed: Float[np.ndarray, "arms arms"],
    point: Iterate,
    trial: Float[np.ndarray, "4 arms"],
) -> None:
    """p, w, r and rho of the iterate, p and w made distributions, and the bound rid of rounding.

    The bound takes the least reduced cost, so one that rounding made a little too low costs as much as if all were.
    Adding e / 2 to rho(j) and taking it from r(j) adds e to that of j and costs the bound q(j) e^2 / 4: nothing.
    """
    n = point.p.shape[0]
    mass, weight = 0.0, 0.0
    for a in range(n):
        mass += point.p[a]
        weight += point.outer_dual[a, 1]
    prices, earned = np.empty(n), np.empty(n)
    for a in range(n):
        w, r, rho = point.outer_dual[a, 1] / weight, point.outer_slope[a], point.inner_slope[a]
        trial[0, a], trial[1, a], trial[2, a], trial[3, a] = point.p[a] / mass, w, r, rho
        prices[a] = w * r * r + (1.0 - w) * rho * rho
    _weighted_rows(revealed, prices, earned)
    mean = 0.0
    for j in range(n):
        earned[j] = costs[j] - 2.0 * trial[1, j] * trial[2, j] + 2.0 * (1.0 - trial[1, j]) * trial[3, j] - earned[j]
        mean += trial[0, j] * earned[j]
    for j in range(n):
        lacking = max(mean - earned[j], 0.0)
        trial[2, j] -= 0.5 * lacking
        trial[3, j] += 0.5 * lacking


@kernel()
def solve_round(
    graph: Any,
    losses: Float[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    gamma: float,
    scratch: Int[np.ndarray, " arms"],
    p: Float[np.ndarray, " arms"],
    certificate: Float[np.ndarray, "3 arms"],
) -> tuple[float, float, int]:
    """The program on the available arms. Returns (objective, relative gap, steps); 0 steps where one arm is left.

    `certificate` receives w, r and rho, 0 for arms not available. Where no available arm reveals arm b, which is
    available, there is no solution, and -1 - b stands for the steps.
    """
    n_arms = losses.shape[0]
    arms = np.flatnonzero(available)
    n = arms.shape[0]
    p[:] = 0.0
    certificate[:, :] = 0.0
    if n == 1:
        p[arms[0]] = 1.0
        certificate[0, arms[0]] = 1.0
        return 0.0, 0.0, 0
    place = np.full(n_arms, -1)
    smallest = np.inf
    for i in range(n):
        place[arms[i]] = i
        smallest = min(smallest, losses[arms[i]])
    costs = np.empty(n)
    revealing = np.zeros((n, n))
    for i in range(n):
        costs[i] = gamma * (losses[arms[i]] - smallest)
        count = reveals(graph, arms[i], scratch)
        for k in range(count):
            if place[scratch[k]] >= 0:
                revealing[i, place[scratch[k]]] = 1.0
    for b in range(n):
        if not revealing[:, b].any():
            return np.inf, np.inf, -1 - arms[b]
    found = np.empty((4, n))
    objective, bound, steps = solve_dense(costs, revealing, found[0], found[1], found[2], found[3])
    for i in range(n):
        p[arms[i]] = found[0, i]
        for k in range(3):
            certificate[k, arms[i]] = found[k + 1, i]
    return objective / gamma, max(objective - bound, 0.0) / max(objective, 1.0), steps


@kernel()
def solve_packed(
    words: Any,
    index: Int[np.ndarray, " n"],
    losses: Float[np.ndarray, "n arms"],
    available: Bool[np.ndarray, "masks arms"],
    gammas: Float[np.ndarray, " n"],
    probabilities: Float[np.ndarray, "n arms"],
    numbers: Float[np.ndarray, "n 3"],
) -> None:
    """`solve_round` for each round of a batch of bit-packed graphs; `numbers` receives what it returns."""
    n, n_arms = losses.shape
    scratch = np.empty(n_arms, np.int32)
    certificate = np.empty((3, n_arms))
    for t in range(n):
        numbers[t, 0], numbers[t, 1], numbers[t, 2] = solve_round(
            words[index[t]], losses[t], available[t if available.shape[0] > 1 else 0], gammas[t],
            scratch, probabilities[t], certificate,
        )  # fmt: skip
