"""A learner played by hand, an epoch at a time."""

import numpy as np

import graphbandit as gb
from graphbandit.rounds.shown import Shown


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
