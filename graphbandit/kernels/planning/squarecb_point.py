"""The points of SquareCB.G's interior-point method: where it starts, how far it may go, and what it has reached."""

import math
from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmsByArms, PerArm, PerRound
from graphbandit.base.shapes import Float
from graphbandit.kernels.jit import inlined, inner
from graphbandit.kernels.planning.bordered_cholesky import add_rows, roomy
from graphbandit.kernels.planning.cones import Cones, inner_product, longest_step

BISECTIONS = 45


class Data(NamedTuple):
    """What a program is made of; its matrices have rows padded with 0 to a multiple of eight."""

    costs: PerArm
    revealing: ArmsByArms
    """``revealing[j, b]`` is 1.0 where j reveals b"""
    revealed: ArmsByArms
    """its transpose"""


class Iterate(NamedTuple):
    """A primal and a dual point, and a direction from them; every array has one row an arm.

    Near the optimum the determinants of the 2 x 2 matrices are far smaller than their entries, so the entries are not
    stored. A primal matrix [[q, u], [u, x]] is q, u / q and its slack x - u^2 / q; in the basis in which it is
    diagonal it is (q, slack, 0). A dual matrix is [[h + w g^2, -w g], [-w g, w]] by its weight w, slope g and excess h;
    in the same basis it is (h + w (u / q - g)^2, w, w (u / q - g)). Steps are in that basis too, and nothing cancels.
    """

    p: PerArm
    s: PerArm
    """duals of p >= 0"""
    outer: Float[np.ndarray, "arms 3"]
    inner: Float[np.ndarray, "arms 3"]
    outer_dual: Float[np.ndarray, "arms 3"]
    inner_dual: Float[np.ndarray, "arms 3"]
    outer_slope: PerArm
    inner_slope: PerArm
    outer_excess: PerArm
    inner_excess: PerArm
    dp: PerArm
    ds: PerArm
    outer_step: Float[np.ndarray, "arms 3"]
    inner_step: Float[np.ndarray, "arms 3"]
    outer_dual_step: Float[np.ndarray, "arms 3"]
    inner_dual_step: Float[np.ndarray, "arms 3"]


@inlined()
def weighted_rows(rows: Float[np.ndarray, "n room"], factors: PerRound, out: PerRound) -> None:
    """sum_i factors[i] * rows[i]: q from p and `revealing`, or what each arm earns from prices and `revealed`.

    `out` has room for as many numbers as a row.
    """
    n = rows.shape[0]
    for k in range(n):
        out[k] = 0.0
    add_rows(out, 0, 0, n, rows, factors, n)


@inlined()
def _weight(level: float) -> float:
    """The w between 0 and 1 with 1 / w - 1 / (1 - w) = level."""
    return 2.0 / (level + 2.0 + math.sqrt(level * level + 4.0))


@inner()
def reduced_costs(data: Data, point: Iterate, out: PerArm) -> None:
    """The derivative of the Lagrangian by each p(j), without s and nu."""
    n = data.costs.shape[0]
    prices = np.empty(n)
    for b in range(n):
        g, k = point.outer_slope[b], point.inner_slope[b]
        w, v = point.outer_dual[b, 1], point.inner_dual[b, 1]
        prices[b] = (point.outer_excess[b] + w * g * g) + (point.inner_excess[b] + v * k * k)
    weighted_rows(data.revealed, prices, out)
    for j in range(n):
        w, v = point.outer_dual[j, 1], point.inner_dual[j, 1]
        out[j] = data.costs[j] - 2.0 * w * point.outer_slope[j] + 2.0 * v * point.inner_slope[j] - out[j]


@inner()
def start(data: Data, p: PerArm) -> None:
    """A distribution that reveals b with probability about 1 / (K + c(b)), through the cheapest arm that reveals it."""
    costs, revealing, _ = data
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
        # with nearly all mass on `best`, its own constraint asks for little, but the others require that it is revealed
        asked = second if b == best and revealing[best, best] == 0.0 else costs[b]
        p[cheapest] += 1.0 / (2.0 * n + asked)
        total += 1.0 / (2.0 * n + asked)
    if total < 1.0:
        p[best] += 1.0 - total
        total = 1.0
    for a in range(n):
        p[a] /= total


@inner()
def centre(data: Data, point: Iterate) -> float:
    """Fill in y, Y and the duals around p so that all cones have complementarity 1. Returns nu.

    For given p the best y(a) and w(a) are closed forms of Y, and sum_a w(a) = 1 determines Y.
    """
    n = data.costs.shape[0]
    p, q, levels = point.p, roomy(n), np.empty(n)
    weighted_rows(data.revealing, p, q)
    low, high = np.inf, -np.inf
    for a in range(n):
        levels[a] = data.costs[a] + (2.0 * p[a] - 1.0) / q[a]
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
    reduced_costs(data, point, point.s)
    mean, least = 0.0, -np.inf
    for j in range(n):
        mean += p[j] * point.s[j]
        least = max(least, 0.2 / p[j] - point.s[j])
    nu = float(max(n - mean, least))
    for j in range(n):
        point.s[j] += nu
    return nu


