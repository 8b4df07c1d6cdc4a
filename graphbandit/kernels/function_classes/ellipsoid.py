"""Which arms are best for some parameter in the ellipsoid |U (theta - center)|^2 <= radius: exactly.

One parameter for all arms. Let e(b) = U'^-1 (phi(b) - phi(best)), best the arm the center calls best, w = U theta, and
g(b) the unit vector along e(b) - e(a). Arm a is best at w where g(b)'w <= 0 for all b: a cone. It is a candidate if
some w within rho = sqrt(radius) of c = U center is in it with room to spare: g(b)'w + h <= 0, h = 1e-7 rho, so an
arm that can tie with others but never win, such as one between two others, is none.

The nearest such w is c - y, y = sum u(b) g(b), where u >= 0 maximises sum u(b) (g(b)'c + h) - |y|^2 / 2: a non-negative
least-squares problem. The dual active-set method (Goldfarb and Idnani, 1983) solves it, mostly in one or two steps, and
stops early:

- for any u >= 0 the nearest w is at least sum u(b) (g(b)'c + h) / |y| away, so arm a is out if that exceeds rho. With u
  on one arm alone this is the test of a against that arm;
- any point within rho at which a wins proves it in. The points c - t y on the way to the answer are tried.

An arm that is out can be left out of the comparison for all others: where it wins there is no plausible parameter.
"""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmIndices, ArmMasks, Matrix, Offers, RoundsByArms, Vector
from graphbandit.base.shapes import Bool, Float
from graphbandit.kernels.cholesky import factorise, solve_lower, solve_upper
from graphbandit.kernels.function_classes.linear import gap_norms, linear_values, whiten
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.exploration import best_arm

MARGIN = 1e-7
"""h / rho: by how much an arm has to win somewhere."""

SLACK = 1e-9
"""Rounding allowance: an arm is out if its distance is beyond rho by more than this share."""

DEPENDENT = 1e-12
"""A constraint with a smaller share of its square outside the span of the active ones depends on them."""

RIVALS = 16
"""How many others every arm is compared with where candidates are not exact."""

FIXED = 1e-100
"""An arm whose value has a smaller norm cannot move."""


class Ellipsoid(NamedTuple):
    """|U (theta - center)|^2 <= radius."""

    center: Vector
    factor: Matrix
    """U"""
    radius: float


class Rivals(NamedTuple):
    """The arms of a round that may still win."""

    points: Float[np.ndarray, "d m"]
    """column b is e(b)"""
    sizes: Float[np.ndarray, " m"]
    """|e(b)|"""
    values: Float[np.ndarray, " m"]
    """center'(phi(b) - phi(best))"""
    alive: Bool[np.ndarray, " m"]
    """false for arms that are out"""
    rho: float


class Trial(NamedTuple):
    """Room for the comparison of one arm with the others."""

    direction: Vector
    excess: Float[np.ndarray, " m"]
    slope: Float[np.ndarray, " m"]
    vectors: Float[np.ndarray, "d m"]
    present: Bool[np.ndarray, " m"]


@kernel()
def _wins_on_line(
    excess: Float[np.ndarray, " m"], slope: Float[np.ndarray, " m"], present: Bool[np.ndarray, " m"], longest: float
) -> bool:
    """Whether excess(b) - t slope(b) <= 0 for all b present, for some t in 0 .. longest."""
    low, high = 0.0, longest
    for b in range(excess.shape[0]):
        if present[b]:
            if slope[b] > 0.0:
                low = max(low, excess[b] / slope[b])
            elif slope[b] < 0.0:
                high = min(high, excess[b] / slope[b])
            elif excess[b] > 0.0:
                return False
            if low > high:
                return False
    return True


@kernel()
def _project(vectors: Float[np.ndarray, "d m"], direction: Vector, products: Float[np.ndarray, " m"]) -> float:
    """g(b)'v of every column, for v = `direction`; |v|."""
    square = 0.0
    products[:] = 0.0
    for i in range(vectors.shape[0]):
        step = direction[i]
        square += step * step
        for b in range(vectors.shape[1]):
            products[b] += vectors[i, b] * step
    return float(np.sqrt(square))


