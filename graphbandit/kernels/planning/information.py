"""What each arm would teach about which arm is best here, and the distribution that learns most for its regret."""

from typing import Any, NamedTuple

import numpy as np

from graphbandit.base.array_types import (
    ArmMask,
    ArmMasks,
    Offers,
    PerArm,
    PerRound,
    RoundIndices,
    RoundMask,
    RoundsByArms,
)
from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.graphs.adjacency import (
    Graph,
    Graphs,
    graph_of,
    observation_probabilities,
    total_revealed,
)
from graphbandit.kernels.graphs.arm_sets import trailing_zeros
from graphbandit.kernels.jit import for_python, inlined, inner, kernel
from graphbandit.kernels.planning.draw import weighted_observation_probabilities
from graphbandit.kernels.planning.exploration import best_arm, draw_arm
from graphbandit.kernels.simd_lanes import at_least, eight, equal_to, larger, largest_of, octet, put


class Weighed(NamedTuple):
    """What each arm costs and teaches in each round, and what is played: one row for each."""

    tables: Float[np.ndarray, "n 7 arms"]
    """p, q, the gaps, g, Delta, mu and v"""
    candidates: ArmMasks
    actions: Int[np.ndarray, "n 2"]
    """the arm of the smallest Delta and the arm drawn"""
    probability: PerRound
    """of the arm drawn"""
    blind: RoundMask
    """whether nothing tells the arms on offer apart, so that they are played uniformly"""


class Tally(NamedTuple):
    """Room for one round of draws."""

    winners: RoundIndices
    """the best arm of each draw"""
    place: RoundIndices
    """the place of each arm among the best arms: -1 for others, and everywhere before and after each round"""
    mass: PerArm
    """the weight of the draws that call it best, for each best arm"""
    sums: Float[np.ndarray, "parts arms"]
    """the weighted sums of their values, less those of the first draw"""


@inner()
def tally_of(draws: int, n_arms: int) -> Tally:
    """Room for rounds with this many draws and arms."""
    winners, place = np.empty(draws, np.int64), np.empty(n_arms, np.int64)
    for a in range(n_arms):
        place[a] = -1
    parts = min(draws, n_arms)
    return Tally(winners, place, np.empty(parts), np.empty((parts, n_arms)))


@inner()
def weigh_part(
    first: int,
    values: Float[np.ndarray, "n draws arms"],
    weights: Float[np.ndarray, " draws"],
    available: Offers,
    count_alike_as_blind: bool,
    found: Weighed,
) -> float:
    """Delta(a), v(a), mu(a) and the arms s with P(s) > 0, for rounds from `first` on, one for each of the values.

    Delta(a) = sum_b w_b (max_j f_b(x, j) - f_b(x, a)) is a sum of terms that are not negative, so it is exactly 0 for
    an arm that is best in every draw. v(a) = sum_s P(s) (mu(a | s) - mu(a))^2 is computed from f_b - f_1, so it is
    exactly 0 for an arm with the same value in all draws. Only available arms can be best. Returns a sum of squares
    that is NaN or large if a value with weight is, so that callers can look for it. With `count_alike_as_blind`, a
    round is blind if all arms on offer have the same values.
    """
    n, count, n_arms = values.shape
    tally = tally_of(count, n_arms)
    squares = 0.0
    for i in range(n):
        t = first + i
        mask, table = available[t if available.shape[0] > 1 else 0], found.tables[t]
        squares += _weigh(values[i], weights, mask, tally, table, found.candidates[t])
        blind = count_alike_as_blind
        for a in range(n_arms):
            blind = blind and (not mask[a] or table[4, a] == 0.0)
        found.blind[t] = blind
    return squares


weigh_rounds = for_python(weigh_part)
"""`weigh_part` for callers in Python."""


