"""A catalogue that changes: arms join and leave, what is shared is kept, what is an arm's own starts fresh."""

import functools
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, SettingError
from graphbandit.features.column_kinds import NumberColumn
from tests.helpers.bandits import content, refuse

NAMES, D = ["tea", "cake", "pie"], 2
RNG = np.random.default_rng(2)
CONTEXTS = RNG.normal(size=(80, D))
ROWS = {"tea": {"price": 2.0}, "cake": {"price": 4.0}, "pie": {"price": 3.0}, "jam": {"price": 1.0}}
LEARNERS = {
    "IDS.G": gb.IDSG(draws=16),
    "IDS.G frequentist": gb.IDSG(form="frequentist"),
    "AdaCB.G": gb.AdaCBG(),
    "width": gb.AdaCBG(gamma="width"),
    "AdaCB": gb.learners.AdaCB(),
    "FALCON": gb.Falcon(),
    "greedy": gb.Greedy(),
    "Thompson": gb.learners.BootstrappedThompson(),
    "SquareCB.G": gb.SquareCBG(),
    "late graph": gb.learners.LateGraph(learner=gb.IDSG(draws=16)),
    "uniform": gb.learners.Uniform(),
    "UCB-N": gb.learners.UCBN(),
    "TS-N": gb.learners.TSN(),
    "LinUCB": gb.LinUCB(alpha=1.0),
    "LinTS": gb.LinTS(),
}
CLASSES = {
    "linear": "linear",
    "logistic": "logistic",
    "kernel": functools.partial(gb.KernelClass, n_features=8),
}


def make(learner=LEARNERS["IDS.G"], names=NAMES, kind="linear", shared=False, **settings):
    features = gb.Features({"x": "number", "y": "number"})
    rows = gb.features.ArmFeatures.from_table({name: ROWS[name] for name in names}, features={"price": "number"})
    problem = gb.Problem(
        arms=names, features=features, function_class=kind, noise=0.5, arm_features=rows if shared else None
    )
    graph = gb.FeedbackGraph.from_edges([("tea", "cake")], arms=names, add_loops=True)
    return gb.Bandit(learner, problem, graph=graph, identity="shop", **settings)


def context(t):
    return {"x": float(CONTEXTS[t, 0]), "y": float(CONTEXTS[t, 1])}


def play(bandit, first, stop):
    made = []
    for t in range(first, stop):
        made.append(bandit.decide(context(t)))
        bandit.observe(made[-1], {arm: float(t % 3 == arm) for arm in made[-1].revealed.tolist()})
    return made


@pytest.mark.parametrize("name", LEARNERS)
def test_arms_join_and_leave_in_the_middle_of_an_epoch_and_from_a_file(name, tmp_path):
    bandit = make(LEARNERS[name])
    play(bandit, 0, 21)
    waiting = bandit.decide(context(21), available=["tea"], key="late")
    bandit.add_arms(["jam", "bun"])
    bandit.retire_arms(["tea"])
    assert (bandit.problem.n_arms, bandit.retired) == (5, ["tea"])
    assert bandit.graph["jam", "jam"]
    assert bandit.graph["tea", "cake"]
    assert bandit.probabilities(CONTEXTS_FRAME)[:, 0].max() == 0.0
    bandit.save(tmp_path / "shop.gb")
    loaded = gb.Bandit.load(tmp_path / "shop.gb")
    assert loaded.retired == ["tea"]
    found = []
    for b in (bandit, loaded):
        made = play(b, 22, 40)
        assert all(one.arm != "tea" for one in made)
        b.observe(waiting, {"tea": 1.0, "cake": 0.5})
        assert b.decide(key="late").arm == "tea"
        play(b, 40, 60)
        found.append(content(b, tmp_path))
    assert found[0] == found[1]
    bandit.add_arms(["tea"])
    assert bandit.retired == []


CONTEXTS_FRAME = pd.DataFrame(CONTEXTS, columns=["x", "y"])


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("shared", [False, True], ids=["per-arm", "shared"])
def test_what_is_shared_is_kept_and_what_is_an_arms_own_is_fresh(kind, shared):
    """The data is that of a bandit that has had the arm from the start, never on offer and never revealed."""
    learner = gb.Greedy()
    bandit, always = make(learner, kind=CLASSES[kind], shared=shared), None
    always = make(learner, names=[*NAMES, "jam"], kind=CLASSES[kind], shared=shared)
    rewards = np.where(np.arange(4) < 3, (RNG.random((40, 4)) < 0.5).astype(float), np.nan)
    bandit.learn(CONTEXTS_FRAME[:40], rewards[:, :3])
    always.learn(CONTEXTS_FRAME[:40], rewards)
    bandit.add_arms(["jam"], arm_features={"jam": ROWS["jam"]} if shared else None)
    assert bandit.rounds == always.rounds
    functions = bandit.problem.function_class
    rows = bandit.problem.features.encode(CONTEXTS_FRAME[40:])
    np.testing.assert_allclose(
        functions.predict(bandit.state.model, rows),
        always.problem.function_class.predict(always.state.model, rows),
        rtol=1e-6,
        atol=1e-9,
    )
    estimates = functions.predict(bandit.state.model, rows)[:, 3]
    # of an arm that nothing is known of, a class of its own parameters says the level of all rewards
    assert np.allclose(estimates, estimates[0]) == (not shared)