@kernel()
def _wins_away_from_mean(a: int, rivals: Rivals, mean: Vector, trial: Trial) -> bool:
    """Whether a wins at some c + t (e(a) - mean of all e): a cheap test, and if it succeeds no other is needed."""
    points, sizes, values, alive, rho = rivals
    direction, excess, slope, _, _ = trial
    d, m = points.shape
    for i in range(d):
        direction[i] = mean[i] - points[i, a]
    length = _project(points, direction, slope)
    own = slope[a]
    for b in range(m):
        slope[b] -= own
        excess[b] = values[b] - values[a] + MARGIN * rho * (sizes[a] + sizes[b])
    slope[a], excess[a] = 0.0, 0.0
    return length > 0.0 and _wins_on_line(excess, slope, alive, rho / length)


@kernel()
def _may_win(a: int, rivals: Rivals, trial: Trial) -> bool:
    """Whether arm a may win among those alive.

    True, too, if rounding keeps the method from ending, which it never did in our tests.
    """
    points, _, values, alive, rho = rivals
    direction, excess, slope, vectors, present = trial
    d, m = points.shape
    slope[:] = 0.0
    for i in range(d):
        own = points[i, a]
        for b in range(m):
            vectors[i, b] = points[i, b] - own
            slope[b] += vectors[i, b] * vectors[i, b]
    for b in range(m):
        present[b] = alive[b] and slope[b] > 0.0  # arms with the features of a need not be beaten
        slope[b] = 1.0 / np.sqrt(slope[b]) if present[b] else 0.0
        excess[b] = (values[b] - values[a]) * slope[b] + MARGIN * rho
    for i in range(d):
        for b in range(m):
            vectors[i, b] *= slope[b]
    most = min(d, m)
    active, weights, size = np.empty(most + 1, dtype=np.int64), np.empty(most + 1), 0
    gram, factor, change = np.empty((most, most)), np.zeros((most, most)), np.empty(most)
    for _ in range(50 + 10 * most):
        reach = 0.0
        direction[:] = 0.0
        for k in range(size):
            reach += weights[k] * excess[active[k]]
            for i in range(d):
                direction[i] += weights[k] * vectors[i, active[k]]
        length = _project(vectors, direction, slope)
        if reach > rho * (1.0 + SLACK) * length:
            return False
        if length > 0.0 and _wins_on_line(excess, slope, present, rho / length):
            return True
        new, worst = -1, SLACK * rho
        for b in range(m):
            if present[b] and excess[b] - slope[b] > worst:
                new, worst = b, excess[b] - slope[b]
        if new < 0:
            return True
        # make `new` active: its weight grows and the others change with it, until it is met or one of them is 0
        weight = 0.0
        while True:
            for k in range(size):
                change[k] = 0.0
                for i in range(d):
                    change[k] += vectors[i, active[k]] * vectors[i, new]
            solve_lower(factor[:size, :size], change[:size])
            outside = 1.0
            for k in range(size):
                outside -= change[k] * change[k]
                if size < most:
                    factor[k, size] = change[k]
            solve_upper(factor[:size, :size], change[:size])
            full = worst / outside if outside > DEPENDENT and size < most else np.inf
            partial, leaving = np.inf, -1
            for k in range(size):
                if change[k] > 0.0 and weights[k] < partial * change[k]:
                    partial, leaving = weights[k] / change[k], k
            step = min(full, partial)
            if step == np.inf:
                return False
            weight += step
            for k in range(size):
                weights[k] = max(weights[k] - step * change[k], 0.0)
            if full <= partial:
                factor[size, size] = np.sqrt(outside)
                active[size], weights[size] = new, weight
                size += 1
                break
            if full < np.inf:
                worst -= step * outside
            size -= 1
            for k in range(leaving, size):
                active[k], weights[k] = active[k + 1], weights[k + 1]
            for k in range(size):
                for j in range(k, size):
                    gram[k, j] = 0.0
                    for i in range(d):
                        gram[k, j] += vectors[i, active[k]] * vectors[i, active[j]]
            factorise(gram[:size, :size], DEPENDENT, factor[:size, :size])
    return True


