"""A learner played by hand, an epoch at a time, and a class that it may be given."""

import numpy as np

import graphbandit as gb
from graphbandit.function_classes import Draws
from graphbandit.rounds.shown import Shown


class Undrawn(gb.function_classes.BilinearClass):
    """A class that, as ensembles do, has nothing to draw before it has seen something."""

    def draws(self, data, *, noise, count, rng):
        if data.count == 0:
            return Draws(members=np.empty(0, dtype=np.int64), weights=np.empty(0))
        return super().draws(data, noise=noise, count=count, rng=rng)


def states_after_epochs(learner, state, instance, rounds):
    """The state after each epoch that begins within so many rounds of an instance."""
    start = 0
    while start < rounds:
        part = instance.rounds(start, start + learner.rounds_until_update(state))
        decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(start))
        seen = part.graphs.revealed(decisions.action)
        news = gb.Observations.from_masks(part.contexts, seen, part.rewards, first_round=start)
        state, start = learner.update(state, news), start + len(part)
        yield state