def test_arms_without_names_are_counted():
    bandit = gb.Bandit(gb.learners.UCBN(), gb.Problem(n_arms=2, noise=0.5), graph=gb.graphs.complete(2))
    bandit.observe(bandit.decide(), {0: 1.0, 1: 0.0})
    with pytest.raises(SettingError, match="the number of new arms is 9223372036854775808; expected a whole number of"):
        bandit.add_arms(2**63)
    bandit.add_arms(2, graph=np.ones((4, 4)))
    bandit.retire_arms([0, 1])
    assert bandit.decide().action in (2, 3)
    assert bandit.retired == [0, 1]


def test_a_deciders_decisions_are_taken_after_arms_have_joined():
    bandit = make()
    play(bandit, 0, 9)
    decision = bandit.decider().decide(context(9), available=["tea", "pie"], key="k")
    bandit.add_arms(["jam"])
    bandit.take([decision])
    assert decision.arm in ("tea", "pie")
    assert len(decision.probabilities) == 3
    bandit.observe("k", dict.fromkeys(decision.revealed_arms, 1.0))
    later = play(bandit, 10, 40)
    assert {len(one.probabilities) for one in later} == {4}
    assert "jam" in {one.arm for one in later}
    assert bandit.rounds == 40


def test_arms_join_before_anything_is_known():
    for name in LEARNERS:
        bandit = make(LEARNERS[name])
        bandit.add_arms(["jam"])
        assert {len(one.probabilities) for one in play(bandit, 0, 5)} == {4}


CALLS = {
    "there already": (lambda b: b.add_arms(["tea"]), SettingError, "'tea' is there already"),
    "twice": (lambda b: b.add_arms(["jam", "jam"]), SettingError, "'jam' twice"),
    "one name": (lambda b: b.add_arms("jam"), SettingError, "expected a list of names"),
    "a number of named arms": (lambda b: b.add_arms(2), SettingError, "expected their names"),
    "none": (lambda b: b.add_arms([]), SettingError, "empty"),
    "features of arms without": (
        lambda b: b.add_arms(["jam"], arm_features={"jam": ROWS["jam"]}),
        SettingError,
        "the problem's arms have no features",
    ),
    "a graph of another size": (lambda b: b.add_arms(["jam"], graph=np.eye(3)), GraphError, "have 3 arms; expected 4"),
    "retire: unknown": (lambda b: b.retire_arms(["jam"]), SettingError, "no arm is called 'jam'"),
    "retire: one name": (lambda b: b.retire_arms("tea"), SettingError, "expected a list of arms"),
    "retire: all": (lambda b: b.retire_arms(NAMES), SettingError, "no arm would be left"),
    "retire: twice": (lambda b: b.retire_arms(["tea", "tea"]), SettingError, "retired already"),
}


@pytest.mark.parametrize(("call", "error", "message"), CALLS.values(), ids=CALLS)
def test_a_refused_call_changes_nothing(call, error, message, tmp_path):
    bandit = make()
    play(bandit, 0, 7)
    refuse(bandit, call, error, message, tmp_path)


def test_available_arms_that_are_all_retired_are_refused():
    bandit = make()
    bandit.retire_arms(["tea"])
    with pytest.raises(InputError, match="available lists only retired arms"):
        bandit.decide(context(0), available=["tea"])


def network(arm_contexts):
    from torch import nn

    made = lambda: nn.Sequential(nn.Linear(D, 3), nn.ReLU(), nn.Linear(3, 1 if arm_contexts else 2))  # noqa: E731
    return gb.TorchClass(made, n_arms=2, dimension=D, arm_contexts=arm_contexts)


@pytest.mark.parametrize("settings", [{}, {"per_arm": True}, {"shared": True}], ids=["one-hot", "per arm", "features"])
def test_regressors_take_more_arms(settings, tmp_path):
    """What is fitted is what a bandit would fit that has had the arms from the start, never on offer or revealed."""
    shared = settings.pop("shared", False)
    kind = functools.partial(gb.RegressorClass, Ridge(1e-3), members=3, **settings)
    bandit = make(gb.Greedy(), kind=kind, shared=shared)
    always = make(gb.Greedy(), names=[*NAMES, "jam"], kind=kind, shared=shared)
    rewards = np.random.default_rng(0).random((40, 4))
    rewards[:, 3] = np.nan
    bandit.learn(CONTEXTS_FRAME[:40], rewards[:, :3])
    always.learn(CONTEXTS_FRAME[:40], rewards)
    bandit.add_arms(["jam"], arm_features={"jam": ROWS["jam"]} if shared else None)
    rows = bandit.problem.features.encode(CONTEXTS_FRAME[40:])
    values = [b.problem.function_class.predict(b.state.model, rows) for b in (bandit, always)]
    np.testing.assert_allclose(*values, rtol=1e-6)
    bandit.save(tmp_path / "shop.gb")
    grown = bandit.problem.function_class
    loaded = gb.Bandit.load(tmp_path / "shop.gb", function_class=grown)
    assert [b.decide(context(50)).arm for b in (bandit, loaded)] == [always.decide(context(50)).arm] * 2
    with pytest.raises(gb.errors.SavedFileError, match="expected the one saved"):
        gb.Bandit.load(
            tmp_path / "shop.gb", function_class=make(gb.Greedy(), kind=kind, shared=shared).problem.function_class
        )


