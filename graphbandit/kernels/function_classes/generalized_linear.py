"""Generalised linear functions mu(theta'phi): the penalised likelihood's maximum by Newton's method, and its curvature.

Links: identity, logistic, Poisson (the mean is exp). Observations are taken in their order; a parameter at a time.
Observation k counts `weights[k]` times.
"""

import numpy as np

from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.function_classes.cholesky import cholesky, solve_lower, solve_upper
from graphbandit.kernels.jit import kernel

IDENTITY, LOGISTIC, POISSON = 0, 1, 2

TURNS = 2000
"""Newton steps and halvings before a fit is given up."""


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
def _objective(
    rows: Float[np.ndarray, "observed d"],
    rewards: Float[np.ndarray, " observed"],
    weights: Float[np.ndarray, " observed"],
    order: Int[np.ndarray, " mine"],
    link: int,
    ridge: float,
    parameter: Float[np.ndarray, " d"],
) -> float:
    """Minus the penalised log-likelihood: sum of w (A(theta'phi) - y theta'phi), plus ridge |theta|^2 / 2."""
    total = 0.0
    for i in range(parameter.shape[0]):
        total += 0.5 * ridge * parameter[i] * parameter[i]
    for k in order:
        predictor = 0.0
        for i in range(parameter.shape[0]):
            predictor += rows[k, i] * parameter[i]
        total += weights[k] * (_log_partition(link, predictor) - rewards[k] * predictor)
    return total


@kernel()
def _derivatives(
    rows: Float[np.ndarray, "observed d"],
    rewards: Float[np.ndarray, " observed"],
    weights: Float[np.ndarray, " observed"],
    order: Int[np.ndarray, " mine"],
    link: int,
    ridge: float,
    parameter: Float[np.ndarray, " d"],
    gradient: Float[np.ndarray, " d"],
    curvature: Float[np.ndarray, "d d"],
) -> None:
    """Gradient and (upper triangle of the) Hessian of the objective."""
    d = parameter.shape[0]
    for i in range(d):
        gradient[i] = ridge * parameter[i]
        for j in range(d):
            curvature[i, j] = ridge if i == j else 0.0
    for k in order:
        predictor = 0.0
        for i in range(d):
            predictor += rows[k, i] * parameter[i]
        residual = weights[k] * (mean_of(link, predictor) - rewards[k])
        slope = weights[k] * slope_of(link, predictor)
        for i in range(d):
            gradient[i] += residual * rows[k, i]
            weight = slope * rows[k, i]
            for j in range(i, d):
                curvature[i, j] += weight * rows[k, j]


@kernel()
def fit_block(
    rows: Float[np.ndarray, "observed d"],
    rewards: Float[np.ndarray, " observed"],
    weights: Float[np.ndarray, " observed"],
    order: Int[np.ndarray, " mine"],
    link: int,
    ridge: float,
    parameter: Float[np.ndarray, " d"],
    factor: Float[np.ndarray, "d d"],
) -> bool:
    """thetahat and U of its curvature H = U'U, from 0; whether Newton's method with halved steps got there.

    It always starts at 0, so that the answer depends on the data alone. Near the end, where the objective's last digits
    no longer tell steps apart, one full step is taken: Newton's error is squared by it.
    """
    d = parameter.shape[0]
    gradient, curvature, trial = np.empty(d), np.empty((d, d)), np.empty(d)
    parameter[:] = 0.0
    value = _objective(rows, rewards, weights, order, link, ridge, parameter)
    turns, near = 0, False
    while turns < TURNS:
        _derivatives(rows, rewards, weights, order, link, ridge, parameter, gradient, curvature)
        cholesky(curvature, ridge, factor)
        if near:
            return True
        solve_lower(factor, gradient)
        decrement = 0.0
        for i in range(d):
            decrement += gradient[i] * gradient[i]
        solve_upper(factor, gradient)
        near = decrement <= 1e-12 * (1.0 + abs(value))
        step = 1.0
        while turns < TURNS:
            turns += 1
            for i in range(d):
                trial[i] = parameter[i] - step * gradient[i]
            reached = _objective(rows, rewards, weights, order, link, ridge, trial)
            if near or reached <= value - 0.25 * step * decrement:
                parameter[:] = trial
                value = reached
                break
            step *= 0.5
    return False


@kernel()
def describe_block(
    rows: Float[np.ndarray, "observed d"],
    rewards: Float[np.ndarray, " observed"],
    weights: Float[np.ndarray, " observed"],
    order: Int[np.ndarray, " mine"],
    link: int,
    parameter: Float[np.ndarray, " d"],
    factor: Float[np.ndarray, "d d"],
    weight: float,
    matrix: Float[np.ndarray, "d d"],
) -> tuple[float, float, float]:
    """Of the observations: (squared loss, sum of w mu (exp(s^2 / 2) - 1), largest s), s = sqrt(phi'H^-1 phi).

    w times `weight` phi phi' is added to (the upper triangle of) `matrix`.
    """
    d = parameter.shape[0]
    vector = np.empty(d)
    loss, overshoot, widest = 0.0, 0.0, 0.0
    for k in order:
        predictor = 0.0
        for i in range(d):
            predictor += rows[k, i] * parameter[i]
            vector[i] = rows[k, i]
            for j in range(i, d):
                matrix[i, j] += weights[k] * weight * rows[k, i] * rows[k, j]
        mean = mean_of(link, predictor)
        loss += weights[k] * ((mean - rewards[k]) * (mean - rewards[k]))
        solve_lower(factor, vector)
        square = 0.0
        for i in range(d):
            square += vector[i] * vector[i]
        overshoot += weights[k] * mean * np.expm1(0.5 * square)
        widest = max(widest, square)
    return loss, overshoot, np.sqrt(widest)


@kernel()
def means_of(link: int, predictors: Float[np.ndarray, "n arms"]) -> None:
    """mu(eta) in place of every eta."""
    for t in range(predictors.shape[0]):
        for a in range(predictors.shape[1]):
            predictors[t, a] = mean_of(link, predictors[t, a])


@kernel()
def slope_ranges(
    link: int,
    lower: Float[np.ndarray, "n arms"],
    upper: Float[np.ndarray, "n arms"],
    least: Float[np.ndarray, "n arms"],
    most: Float[np.ndarray, "n arms"],
) -> None:
    """The least and the largest mu'(eta) for eta from lower to upper: mu' is largest at 0, or rises, or is 1."""
    for t in range(lower.shape[0]):
        for a in range(lower.shape[1]):
            first, last = slope_of(link, lower[t, a]), slope_of(link, upper[t, a])
            least[t, a], most[t, a] = min(first, last), max(first, last)
            if lower[t, a] < 0.0 < upper[t, a]:
                most[t, a] = max(most[t, a], slope_of(link, 0.0))
