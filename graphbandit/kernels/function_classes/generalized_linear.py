"""Generalised linear functions mu(theta'phi): the penalised likelihood's maximum by Newton's method, and its curvature.

Links: identity, logistic, Poisson (the mean is exp). Observations are taken in their order; a parameter at a time.
Observation k counts `weights[k]` times.
"""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import Matrix, PerObservation, RoundsByArms, Vector
from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.cholesky import factorise, solve_upper, squared_norm
from graphbandit.kernels.jit import kernel

IDENTITY, LOGISTIC, POISSON = 0, 1, 2

LARGEST_EXPONENT = 700.0
"""e^x of a larger x is infinite, and infinite times a mean of 0 is no number."""

TURNS = 2000
"""Newton steps and halvings before a fit is given up."""


class Seen(NamedTuple):
    """What a parameter is fitted to: rows phi, rewards, their weights, which of them are its own; and the link."""

    rows: Float[np.ndarray, "observed d"]
    rewards: PerObservation
    weights: PerObservation
    order: Int[np.ndarray, " mine"]
    link: int


@kernel()
def mean_of(link: int, predictor: float) -> float:
    """mu(eta)."""
    if link == IDENTITY:
        return predictor
    if link == POISSON:
        return float(np.exp(predictor))
    if predictor >= 0.0:
        return float(1.0 / (1.0 + np.exp(-predictor)))
    odds = np.exp(predictor)
    return float(odds / (1.0 + odds))


@kernel()
def slope_of(link: int, predictor: float) -> float:
    """mu'(eta)."""
    if link == IDENTITY:
        return 1.0
    if link == POISSON:
        return float(np.exp(predictor))
    odds = np.exp(-abs(predictor))
    return float(odds / ((1.0 + odds) * (1.0 + odds)))


@kernel()
def _log_partition(link: int, predictor: float) -> float:
    """The function whose derivative is mu."""
    if link == IDENTITY:
        return 0.5 * predictor * predictor
    if link == POISSON:
        return float(np.exp(predictor))
    return float(max(predictor, 0.0) + np.log1p(np.exp(-abs(predictor))))


@kernel()
def _objective(seen: Seen, precision: Matrix, parameter: Vector) -> float:
    """Minus the penalised log-likelihood: sum of w (A(theta'phi) - y theta'phi), plus theta'P theta / 2."""
    total = 0.0
    for i in range(parameter.shape[0]):
        for j in range(parameter.shape[0]):
            total += 0.5 * precision[i, j] * parameter[i] * parameter[j]
    for k in seen.order:
        predictor = 0.0
        for i in range(parameter.shape[0]):
            predictor += seen.rows[k, i] * parameter[i]
        total += seen.weights[k] * (_log_partition(seen.link, predictor) - seen.rewards[k] * predictor)
    return total


@kernel()
def _derivatives(seen: Seen, precision: Matrix, parameter: Vector, gradient: Vector, curvature: Matrix) -> None:
    """Gradient and (upper triangle of the) Hessian of the objective."""
    d = parameter.shape[0]
    for i in range(d):
        gradient[i] = 0.0
        for j in range(d):
            gradient[i] += precision[i, j] * parameter[j]
            curvature[i, j] = precision[i, j]
    for k in seen.order:
        predictor = 0.0
        for i in range(d):
            predictor += seen.rows[k, i] * parameter[i]
        residual = seen.weights[k] * (mean_of(seen.link, predictor) - seen.rewards[k])
        slope = seen.weights[k] * slope_of(seen.link, predictor)
        for i in range(d):
            gradient[i] += residual * seen.rows[k, i]
            weight = slope * seen.rows[k, i]
            for j in range(i, d):
                curvature[i, j] += weight * seen.rows[k, j]


@kernel()
def fit_block(seen: Seen, precision: Matrix, floor: float, parameter: Vector, factor: Matrix) -> tuple[bool, float]:
    """Write thetahat to `parameter` and U of its curvature H = U'U to `factor`, by Newton's method with halved steps.

    It starts at `parameter`, and returns whether it converged and the least value of the objective. Near the end,
    where the objective's last digits no longer tell steps apart, it takes one full step, which squares Newton's error.

    - `precision`: P, that of the prior.
    - `floor`: a lower bound of the pivots of P + (a sum of squares).
    """
    d = parameter.shape[0]
    gradient, curvature, trial = np.empty(d), np.empty((d, d)), np.empty(d)
    value = _objective(seen, precision, parameter)
    turns, near = 0, False
    while turns < TURNS:
        _derivatives(seen, precision, parameter, gradient, curvature)
        factorise(curvature, floor, factor)
        if near:
            return True, value
        decrement = squared_norm(factor, gradient)
        solve_upper(factor, gradient)
        near = decrement <= 1e-12 * (1.0 + abs(value))
        step = 1.0
        while turns < TURNS:
            turns += 1
            for i in range(d):
                trial[i] = parameter[i] - step * gradient[i]
            reached = _objective(seen, precision, trial)
            if near or reached <= value - 0.25 * step * decrement:
                parameter[:] = trial
                value = reached
                break
            step *= 0.5
    return False, value


@kernel()
def describe_block(
    seen: Seen, parameter: Vector, factor: Matrix, weight: float, matrix: Matrix
) -> tuple[float, float, float]:
    """Of the observations: (squared loss, sum of w mu (exp(s^2 / 2) - 1), largest s), s = sqrt(phi'H^-1 phi).

    w times `weight` phi phi' is added to (the upper triangle of) `matrix`.
    """
    d = parameter.shape[0]
    vector = np.empty(d)
    loss, overshoot, widest = 0.0, 0.0, 0.0
    for k in seen.order:
        predictor = 0.0
        for i in range(d):
            predictor += seen.rows[k, i] * parameter[i]
            vector[i] = seen.rows[k, i]
            for j in range(i, d):
                matrix[i, j] += seen.weights[k] * weight * seen.rows[k, i] * seen.rows[k, j]
        mean = mean_of(seen.link, predictor)
        loss += seen.weights[k] * ((mean - seen.rewards[k]) * (mean - seen.rewards[k]))
        square = squared_norm(factor, vector)
        overshoot += seen.weights[k] * mean * np.expm1(min(0.5 * square, LARGEST_EXPONENT))
        widest = max(widest, square)
    return loss, overshoot, np.sqrt(widest)


@kernel()
def means_of(link: int, predictors: RoundsByArms) -> None:
    """mu(eta) in place of every eta."""
    for t in range(predictors.shape[0]):
        for a in range(predictors.shape[1]):
            predictors[t, a] = mean_of(link, predictors[t, a])


@kernel()
def slope_ranges(link: int, lower: RoundsByArms, upper: RoundsByArms, least: RoundsByArms, most: RoundsByArms) -> None:
    """The least and the largest mu'(eta) for eta from lower to upper: mu' is largest at 0, or rises, or is 1."""
    for t in range(lower.shape[0]):
        for a in range(lower.shape[1]):
            first, last = slope_of(link, lower[t, a]), slope_of(link, upper[t, a])
            least[t, a], most[t, a] = min(first, last), max(first, last)
            if lower[t, a] < 0.0 < upper[t, a]:
                most[t, a] = max(most[t, a], slope_of(link, 0.0))
