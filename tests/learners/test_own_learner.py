"""A learner that somebody else writes: a few lines, played by everything, and never trusted blindly."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, SettingError
from graphbandit.learners import Learner
from graphbandit.rounds import Decisions, Shown
from tests.helpers.bandits import play


@dataclass(frozen=True)
class Sums:
    problem: gb.Problem
    rounds: int
    sums: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Softmax(Learner[Sums]):
    """p(a) proportional to exp(sum of rewards / temperature)."""

    temperature: float = 1.0

    def init(self, problem):
        return Sums(problem, 0, np.zeros(problem.n_arms))

    def rounds_until_update(self, state):
        return 1

    def choose(self, state, shown, rng):
        weights = np.exp((state.sums - state.sums.max()) / self.temperature) * shown.offered(len(state.sums))
        p = weights / weights.sum(axis=1, keepdims=True)
        return Decisions.from_probabilities(
            p, graphs=shown.graphs, rng=rng, epoch=state.rounds + 1, available=shown.available
        )

    def update(self, state, seen):
        sums = state.sums + np.bincount(seen.arms, seen.rewards, minlength=len(state.sums))
        return replace(state, rounds=state.rounds + 1, sums=sums)


def environment():
    return gb.environments.paper(n_arms=4, graph="star", reward_scale=4.0)


def test_it_is_simulated_and_serves_in_a_bandit_with_the_same_decisions():
    runs = gb.simulate({"own": Softmax()}, environment(), rounds=60, seed=3, keep_decisions=True)
    decisions = runs.decisions["own"][0]
    instance = environment().instance(3)
    drawn = instance.rounds(0, 60)
    bandit = gb.Bandit(Softmax(), instance.problem(60))
    bandit._journal.rng = gb.base.seeds.stream(3, "simulate", "own", 0)
    for t, decision in enumerate(play(bandit, drawn, 0, 60)):
        assert decision.action == decisions.action[t]
        assert decision.probabilities.tobytes() == decisions.probabilities[t].tobytes()
    assert runs.states["own"][0].sums.any()


def test_arms_not_on_offer_are_left_out_and_batches_are_rounds_one_by_one():
    graph = gb.graphs.complete(4)
    one, many = (gb.Bandit(Softmax(), gb.Problem(n_arms=4), seed=2) for _ in range(2))
    mask = [True, False, True, False]
    single = [one.decide(None, graph, available=mask).action for _ in range(9)]
    assert [d.action for d in many.decide_batch(np.empty((9, 0)), graph, available=mask)] == single
    assert {0, 2} == set(single)


def decide(learner, n=3, available=None):
    problem = gb.Problem(n_arms=4)
    shown = Shown(np.zeros((n, 1)), gb.FeedbackGraphs.repeat(gb.graphs.complete(4), n), available)
    return learner.decide(learner.init(problem), shown, np.random.default_rng(0))


@dataclass(frozen=True, kw_only=True)
class Wrong(Softmax):
    """Decides as Softmax does, and then changes something by hand."""

    change: object

    def rounds_until_update(self, state):
        return 10

    def choose(self, state, shown, rng):
        return self.change(super().choose(state, shown, rng))


WRONG = {
    "negative action": (lambda d: replace(d, action=d.action - 9), r"actions \[.*\]; expected arms 0 to 3"),
    "no such arm": (lambda d: replace(d, action=d.action + 9), "expected arms 0 to 3"),
    "no whole number": (lambda d: replace(d, action=d.action * 1.0), "actions"),
    "sum of two": (lambda d: replace(d, probabilities=2 * d.probabilities), "sum 2 "),
    "negative": (lambda d: replace(d, probabilities=d.probabilities - [1, -1, 0, 0]), "smallest entry -0.75"),
    "another probability": (
        lambda d: replace(d, probability=d.probability / 2),
        "says 0.125; expected the probability",
    ),
    "fewer rounds": (lambda d: d[:1], r"actions of shape \(1,\)"),
    "other arms": (lambda d: replace(d, gaps=d.gaps[:, :2]), r"gaps has shape \(3, 2\)"),
    "something else": (lambda d: d.action, "Wrong decided a ndarray; expected Decisions"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_wrong_decisions_are_refused_by_everything(change, message):
    learner = Wrong(change=change)
    with pytest.raises(InputError, match=message):
        decide(learner)
    with pytest.raises(InputError):
        gb.simulate(learner, environment(), rounds=10)
    bandit = gb.Bandit(learner, gb.Problem(n_arms=4))
    with pytest.raises(InputError, match=message):
        bandit.decide_batch(np.zeros((3, 1)), gb.graphs.complete(4))
    assert bandit.rounds == 0


def test_an_arm_that_is_not_on_offer_is_refused():
    offered = np.array([True, True, False, True])

    def play_it(d):
        return replace(d, action=np.full(3, 2), probabilities=np.tile([0.0, 0, 1, 0], (3, 1)), probability=np.ones(3))

    with pytest.raises(InputError, match="1 on arms not available"):
        decide(Wrong(change=play_it), available=offered)


def test_a_state_without_a_problem_is_named():
    shown = Shown(np.zeros((1, 1)), gb.FeedbackGraphs.repeat(gb.graphs.complete(4), 1))
    with pytest.raises(SettingError, match="the state int has no problem; expected one"):
        Softmax().decide(3, shown, np.random.default_rng(0))


def test_rounds_that_do_not_fit_are_refused_where_they_are_built():
    with pytest.raises(InputError, match="shown is a ndarray; expected a Shown"):
        Softmax().decide(Softmax().init(gb.Problem(n_arms=2)), np.zeros(3), np.random.default_rng(0))
    with pytest.raises(InputError, match="contexts have nan at"):
        Shown(np.array([[np.nan]]), None)
    with pytest.raises(InputError, match="contexts have type object"):
        Shown(np.array([[None]]), None)
