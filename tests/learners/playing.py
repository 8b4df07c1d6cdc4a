"""Learners played by hand, an epoch at a time, and what they may be given."""

import math
from itertools import islice

import numpy as np

import graphbandit as gb
from graphbandit.function_classes import Draws
from graphbandit.rounds.shown import Shown

T = 48


class Undrawn(gb.function_classes.BilinearClass):
    """A class that, as ensembles do, has nothing to draw before it has seen something."""

    def draws(self, data, *, noise, count, rng):
        if data.count == 0:
            return Draws(members=np.empty(0, dtype=np.int64), weights=np.empty(0))
        return super().draws(data, noise=noise, count=count, rng=rng)


def observed(contexts, revealed, rewards, decisions, first_round):
    """All that a learner is told of its rounds; `revealed` is a mask."""
    return gb.Observations.from_masks(
        contexts,
        revealed,
        rewards,
        first_round=first_round,
        actions=decisions.action,
        observation_probabilities=decisions.observation_probabilities,
        notes=decisions.notes,
    )


def states_after_epochs(learner, state, instance, rounds):
    """The state after each epoch that begins within so many rounds of an instance."""
    start = 0
    while start < rounds:
        part = instance.rounds(start, start + learner.rounds_until_update(state))
        decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(start))
        news = observed(part.contexts, part.graphs.revealed(decisions.action), part.rewards, decisions, start)
        state, start = learner.update(state, news), start + len(part)
        yield state


def state_after(learner, instance, epochs):
    """The state after so many epochs, and how many rounds they had."""
    states = states_after_epochs(learner, learner.init(instance.problem(None)), instance, math.inf)
    *_, state = islice(states, epochs)
    return state, state.rounds


def problem(seed: int, n_arms: int, graph: str, *, rounds: int = T, functions: int = 20, masked: bool = False):
    """Values of all functions in all rounds, graphs, rewards, uniforms and masks of a small random problem."""
    rng = np.random.default_rng([seed, n_arms])
    values = rng.normal(size=(rounds, functions, n_arms)) / 2
    truth = int(rng.integers(functions))
    options = {"clique_group": {"n_cliques": min(3, n_arms)}, "erdos_renyi": {"probability": 0.15}}.get(graph, {})
    graphs = gb.graphs.sources.graph_source(graph, n_arms, **options).draw(rng, rounds)
    rewards = values[:, truth] + rng.normal(size=(rounds, n_arms))
    masks = rng.random((rounds, n_arms)) < 0.6
    masks[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return values, graphs, rewards, rng.random(rounds), masks if masked else None


class Replay(np.random.Generator):
    """A generator that hands out given uniform numbers in order."""

    def __init__(self, uniforms):
        super().__init__(np.random.PCG64())
        self.uniforms, self.place = uniforms, 0

    def random(self, n):
        self.place += n
        return self.uniforms[self.place - n : self.place]


def run_package(learner, values, graphs, rewards, uniforms, masks, *, horizon, noise=1.0, real=None):
    """All decisions, and the learner's state in each round; contexts are round numbers that look values up.

    `graphs` are shown; `real` are those that reveal rewards, where they are others.
    """
    n, functions, n_arms = values.shape
    lookup = gb.FiniteClass(lambda x: values[x[:, 0].astype(int)], n_functions=functions, n_arms=n_arms)
    state = learner.init(gb.Problem(n_arms=n_arms, function_class=lookup, horizon=horizon, noise=noise))
    contexts = np.arange(n, dtype=float)[:, None]
    rng, parts, states, start = Replay(uniforms), [], [], 0
    while start < n:
        stop = min(start + learner.rounds_until_update(state), n)
        mask = None if masks is None else masks[start:stop]
        decisions = learner.decide(state, Shown(contexts[start:stop], graphs[start:stop], mask), rng)
        parts.append(decisions)
        states += [state] * (stop - start)
        if stop < n:
            seen = (graphs if real is None else real)[start:stop].revealed(decisions.action)
            state = learner.update(
                state,
                gb.Observations.from_masks(
                    contexts[start:stop], seen, rewards[start:stop], first_round=start, available=mask
                ),
            )
        start = stop
    return gb.Decisions.concatenate(parts), states
