"""Decisions that await rewards: whose they are, how many are kept, and those that reveal nothing."""

import tracemalloc

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import ForgottenDecisionsWarning, ObservationError, UnknownDecisionError

N_ARMS = 3
GRAPH = gb.graphs.complete(N_ARMS)


def bandit(**settings):
    return gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=N_ARMS, noise=0.5), **settings)


def everything(value=1.0):
    return dict.fromkeys(range(N_ARMS), value)


def test_a_decision_of_another_bandit_is_refused(tmp_path):
    one, other = bandit(), bandit()
    mine, theirs = one.decide([0.0], GRAPH), other.decide([0.0], GRAPH)
    assert mine.id == theirs.id
    for call in (one.observe, lambda decision, _: one.forget(decision), lambda decision, _: one.awaited(decision)):
        with pytest.raises(UnknownDecisionError, match=f"made by bandit '{other.identity}'; expected one of bandit"):
            call(theirs, everything())
    one.save(tmp_path / "one.gb")
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    assert loaded.identity == one.identity
    loaded.observe(mine, everything())
    one.observe(mine.id, everything())
    assert loaded.open_decisions == one.open_decisions == []


def test_nothing_is_a_fine_answer_where_nothing_is_revealed():
    one = bandit()
    blind = gb.FeedbackGraph.from_edges([], N_ARMS, require_loops=False)
    decision = one.decide([0.0], blind)
    assert len(decision.revealed) == 0
    assert one.open_decisions == []
    one.observe(decision, {})
    with pytest.raises(ObservationError, match="awaits no more rewards: it revealed none"):
        one.observe(decision, {0: 1.0})


def test_the_oldest_decisions_are_forgotten_and_counted(tmp_path):
    one = bandit(max_open=5)
    made = [one.decide([0.0], GRAPH) for _ in range(5)]
    with pytest.raises(ForgottenDecisionsWarning, match="more than max_open = 5 decisions await rewards"):
        one.decide([0.0], GRAPH)
    assert (one.rounds, one.forgotten) == (5, 0)  # a warning made an error has changed nothing
    with pytest.warns(ForgottenDecisionsWarning):
        made += [one.decide([0.0], GRAPH)]
    made += [one.decide([0.0], GRAPH) for _ in range(3)]  # it warns once
    one.observe(made[5], everything())
    one.decide_batch(np.zeros((3, 1)), GRAPH)
    assert one.open_decisions == [7, 8, 9, 10, 11]
    assert one.forgotten == 6
    with pytest.raises(ObservationError, match="or is one of the 6 forgotten because of max_open"):
        one.observe(made[6], everything())
    one.save(tmp_path / "one.gb")
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    loaded.decide([0.0], GRAPH)
    assert loaded.open_decisions == [8, 9, 10, 11, 12]
    assert (loaded.forgotten, loaded.rounds) == (7, 13)
    loaded.decide_batch(np.zeros((20, 1)), GRAPH)
    assert loaded.open_decisions == [28, 29, 30, 31, 32]
    assert loaded.forgotten == 27


def test_decisions_are_forgotten_after_a_number_of_rounds():
    one = bandit(forget_after=3)
    first = one.decide([0.0], GRAPH)
    one.observe(first, {0: 1.0})
    for _ in range(2):
        one.decide([0.0], GRAPH)
    assert one.open_decisions == [0, 1, 2]
    one.decide([0.0], GRAPH)
    assert one.open_decisions == [1, 2, 3]
    assert one.forgotten == 1


def test_without_limits_nothing_is_forgotten_early():
    one = bandit()
    one.decide_batch(np.zeros((3000, 1)), GRAPH)
    assert len(one.open_decisions) == 3000
    assert one.forgotten == 0


def test_a_file_with_many_arms_and_open_decisions_is_read_in_arrays(tmp_path):
    """No Python object for each arm of each open decision: what `load` allocates stays near the size of the file."""
    n_arms = 20_000
    one = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=n_arms))
    graph = gb.FeedbackGraph.from_edges([(0, 1)], n_arms, add_loops=True)
    for _ in range(50):
        one.decide([0.0], graph)
    one.save(tmp_path / "one.gb")
    tracemalloc.start()
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert loaded.open_decisions == one.open_decisions
    assert peak < 1_000_000