@inner()
def _weigh(
    values: Float[np.ndarray, "draws arms"],
    weights: Float[np.ndarray, " draws"],
    mask: ArmMask,
    tally: Tally,
    table: Float[np.ndarray, "7 arms"],
    candidates: ArmMask,
) -> float:
    """One round of `weigh_part`."""
    winners, place, mass, sums = tally
    regret, estimates, information = table[4], table[5], table[6]
    n_arms = values.shape[1]
    everyone = n_arms >= 8
    for a in range(n_arms):
        everyone = everyone and mask[a]
        candidates[a] = False
        regret[a] = 0.0
    used = 0
    best: Any = np.int64(-1)  # not a literal: functions that receive it would be compiled once more for it
    squares = 0.0
    for b in range(values.shape[0]):
        if weights[b] <= 0.0:
            continue
        row = values[b]
        if not everyone:
            best = best_arm(row, mask)
        elif best < 0 or n_arms > 64:
            best = highest_arm(row)
        else:  # most draws agree with the one before
            best = highest_from(row, best)
        if place[best] < 0:
            place[best] = used
            mass[used] = 0.0
            for a in range(n_arms):
                sums[used, a] = 0.0
            candidates[best] = True
            used += 1
        winners[b] = best
        mass[place[best]] += weights[b]
        squares += row[best] * row[best]
    if used == 1 and n_arms >= 8:
        _add_alike(values, weights, winners, regret, sums)
    else:
        _add_draws(values, weights, winners, place, regret, sums)
    for a in range(n_arms):
        place[a] = -1
        mean = 0.0
        for s in range(used):
            mean += sums[s, a]
        spread = 0.0
        for s in range(used):
            difference = sums[s, a] / mass[s] - mean
            spread += mass[s] * difference * difference
        estimates[a] = values[0, a] + mean
        information[a] = spread if used > 1 else 0.0
        squares += estimates[a] * estimates[a] + regret[a] * regret[a]
    return squares


@inner()
def _add_draws(
    values: Float[np.ndarray, "draws arms"],
    weights: Float[np.ndarray, " draws"],
    winners: RoundIndices,
    place: RoundIndices,
    regret: PerArm,
    sums: Float[np.ndarray, "parts arms"],
) -> None:
    """Add w_b (f_b(best) - f_b(a)) to the regrets, and w_b (f_b(a) - f_1(a)) to the part of the draw's best arm."""
    draws, n_arms = values.shape
    whole = n_arms // 8 * 8
    first = values[0]
    for b in range(draws):
        weight, row = weights[b], values[b]
        if weight <= 0.0:
            continue
        highest, total = row[winners[b]], sums[place[winners[b]]]
        for a in range(0, whole, 8):
            eight_arms = octet(row, a)
            put(regret, a, octet(regret, a) + weight * (highest - eight_arms))
            put(total, a, octet(total, a) + weight * (eight_arms - octet(first, a)))
        for a in range(whole, n_arms):
            regret[a] += weight * (highest - row[a])
            total[a] += weight * (row[a] - first[a])


@inner()
def _add_alike(
    values: Float[np.ndarray, "draws arms"],
    weights: Float[np.ndarray, " draws"],
    winners: RoundIndices,
    regret: PerArm,
    sums: Float[np.ndarray, "parts arms"],
) -> None:
    """`_add_draws` where all draws have the same best arm, as is most common: sixteen arms at a time, in registers.

    The last eight of eight or more arms are looked at together, though some of them were looked at before.
    """
    draws, n_arms = values.shape
    tail = n_arms - 8
    for a in range(0, n_arms, 16):
        one, other = min(a, tail), min(a + 8, tail)
        of_first, of_second = octet(values, one), octet(values, other)
        regrets, others = eight(0.0), eight(0.0)
        total, rest = eight(0.0), eight(0.0)
        for b in range(draws):
            weight = weights[b]
            if weight <= 0.0:
                continue
            highest = values[b, winners[b]]
            left, right = octet(values, b * n_arms + one), octet(values, b * n_arms + other)
            regrets = regrets + weight * (highest - left)
            others = others + weight * (highest - right)
            total = total + weight * (left - of_first)
            rest = rest + weight * (right - of_second)
        put(regret, one, regrets)
        put(regret, other, others)
        put(sums, one, total)
        put(sums, other, rest)


@inlined()
def highest_arm(values: PerArm) -> int:
    """`best_arm` for eight or more arms that are all on offer: the highest value, lowest index on ties.

    The last eight arms are looked at together, though some of them were looked at before.
    """
    tail = values.shape[0] - 8
    top = octet(values, tail)
    for a in range(0, tail, 8):
        top = larger(top, octet(values, a))
    most = largest_of(top)
    if tail <= 56:  # all places fit a word: no branch to be mispredicted
        places = equal_to(octet(values, tail), most) << np.uint64(tail)
        for a in range(0, tail, 8):
            places |= equal_to(octet(values, a), most) << np.uint64(a)
        return trailing_zeros(places) if places != 0 else 0  # none is equal if values are NaN
    for a in range(0, tail, 8):
        same = equal_to(octet(values, a), most)
        if same != 0:
            first: int = a + trailing_zeros(same)
            return first
    same = equal_to(octet(values, tail), most)
    return tail + trailing_zeros(same) if same != 0 else 0


