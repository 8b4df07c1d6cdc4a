"""Several processes: keys that are idempotent, copies that notice each other, deciders whose decisions come back."""

import copy
import os
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import HorizonError, InputError, ObservationError, UnknownDecisionError
from tests.helpers.bandits import content, refuse

K, D = 5, 3
GRAPH = gb.FeedbackGraph.from_edges([(a, (a + 1) % K) for a in range(K)], K, add_loops=True)
CONTEXTS = np.random.default_rng(0).normal(size=(60, D))
LEARNERS = {
    "IDS.G": gb.IDSG(draws=16),
    "AdaCB.G": gb.AdaCBG(),
    "LinUCB": gb.LinUCB(alpha=1.0),
    "EXP3-IX": gb.learners.Exp3IX(),
    "late graph": gb.learners.LateGraph(learner=gb.IDSG(draws=16)),
}


def make(learner=LEARNERS["IDS.G"], horizon=None, **settings):
    functions = gb.LinearClass(n_arms=K, dimension=D, parameters="per-arm")
    problem = gb.Problem(arms=list("abcde"), function_class=functions, noise=0.5, horizon=horizon)
    return gb.Bandit(learner, problem, graph=GRAPH, identity="test", **settings)


def reward(context, arm):
    return float(np.tanh(context[arm % D])) / 2 + 0.5


def play(bandit, first, stop):
    for t in range(first, stop):
        decision = bandit.decide(CONTEXTS[t])
        bandit.observe(decision, {arm: reward(CONTEXTS[t], arm) for arm in decision.revealed.tolist()})
    return bandit


def same(one, two):
    fields = ("id", "action", "probability", "key", "seal", "bandit", "arms")
    return all(getattr(one, name) == getattr(two, name) for name in fields) and one.to_dict() == two.to_dict()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_key_is_the_same_decision_also_from_a_file(name, tmp_path):
    bandit = play(make(LEARNERS[name]), 0, 10)
    first = bandit.decide(CONTEXTS[10], key="visit")
    expected = first.to_dict()
    before = content(bandit, tmp_path)
    assert same(bandit.decide(CONTEXTS[11], key="visit"), first)
    first.probabilities[:], first.revealed[:] = 9.0, 0  # the caller's own copy
    assert bandit.decide(CONTEXTS[11], key="visit").to_dict() == expected
    assert content(bandit, tmp_path) == before
    loaded = gb.Bandit.load(tmp_path / "content.gb")
    assert loaded.decide(None, key="visit").to_dict() == expected
    assert content(loaded, tmp_path) == before
    arm = int(bandit.awaited("visit")[0])
    loaded.observe("visit", {arm: 0.5}, final=True)
    assert loaded.decide(key="visit").to_dict() == expected, "remembered after its rewards came"
    bandit.forget("visit")
    assert bandit.open_decisions == []


def test_keys_are_bounded_but_not_those_that_await_rewards(tmp_path):
    bandit = make(max_keys=2)
    for t in range(6):
        bandit.decide(CONTEXTS[t], key=f"k{t}")
    assert [bandit.decide(key=f"k{t}").id for t in range(6)] == list(range(6))
    for t in range(5):
        bandit.observe(f"k{t}", {}, final=True)
    bandit.save(tmp_path / "b.gb")
    for one in (bandit, gb.Bandit.load(tmp_path / "b.gb")):
        with pytest.raises(UnknownDecisionError, match="the last 2 decisions"):
            one.observe("k2", {})
        assert [one.decide(key=f"k{t}").id for t in (3, 4, 5)] == [3, 4, 5]
        assert one.decide(CONTEXTS[0], key="k0").id == 6


def test_a_batch_takes_keys_old_new_and_twice():
    bandit, plain = make(), make()
    old = bandit.decide(CONTEXTS[0], key="old")
    plain.decide(CONTEXTS[0])
    made = bandit.decide_batch(CONTEXTS[1:5], keys=["x", "old", "x", "y"])
    assert [one.key for one in made] == ["x", "old", "x", "y"]
    assert [one.id for one in made] == [1, old.id, 1, 2]
    fresh = plain.decide_batch(CONTEXTS[[1, 4]])
    assert [one.action for one in fresh] == [made[0].action, made[3].action]
    masks = np.ones((2, K), dtype=bool)
    masks[1, :4] = False
    assert bandit.decide_batch(CONTEXTS[5:7], available=masks, keys=["x", "last"])[1].arm == "e"