@kernel()
def _drop_beaten(rivals: Rivals) -> None:
    """Mark as not alive every arm that one of the RIVALS arms of highest value beats everywhere."""
    points, _, values, alive, rho = rivals
    d, m = points.shape
    used = np.zeros(m, dtype=np.bool_)
    squares = np.empty(m)
    for _ in range(min(RIVALS, m)):
        rival = -1
        for b in range(m):
            if not used[b] and alive[b] and (rival < 0 or values[b] > values[rival]):
                rival = b
        if rival < 0:
            return
        used[rival] = True
        squares[:] = 0.0
        for i in range(d):
            own = points[i, rival]
            for b in range(m):
                apart = points[i, b] - own
                squares[b] += apart * apart
        for b in range(m):
            if b != rival and values[rival] - values[b] > rho * (1.0 + SLACK) * np.sqrt(squares[b]):
                alive[b] = False


@kernel()
def ellipsoid_candidates(
    rows: Float[np.ndarray, "n arms d"], space: Ellipsoid, available: Offers, exact: bool, chosen: ArmMasks
) -> None:
    """Mark the arms that win somewhere in the ellipsoid.

    The arm that the center calls best (lowest index on ties) is always marked. Of arms with the same features only
    the first can be. Without `exact`, an arm is marked unless one of the RIVALS arms with the highest values at the
    center beats it everywhere: that marks all arms that win somewhere, and maybe more, in time linear in their number.
    """
    center, factor, radius = space
    n, n_arms = chosen.shape
    d, rho = rows.shape[2], np.sqrt(radius)
    arms, values = np.empty(n_arms, dtype=np.int64), np.empty(n_arms)
    differences = np.empty((d, n_arms))
    for t in range(n):
        mask = available[t if available.shape[0] > 1 else 0]
        best, highest = -1, -np.inf
        for a in range(n_arms):
            if mask[a]:
                total = 0.0
                for i in range(d):
                    total += rows[t, a, i] * center[i]
                if best < 0 or total > highest:
                    best, highest = a, total
        chosen[t, best] = True
        count = 0
        for a in range(n_arms):
            if mask[a] and a != best:
                total = 0.0
                for i in range(d):
                    differences[i, count] = rows[t, a, i] - rows[t, best, i]
                    total += differences[i, count] * center[i]
                arms[count], values[count] = a, total
                count += 1
        whiten(factor, differences, count)
        kept = 0
        for k in range(count):
            square = 0.0
            for i in range(d):
                square += differences[i, k] * differences[i, k]
            if (
                square == 0.0
                or -values[k] > rho * (1.0 + SLACK) * np.sqrt(square)
                or (exact and _repeats(rows[t], arms, kept, arms[k]))
            ):
                continue
            arms[kept], values[kept] = arms[k], values[k]
            for i in range(d):
                differences[i, kept] = differences[i, k]
            kept += 1
        if radius == 0.0:
            continue
        if kept == 1:
            chosen[t, arms[0]] = True
        elif kept > 1:
            m = kept + 1  # best is the last, at 0
            columns, of_arms, middle, flags = (
                np.empty((2, d, m)),
                np.empty((4, m)),
                np.empty((2, d)),
                np.empty((2, m), np.bool_),
            )
            points, sizes, shifted, alive = columns[0], of_arms[0], of_arms[1], flags[0]
            mean, trial = middle[0], Trial(middle[1], of_arms[2], of_arms[3], columns[1], flags[1])
            rivals = Rivals(points, sizes, shifted, alive, rho)
            shifted[kept], sizes[:] = 0.0, 0.0
            for i in range(d):
                points[i, kept], mean[i] = 0.0, 0.0
                for k in range(kept):
                    points[i, k] = differences[i, k]
                    sizes[k] += differences[i, k] * differences[i, k]
                    mean[i] += differences[i, k]
                mean[i] /= m
            for k in range(kept):
                shifted[k], sizes[k] = values[k], np.sqrt(sizes[k])
            alive[:] = True
            if not exact:
                _drop_beaten(rivals)
                for k in range(kept):
                    chosen[t, arms[k]] = alive[k]
                continue
            for k in range(kept):
                alive[k] = _wins_away_from_mean(k, rivals, mean, trial) or _may_win(k, rivals, trial)
                chosen[t, arms[k]] = alive[k]


