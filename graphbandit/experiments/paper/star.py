"""The paper's k-tree example from a real decision: what AdaCB.G plays on a star, before and after the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphbandit.bandit import Bandit
from graphbandit.environments import paper
from graphbandit.graphs import FeedbackGraph
from graphbandit.learners import AdaCBG
from graphbandit.plots.decisions import plot_decision
from graphbandit.types import Decision

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = 8
ROUNDS = 64
"""The decision is one of this many; in later ones little is left to explore."""


class StarDecision(NamedTuple):
    """A decision, its graph, and its expected regret before and after the linear program, by its own estimates."""

    decision: Decision
    graph: FeedbackGraph
    before: float
    after: float


def star_decision(seed: int = 0) -> StarDecision:
    """Of the rounds of a run on stars, in the rescaled reading, the one in which the program saves most."""
    instance = paper(n_arms=ARMS, graph="star", reward_scale=8.0).instance(seed)
    rounds = instance.rounds(0, ROUNDS)
    bandit = Bandit(AdaCBG(radius="paper", coverage="paper"), instance.problem(ROUNDS), seed=seed)
    found = []
    for t in range(ROUNDS):
        graph = rounds.graphs[t]
        decision = bandit.decide(rounds.contexts[t], graph)
        bandit.observe(decision, {int(a): float(rounds.rewards[t, a]) for a in decision.revealed})
        found.append(StarDecision(decision, graph, float(decision.baseline @ decision.gaps), decision.objective))
    return max(found, key=lambda each: each.before - each.after)


def plot_star_decision(star: StarDecision) -> Figure:
    """Each arm's estimated gap, its probability before and after the program, and its observation probability."""
    return plot_decision(star.decision, star.graph)
