"""Linear functions theta'phi(x, a): values, sums of squares, and lengths in the metric of the data.

`rows[t, a]` is phi(x_t, a); with one row a context, all arms share it. `parameters` has one block for all arms, or one
block an arm, and matrices have as many. Sums run over coordinates in their order: no value depends on the batch.
"""

from typing import Any

import numpy as np

from graphbandit.base.array_types import (
    ArmMasks,
    Matrix,
    ObservationIndices,
    PerArm,
    PerObservation,
    RoundIndices,
    RoundsByArms,
)
from graphbandit.base.shapes import Float
from graphbandit.kernels.cholesky import factorise, solve_lower, solve_upper, squared_norm
from graphbandit.kernels.jit import inlined, inner, kernel
from graphbandit.kernels.magnitude import small
from graphbandit.kernels.simd_lanes import eight, lane, octet, plus_product, put

TILE = 256
"""Arms taken at a time, so that their features stay near the processor while all draws pass over them."""


@kernel()
def linear_values(
    rows: Float[np.ndarray, "n rows d"],
    limit: float,
    parameters: Float[np.ndarray, "blocks d"],
    offset: float,
    values: RoundsByArms,
) -> bool:
    """c + theta'phi(x, a) for every context and arm; False, and nothing else, unless features are `small`."""
    if not small(rows.reshape(-1), limit):
        return False
    shared_row, shared_block = rows.shape[1] == 1, parameters.shape[0] == 1
    for t in range(values.shape[0]):
        for a in range(values.shape[1]):
            row, block = rows[t, 0 if shared_row else a], parameters[0 if shared_block else a]
            total = 0.0
            for i in range(row.shape[0]):
                total += row[i] * block[i]
            values[t, a] = total + offset if offset != 0.0 else total
    return True


