"""Estimates of the noise and of the size of parameters, for problems that do not state them, in any units.

The noise has the prior sigma^2 ~ InvGamma(a0, b0) with a0 = 2 and b0 = a0 (span / 4)^2, span being highest minus lowest
reward: four pseudo-observations of a quarter of the span. With n rewards and the residual sum of squares R,

    sigma^2 | data ~ InvGamma(a0 + n / 2, b0 + R / 2).

A confidence radius must not use this estimate: it needs one that errs on the high side.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphbandit.base.declared import Declared
from graphbandit.base.shapes import Float

SHAPE = 2.0
"""a0."""

RIDGES = np.power(10.0, np.arange(-6, 7) / 2.0)
"""The values of lambda that are tried: half-decades from 1e-3 to 1e3, lower for small features (`ridges_for`)."""


class RewardsSeen(Declared):
    """Data that knows the smallest and the largest reward in it; the smallest is infinite before there is one."""

    lowest: float
    highest: float

    @property
    def span(self) -> float:
        """Highest minus lowest reward seen; 0 if there is none."""
        return max(self.highest - self.lowest, 0.0)


class NoiseLaw(NamedTuple):
    """The distribution InvGamma(shape, scale) of sigma^2."""

    shape: float
    scale: float

    @classmethod
    def given(cls, *, span: float, count: float, residual: float) -> "NoiseLaw":
        """The posterior after `count` rewards with this residual sum of squares."""
        return cls(SHAPE + count / 2.0, SHAPE * (span / 4.0) ** 2 + max(residual, 0.0) / 2.0)

    @property
    def estimate(self) -> float:
        """sigma = sqrt((b0 + R / 2) / (a0 + n / 2))."""
        return math.sqrt(self.scale / self.shape)

    def draw(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, " draws"]:
        """Draws of sigma."""
        return np.sqrt(self.scale / rng.standard_gamma(self.shape, count))


class Scale(NamedTuple):
    """What gamma in natural units asks of a class: gamma^2 = eta |S| n / (noise^2 complexity).

    - `noise`: the estimate of sigma, 0 while nothing can be said.
    - `complexity`: how much there is to learn: log(|F| / delta), or the effective number of parameters.
    """

    noise: float
    complexity: float


class Centred(NamedTuple):
    """The ridge regression y = c + phi'theta + noise with one lambda."""

    ridge: float
    offset: float
    """c"""
    offset_weight: float
    """n - s'V^-1 s: c has the variance sigma^2 over this, given the data"""
    likelihood: float
    """the logarithm of the marginal likelihood of the rewards, up to a constant"""


def ridges_for(size: float) -> Float[np.ndarray, " tried"]:
    """`RIDGES` times 10^(k / 2), k = min(0, [2 log10 size]) with size the mean of phi'phi over what was seen.

    A prior has the variance sigma^2 phi'phi / lambda for a mean reward. If features are small and lambda is not, no
    mean can differ from the others by more than a small part of sigma, however large the true differences are. Large
    features need no larger lambda: a prior that is too wide gives way to the data.
    """
    moved = min(0, round(2.0 * math.log10(max(size, 1e-200)))) if size > 0.0 else 0
    ridges: Float[np.ndarray, " tried"] = RIDGES * 10.0 ** (moved / 2.0)
    return ridges


def centred(
    matrices: Float[np.ndarray, "blocks d d"],
    moments: Float[np.ndarray, "blocks d"],
    sums: Float[np.ndarray, "blocks d"],
    *,
    count: float,
    total: float,
    squares: float,
    span: float,
) -> list[Centred]:
    """c and the marginal likelihood of the rewards with each lambda of `ridges_for`.

    theta ~ N(0, sigma^2 / lambda I), c is unknown and has a flat prior. With G = sum phi phi' (`matrices`, the upper
    triangles), V = lambda I + G, b = sum y phi (`moments`) and s = sum phi (`sums`), c has the weight
    k = n - s'V^-1 s and the estimate (sum y - s'V^-1 b) / k, R = sum y^2 - b'V^-1 b - k c^2, and the likelihood is

        -(1/2) log det(V / lambda) - (1/2) log k - (a0 + (n - 1) / 2) log(b0 + R / 2).

    One eigendecomposition a block serves all lambda.
    """
    values, vectors = np.linalg.eigh(matrices, UPLO="U")
    values = np.maximum(values, 0.0).ravel()
    turned = np.einsum("bij,bi->bj", vectors, moments).ravel()
    summed = np.einsum("bij,bi->bj", vectors, sums).ravel()
    ridges = ridges_for(float(np.trace(matrices, axis1=1, axis2=2).sum()) / count)
    shrunk = values[None, :] + ridges[:, None]
    weight = np.maximum(count - (summed**2 / shrunk).sum(axis=1), 1e-12 * count)
    offset = (total - (summed * turned / shrunk).sum(axis=1)) / weight
    residual = np.maximum(squares - (turned**2 / shrunk).sum(axis=1) - weight * offset**2, 0.0)
    growth = np.log1p(values[None, :] / ridges[:, None]).sum(axis=1)
    law = NoiseLaw.given(span=span, count=count - 1.0, residual=0.0)
    likelihood = -0.5 * growth - 0.5 * np.log(weight) - law.shape * np.log(law.scale + residual / 2.0)
    return [Centred(*map(float, each)) for each in zip(ridges, offset, weight, likelihood, strict=True)]


def shares(likelihoods: Sequence[float], count: int, rng: np.random.Generator) -> list[int]:
    """How many of `count` draws each lambda gets: its posterior probability, rounded at random.

    All lambdas are equally likely beforehand, or `likelihoods` have it in them. While few rewards were seen, or those
    of few arms, many lambdas explain them, and the most likely one alone claims to know far more than the data says.
    """
    if len(likelihoods) == 1:
        return [count]
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    ends = np.floor(count * np.cumsum(weights) / weights.sum() + rng.random())
    ends[-1] = count
    return [int(many) for many in np.diff(np.minimum(ends, count), prepend=0.0)]