def test_bilinear_functions_are_of_any_arm_with_features():
    rng = np.random.default_rng(1)
    x0, a0, rows = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(4, 2))

    def bandit(n):
        functions = gb.function_classes.BilinearClass(x0=x0, a0=a0, arms=rows[:n])
        plain = gb.Features({"u": NumberColumn(missing="error"), "v": NumberColumn(missing="error")}, intercept=False)
        table = {f"arm{i}": {"u": rows[i, 0], "v": rows[i, 1]} for i in range(n)}
        features = gb.features.ArmFeatures.from_table(table, features=plain)
        problem = gb.Problem(arms=list(table), arm_features=features, function_class=functions, noise=0.5)
        return gb.Bandit(gb.AdaCBG(), problem, graph=gb.graphs.complete(n), seed=0)

    mine, always = bandit(3), bandit(4)
    contexts = rng.normal(size=(30, 2))
    rewards = np.pad(rng.normal(size=(30, 3)), ((0, 0), (0, 1)), constant_values=np.nan)
    mine.learn(contexts, rewards[:, :3])
    always.learn(contexts, rewards)
    mine.add_arms(["arm3"], arm_features={"arm3": {"u": rows[3, 0], "v": rows[3, 1]}}, graph=gb.graphs.complete(4))
    np.testing.assert_allclose(mine.probabilities(contexts), always.probabilities(contexts))


REFUSING = {
    "EXP3": (gb.learners.Exp3IX(), None, "Exp3IX cannot take more arms"),
    "online": (gb.learners.SquareCB(), None, "SquareCB cannot take more arms"),
    "commit": (gb.learners.ExploreThenCommit(explore_rounds=3), gb.LinearClass, "ExploreThenCommit cannot take"),
    "own class": (
        gb.Greedy(function_class=gb.LinearClass(n_arms=2, dimension=D, parameters="per-arm")),
        None,
        "expected it in the problem",
    ),
    "rows of arms": (gb.Greedy(), functools.partial(gb.LinearClass, parameters="shared"), "expected as many arms as"),
    "a finite class": (
        gb.Greedy(),
        functools.partial(
            lambda n_arms, dimension: gb.FiniteClass(lambda x: np.zeros((len(x), 1, 2)), n_functions=1, n_arms=2)
        ),
        "its functions fix a value for each of 2 arms",
    ),
    "a bilinear class of its own arms": (
        gb.Greedy(),
        functools.partial(
            lambda n_arms, dimension: gb.function_classes.BilinearClass(x0=np.eye(2), a0=np.eye(2), arms=np.eye(2))
        ),
        "arms of the class are not the features of the problem's arms",
    ),
    "a network": (
        gb.Greedy(),
        functools.partial(lambda n_arms, dimension: network(False)),
        "its module has an output for each of 2 arms",
    ),
    "its last layer": (
        gb.Greedy(),
        functools.partial(lambda n_arms, dimension: gb.function_classes.LastLayerClass(network(False))),
        "its module has an output for each of 2 arms",
    ),
    "a network of contexts of arms": (
        gb.Greedy(),
        functools.partial(lambda n_arms, dimension: network(True)),
        "expected as many arms as",
    ),
    "a regressor of contexts of arms": (
        gb.Greedy(),
        functools.partial(gb.RegressorClass, Ridge(), arm_contexts=True),
        "expected as many arms as",
    ),
    "a regressor with prices": (
        gb.Greedy(),
        functools.partial(gb.RegressorClass, Ridge(), factors=[2.0, 3.0]),
        "factors are of the arms there were",
    ),
    "a regressor with features of its own": (
        gb.Greedy(),
        functools.partial(gb.RegressorClass, Ridge(), arm_features=np.eye(2)),
        "only the class has arm_features",
    ),
    "arm features of the learner": (gb.LinUCB(alpha=1.0, arm_features=np.eye(2)), None, "settings of the learner"),
}


@pytest.mark.parametrize(("learner", "kind", "message"), REFUSING.values(), ids=REFUSING)
def test_what_cannot_take_more_arms_says_so(learner, kind, message):
    functions = None
    if kind is not None:
        functions = kind(n_arms=2, dimension=D, **({} if hasattr(kind, "func") else {"parameters": "per-arm"}))
    bandit = gb.Bandit(learner, gb.Problem(arms=["a", "b"], function_class=functions, noise=0.5))
    with pytest.raises(SettingError, match=re.escape(message)):
        bandit.add_arms(["c"])
    assert bandit.problem.n_arms == 2
