"""Rounds that bring their own arms: names, features and graphs of those arms alone."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, ObservationError, SettingError
from tests.helpers.bandits import refuse

CONTEXT, ARMS = {"age": "number"}, {"price": "number", "hot": "boolean"}
MENU = [
    {"arm": "tea", "price": 2.0, "hot": True},
    {"arm": "cake", "price": 4.0, "hot": False},
    {"arm": "pie", "price": 3.0, "hot": False},
]
NAMES = ["tea", "cake", "pie"]
GRAPH = gb.FeedbackGraph.from_edges([("tea", "cake")], arms=NAMES, add_loops=True)


def problem(**settings):
    given = {"capacity": 6, "features": CONTEXT, "arm_features": ARMS, "function_class": "linear", "noise": 0.5}
    return gb.Problem(**{**given, **settings})


def make(learner=None, **settings):
    return gb.Bandit(learner or gb.IDSG(), problem(**settings), seed=0, identity="menu")


def rounds(n, seed=0, most=6):
    rng = np.random.default_rng(seed)
    for t in range(n):
        k = int(rng.integers(2, most + 1))
        frame = pd.DataFrame(
            {"arm": [f"{t}-{j}" for j in range(k)], "price": rng.normal(size=k), "hot": rng.random(k) < 0.5}
        )
        yield {"age": float(rng.normal())}, frame, gb.graphs.erdos_renyi(k, 0.4, rng=rng)


def play(bandit, n, **kwargs):
    made = []
    for context, frame, graph in rounds(n, **kwargs):
        decision = bandit.decide(context, graph, arms=frame)
        prices = dict(zip(frame["arm"], frame["price"], strict=True))
        bandit.observe(decision, {arm: prices[arm] * context["age"] for arm in decision.revealed_arms})
        made.append(decision)
    return made


def test_a_round_is_told_by_the_names_of_its_arms():
    bandit = make()
    decision = bandit.decide({"age": 31.0}, GRAPH, arms=MENU, key="visit-1")
    assert decision.arm == NAMES[decision.action]
    assert list(decision.to_dict()["probabilities"]) == NAMES
    assert decision.probabilities.shape == (3,)
    assert decision.arm in decision.explain()
    assert decision.arm in decision._repr_html_()
    bandit.observe("visit-1", dict.fromkeys(decision.revealed_arms, 1.0))
    assert bandit.open_decisions == []
    alone = bandit.decide({"age": 31.0}, arms=MENU, available=["pie"])
    assert (alone.arm, alone.revealed_arms) == ("pie", ["pie"])  # without a graph, an arm reveals itself alone


def test_it_learns_what_arms_have_in_common():
    bandit = make()
    play(bandit, 60)
    young, old = bandit.decide({"age": -3.0}, arms=MENU), bandit.decide({"age": 3.0}, arms=MENU)
    assert (young.arm, old.arm) == ("tea", "cake")  # what is worth most is price times age


def test_arms_that_stay_the_same_are_decided_like_arms_of_the_problem():
    table = {row["arm"]: {"price": row["price"], "hot": row["hot"]} for row in MENU}
    features = gb.features.ArmFeatures.from_table(table, features=ARMS)
    fixed = gb.Problem(arms=NAMES, features=CONTEXT, arm_features=features, function_class="linear", noise=0.5)
    others = gb.Bandit(gb.IDSG(), fixed, graph=GRAPH, seed=0, identity="menu")
    mine = make(capacity=3, arm_features=features)
    for age in np.random.default_rng(0).normal(size=20):
        a, b = mine.decide({"age": age}, GRAPH, arms=table), others.decide({"age": age})
        assert (a.arm, a.probability) == (b.arm, b.probability)
        for bandit, decision in ((mine, a), (others, b)):
            bandit.observe(decision, {arm: age * table[arm]["price"] for arm in decision.revealed_arms})


def test_a_batch_is_decided_like_rounds_one_by_one():
    one, many = make(), make()
    play(one, 10), play(many, 10)
    asked = list(rounds(5, seed=1))
    alone = [one.decide(context, graph, arms=frame) for context, frame, graph in asked]
    contexts, frames, graphs = map(list, zip(*asked, strict=True))
    keys = ["a", "b", "a", "d", "e"]  # a key that comes twice is one round
    p = many.probabilities(contexts, graphs, arms=frames)
    assert p.shape == (5, 6)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    together = many.decide_batch(contexts[:2], graphs[:2], arms=frames[:2])
    assert [(d.arm, d.probability) for d in alone[:2]] == [(d.arm, d.probability) for d in together]
    keyed = many.decide_batch(contexts, graphs, arms=frames, keys=keys)
    assert keyed[0].id == keyed[2].id
    assert [len(d.probabilities) for d in keyed[3:]] == [len(frame) for frame in frames[3:]]


def test_saved_and_loaded_it_goes_on_bit_for_bit(tmp_path):
    bandit = make()
    play(bandit, 7)
    decision = bandit.decide({"age": 1.0}, GRAPH, arms=MENU, key="late")
    unnamed = bandit.decide({"age": 1.0}, arms=np.array([[1.0, 0.0], [2.0, 1.0]]), key="numbers")
    assert unnamed.arm in (0, 1)
    bandit.save(tmp_path / "one.gb")
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    loaded.save(tmp_path / "two.gb")
    assert (tmp_path / "one.gb").read_bytes() == (tmp_path / "two.gb").read_bytes()
    again = loaded.decide(key="late")
    assert (again.arm, again.to_dict()) == (decision.arm, decision.to_dict())
    loaded.observe("late", {decision.arm: 2.0})
    loaded.observe("numbers", {unnamed.arm: 1.0})
    bandit.observe(decision, {decision.arm: 2.0})
    bandit.observe(unnamed, {unnamed.arm: 1.0})
    for a, b in zip(play(bandit, 5, seed=3), play(loaded, 5, seed=3), strict=True):
        assert (a.arm, a.probability) == (b.arm, b.probability)


def test_a_decider_decides_elsewhere():
    bandit = make()
    play(bandit, 5)
    decider = pickle.loads(pickle.dumps(bandit.decider()))
    one = decider.decide({"age": 2.0}, GRAPH, arms=MENU, key="elsewhere")
    (same,) = decider.decide_batch([{"age": 2.0}], [GRAPH], arms=[MENU], keys=["elsewhere"])
    assert (one.arm, one.probability) == (same.arm, same.probability)
    (taken,) = bandit.take([one])
    assert taken.arms == one.arms
    bandit.observe("elsewhere", {one.arm: 1.0})
    assert bandit.rounds == 6


def test_past_rounds_had_arms_of_their_own():
    contexts = [{"age": 1.0}, {"age": -1.0}]
    by_action, by_name = make(), make()
    by_action.learn(contexts, [4.0, -2.0], actions=["cake", "tea"], arms=[MENU, MENU[:1]])
    by_name.learn(contexts, [{"cake": 4.0}, {"tea": -2.0}], actions=["cake", "tea"], arms=[MENU, MENU[:1]])
    p = [b.probabilities([{"age": 1.0}], arms=[MENU]) for b in (by_action, by_name)]
    np.testing.assert_array_equal(*p)
    by_name.learn(
        arms=[MENU], contexts=[{"age": 2.0}], rewards=[{"tea": 1.0, "cake": 2.0}], actions=["tea"], graphs=[GRAPH]
    )
    assert by_name.rounds == 3


def test_missing_and_unknown_values_of_arms_are_counted():
    bandit = make(arm_features={"price": "number", "kind": ["drink", "food"]})
    bandit.decide({"age": 1.0}, arms=[{"price": None, "kind": "food"}, {"price": 1.0, "kind": "toy"}])
    assert bandit.tally == gb.features.Tally(unknown={"arm kind": 1}, missing={"arm price": 1})


@pytest.mark.parametrize("functions", ["linear", "logistic", "kernel", partial(gb.RegressorClass, Ridge())], ids=str)
def test_classes_that_share_their_parameters_take_them(functions):
    bandit = make(function_class=functions)
    decision = bandit.decide({"age": 1.0}, arms=MENU)
    bandit.observe(decision, {decision.arm: 1.0})
    assert bandit.decide({"age": 1.0}, arms=MENU[:2]).arm in NAMES[:2]


@pytest.mark.parametrize("learner", [gb.AdaCBG(), gb.Falcon(), gb.LinUCB(alpha=1.0), gb.learners.AdaCB()], ids=repr)
def test_learners_of_features_take_them(learner):
    made = play(make(learner), 5)
    assert [len(decision.probabilities) for decision in made] == [len(frame) for _, frame, _ in rounds(5)]
    np.testing.assert_allclose([decision.probabilities.sum() for decision in made], 1.0)


def test_without_features_of_contexts_arms_are_all_there_is():
    bandit = make(features=None)
    assert bandit.problem.function_class.dimension == 5
    one, two = bandit.decide_batch(arms=[MENU, MENU[1:]])
    assert len(one.probabilities) == 3
    assert two.arm in NAMES[1:]


REFUSED = {
    "arms too": (lambda: problem(arms=["a"]), SettingError, "arms came with capacity"),
    "no features of arms": (lambda: problem(arm_features=None), SettingError, "arm_features is None"),
    "no room": (lambda: problem(capacity=0), SettingError, "capacity is 0"),
    "another number": (lambda: problem(n_arms=5), SettingError, "n_arms is 5; expected capacity, 6"),
    "per-arm": (
        lambda: problem(function_class=partial(gb.LinearClass, parameters="per-arm")),
        SettingError,
        "has parameters='per-arm'; expected parameters='shared'",
    ),
    "factors": (
        lambda: problem(function_class=partial(gb.GeneralizedLinearClass, link="logistic", factors=np.ones(6))),
        SettingError,
        "factors",
    ),
    "a regressor for each arm": (
        lambda: problem(function_class=partial(gb.RegressorClass, Ridge(), per_arm=True)),
        SettingError,
        "RegressorClass knows arms by their numbers",
    ),
    "another dimension": (
        lambda: problem(function_class=gb.LinearClass(n_arms=6, dimension=7)),
        SettingError,
        "dimension 7; expected 15: 3 features of a context times 5 of an arm",
    ),
    "a learner of arm means": (lambda: make(gb.learners.UCBN()), SettingError, "UCBN knows arms by their numbers"),
    "a learner with features": (
        lambda: make(gb.LinUCB(alpha=1.0, arm_features=np.ones((6, 2)))),
        SettingError,
        "LinUCB knows arms by their numbers",
    ),
    "a learner's own class": (
        lambda: make(gb.IDSG(function_class=gb.LinearClass(n_arms=6, dimension=3, parameters="per-arm"))),
        SettingError,
        "parameters='per-arm'",
    ),
    "late graphs": (lambda: make(gb.learners.LateGraph(learner=gb.IDSG())), SettingError, "LateGraph knows arms"),
    "a graph of the bandit": (
        lambda: gb.Bandit(gb.IDSG(), problem(), graph=gb.graphs.complete(6)),
        SettingError,
        "a graph with each round",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_at_the_start(call, error, message):
    with pytest.raises(error, match=message):
        call()


def asked(**kwargs):
    return lambda bandit: bandit.decide({"age": 1.0}, **kwargs)


BAD = {
    "no arms": (asked(), InputError, "arms is None"),
    "an empty list": (asked(arms=[]), InputError, "expected a list of dictionaries"),
    "an empty frame": (asked(arms=pd.DataFrame({"arm": [], "price": []})), InputError, "without rows"),
    "an empty mapping": (asked(arms={}), InputError, "at least one arm"),
    "text": (asked(arms="tea"), InputError, "'tea'"),
    "too many": (asked(arms=np.ones((7, 2))), InputError, "7 arms; expected at most 6"),
    "a name twice": (asked(arms=[MENU[0], MENU[0]]), InputError, "'tea' twice"),
    "a number as name": (asked(arms={1: {"price": 1.0, "hot": True}}), InputError, "name 1; expected texts"),
    "an empty name": (asked(arms={"": {"price": 1.0, "hot": True}}), InputError, "name ''"),
    "a column lacks": (asked(arms=[{"arm": "tea", "price": 1.0}]), InputError, "there is no column 'hot'"),
    "a column too many": (asked(arms=[{**MENU[0], "colour": 1}]), InputError, "'colour' is not known"),
    "a graph of other size": (asked(arms=MENU, graph=gb.graphs.star(4)), GraphError, "4 arms; expected 3"),
    "a graph of other names": (
        asked(arms=MENU, graph=GRAPH.with_arms(["tea", "pie", "cake"])),
        GraphError,
        "arm 1 is 'pie'; expected 'cake'",
    ),
    "a graph with names alone": (asked(arms=np.ones((3, 2)), graph=GRAPH), GraphError, "they have no names"),
    "an unknown arm on offer": (asked(arms=MENU, available=["tea", "milk"]), InputError, "'milk'"),
    "nothing on offer": (asked(arms=MENU, available=[False] * 3), InputError, "no arm"),
    "a mask of all places": (asked(arms=MENU, available=[True] * 6), InputError, "shape"),
    "a batch of one": (
        lambda b: b.decide_batch([{"age": 1.0}] * 2, arms=[MENU]),
        InputError,
        "arms has 1 entries for 2 rounds",
    ),
    "graphs of one": (
        lambda b: b.decide_batch([{"age": 1.0}] * 2, [GRAPH], arms=[MENU] * 2),
        InputError,
        "graphs has 1 entries",
    ),
    "kinds of graph": (
        lambda b: b.decide_batch([{"age": 1.0}] * 2, [GRAPH, gb.ProbabilisticGraph(np.eye(3))], arms=[MENU] * 2),
        GraphError,
        "the same kind",
    ),
    "a reward of a stranger": (lambda b: b.observe("open", {"milk": 1.0}), ObservationError, "'milk'"),
    "a reward not revealed": (lambda b: b.observe("open", {5: 1.0}), ObservationError, "did not reveal arm 5"),
    "joining": (lambda b: b.add_arms(["milk"]), SettingError, "so arms cannot be added or retired"),
    "leaving": (lambda b: b.retire_arms(["tea"]), SettingError, "so arms cannot be added or retired"),
    "past actions": (
        lambda b: b.learn([{"age": 1.0}], [1.0], actions=["milk"], arms=[MENU]),
        InputError,
        "actions: no arm is called 'milk'",
    ),
    "past actions of another number": (
        lambda b: b.learn([{"age": 1.0}], [1.0], actions=["tea", "tea"], arms=[MENU]),
        InputError,
        "2 arms for 1 contexts",
    ),
    "past rewards of a stranger": (
        lambda b: b.learn([{"age": 1.0}], [{"milk": 1.0}], actions=["tea"], arms=[MENU]),
        ObservationError,
        "'milk'",
    ),
    "past rewards of another number": (
        lambda b: b.learn([{"age": 1.0}], [{"tea": 1.0}] * 2, actions=["tea"], arms=[MENU]),
        InputError,
        "2 mappings for 1 contexts",
    ),
    "past rewards of text": (
        lambda b: b.learn([{"age": 1.0}], [{"tea": "x"}], actions=["tea"], arms=[MENU]),
        ObservationError,
        "'x'",
    ),
    "probabilities": (lambda b: b.probabilities([{"age": 1.0}]), InputError, "arms is None"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_a_refused_round_changes_nothing(call, error, message, tmp_path):
    bandit = make()
    bandit.decide({"age": 1.0}, GRAPH, arms=MENU, key="open")
    refuse(bandit, call, error, message, tmp_path)


def test_arms_come_with_rounds_only_where_the_problem_says_so():
    bandit = gb.Bandit(gb.LinUCB(alpha=1.0), gb.Problem(arms=NAMES, noise=0.5), graph=gb.graphs.complete(3))
    with pytest.raises(SettingError, match="expected Problem\\(capacity="):
        bandit.decide([1.0], arms=MENU)


def test_rewards_of_a_closed_decision_are_refused():
    bandit = make()
    decision = bandit.decide({"age": 1.0}, arms=MENU)
    bandit.observe(decision, {decision.arm: 1.0})
    with pytest.raises(ObservationError, match="awaits no more rewards"):
        bandit.observe(decision, {decision.arm: 1.0})
    bandit.observe(decision, {})