@inlined()
def highest_from(values: PerArm, arm: int) -> int:
    """`highest_arm` of 8 to 64 arms, looked for from an arm that may well be it: few others have a value as high.

    The last eight arms are looked at together, though some of them were looked at before.
    """
    tail, value = values.shape[0] - 8, values[arm]
    places = at_least(octet(values, tail), value) << np.uint64(tail)
    for a in range(0, tail, 8):
        places |= at_least(octet(values, a), value) << np.uint64(a)
    best = trailing_zeros(places) if places != 0 else 0  # none is as high if its value is NaN
    places &= places - np.uint64(1)
    while places != 0:
        a = trailing_zeros(places)
        places &= places - np.uint64(1)
        if values[a] > values[best]:
            best = a
    return best


@kernel()
def decide_weighed(
    graphs: Graphs,
    first: int,
    values: Float[np.ndarray, "n draws arms"],
    weights: Float[np.ndarray, " draws"],
    available: Offers,
    count_alike_as_blind: bool,
    uniforms: PerRound,
    found: Weighed,
) -> float:
    """`weigh_part` and `direct_rounds` for the rounds of a batch from `first` on; returns what `weigh_part` does."""
    squares = weigh_part(first, values, weights, available, count_alike_as_blind, found)
    for t in range(first, first + values.shape[0]):
        _direct(graph_of(graphs, t), t, available, uniforms, found)
    return squares


# takes the same input as `weigh_part`
@kernel()
def best_arm_weights(
    values: Float[np.ndarray, "n draws arms"],
    weights: Float[np.ndarray, " draws"],
    available: Offers,
    probabilities: RoundsByArms,
    means: RoundsByArms,
    same: RoundMask,
) -> None:
    """P(s), the weight of the draws whose best available arm is s; mu(a); whether each draw has all arms the same."""
    n, draws, n_arms = values.shape
    for t in range(n):
        mask = available[t if available.shape[0] > 1 else 0]
        probabilities[t] = 0.0
        means[t] = 0.0
        same[t] = True
        for b in range(draws):
            row = values[t, b]
            best = best_arm(row, mask)
            probabilities[t, best] += weights[b]
            for a in range(n_arms):
                means[t, a] += weights[b] * row[a]
                same[t] &= row[a] == row[best] or not mask[a]


@kernel()
def weigh_bounds(lower: RoundsByArms, upper: RoundsByArms, noise: float, available: Offers, found: Weighed) -> None:
    """Delta(a) = max_b u(b) - l(a) and v(a) = log(1 + w(a)^2 / sigma^2), w = (u - l) / 2, from bounds l <= f <= u.

    Only ratios of informations matter, so limits are used if sigma is 0 (1 where w > 0) or infinite (w^2).
    Candidates are the available arms whose upper bound reaches the best lower one.
    """
    n, n_arms = lower.shape
    for t in range(n):
        regrets, estimates, information = found.tables[t, 4], found.tables[t, 5], found.tables[t, 6]
        mask = available[t if available.shape[0] > 1 else 0]
        highest = upper[t, best_arm(upper[t], mask)]
        safest = lower[t, best_arm(lower[t], mask)]
        for a in range(n_arms):
            regrets[a] = highest - lower[t, a]
            estimates[a] = (lower[t, a] + upper[t, a]) / 2.0
            found.candidates[t, a] = mask[a] and upper[t, a] >= safest
            width = 0.5 * (upper[t, a] - lower[t, a])
            if noise == 0.0:
                information[a] = 1.0 if width > 0.0 else 0.0
            elif noise == np.inf:
                information[a] = width * width
            else:
                information[a] = np.log1p((width / noise) * (width / noise))


@inner()
def neighbourhood(graph: Graph, information: PerArm, gains: PerArm) -> None:
    """g(j) = sum of v(a) over the arms a that j reveals, for one graph."""
    for j in range(gains.shape[0]):
        gains[j] = total_revealed(graph, j, information)


@kernel()
def direct_rounds(graphs: Graphs, available: Offers, uniforms: PerRound, found: Weighed) -> None:
    """g(j), the distribution of the smallest ratio, q, Delta(a) - min Delta, and the arm drawn, for each round."""
    for t in range(found.tables.shape[0]):
        _direct(graph_of(graphs, t), t, available, uniforms, found)


