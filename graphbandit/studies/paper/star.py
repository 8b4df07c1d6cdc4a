"""The paper's k-tree example with a real decision of AdaCB.G on a star, before and after the linear program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphbandit.bandit import Bandit
from graphbandit.base.shapes import Float
from graphbandit.environments import paper
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.learners import AdaCBG
from graphbandit.rounds.decision import Decision

ARMS = 8
ROUNDS = 64
"""The decision is chosen among this many rounds; later, little is left to explore."""


class StarDecision(NamedTuple):
    """A decision, its graph, the estimated rewards, and the expected regret before and after the program."""

    decision: Decision
    graph: FeedbackGraph
    values: Float[np.ndarray, " arms"]
    before: float
    after: float


def star_decision(seed: int = 0) -> StarDecision:
    """The decision that the program improves most, in a run on stars in the rescaled reading."""
    instance = paper(n_arms=ARMS, graph="star", reward_scale=8.0).instance(seed)
    rounds = instance.rounds(0, ROUNDS)
    bandit = Bandit(AdaCBG(radius="paper", coverage="paper", eta=1.0), instance.problem(ROUNDS), seed=seed)
    found = []
    for t in range(ROUNDS):
        graph, model = rounds.graphs[t], bandit.state.model
        decision = bandit.decide(rounds.contexts[t], graph)
        bandit.observe(decision, {int(a): float(rounds.rewards[t, a]) for a in decision.revealed})
        if model is not None:  # the first epoch has no estimates
            values = instance.functions.predict(model, rounds.contexts[t : t + 1])[0]
            cost = float(decision.baseline @ decision.gaps)
            found.append(StarDecision(decision, graph, values, cost, decision.objective))
    return max(found, key=lambda each: each.before - each.after)
