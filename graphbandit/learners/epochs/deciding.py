"""From estimated values and probabilities to decisions, for learners that choose their probabilities by themselves."""

from typing import Any, NamedTuple

import numpy as np

from graphbandit.base.arrays import RoundIndices, RoundsByArms
from graphbandit.learners.epochs.base import EpochClock
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown


class Ranking(NamedTuple):
    """How the arms compare by their values: the best one on offer, and how far each is below it."""

    best: RoundIndices
    gaps: RoundsByArms


def ranked(values: RoundsByArms, shown: Shown) -> Ranking:
    """The best arm on offer, lowest index on ties, and the gaps to it."""
    best = shown.best_offered(values)
    return Ranking(best, values[np.arange(len(best)), best][:, None] - values)


def decided(
    probabilities: RoundsByArms,
    ranking: Ranking,
    state: EpochClock,
    shown: Shown,
    rng: np.random.Generator,
    **explained: Any,
) -> Decisions:
    """`Decisions.from_probabilities` for rounds of an epoch; `explained` are its further settings."""
    return Decisions.from_probabilities(
        probabilities,
        graphs=shown.graphs,
        rng=rng,
        epoch=state.epoch,
        available=shown.available,
        best=ranking.best,
        gaps=ranking.gaps,
        **explained,
    )
