"""An interrupted call has done all or nothing, and takes no random numbers if it has done nothing."""

import time

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError
from graphbandit.graphs import complete
from tests.fuzz.interrupts import by_signal
from tests.helpers.bandits import content

# an interrupt that comes inside a callback of the garbage collector is swallowed there, and told as a warning
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

N_ARMS = 3
GRAPH = complete(N_ARMS)


def bandit(learner=None, **settings):
    return gb.Bandit(learner or gb.learners.Uniform(), gb.Problem(n_arms=N_ARMS, noise=0.5), **settings)


def everything(value=1.0):
    return dict.fromkeys(range(N_ARMS), value)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def test_an_interrupted_batch_is_decided_or_not(tmp_path):
    contexts, rng = np.zeros((400, 2)), np.random.default_rng(0)

    def fresh():
        one = bandit(identity="same")
        one.observe(one.decide_batch(contexts[:10], GRAPH)[0], everything())
        return one

    before = content(fresh(), tmp_path)
    fresh().decide_batch(contexts, GRAPH)  # a compiler that is interrupted may not recover
    done = fresh()
    duration = seconds(lambda: done.decide_batch(contexts, GRAPH))
    after, stopped = content(done, tmp_path), 0
    for _ in range(60):
        one = fresh()
        stopped += by_signal(lambda one=one: one.decide_batch(contexts, GRAPH), rng.uniform(0.05, 1.05) * duration)
        assert content(one, tmp_path) in (before, after)
    assert stopped > 10


@pytest.mark.parametrize("learner", [gb.learners.UCBN(), gb.learners.Uniform()], ids=lambda one: type(one).__name__)
def test_an_interrupted_loop_has_no_call_half_done(learner, tmp_path):
    """A twin that is told of the same rounds and rewards is the same, whenever the signal comes."""
    rng = np.random.default_rng(1)
    played = 0
    warm = bandit(learner)  # a compiler that is interrupted may not recover
    for _ in range(5):
        warm.observe(warm.decide([0.0, 0.0], GRAPH), everything(0.5))
    for _ in range(60):
        one = bandit(learner, seed=4, identity="twin")
        one.observe(one.decide([0.0, 0.0], GRAPH), everything(0.5))
        rewarded = [0]

        def loop(one=one, rewarded=rewarded):
            while True:
                decision = one.decide([0.0, 0.0], GRAPH)
                one.observe(decision, everything(0.5))
                rewarded[0] = decision.id

        by_signal(loop, rng.uniform(1e-4, 5e-3))
        twin = bandit(learner, seed=4, identity="twin")
        for t in range(one.rounds):
            decision = twin.decide([0.0, 0.0], GRAPH)
            if t not in one.open_decisions:
                twin.observe(decision, everything(0.5))
        assert content(twin, tmp_path) == content(one, tmp_path)
        assert one.rounds - 2 <= rewarded[0] <= one.rounds - 1
        assert len(one.open_decisions) <= 1
        played += one.rounds
    assert played > 60


@pytest.mark.parametrize("n", [1, 2])
def test_numbers_drawn_for_an_interrupted_call_are_drawn_again(n, monkeypatch, tmp_path):
    one, other = bandit(identity="same"), bandit(identity="same")
    for each in (one, other):
        each.decide(graph=GRAPH)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(one._builder), "rounds", interrupted)  # the arms are drawn by then
        with pytest.raises(KeyboardInterrupt):
            one.decide_batch(graphs=[GRAPH] * n)
    assert content(one, tmp_path) == content(other, tmp_path)
    made = [each.decide(graph=GRAPH) for each in (one, other) for _ in range(8)]
    assert [decision.action for decision in made[:8]] == [decision.action for decision in made[8:]]
    assert content(one, tmp_path) == content(other, tmp_path)


def test_a_failing_call_takes_nothing_from_the_random_stream():
    one, other = bandit(identity="a"), bandit(identity="a")
    with pytest.raises(GraphError):
        one.decide_batch(np.zeros((2, 1)), complete(4))
    assert [one.decide([0.0], GRAPH).action for _ in range(9)] == [other.decide([0.0], GRAPH).action for _ in range(9)]