def test_two_copies_of_a_file_notice_each_others_decisions(tmp_path):
    play(make(), 0, 10).save(tmp_path / "b.gb")
    one, two = gb.Bandit.load(tmp_path / "b.gb"), gb.Bandit.load(tmp_path / "b.gb")
    mine, theirs = one.decide(CONTEXTS[20]), two.decide(CONTEXTS[21])
    assert mine.id == theirs.id
    before = content(one, tmp_path)
    with pytest.raises(UnknownDecisionError, match="another copy of it goes on from the same file"):
        one.observe(theirs, {int(theirs.revealed[0]): 1.0})
    assert content(one, tmp_path) == before
    one.save(tmp_path / "one.gb")
    later = gb.Bandit.load(tmp_path / "one.gb")
    with pytest.raises(UnknownDecisionError, match="another copy"):
        later.observe(theirs, {int(theirs.revealed[0]): 1.0})
    later.observe(mine, {int(mine.revealed[0]): 1.0})


def _copies(folder):
    bandit = play(make(), 0, 10)
    bandit.save(folder / "b.gb")
    yield gb.Bandit.load(folder / "b.gb"), gb.Bandit.load(folder / "b.gb")
    yield bandit, copy.deepcopy(bandit)
    yield bandit, pickle.loads(pickle.dumps(bandit))


def test_copies_that_decide_equal_rounds_notice_it_too(tmp_path):
    for one, two in _copies(tmp_path):
        mine, theirs = one.decide(CONTEXTS[20]), two.decide(CONTEXTS[20])
        assert (mine.id, mine.action, mine.seal, mine.bandit) == (theirs.id, theirs.action, theirs.seal, theirs.bandit)
        rewards = {int(theirs.revealed[0]): 1.0}
        for other, decision in ((one, theirs), (two, mine), (one, pickle.loads(pickle.dumps(theirs)))):
            observe = partial(gb.Bandit.observe, decision=decision, rewards=rewards)
            refuse(other, observe, UnknownDecisionError, "another copy of it", tmp_path)
        assert content(one, tmp_path) == content(two, tmp_path)
        one.observe(pickle.loads(pickle.dumps(mine)), rewards)
        (taken,) = two.take([two.decider().decide(CONTEXTS[0], key="k")])
        two.observe(taken, {int(taken.revealed[0]): 1.0})


def test_a_decision_from_before_a_file_was_saved_is_taken_by_each_copy(tmp_path):
    bandit = play(make(), 0, 10)
    decision = bandit.decide(CONTEXTS[20], key="before")
    bandit.save(tmp_path / "b.gb")
    for one in (gb.Bandit.load(tmp_path / "b.gb"), gb.Bandit.load(tmp_path / "b.gb"), copy.deepcopy(bandit)):
        again = one.decide(key="before")
        assert (again.action, again.probability) == (decision.action, decision.probability)
        assert len(one.open_decisions) == 1
        one.observe(again, {int(decision.revealed[0]): 1.0})
        one.observe(decision, {}, final=True)
        assert len(one.open_decisions) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads and forks
def test_a_forked_process_is_another_copy(tmp_path):
    bandit = play(make(), 0, 10)
    child = os.fork()
    if child == 0:
        (tmp_path / "theirs").write_bytes(pickle.dumps(bandit.decide(CONTEXTS[20])))
        os._exit(0)
    os.waitpid(child, 0)
    theirs, mine = pickle.loads((tmp_path / "theirs").read_bytes()), bandit.decide(CONTEXTS[20])
    assert theirs.seal == mine.seal
    with pytest.raises(UnknownDecisionError, match="another copy of it"):
        bandit.observe(theirs, {int(theirs.revealed[0]): 1.0})


@pytest.mark.parametrize("name", LEARNERS)
def test_a_decider_decides_as_its_bandit_and_a_key_is_a_draw(name):
    bandit = play(make(LEARNERS[name]), 0, 21)
    decider = bandit.decider()
    other = pickle.loads(pickle.dumps(decider))
    keys = [f"k{t}" for t in range(30)]
    singles = [decider.decide(CONTEXTS[t + 20], key=keys[t]) for t in range(30)]
    batch = other.decide_batch(CONTEXTS[20:50], keys=keys)
    assert [one.to_dict() for one in singles] == [one.to_dict() for one in batch]
    np.testing.assert_array_equal(
        bandit.probabilities(CONTEXTS[20:50]), np.stack([one.probabilities for one in singles])
    )
    expected = bandit.decide(CONTEXTS[20])
    assert expected.probabilities.tobytes() == singles[0].probabilities.tobytes()
    assert decider.decide(CONTEXTS[0]).key != decider.decide(CONTEXTS[0]).key


