"""How large the parameters of a generalised linear class are, learnt from the clicks or counts themselves.

The prior is theta ~ N(0, I / lambda), and each lambda of `RIDGES` is tried. With one parameter for all arms and a
feature that is the same in all rows seen, such as a column of ones, the prior is that of centred features instead:

    theta'phi = c + theta'(phi - m),  c ~ N(0, 1 / CENTRE),  theta_j ~ N(0, 1 / lambda) but for the constant feature,

m being the mean row. Without that, a level of the clicks that is far from one half would be bought with a small lambda,
and features far from zero, such as log prices, would be shrunk together with the level. As a precision of theta it is
lambda I without the constant feature's entry, plus CENTRE m m'.

A lambda has the evidence log p(y | lambda), by Laplace's approximation around the mode thetahat,

    loglikelihood(thetahat) - thetahat'P thetahat / 2 + log det P / 2 - log det H / 2,

P the prior's precision and H = P + sum w mu' phi phi'. Beforehand 1 / sqrt(lambda) is half-Cauchy of scale USUAL:
clicks and counts have units of their own, in which parameters are a few units in size unless rewards say otherwise.
Nearly all lambdas explain a few rewards; with this prior, the most likely one is then not an end of `RIDGES`.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from graphbandit.base.array_types import Matrix, PerObservation
from graphbandit.base.shapes import Float
from graphbandit.errors import FitError
from graphbandit.function_classes.observation_columns import ObservationColumns
from graphbandit.function_classes.scale import RIDGES

if TYPE_CHECKING:
    from graphbandit.kernels.function_classes.generalized_linear import Seen

CENTRE = 0.04
"""The precision of c: its deviation is 5, and logits beyond 10 are hardly ever met."""

USUAL = 2.5
"""The scale of the half-Cauchy distribution of 1 / sqrt(lambda)."""

NEGLIGIBLE = 12.0
"""Lambdas are not tried beyond one whose posterior probability is e^-12 of the best one's: no draw would use it."""

Link = Literal["identity", "logistic", "poisson"]

LINKS: tuple[Link, ...] = get_args(Link)
"""In the order of the constants of the kernels."""


class Prior(NamedTuple):
    """N(0, P^-1) of every parameter; P = ridge I, or that of centred features."""

    ridge: float
    """lambda"""
    precision: Matrix
    """P"""
    centred: bool

    @classmethod
    def plain(cls, ridge: float, size: int) -> "Prior":
        """N(0, I / ridge)."""
        return cls(ridge, ridge * np.eye(size), False)

    @property
    def floor(self) -> float:
        """A lower bound of the pivots of P + (a sum of squares)."""
        return 0.0 if self.centred else self.ridge

    @property
    def largest(self) -> float:
        """The largest eigenvalue of P."""
        return float(np.linalg.eigvalsh(self.precision)[-1]) if self.centred else self.ridge

    def log_determinant(self, blocks: int) -> float:
        """log det P, of all parameters together."""
        if self.centred:
            return blocks * float(np.linalg.slogdet(self.precision)[1])
        return blocks * len(self.precision) * math.log(self.ridge)

    def shrunk(self, factors: Float[np.ndarray, "blocks d d"]) -> float:
        """trace(H^-1 P), H = U'U: how many parameters the prior decides on."""
        from graphbandit.kernels.cholesky import inverse_trace

        if not self.centred:
            return self.ridge * inverse_trace(factors)
        inverses = np.linalg.solve(factors.transpose(0, 2, 1) @ factors, self.precision)
        return float(np.trace(inverses, axis1=1, axis2=2).sum())


class Tried(NamedTuple):
    """The mode of the posterior with one prior, and what speaks for the prior."""

    prior: Prior
    parameters: Float[np.ndarray, "blocks d"]
    """thetahat"""
    factors: Float[np.ndarray, "blocks d d"]
    """U of H = U'U"""
    likelihood: float
    """the logarithm of the posterior probability of lambda, up to a constant"""


def blocks_seen(seen: ObservationColumns, weights: PerObservation, link: int, blocks: int) -> Iterator["Seen"]:
    """What each parameter is fitted to."""
    from graphbandit.kernels.function_classes.generalized_linear import Seen

    by_arm = np.argsort(seen.arms, kind="stable") if blocks > 1 else np.arange(len(seen))
    ends = np.searchsorted(seen.arms[by_arm], np.arange(blocks - 1), side="right")
    for order in np.split(by_arm, ends):
        yield Seen(seen.contexts, seen.rewards, weights, order, link)


def fitted(parts: Sequence["Seen"], prior: Prior, start: Float[np.ndarray, "blocks d"] | None = None) -> Tried:
    """Newton's method for every parameter, from `start` or 0."""
    from graphbandit.kernels.cholesky import log_determinant
    from graphbandit.kernels.function_classes.generalized_linear import fit_block

    size = len(prior.precision)
    parameters = np.zeros((len(parts), size)) if start is None else start.copy()
    factors = np.empty((len(parts), size, size))
    deviation = prior.ridge**-0.5 / USUAL
    likelihood = 0.5 * prior.log_determinant(len(parts)) - math.log(1.0 / deviation + deviation)
    for part, parameter, factor in zip(parts, parameters, factors, strict=True):
        reached, loss = fit_block(part, prior.precision, prior.floor, parameter, factor)
        if not reached:
            raise FitError(
                f"the {LINKS[part.link]} fit of {len(part.order)} rewards up to "
                f"{np.abs(part.rewards[part.order]).max():g} in size does not converge with ridge {prior.ridge:g}; "
                "expected smaller rewards or features, or more ridge"
            )
        likelihood -= 0.5 * log_determinant(factor) + loss
    return Tried(prior, parameters, factors, likelihood)


def all_tried(parts: Sequence["Seen"], size: int) -> list[Tried]:
    """Every lambda that is not negligible, the smallest first: from 1 down and from 1 up, each from its neighbour."""
    middle = len(RIDGES) // 2
    priors = _priors(parts, size)
    first = fitted(parts, priors[middle])
    lower, upper = [first], [first]
    for side, others in ((lower, priors[:middle][::-1]), (upper, priors[middle + 1 :])):
        for prior in others:
            side.append(fitted(parts, prior, side[-1].parameters))
            if side[-1].likelihood < max(each.likelihood for each in (*lower, *upper)) - NEGLIGIBLE:
                break
    return lower[:0:-1] + upper


def _priors(parts: Sequence["Seen"], size: int) -> list[Prior]:
    """The prior of each lambda, of centred features if a feature of the only parameter never changes."""
    rows, weights = parts[0].rows, parts[0].weights
    plain = [Prior.plain(float(ridge), size) for ridge in RIDGES]
    if len(parts) > 1 or not len(rows):
        return plain
    constant = np.flatnonzero((rows.min(axis=0) == rows.max(axis=0)) & (rows[0] != 0.0))
    if not len(constant):
        return plain
    mean, level = weights @ rows / weights.sum(), constant[0]
    mean[level] = rows[0, level]
    others = np.diag(np.arange(size) != level)
    return [Prior(float(ridge), ridge * others + CENTRE * np.outer(mean, mean), True) for ridge in RIDGES]
