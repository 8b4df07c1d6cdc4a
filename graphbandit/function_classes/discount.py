"""Weights of observations that count half as much after every `half_life` rounds.

The reward of round t has the weight 2^(t / half_life), divided by a power of 2 that keeps sums from overflowing. Sums
therefore only grow by addition and are now and then divided by an exact power of 2, so they have the same bits however
observations are portioned. `now` scales them so that the newest round has weight 1.
"""

import math

import numpy as np

from graphbandit.base.array_types import PerRound, RoundIndices
from graphbandit.base.shapes import Float

STEP = 64
"""Sums are divided by 2^64 whenever that many half-lives have passed."""


def steps_at(round_number: int, half_life: float | None) -> int:
    """How often sums were divided by 2^64 up to this round."""
    return 0 if half_life is None else math.floor(max(round_number, 0) / half_life / STEP)


def shrinkage(before: int, after: int, half_life: float | None) -> float:
    """The factor for sums when their newest round changes from `before` to `after`: a power of 2."""
    return math.ldexp(1.0, STEP * (steps_at(before, half_life) - steps_at(after, half_life)))


def root_weights(rounds: RoundIndices, newest: int, half_life: float | None) -> PerRound | None:
    """The square roots of the weights of these rounds; None where all are 1."""
    if half_life is None:
        return None
    halvings = np.asarray(rounds) / half_life
    whole = np.floor(halvings)
    exponents = (whole - STEP * steps_at(newest, half_life)).astype(np.int64)
    # an even power of 2 has an exact root; what is left lies in 1 .. 4
    even = exponents // 2 * 2
    roots: PerRound = np.ldexp(
        np.sqrt(np.exp2(halvings - whole) * np.exp2((exponents - even).astype(np.float64))), even // 2
    )
    return roots


def now(newest: int, half_life: float | None) -> float:
    """The factor for sums that gives the newest round weight 1."""
    if half_life is None:
        return 1.0
    root = root_weights(np.array([newest]), newest, half_life)
    assert root is not None
    return float(1.0 / (root[0] * root[0]))


def added(total: float, terms: Float[np.ndarray, " terms"]) -> float:
    """Add these terms to the total one after the other, so that it does not depend on how they were portioned."""
    return float(np.add.accumulate(np.concatenate([[total], terms]))[-1])


def weights_now(rounds: RoundIndices, half_life: float | None) -> PerRound:
    """2^((t - newest) / half_life) of every round t: 1 for the newest, and for all without a half-life.

    >>> weights_now(np.array([0, 5, 10]), 5.0)
    array([0.25, 0.5 , 1.  ])
    """
    if half_life is None or not len(rounds):
        return np.ones(len(rounds))
    weights: PerRound = np.exp2((rounds - rounds.max()) / half_life)
    return weights
