"""From estimated values and probabilities to decisions, for learners that choose their probabilities by themselves."""

from typing import Any

import numpy as np

from graphbandit.base.array_types import RoundsByArms
from graphbandit.learners.epochs.base import EpochClock
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown


def decided(
    probabilities: RoundsByArms,
    values: RoundsByArms,
    state: EpochClock,
    shown: Shown,
    rng: np.random.Generator,
    **explained: Any,
) -> Decisions:
    """`Decisions.from_probabilities` for rounds of an epoch, with the best arms and the gaps by these values.

    - `explained`: its further settings.
    """
    best = shown.best_offered(values)
    return Decisions.from_probabilities(
        probabilities,
        graphs=shown.graphs,
        rng=rng,
        epoch=state.epoch,
        available=shown.available,
        best=best,
        gaps=values[np.arange(len(best)), best][:, None] - values,
        **explained,
    )
