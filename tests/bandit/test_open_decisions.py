"""Decisions that await rewards: whose they are, how many are kept, and those that reveal nothing."""

import tracemalloc
import warnings

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
    made += [one.decide([0.0], GRAPH) for _ in range(4)]  # it warns once
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


WAYS = {
    "decide": lambda one: one.decide([0.0], GRAPH),
    "decide again with the same graph": lambda one: (one.decide([0.0], GRAPH), one.decide([0.0], GRAPH))[-1],
    "decide with a key": lambda one: one.decide([0.0], GRAPH, key="k"),
    "decide with arms on offer": lambda one: one.decide([0.0], GRAPH, available=[0, 1]),
    "decide_batch": lambda one: one.decide_batch(np.zeros((3, 1)), GRAPH)[0],
    "decide_batch with keys": lambda one: one.decide_batch(np.zeros((3, 1)), GRAPH, keys=["a", "b", "a"])[0],
    "take": lambda one: one.take([one.decider().decide([0.0], GRAPH)])[0],
}


@pytest.mark.parametrize("log", [False, True], ids=["no log", "log"])
@pytest.mark.parametrize("way", WAYS)
def test_the_warning_points_at_the_caller_and_loses_nothing_as_an_error(way, log, tmp_path):
    """The call that is refused by the warning has changed nothing and can be repeated; then all is as without it."""
    one, other = (bandit(max_open=1, identity="same", log=tmp_path / name if log else None) for name in "ab")
    for each in (one, other):
        each.decide([0.0], GRAPH)
    before = (one.rounds, one.open_decisions, one.forgotten)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ForgottenDecisionsWarning):
            WAYS[way](one)
        assert (one.rounds, one.open_decisions, one.forgotten) == before
        made = WAYS[way](one)
        one.decide([0.0], GRAPH)  # it warns once
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expected = WAYS[way](other)
        other.decide([0.0], GRAPH)
    assert [(warning.category, warning.filename) for warning in caught] == [(ForgottenDecisionsWarning, __file__)]
    if way != "take":  # its key is random
        assert (made.id, made.action, made.seal) == (expected.id, expected.action, expected.seal)
        assert one._journal.rng.bit_generator.state == other._journal.rng.bit_generator.state
    assert (one.rounds, one.open_decisions, one.forgotten) == (other.rounds, other.open_decisions, other.forgotten)


def test_the_default_filter_shows_the_warning_for_each_place_that_calls():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        one, other = bandit(max_open=1), bandit(max_open=1)
        one.decide_batch(np.zeros((2, 1)), GRAPH)
        other.decide_batch(np.zeros((2, 1)), GRAPH)
    assert len({warning.lineno for warning in caught}) == len(caught) == 2


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