def test_draws_of_keys_follow_the_probabilities():
    decider = make(gb.learners.Uniform()).decider()
    actions = [one.action for one in decider.decide_batch(np.zeros((4000, D)), keys=[str(i) for i in range(4000)])]
    assert np.abs(np.bincount(actions, minlength=K) / 4000 - 1 / K).max() < 0.03


@pytest.mark.parametrize("name", LEARNERS)
def test_what_a_decider_decided_is_taken_back_and_learnt_from(name, tmp_path):
    bandit = play(make(LEARNERS[name]), 0, 9)
    decider = bandit.decider()
    made = decider.decide_batch(CONTEXTS[9:29], keys=[f"k{t}" for t in range(20)])
    with pytest.raises(UnknownDecisionError, match="to be taken first"):
        bandit.observe(made[0], {})
    back = bandit.take(pickle.loads(pickle.dumps(made)))
    assert [one.id for one in back] == list(range(9, 29))
    assert [one.action for one in back] == [one.action for one in made]
    before = content(bandit, tmp_path)
    assert [one.id for one in bandit.take(made[3:5])] == [12, 13], "taken once"
    assert content(bandit, tmp_path) == before
    loaded = gb.Bandit.load(tmp_path / "content.gb")
    for t, one in enumerate(made):
        which = (one, back[t], f"k{t}")[t % 3]
        rewards = {arm: reward(CONTEXTS[9 + t], arm) for arm in one.revealed.tolist()}
        for each in (bandit, loaded):
            each.observe(which, rewards)
    assert bandit.open_decisions == []
    assert content(bandit, tmp_path) == content(loaded, tmp_path)
    play(bandit, 29, 40)


def _serve(decider, first):
    return decider.decide_batch(CONTEXTS[first : first + 5], keys=[f"visit-{t}" for t in range(first, first + 5)])


def test_deciders_work_in_other_processes():
    bandit = play(make(), 0, 20)
    decider = bandit.decider()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        parts = [*pool.map(_serve, [decider] * 2, [20, 25]), _serve(decider, 20)]
    assert [one.to_dict() for one in parts[0]] == [one.to_dict() for one in parts[2]]
    taken = bandit.take([one for part in parts for one in part])
    assert [one.id for one in taken] == [*range(20, 30), *range(20, 25)]
    for one in taken[:10]:
        bandit.observe(one, dict.fromkeys(one.revealed_arms, 0.5))


def _other_bandit():
    return gb.Bandit(gb.Greedy(), make().problem, graph=GRAPH, identity="other")


TAKEN = {
    "the bandit's own": (lambda b: b.take([b.decide(CONTEXTS[0])]), InputError, "expected a decision of a Decider"),
    "a number": (lambda b: b.take([3]), InputError, "3 cannot be taken"),
    "another bandit's": (
        lambda b: b.take([_other_bandit().decider().decide(CONTEXTS[0])]),
        UnknownDecisionError,
        "made for bandit 'other'",
    ),
    "None": (lambda b: b.take(None), InputError, "decisions is a NoneType; expected a list"),
    "another decision of this key": (
        lambda b: b.take([b.decider().decide(CONTEXTS[i], key="same") for i in (0, 1)]),
        InputError,
        "the key 'same' is that of another decision",
    ),
    "too many": (
        lambda b: b.take(b.decider().decide_batch(CONTEXTS[:31])),
        HorizonError,
        "horizon is 30",
    ),
    "decider: no keys": (lambda b: b.decider().decide_batch(CONTEXTS[:2], keys=["a"]), InputError, "1 keys for 2"),
    "decider: NaN": (lambda b: b.decider().decide([np.nan] * D), InputError, "nan"),
    "decider: wrong shape": (lambda b: b.decider().decide([0.0]), InputError, "shape"),
}


@pytest.mark.parametrize(("call", "error", "message"), TAKEN.values(), ids=TAKEN)
def test_what_cannot_be_taken_is_refused(call, error, message):
    bandit = make(gb.Greedy(), horizon=30)
    with pytest.raises(error, match=re.escape(message)):
        call(bandit)
    assert bandit.rounds <= 1


def test_rewards_of_taken_decisions_are_checked():
    bandit = make()
    (one,) = bandit.take([bandit.decider().decide(CONTEXTS[0], key="k")])
    hidden = next(arm for arm in range(K) if arm not in one.revealed)
    with pytest.raises(ObservationError, match="did not reveal"):
        bandit.observe("k", {hidden: 1.0})