@kernel()
def drawn_values(
    rows: Float[np.ndarray, "n rows d"],
    limit: float,
    parameters: Float[np.ndarray, "draws d"],
    offsets: Float[np.ndarray, " draws"],
    values: Float[np.ndarray, "n draws arms"],
) -> bool:
    """c_b + theta_b'phi(x, a) for every context, draw and arm; False, and nothing else, unless features are `small`.

    Four draws and sixteen arms are taken at a time, or the last eight.
    """
    if not small(rows.reshape(-1), limit):
        return False
    n, n_arms = values.shape[0], values.shape[2]
    d, shared_row = rows.shape[2], rows.shape[1] == 1
    columns = np.zeros((min(TILE, n_arms) + 7) // 8 * 8 * d)
    for start in range(0, n_arms, TILE):
        width = min(TILE, n_arms - start)
        last = max(width - 8, 0)  # where the last eight arms begin, some of which are among those before
        for t in range(n):
            for a in range(0, width, 8):
                first = min(a, last)
                for k in range(min(width, 8)):
                    for i in range(d):
                        columns[a * d + i * 8 + k] = rows[t, 0 if shared_row else start + first + k, i]
            for a in range(0, width, 16):
                one, other = start + min(a, last), start + min(a + 8, last)
                if a + 8 < width:
                    _sixteen_arms(columns[a * d :], d, parameters, offsets, one, other, values[t])
                else:
                    _eight_arms(columns[a * d :], d, parameters, offsets, one, min(width, 8), values[t])
    return True


@inner()
def _eight_arms(
    columns: Float[np.ndarray, " columns"],
    d: int,
    parameters: Float[np.ndarray, "draws d"],
    offsets: Float[np.ndarray, " draws"],
    place: int,
    count: int,
    values: Float[np.ndarray, "draws arms"],
) -> None:
    """The values of `count` arms from `place` on, four draws at a time; beyond the last draw, that one again."""
    last = parameters.shape[0] - 1
    for b in range(0, last + 1, 4):
        b1, b2, b3 = min(b + 1, last), min(b + 2, last), min(b + 3, last)
        s0, s1, s2, s3 = eight(0.0), eight(0.0), eight(0.0), eight(0.0)
        for i in range(d):
            column = octet(columns, i * 8)
            s0 = plus_product(s0, column, parameters[b, i])
            s1 = plus_product(s1, column, parameters[b1, i])
            s2 = plus_product(s2, column, parameters[b2, i])
            s3 = plus_product(s3, column, parameters[b3, i])
        write(values[b], place, count, s0 + offsets[b])
        write(values[b1], place, count, s1 + offsets[b1])
        write(values[b2], place, count, s2 + offsets[b2])
        write(values[b3], place, count, s3 + offsets[b3])


# `_eight_arms` twice over: each parameter is fetched once for both
@inner()
def _sixteen_arms(
    columns: Float[np.ndarray, " columns"],
    d: int,
    parameters: Float[np.ndarray, "draws d"],
    offsets: Float[np.ndarray, " draws"],
    place: int,
    other: int,
    values: Float[np.ndarray, "draws arms"],
) -> None:
    """The values of eight arms from `place` and of eight from `other` on."""
    last = parameters.shape[0] - 1
    for b in range(0, last + 1, 4):
        b1, b2, b3 = min(b + 1, last), min(b + 2, last), min(b + 3, last)
        s0, s1, s2, s3 = eight(0.0), eight(0.0), eight(0.0), eight(0.0)
        r0, r1, r2, r3 = eight(0.0), eight(0.0), eight(0.0), eight(0.0)
        for i in range(d):
            left, right = octet(columns, i * 8), octet(columns, (d + i) * 8)
            p0, p1, p2, p3 = parameters[b, i], parameters[b1, i], parameters[b2, i], parameters[b3, i]
            s0, r0 = plus_product(s0, left, p0), plus_product(r0, right, p0)
            s1, r1 = plus_product(s1, left, p1), plus_product(r1, right, p1)
            s2, r2 = plus_product(s2, left, p2), plus_product(r2, right, p2)
            s3, r3 = plus_product(s3, left, p3), plus_product(r3, right, p3)
        put(values[b], place, s0 + offsets[b])
        put(values[b1], place, s1 + offsets[b1])
        put(values[b2], place, s2 + offsets[b2])
        put(values[b3], place, s3 + offsets[b3])
        put(values[b], other, r0 + offsets[b])
        put(values[b1], other, r1 + offsets[b1])
        put(values[b2], other, r2 + offsets[b2])
        put(values[b3], other, r3 + offsets[b3])


@inlined()
def write(row: PerArm, place: int, count: int, lanes: Any) -> None:
    """Write the first `count` numbers of an octet."""
    if count == 8:
        put(row, place, lanes)
    else:
        for k in range(count):
            row[place + k] = lane(lanes, k)


# the arguments are those of `drawn_values`, with parameters for each arm, and of features that somebody has looked at
@kernel()
def drawn_values_per_arm(
    rows: Float[np.ndarray, "n rows d"],
    parameters: Float[np.ndarray, "draws arms d"],
    offsets: Float[np.ndarray, " draws"],
    values: Float[np.ndarray, "n draws arms"],
) -> None:
    """c_b + theta_b(a)'phi(x, a) for every context, draw and arm."""
    for t in range(values.shape[0]):
        for b in range(values.shape[1]):
            linear_values(rows[t : t + 1], np.inf, parameters[b], 0.0, values[t, b : b + 1])
            for a in range(values.shape[2]):
                values[t, b, a] += offsets[b]


@kernel()
def add_sums(
    rows: Float[np.ndarray, "n rows d"],
    rounds: ObservationIndices,
    arms: ObservationIndices,
    rewards: PerObservation,
    matrices: Float[np.ndarray, "blocks d d"],
    moments: Float[np.ndarray, "blocks d"],
    squares: float,
) -> float:
    """Add phi phi' to the matrix (upper triangle) and y phi to the moment of the arm's block; return sum y^2 so far."""
    shared_row, shared_block = rows.shape[1] == 1, moments.shape[0] == 1
    d = rows.shape[2]
    for k in range(rounds.shape[0]):
        row = rows[rounds[k], 0 if shared_row else arms[k]]
        block = 0 if shared_block else arms[k]
        reward = rewards[k]
        squares += reward * reward
        for i in range(d):
            value = row[i]
            if value != 0.0:
                moments[block, i] += reward * value
                for j in range(i, d):
                    matrices[block, i, j] += value * row[j]
    return squares


@kernel()
def solve_blocks(
    matrices: Float[np.ndarray, "blocks d d"],
    moments: Float[np.ndarray, "blocks d"],
    floor: float,
    factors: Float[np.ndarray, "blocks d d"],
    parameters: Float[np.ndarray, "blocks d"],
) -> None:
    """U of every block's V, and theta = V^-1 b."""
    for block in range(moments.shape[0]):
        factorise(matrices[block], floor, factors[block])
        for i in range(moments.shape[1]):
            parameters[block, i] = moments[block, i]
        solve_lower(factors[block], parameters[block])
        solve_upper(factors[block], parameters[block])


@kernel()
def whiten(factor: Matrix, columns: Float[np.ndarray, "d m"], count: int) -> None:
    """U'^-1 times each of the first `count` columns, in place."""
    d = factor.shape[0]
    for j in range(d):
        pivot = factor[j, j]
        for a in range(count):
            columns[j, a] /= pivot
        for i in range(j + 1, d):
            weight = factor[j, i]
            if weight != 0.0:
                for a in range(count):
                    columns[i, a] -= weight * columns[j, a]


@kernel()
def linear_norms(
    rows: Float[np.ndarray, "n rows d"], factors: Float[np.ndarray, "blocks d d"], norms: RoundsByArms
) -> None:
    """sqrt(phi'V^-1 phi) for every context and arm."""
    n, n_arms = norms.shape
    shared_row, shared_block, d = rows.shape[1] == 1, factors.shape[0] == 1, rows.shape[2]
    vector = np.empty(d)
    for t in range(n):
        for a in range(n_arms):
            for i in range(d):
                vector[i] = rows[t, 0 if shared_row else a, i]
            norms[t, a] = np.sqrt(squared_norm(factors[0 if shared_block else a], vector))


@kernel()
def gap_norms(
    rows: Float[np.ndarray, "n rows d"],
    best: RoundIndices,
    factors: Float[np.ndarray, "blocks d d"],
    wanted: ArmMasks,
    scale: float,
    norms: RoundsByArms,
) -> None:
    """scale sqrt(v'V^-1 v), v = phi(x, a) - phi(x, best), which have a block each or share one; 0 if not wanted."""
    n, n_arms = norms.shape
    shared_row, shared_block, d = rows.shape[1] == 1, factors.shape[0] == 1, rows.shape[2]
    vector = np.empty(d)
    for t in range(n):
        of_best, own = rows[t, 0 if shared_row else best[t]], 0.0
        if not shared_block:
            for i in range(d):
                vector[i] = of_best[i]
            own = np.sqrt(squared_norm(factors[best[t]], vector))
        for a in range(n_arms):
            norms[t, a] = 0.0
            if wanted[t, a] and a != best[t]:
                for i in range(d):
                    vector[i] = rows[t, 0 if shared_row else a, i] - (of_best[i] if shared_block else 0.0)
                norm = np.sqrt(squared_norm(factors[0 if shared_block else a], vector))
                norms[t, a] = (norm if shared_block else np.sqrt(norm * norm + own * own)) * scale


@kernel()
def add_solutions(
    factors: Float[np.ndarray, "blocks d d"],
    center: Float[np.ndarray, "blocks d"],
    draws: Float[np.ndarray, "draws blocks d"],
) -> None:
    """center + U^-1 z in place of every z."""
    for k in range(draws.shape[0]):
        for block in range(center.shape[0]):
            solve_upper(factors[block], draws[k, block])
            for i in range(center.shape[1]):
                draws[k, block, i] += center[block, i]