@inlined()
def change_basis(point: Iterate) -> None:
    """The dual matrices in the basis of the primal ones."""
    for a in range(point.p.shape[0]):
        q, w, v = point.outer[a, 0], point.outer_dual[a, 1], point.inner_dual[a, 1]
        off = (1.0 - point.p[a]) / q - point.outer_slope[a]
        point.outer_dual[a, 0], point.outer_dual[a, 2] = point.outer_excess[a] + w * off * off, w * off
        off = point.p[a] / q - point.inner_slope[a]
        point.inner_dual[a, 0], point.inner_dual[a, 2] = point.inner_excess[a] + v * off * off, v * off


@inner()
def complementarity(point: Iterate) -> float:
    """The sum over all cones of the products of primal and dual."""
    total = inner_product(point.outer, point.outer_dual) + inner_product(point.inner, point.inner_dual)
    for a in range(point.p.shape[0]):
        total += point.p[a] * point.s[a]
    return total


@inlined()
def _longest(x: PerRound, dx: PerRound) -> float:
    """The largest t at which x + t dx has no negative entry."""
    length = np.inf
    for i in range(x.shape[0]):
        if dx[i] < 0.0:
            length = min(length, -x[i] / dx[i])
    return length


@inner()
def lengths(point: Iterate) -> tuple[float, float]:
    """How far the primal and the dual step may go."""
    primal = min(longest_step(point.outer, point.outer_step), longest_step(point.inner, point.inner_step))
    dual = min(
        longest_step(point.outer_dual, point.outer_dual_step), longest_step(point.inner_dual, point.inner_dual_step)
    )
    return min(primal, _longest(point.p, point.dp)), min(dual, _longest(point.s, point.ds))


@inner()
def ahead(point: Iterate, primal: float, dual: float) -> float:
    """The complementarity after steps of these lengths: it is bilinear."""
    here = complementarity(point)
    by_primal = inner_product(point.outer_step, point.outer_dual) + inner_product(point.inner_step, point.inner_dual)
    by_dual = inner_product(point.outer, point.outer_dual_step) + inner_product(point.inner, point.inner_dual_step)
    both = inner_product(point.outer_step, point.outer_dual_step) + inner_product(
        point.inner_step, point.inner_dual_step
    )
    for a in range(point.p.shape[0]):
        by_primal += point.dp[a] * point.s[a]
        by_dual += point.p[a] * point.ds[a]
        both += point.dp[a] * point.ds[a]
    return max(here + primal * by_primal + dual * by_dual + primal * dual * both, 0.0)


@inlined()
def _moved(duals: Cones, a: int, length: float, steps: Cones, ratio: float) -> tuple[float, float]:
    """Move the weight of the dual matrix of an arm; returns its new slope and excess."""
    duals[a, 1] += length * steps[a, 1]
    off = (duals[a, 2] + length * steps[a, 2]) / duals[a, 1]
    return ratio - off, duals[a, 0] + length * steps[a, 0] - duals[a, 1] * off * off


@inner()
def advance(data: Data, point: Iterate, primal: float, dual: float, q: PerArm) -> None:
    """Take the steps: first the duals, in the old basis, then the primal point."""
    n = point.p.shape[0]
    for a in range(n):
        old = point.outer[a, 0]
        point.outer_slope[a], point.outer_excess[a] = _moved(
            point.outer_dual, a, dual, point.outer_dual_step, (1.0 - point.p[a]) / old
        )
        point.inner_slope[a], point.inner_excess[a] = _moved(
            point.inner_dual, a, dual, point.inner_dual_step, point.p[a] / old
        )
        point.p[a] += primal * point.dp[a]
        point.s[a] += dual * point.ds[a]
    weighted_rows(data.revealing, point.p, q)
    for a in range(n):
        t, v = primal * point.outer_step[a, 2], primal * point.inner_step[a, 2]
        point.outer[a, 1] += primal * point.outer_step[a, 1] - t * t / q[a]
        point.inner[a, 1] += primal * point.inner_step[a, 1] - v * v / q[a]
        point.outer[a, 0] = point.inner[a, 0] = q[a]


@inner()
def dual_point(data: Data, point: Iterate, trial: Float[np.ndarray, "4 arms"]) -> None:
    """Write p, w, r and rho of the iterate, with p and w normalised and rounding removed from the bound.

    The bound uses the least reduced cost, so a single one that rounding made too low harms it as much as if all were.
    Adding e / 2 to rho(j) and subtracting it from r(j) adds e to the reduced cost of j and costs the bound
    q(j) e^2 / 4, which is negligible.
    """
    n = point.p.shape[0]
    mass, weight = 0.0, 0.0
    for a in range(n):
        mass += point.p[a]
        weight += point.outer_dual[a, 1]
    prices, earned = np.empty(n), roomy(n)
    for a in range(n):
        w, r, rho = point.outer_dual[a, 1] / weight, point.outer_slope[a], point.inner_slope[a]
        trial[0, a], trial[1, a], trial[2, a], trial[3, a] = point.p[a] / mass, w, r, rho
        prices[a] = w * r * r + (1.0 - w) * rho * rho
    weighted_rows(data.revealed, prices, earned)
    mean = 0.0
    for j in range(n):
        w, r, rho = trial[1, j], trial[2, j], trial[3, j]
        earned[j] = data.costs[j] - 2.0 * w * r + 2.0 * (1.0 - w) * rho - earned[j]
        mean += trial[0, j] * earned[j]
    for j in range(n):
        lacking = max(mean - earned[j], 0.0)
        trial[2, j] -= 0.5 * lacking
        trial[3, j] += 0.5 * lacking
