"""A small instance of the paper with all learners that play it, and bandits that were used for a while."""

import numpy as np

import graphbandit as gb
from graphbandit import environments
from tests.helpers.bandits import play

K, D, PLAYED = 4, 2, 11
INSTANCE = environments.paper(n_arms=K, graph="random", n_functions=3, dimension=D, density=0.1).instance(seed=5)
DRAWN = INSTANCE.rounds(0, 64)
GRAPH, EVERYTHING = DRAWN.graphs[0], gb.graphs.complete(K)
LEARNERS = {
    "AdaCB.G": gb.AdaCBG(epoch_growth=2.0),
    "no candidates": gb.AdaCBG(candidate_set=False, epoch_growth=2.0),
    "IDS.G": gb.IDSG(epoch_growth=2.0),
    "IDS.G frequentist": gb.IDSG(form="frequentist", epoch_growth=2.0),
    "Thompson": gb.learners.BootstrappedThompson(epoch_growth=2.0),
    "RegCB": gb.learners.RegCB(),
    "AdaCB": gb.learners.AdaCB(),
    "epsilon-greedy": gb.learners.EpsilonGreedy(),
    "explore then commit": gb.learners.ExploreThenCommit(explore_rounds=2),
    "FALCON": gb.Falcon(),
    "RegCB.G": gb.RegCBG(),
    "greedy": gb.Greedy(),
    "uniform": gb.learners.Uniform(),
}


def played(bandit, first, stop):
    """Rounds with prompt rewards; all that was decided, as bytes."""
    made = play(bandit, DRAWN, first, stop)
    return [(each.id, each.action, each.gamma, each.epoch, each.probabilities.tobytes()) for each in made]


def make(learner=LEARNERS["AdaCB.G"], horizon=None):
    """A bandit in its fourth epoch: 8 has late news, 9 part of its rewards, 7 was forgotten, 10 all is awaited of."""
    bandit = gb.Bandit(learner, INSTANCE.problem(horizon), seed=3, identity="test")
    played(bandit, 0, 6)
    late = bandit.decide(DRAWN.contexts[6], EVERYTHING)
    bandit.forget(bandit.decide(DRAWN.contexts[7], EVERYTHING))
    bandit.decide(DRAWN.contexts[8], EVERYTHING, available=[True, True, False, True])
    bandit.observe(bandit.decide(DRAWN.contexts[9], EVERYTHING), {0: 0.5, 2: -1.0})
    bandit.decide(DRAWN.contexts[10], EVERYTHING)
    bandit.observe(late, {1: 0.25})
    return bandit


def batch(n=3, at=1, bad=None, fill=0.0):
    """Contexts of n rounds, the one at `at` with `bad` in it."""
    contexts = np.full((n, D), fill)
    if bad is not None:
        contexts[at, 0] = bad
    return contexts


def decide(context=(0.0, 0.0), graph=GRAPH, **kwargs):
    return lambda bandit: bandit.decide(context, graph, **kwargs)


class Fickle:
    """Evaluates two functions of three arms, until it is told to answer otherwise."""

    answer = None

    def __call__(self, contexts):
        if self.answer is not None:
            return self.answer(contexts)
        return np.stack([contexts, 1 - contexts], axis=1)


def fickle_bandit(learner):
    function = Fickle()
    functions = gb.FiniteClass(function, n_functions=2, n_arms=3)
    return function, gb.Bandit(learner, gb.Problem(n_arms=3, function_class=functions, noise=0.5), identity="fickle")
