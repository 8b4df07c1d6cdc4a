"""The steps of SquareCB.G's interior-point method: one linear system of K + 1 unknowns each.

y(a) is eliminated arm by arm, which leaves a form in q(a), p(a) and Y for every arm (HKM direction, with Mehrotra's
corrector).
"""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import PerArm
from graphbandit.base.shapes import Float, UInt8
from graphbandit.kernels.jit import inlined, inner
from graphbandit.kernels.planning.bordered_cholesky import factorise, roomy, solve
from graphbandit.kernels.planning.cones import Cones, clear, invert, move, sandwich
from graphbandit.kernels.planning.squarecb_point import Data, Iterate, reduced_costs, weighted_rows

SUM_CURVATURE = 1.0
"""Added to every entry of the matrix. The steps of p sum to zero, so it changes none of them; without it the entry of
an arm with nearly all mass is nearly 0, and solving loses digits."""


class System(NamedTuple):
    """The linear system of a step: its matrix, and what the elimination of y needs again."""

    bits: UInt8[np.ndarray, "arms groups"]
    """what each arm reveals, eight arms a byte"""
    sums: Float[np.ndarray, "groups 256"]
    """sums of the numbers of a group of eight arms, over each of its 256 subsets"""
    matrix: Float[np.ndarray, "size room"]
    ones: Float[np.ndarray, " size"]
    """the solution for the right-hand side (1, ..., 1, 0)"""
    outer_inverse: Float[np.ndarray, "arms 3"]
    inner_inverse: Float[np.ndarray, "arms 3"]
    outer_second: Float[np.ndarray, "arms 3"]
    inner_second: Float[np.ndarray, "arms 3"]
    second: PerArm
    """second-order terms of complementarity, 0 in the predictor"""
    outer_force: Float[np.ndarray, "arms 3"]
    inner_force: Float[np.ndarray, "arms 3"]
    force: PerArm
    """the distance of the duals from the target complementarity"""


@inlined()
def slopes(point: Iterate, a: int) -> tuple[float, float, float, float]:
    """For the outer and the inner slack of an arm: w / slack of each, and their coefficients of t and v."""
    outer_slack, inner_slack = point.outer[a, 1], point.inner[a, 1]
    return (
        point.outer_dual[a, 1] / outer_slack,
        point.inner_dual[a, 1] / inner_slack,
        -point.outer_dual[a, 2] / outer_slack,
        point.inner_dual[a, 2] / inner_slack,
    )


@inlined()
def _subset_sums(numbers: PerArm, sums: Float[np.ndarray, "groups 256"]) -> None:
    """sums[g, m] = sum of numbers[8 g + i] over the bits i of m: what two arms both reveal, summed by table."""
    for g in range(sums.shape[0]):
        sums[g, 0] = 0.0
        for i in range(8):
            number = numbers[8 * g + i] if 8 * g + i < numbers.shape[0] else 0.0
            for m in range(1 << i):
                sums[g, (1 << i) + m] = sums[g, m] + number


@inner()
def build(data: Data, point: Iterate, system: System) -> None:
    """The matrix of the step, factorised: for each arm a form in the steps of q(a), p(a) and Y.

    With x = dY + (2 / q) dp + ((1 - 2 p) / q^2) dq, the slack of the inner cone steps by eta, that of the outer by
    x + eta, and their third entries by v = dp - rho dq and -t, t = dp + r dq. A cone (q, slack, 0) with dual (d, w, e)
    has d dq^2 / q + 2 e dq v / q + (d / slack + w / q) v^2 + 2 e v eta / slack + w eta^2 / slack; eta is eliminated.
    """
    _, revealing, revealed = data
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
        k, m, i, j = slopes(point, a)
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
    solve(matrix, system.ones)


@inner()
def direct(data: Data, point: Iterate, nu: float, target: float, refine: bool, system: System) -> float:
    """Write the direction towards complementarity `target` into the steps of `point`. Returns the step of nu.

    With `refine`, the residual that rounding left is solved for once more.
    """
    n = point.p.shape[0]
    residual, missing = roomy(n), np.empty(n)
    reduced_costs(data, point, residual)
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
    for steps in (point.outer_step, point.inner_step, point.outer_dual_step, point.inner_dual_step):
        clear(steps)
    for a in range(n):
        point.dp[a], point.ds[a] = 0.0, 0.0
    nu_step = _step(data, point, system, residual, missing, excess)
    if refine:
        clear(system.outer_force)
        clear(system.inner_force)
        prices, earned = np.empty(n), roomy(n)
        for a in range(n):
            system.force[a] = 0.0
            q, p = point.outer[a, 0], point.p[a]
            r, rho = (1.0 - p) / q, p / q
            d, w, e = point.outer_dual_step[a, 0], point.outer_dual_step[a, 1], point.outer_dual_step[a, 2]
            f, v, g = point.inner_dual_step[a, 0], point.inner_dual_step[a, 1], point.inner_dual_step[a, 2]
            prices[a] = (d - 2.0 * r * e + r * r * w) + (f - 2.0 * rho * g + rho * rho * v)
            residual[a] += 2.0 * (e - r * w) - 2.0 * (g - rho * v) + nu_step - point.ds[a]
            missing[a] += w + v
            excess += w
        weighted_rows(data.revealed, prices, earned)
        for a in range(n):
            residual[a] -= earned[a]
        nu_step += _step(data, point, system, residual, missing, excess)
    return nu_step


@inner()
def _step(data: Data, point: Iterate, system: System, residual: PerArm, missing: PerArm, excess: float) -> float:
    """Solve the system for the forces on the cones and the residuals of the dual equations; add to the steps."""
    n = point.p.shape[0]
    solution, pull, earned = roomy(n + 1), roomy(n), roomy(n)
    solution[n] = excess
    for a in range(n):
        q, p = point.outer[a, 0], point.p[a]
        k, m, i, j = slopes(point, a)
        d, w, e = system.outer_force[a, 0], system.outer_force[a, 1], system.outer_force[a, 2]
        f, v, g = system.inner_force[a, 0], system.inner_force[a, 1], system.inner_force[a, 2]
        both = (w + v + missing[a]) / (k + m)
        by_x, by_t, by_v = w - k * both, -2.0 * e - i * both, 2.0 * g - j * both
        pull[a] = d + f + (1.0 - p) / q * by_t - p / q * by_v + (1.0 - 2.0 * p) / (q * q) * by_x
        solution[a] = by_t + by_v + 2.0 / q * by_x + system.force[a] - residual[a]
        solution[n] += by_x
    weighted_rows(data.revealed, pull, earned)
    for a in range(n):
        solution[a] += earned[a]
    solve(system.matrix, solution)
    mass, room = -1.0, 0.0
    for a in range(n):
        mass += solution[a] + point.p[a] + point.dp[a]
        room += system.ones[a]
    nu_step = mass / room
    for a in range(n + 1):
        solution[a] -= nu_step * system.ones[a]
    weighted_rows(data.revealing, solution, pull)
    outer_change, inner_change = np.empty((n, 3)), np.empty((n, 3))
    for a in range(n):
        q, p, dp, dq = point.outer[a, 0], point.p[a], solution[a], pull[a]
        k, m, i, j = slopes(point, a)
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


@inner()
def _answer(inverse: Cones, change: Cones, dual: Cones, force: Cones, dual_step: Cones) -> None:
    """Add the dual step of a primal one: the force less the symmetric part of inverse * change * dual."""
    product = np.empty_like(change)
    sandwich(inverse, change, dual, product)
    move(dual_step, 1.0, force)
    move(dual_step, -1.0, product)