# arrays one by one: as named tuples they would make a decision between ten arms take 3 % longer
@kernel()
def linear_prospects(
    rows: Float[np.ndarray, "n arms d"],
    limit: float,
    parameters: Float[np.ndarray, "1 d"],
    offset: float,
    center: Vector,
    factor: Matrix,
    radius: float,
    available: Offers,
    scale: float,
    values: RoundsByArms,
    chosen: ArmMasks,
    deviations: RoundsByArms,
) -> bool:
    """c + theta'phi(x, a), the arms that win somewhere in the ellipsoid, and `gap_norms` unless the scale is 0.

    False, and nothing else, unless features are `small`.
    """
    if not linear_values(rows, limit, parameters, offset, values):
        return False
    ellipsoid_candidates(rows, Ellipsoid(center, factor, radius), available, True, chosen)
    if scale > 0.0:
        n, d = rows.shape[0], rows.shape[2]
        best = np.empty(n, np.int64)
        for t in range(n):
            best[t] = best_arm(values[t], available[t if available.shape[0] > 1 else 0])
        gap_norms(rows, best, factor.reshape(1, d, d), chosen, scale, deviations)
    return True


@kernel()
def _repeats(rows: Float[np.ndarray, "arms d"], arms: ArmIndices, count: int, arm: int) -> bool:
    """Whether one of the first `count` arms has exactly the features of `arm`."""
    for k in range(count):
        same = True
        for i in range(rows.shape[1]):
            if rows[arms[k], i] != rows[arm, i]:
                same = False
                break
        if same:
            return True
    return False


@kernel()
def separate_candidates(
    values: RoundsByArms, norms: RoundsByArms, radius: float, available: Offers, chosen: ArmMasks
) -> None:
    """Mark the arms that win somewhere, when every arm has a parameter of its own.

    Only the arms' values matter: they move freely, within sum ((value(b) - values[b]) / norms[b])^2 <= radius.
    Arm a wins most cheaply by rising to some t to which all better ones sink. That cost is convex in t and least where
    t = (mean of values[a] and of the arms that sink, weighted with 1 / norms^2): exact, in O(K log K) and O(K) an arm.
    An arm of norm 0 cannot move.
    """
    n, n_arms = chosen.shape
    for t in range(n):
        mask = available[t if available.shape[0] > 1 else 0]
        best, fixed, fixed_value = -1, -1, -np.inf
        for a in range(n_arms):
            if mask[a]:
                if best < 0 or values[t, a] > values[t, best]:
                    best = a
                if norms[t, a] < FIXED and values[t, a] > fixed_value:
                    fixed, fixed_value = a, values[t, a]
        chosen[t, best] = True
        if radius == 0.0:
            continue
        order = np.argsort(-values[t], kind="mergesort")
        for a in range(n_arms):
            if not mask[a] or a == best:
                continue
            own = values[t, a]
            if norms[t, a] < FIXED and a != fixed:
                continue
            lowest, target = max(own, fixed_value), own
            if norms[t, a] >= FIXED:
                precision = 1.0 / (norms[t, a] * norms[t, a])
                moment = own * precision
                for b in order:
                    if mask[b] and b != a and norms[t, b] >= FIXED:
                        if values[t, b] <= max(moment / precision, lowest):
                            break
                        extra = 1.0 / (norms[t, b] * norms[t, b])
                        precision += extra
                        moment += values[t, b] * extra
                target = max(moment / precision, lowest)
            cost = 0.0
            if norms[t, a] >= FIXED:
                cost += ((target - own) / norms[t, a]) ** 2
            for b in order:
                if mask[b] and values[t, b] <= target:
                    break
                if mask[b] and b != a and norms[t, b] >= FIXED:
                    cost += ((values[t, b] - target) / norms[t, b]) ** 2
            chosen[t, a] = cost <= radius * (1.0 + SLACK)
