"""AdaCB.G with a natural gamma on finite classes: by the weights of all functions, from the first round on."""

import math

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.graphs.parameters import greedy_cover
from graphbandit.rounds.shown import Shown
from tests.planning.test_doubt import literal_ceilings
from tests.references import paper as ref

ARMS, FUNCTIONS = 6, 12
TABLES = np.random.default_rng(3).uniform(size=(FUNCTIONS, 4, ARMS))


def values_of(contexts: np.ndarray) -> np.ndarray:
    return TABLES[:, contexts[:, 0].astype(int)].transpose(1, 0, 2)


def weights_of(losses: np.ndarray, rewards: list[float], noise: float | None) -> np.ndarray:
    """exp(-L / (2 sigma^2)), or sigma integrated out; all the same before rewards differ."""
    if noise is not None:
        weights = np.exp(-(losses - losses.min()) / (2.0 * noise**2))
    elif len(set(rewards)) < 2:
        weights = np.ones(len(losses))
    else:
        scale = 2.0 * ((max(rewards) - min(rewards)) / 4.0) ** 2
        weights = ((scale + losses / 2.0) / (scale + losses.min() / 2.0)) ** -(2.0 + len(rewards) / 2.0)
    return weights / weights.sum()


@pytest.mark.parametrize("noise", [None, 0.5])
@pytest.mark.parametrize("kind", ["star", "cliques", "loops"])
def test_decisions_are_those_of_sums_that_are_written_out(kind: str, noise: float | None) -> None:
    """Mean, chances, gamma and demands round by round, and the cost of the reference's program."""
    graph = {
        "star": gb.graphs.star(ARMS, hub=4),
        "cliques": gb.graphs.clique_group(ARMS, 2),
        "loops": gb.graphs.bandit(ARMS),
    }[kind]
    edges, rng = graph.to_dense(), np.random.default_rng(7)
    functions = gb.FiniteClass(values_of, n_functions=FUNCTIONS, n_arms=ARMS)
    learner = gb.AdaCBG()
    state = learner.init(gb.Problem(n_arms=ARMS, function_class=functions, noise=noise))
    losses, rewards, explored = np.zeros(FUNCTIONS), list[float](), 0
    for t in range(25):
        contexts = np.array([[float(rng.integers(4))]])
        shown = Shown(contexts, gb.FeedbackGraphs.repeat(graph, 1))
        made = learner.decide(state, shown, rng)
        values = values_of(contexts)[0]
        weights = weights_of(losses, rewards, noise)
        mean = weights @ values
        best = int(np.argmax(mean))
        gaps = mean[best] - mean
        chances = np.array([weights[np.argmax(values, axis=1) == a].sum() for a in range(ARMS)])
        candidates = made.candidates[0]
        np.testing.assert_array_equal(candidates, functions.candidates(state.space, contexts)[0])
        np.testing.assert_allclose(made.gaps[0], gaps, atol=1e-9)
        assert made.best[0] == best
        size = int(made.exploration_set[0].sum())
        covering = greedy_cover(graph, candidates, np.ones(ARMS, dtype=bool))[0]
        amount = min(size, covering)
        if t == 0:
            assert made.gamma[0] == 0.0
        if candidates.sum() > 1 and size > 1:
            chances = np.where(candidates, chances, 0.0) / chances[candidates].sum()
            ceilings = literal_ceilings(edges.astype(float), np.ones(ARMS, dtype=bool), gaps, chances)
            plain = 1.0 / (amount + made.gamma[0] * gaps)
            demand = np.maximum(np.minimum(plain, ceilings), np.minimum(0.2 * chances, 1.0 / amount))
            demand = np.where(candidates & (np.arange(ARMS) != best), demand, 0.0)
            _, objective = ref.solve_lp(edges, demand, gaps, best)
            assert made.objective[0] == pytest.approx(objective, abs=1e-8)
            assert (made.observation_probabilities[0] >= demand - 1e-9).all()
            explored += 1
        seen = edges[made.action[0]]
        noisy = TABLES[0, int(contexts[0, 0])] + 0.5 * rng.standard_normal(ARMS)
        for a in np.flatnonzero(seen):
            losses += (values[:, a] - noisy[a]) ** 2
            rewards.append(float(noisy[a]))
        told = gb.Observations.from_masks(contexts, seen[None], np.where(seen, noisy, np.nan)[None], first_round=t)
        if learner.rounds_until_update(state) > 1:
            break
        state = learner.update(state, told)
    assert explored >= 2


def test_the_first_round_plays_by_the_mean_of_the_functions() -> None:
    """All agree that arm 0 is good and the hub is poor: no cover is played, and the hub only as far as doubt asks."""
    tables = np.array([[0.9, 1.0, 0.0, -3.0], [0.9, 0.0, 1.0, -3.0], [0.9, 0.1, 0.1, -3.0]])
    functions = gb.FiniteClass(lambda x: np.repeat(tables[None], len(x), axis=0), n_functions=3, n_arms=4)
    problem = gb.Problem(n_arms=4, function_class=functions)
    bandit = gb.Bandit(gb.AdaCBG(), problem, graph=gb.graphs.star(4, hub=3))
    decision = bandit.decide([0.0])
    assert decision.best == 0
    assert decision.probabilities[0] > 0.3
    assert decision.probabilities[3] < 0.2
    unsure = gb.Bandit(gb.AdaCBG(doubt=0.0), problem, graph=gb.graphs.star(4, hub=3)).decide([0.0])
    assert unsure.probabilities[3] == 1.0  # without doubt the first round plays a cover


@pytest.mark.parametrize("doubt", [0.0, 0.2])
def test_the_papers_form_and_no_doubt_fit_one_function(doubt: float) -> None:
    functions = gb.FiniteClass(values_of, n_functions=FUNCTIONS, n_arms=ARMS)
    problem = gb.Problem(n_arms=ARMS, function_class=functions, noise=0.5)
    assert gb.AdaCBG.paper(doubt=doubt).init(problem).model is None
    assert (gb.AdaCBG(doubt=doubt).init(problem).model is None) == (doubt == 0.0)
    assert math.isinf(gb.AdaCBG(doubt=doubt).init(problem).radius)