@inner()
def _direct(graph: Graph, t: int, available: Offers, uniforms: PerRound, found: Weighed) -> None:
    """One round of `direct_rounds`."""
    table = found.tables[t]
    probabilities = table[0]
    neighbourhood(graph, table[6], table[3])
    best = _spread(table, available[t if available.shape[0] > 1 else 0], found.blind[t])
    observation_probabilities(graph, probabilities, table[1])
    action = draw_arm(probabilities, uniforms[t])
    found.actions[t, 0], found.actions[t, 1], found.probability[t] = best, action, probabilities[action]


@kernel()
def direct_rounds_weighted(
    matrices: Float[np.ndarray, "stored arms arms"],
    index: RoundIndices,
    available: Offers,
    uniforms: PerRound,
    found: Weighed,
) -> None:
    """`direct_rounds` for graphs with edge probabilities: g(j) = sum_a P(j reveals a) v(a)."""
    n, _, n_arms = found.tables.shape
    for t in range(n):
        matrix, table = matrices[index[t]], found.tables[t]
        for j in range(n_arms):
            gain = 0.0
            for a in range(n_arms):
                gain += matrix[j, a] * table[6, a]
            table[3, j] = gain
        best = _spread(table, available[t if available.shape[0] > 1 else 0], found.blind[t])
        weighted_observation_probabilities(matrix, table[0], table[1])
        action = draw_arm(table[0], uniforms[t])
        found.actions[t, 0], found.actions[t, 1], found.probability[t] = best, action, table[0, action]


@inner()
def _spread(table: Float[np.ndarray, "7 arms"], mask: ArmMask, blind: bool) -> int:
    """The distribution of one round, uniform if it is blind, and the gaps; returns the arm of the smallest Delta."""
    probabilities, gaps, regrets = table[0], table[2], table[4]
    best = smallest_ratio(regrets, table[3], mask, probabilities)
    offered = 0
    for a in range(regrets.shape[0]):
        gaps[a] = regrets[a] - regrets[best]
        offered += mask[a]
    if blind:
        for a in range(regrets.shape[0]):
            probabilities[a] = 1.0 / offered if mask[a] else 0.0
    return best


@inner()
def smallest_ratio(regrets: PerArm, gains: PerArm, available: ArmMask, probabilities: PerArm) -> int:
    """The distribution of the smallest (sum p Delta)^2 / (sum p g). Returns the arm of the smallest Delta.

    D^2 / g is convex, falls with g and rises with D, so its minimum over the hull of the points (g, Delta) is on
    the lower hull, from the point of the smallest Delta to that of the largest g, and on one edge of it: at most two
    arms. Starting with these two points, the arm furthest below the line through both replaces one of them, the lower
    one if D^2 / g still falls there along the line, until no arm is below. If the smallest Delta is 0, or no arm has
    any gain, the arm of the smallest Delta alone is played; the lowest index on ties.
    """
    n_arms = regrets.shape[0]
    best = -1
    for a in range(n_arms):
        probabilities[a] = 0.0
        if available[a] and (best < 0 or regrets[a] < regrets[best]):
            best = a
    if regrets[best] <= 0.0:
        probabilities[best] = 1.0
        return best
    low = high = best
    for a in range(n_arms):
        if available[a]:
            if regrets[a] == regrets[best] and gains[a] > gains[low]:
                low = a
            if gains[a] > gains[high] or (gains[a] == gains[high] and regrets[a] < regrets[high]):
                high = a
    share = 0.0
    while gains[high] > gains[low]:
        dearer, richer = regrets[high] - regrets[low], gains[high] - gains[low]
        share = min(max((richer * regrets[low] - 2.0 * dearer * gains[low]) / (dearer * richer), 0.0), 1.0)
        below, depth = -1, 0.0
        for a in range(n_arms):
            if available[a] and gains[low] < gains[a] < gains[high]:
                drop = dearer * (gains[a] - gains[low]) - richer * (regrets[a] - regrets[low])
                if drop > depth:
                    below, depth = a, drop
        if below < 0:
            break
        if richer * regrets[below] > 2.0 * dearer * gains[below]:
            low = below
        else:
            high = below
    probabilities[low] = 1.0 - share
    probabilities[high] += share
    return best
