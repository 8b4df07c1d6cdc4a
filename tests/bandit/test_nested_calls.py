"""Calls within calls of a thread, as signal handlers make them; copies made while others decide; shapes of contexts."""

import copy
import pickle
import threading

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import NestedCallError

N_ARMS = 3
GRAPH = gb.graphs.bandit(N_ARMS)


class Curious:
    """Functions that call the bandit that is asking for their values."""

    def __init__(self) -> None:
        self.bandit: gb.Bandit | None = None
        self.call = lambda bandit: None
        self.asked = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if self.bandit is not None:
            self.asked += 1
            self.call(self.bandit)
        return np.stack([x, 1.0 - x], axis=1)


def bandit_of(function: Curious) -> gb.Bandit:
    functions = gb.FiniteClass(function, n_functions=2, n_arms=N_ARMS)
    bandit = gb.Bandit(gb.IDSG(), gb.Problem(n_arms=N_ARMS, function_class=functions, noise=0.5), seed=0)
    function.bandit = bandit
    return bandit


def played(bandit: gb.Bandit, rounds: int) -> list[int]:
    actions = []
    for t in range(rounds):
        decision = bandit.decide([0.2, 0.5, 0.1 * (t % 10)], GRAPH)
        bandit.observe(decision, {decision.action: 0.5})
        actions.append(decision.action)
    return actions


def test_reading_within_a_call_changes_nothing() -> None:
    curious = Curious()
    curious.call = lambda bandit: (bandit.rounds, bandit.state, bandit.open_decisions, bandit.forgotten, repr(bandit))
    actions = played(bandit_of(curious), 60)
    assert curious.asked > 60
    assert actions == played(bandit_of(Curious()), 60)


@pytest.mark.parametrize(
    "call",
    [
        lambda bandit: bandit.decide([0.1, 0.2, 0.3], GRAPH),
        lambda bandit: bandit.decide_batch(np.zeros((2, 3)), GRAPH),
        lambda bandit: bandit.observe(0, {0: 1.0}),
        lambda bandit: bandit.refit(),
        lambda bandit: bandit.save("never.gb"),
        lambda bandit: copy.copy(bandit),
    ],
    ids=["decide", "decide_batch", "observe", "refit", "save", "copy"],
)
def test_changing_within_a_call_is_refused_and_changes_nothing(call) -> None:
    curious = Curious()
    bandit, other = bandit_of(curious), bandit_of(Curious())
    assert played(bandit, 5) == played(other, 5)
    curious.call = call
    with pytest.raises(NestedCallError, match="another call of this bandit is running in this thread"):
        played(bandit, 1)
    curious.call = lambda bandit: None
    assert bandit.rounds == other.rounds == 5
    assert played(bandit, 20) == played(other, 20)


def test_a_shallow_copy_stands_alone() -> None:
    bandit, other = bandit_of(Curious()), bandit_of(Curious())
    keyed, _ = bandit.decide([0.2, 0.5, 0.1], GRAPH, key="mine"), other.decide([0.2, 0.5, 0.1], GRAPH, key="mine")
    copied = copy.copy(bandit)
    played(copied, 7)
    copied.observe(copied.open_decisions[0], {keyed.action: 1.0})
    assert bandit.open_decisions == [0]
    assert played(bandit, 7) == played(other, 7)
    assert bandit.decide(key="mine").action == keyed.action


def test_copies_made_while_another_thread_decides_are_whole() -> None:
    bandit = gb.Bandit(gb.learners.UCBN(noise=0.5), gb.Problem(n_arms=N_ARMS))
    ended = threading.Event()

    def decide() -> None:
        opened = []
        while not ended.is_set():
            opened.append(bandit.decide(None, GRAPH))
            if len(opened) > 20:
                bandit.forget(opened.pop(0))

    thread = threading.Thread(target=decide)
    thread.start()
    try:
        copies = [pickle.loads(pickle.dumps(bandit)) for _ in range(40)]
    finally:
        ended.set()
        thread.join()
    assert copies[-1].rounds > 0
    assert all(number < one.rounds for one in copies for number in one.open_decisions)


def test_a_decision_cannot_change_what_the_bandit_will_learn() -> None:
    bandit = gb.Bandit(gb.learners.Exp3SET(), gb.Problem(n_arms=N_ARMS), seed=0)
    decision = bandit.decide(None, GRAPH)
    for array in (decision.batch.notes, decision.batch.action):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


@pytest.mark.parametrize(
    "learner", [gb.IDSG(), gb.AdaCBG(), gb.learners.UCBN(noise=0.5)], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("loaded", [False, True])
def test_contexts_keep_their_shape_after_a_refit(learner, loaded, tmp_path) -> None:
    linear = gb.LinearClass(n_arms=N_ARMS, dimension=2, parameters="per-arm")  # takes (2,) and (3, 2)
    bandit = gb.Bandit(learner, gb.Problem(n_arms=N_ARMS, function_class=linear, noise=0.5), seed=0)
    first = bandit.decide([1.0, 0.5], gb.graphs.complete(N_ARMS))
    bandit.observe(first, {0: 1.0})
    bandit.refit()
    if loaded:
        bandit.save(tmp_path / "bandit.gb")
        bandit = gb.Bandit.load(tmp_path / "bandit.gb")
    with pytest.raises(gb.errors.InputError, match=r"shape \(3, 2\); expected \(2,\) as before"):
        bandit.decide(np.ones((N_ARMS, 2)), gb.graphs.complete(N_ARMS))
    bandit.observe(first.id, {1: 0.5, 2: 0.25})
    bandit.decide([1.0, 0.5], gb.graphs.complete(N_ARMS))
    bandit.save(tmp_path / "after.gb")
