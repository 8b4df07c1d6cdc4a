"""Programs in exact arithmetic: every number is a fraction, so nothing is rounded."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

Vector = list[Fraction]


def fractions(values: Sequence[float] | np.ndarray) -> Vector:
    """Floats as the fractions that they are."""
    return [Fraction(float(value)) for value in values]


def least_cost(reveals: np.ndarray, demand: np.ndarray, costs: np.ndarray) -> Fraction | None:
    """min c.p over distributions p with sum_j p(j) reveals[j, a] >= b(a); None if there is none. Costs are >= 0.

    The simplex method on the dual, max b.y + t with reveals y + t <= c and y >= 0, which y = 0, t = 0 is a start of;
    the free t is a difference of two. The pivots are Bland's, so it ends.
    """
    rows = [a for a in range(len(demand)) if demand[a] > 0]
    n, m = len(costs), len(rows) + 2
    table = []
    for j, cost in enumerate(fractions(costs)):
        line = [*fractions(reveals[j, rows].astype(float)), Fraction(1), Fraction(-1)]
        table.append([*line, *(Fraction(int(j == i)) for i in range(n)), cost])
    goal = [*fractions(demand[rows]), Fraction(1), Fraction(-1), *([Fraction(0)] * n), Fraction(0)]
    basis = list(range(m, m + n))
    while True:
        enter = next((k for k in range(m + n) if goal[k] > 0), None)
        if enter is None:
            return -goal[-1]
        ratios = [(line[-1] / line[enter], basis[i], i) for i, line in enumerate(table) if line[enter] > 0]
        if not ratios:
            return None  # the dual grows without end: nothing is feasible
        _, _, i = min(ratios)
        pivot = table[i][enter]
        table[i] = [value / pivot for value in table[i]]
        for k, line in enumerate(table):
            if k != i and line[enter]:
                factor = line[enter]
                table[k] = [value - factor * other for value, other in zip(line, table[i], strict=True)]
        factor = goal[enter]
        goal = [value - factor * other for value, other in zip(goal, table[i], strict=True)]
        basis[i] = enter


def least_cost_bound(reveals: np.ndarray, demand: np.ndarray, costs: np.ndarray, duals: np.ndarray) -> Fraction:
    """A lower bound on that, whatever the duals are: sum_a b(a) y(a) + min_j (c(j) - sum_a reveals[j, a] y(a))."""
    y = [max(value, Fraction(0)) for value in fractions(duals)]
    paid = sum((b * price for b, price in zip(fractions(demand), y, strict=True)), Fraction(0))
    left = [
        cost - sum((price for price, seen in zip(y, reveals[j], strict=True) if seen), Fraction(0))
        for j, cost in enumerate(fractions(costs))
    ]
    return paid + min(left)


def squarecb_value(p: np.ndarray, losses: np.ndarray, reveals: np.ndarray, gamma: float) -> Fraction | None:
    """sum_a p(a) l(a) + z, z being the least number that the constraints of SquareCB.G's program allow."""
    weights, estimates, scale = fractions(p), fractions(losses), Fraction(gamma)
    total = sum(weights)
    weights = [weight / total for weight in weights]
    n = len(weights)
    q = [sum((weights[j] for j in range(n) if reveals[j, b]), Fraction(0)) for b in range(n)]
    if not all(q):
        return None
    spread = sum((weights[b] ** 2 / q[b] for b in range(n)), Fraction(0))
    z = max((spread + (1 - 2 * weights[a]) / q[a]) / scale - estimates[a] for a in range(n))
    return sum((weight * loss for weight, loss in zip(weights, estimates, strict=True)), z)
