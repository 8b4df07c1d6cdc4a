"""Policies of every kind give the probabilities they should, and change nothing."""

import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, SettingError
from graphbandit.evaluation import Log, evaluate
from graphbandit.evaluation.policies import policies_of, policy_of
from graphbandit.rounds import Shown
from tests.logs.logged import logged


def probabilities(log, value, batch_rounds=None):
    policy = policy_of("it", value, log)
    return np.concatenate([policy.probabilities(batch) for batch in log.batches(batch_rounds)])


@pytest.fixture(scope="module")
def made():
    return logged(n=120)


def test_names_arrays_callables_and_columns(made):
    p = made.arrays["probabilities"]
    assert np.array_equal(probabilities(made.log, "logged", 7), p)
    assert np.array_equal(probabilities(made.log, "uniform"), np.full((120, 5), 0.2))
    assert np.array_equal(probabilities(made.log, p, 11), p)
    assert np.array_equal(probabilities(made.log[20:50], p[20:50], 7), p[20:50])
    assert np.array_equal(probabilities(made.log, [1, 0, 0, 0, 0])[3], [1, 0, 0, 0, 0])
    greedy = probabilities(made.log, lambda contexts, graphs: np.eye(5)[(contexts[:, 0] > 0).astype(int)])
    assert np.array_equal(greedy.argmax(axis=1), made.arrays["contexts"][:, 0] > 0)
    held = Log.from_arrays(**made.arrays | {"columns": {"new": p}})
    assert np.array_equal(probabilities(held, "new", 50), p)


def test_columns_survive_a_folder(made, tmp_path):
    held = Log.from_arrays(**made.arrays | {"columns": {"new": made.arrays["probabilities"]}})
    held.write(tmp_path / "log")
    read = Log.read(tmp_path / "log")
    assert np.array_equal(probabilities(read, "new"), made.arrays["probabilities"])
    assert evaluate(read, "new")["new"].value == evaluate(held, "new")["new"].value


def test_arms_on_offer():
    available = np.array([[True, True, False], [True, False, True]])
    log = Log.from_arrays(
        actions=[0, 2], probabilities=[[0.5, 0.5, 0], [0.5, 0, 0.5]], rewards=[1.0, 0.0], available=available
    )
    assert probabilities(log, "uniform").tolist() == [[0.5, 0.5, 0], [0.5, 0, 0.5]]
    offered = probabilities(log, lambda contexts, graphs, available: available / available.sum(axis=1)[:, None])
    assert np.array_equal(offered, probabilities(log, "uniform"))
    with pytest.raises(InputError, match="plays an arm that is not available in round 0"):
        evaluate(log, {"x": [0.2, 0.4, 0.4]}, method="ips")


@pytest.fixture(scope="module")
def bandit(made):
    problem = gb.Problem(
        n_arms=5, function_class=gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm"), noise=0.5
    )
    bandit = gb.Bandit(gb.AdaCBG(), problem, seed=0)
    for t in range(70):
        decision = bandit.decide(made.arrays["contexts"][t], made.arrays["graphs"])
        bandit.observe(decision, {int(a): float(made.means[t, a]) for a in decision.revealed})
    return bandit


def test_bandits_and_saved_ones(made, bandit, tmp_path):
    before = bandit.decide_batch  # nothing about it may change
    bandit.save(tmp_path / "before.gb")
    found = probabilities(made.log, bandit)
    assert np.array_equal(found, probabilities(made.log, bandit, 7))
    bandit.save(tmp_path / "after.gb")
    assert (tmp_path / "before.gb").read_bytes() == (tmp_path / "after.gb").read_bytes()
    assert np.array_equal(found, probabilities(made.log, str(tmp_path / "after.gb")))
    assert np.array_equal(found, probabilities(made.log, tmp_path / "after.gb"))
    assert before == bandit.decide_batch
    batch = made.log.to_batch().take(slice(0, 10))
    shown = Shown(batch.contexts, batch.graphs)
    decisions = bandit.learner.decide(bandit.state, shown, np.random.default_rng(0))
    assert np.array_equal(decisions.probabilities, found[:10])


def test_a_bandit_of_other_arms_is_refused(made):
    log = Log.from_arrays(**made.arrays, arms=list("abcde"))
    functions = gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm")
    bandit = gb.Bandit(gb.AdaCBG(), gb.Problem(arms=list("abced"), function_class=functions, noise=0.5))
    with pytest.raises(InputError, match="the policy 'x' is a bandit that does not fit: the log's arm 3 is 'd'"):
        evaluate(log, {"x": bandit})


@pytest.mark.parametrize("learner", [gb.AdaCBG(), gb.LinUCB(), gb.learners.Exp3G(), gb.learners.Uniform(), gb.IDSG()])
def test_learners_learn_as_they_go(made, learner):
    found = probabilities(made.log, learner)
    assert np.array_equal(found, probabilities(made.log, learner, 13))  # not a matter of batches
    assert np.allclose(found.sum(axis=1), 1)
    shorter = probabilities(made.log[:60], learner)
    assert np.array_equal(found[:60], shorter)  # nothing comes from the future
    changed = Log.from_arrays(**made.arrays | {"rewards": 1 - made.arrays["rewards"]})
    if not isinstance(learner, gb.learners.Uniform):
        assert not np.array_equal(found, probabilities(changed, learner))


def test_a_learner_is_better_than_chance(made):
    longer = logged(n=2000, seed=5)
    table = evaluate(longer.log, {"learner": gb.AdaCBG(), "uniform": "uniform"}, interval="asymptotic")
    assert table["learner"].value > table["uniform"].value + 0.1
    again = evaluate(longer.log, {"learner": gb.AdaCBG(), "uniform": "uniform"}, interval="asymptotic")
    assert again["learner"].value == table["learner"].value


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.zeros((3, 5)), "the policy 'x' has shape (3, 5); expected (120, 5)"),
        (np.full((120, 5), 0.3), "the policy 'x' gives [0.3 0.3 0.3 0.3 0.3] in round 0"),
        (lambda contexts, graphs: np.full((len(contexts), 4), 0.25), "gives probabilities of shape (120, 4)"),
        ("no_such_file.gb", "the policy 'x' is 'no_such_file.gb'; expected 'uniform', 'logged', a saved bandit"),
        ([[0.5], [0.2, 0.3]], "the policy 'x' has rows of different lengths"),
        (None, "the policy 'x' is None; expected probabilities, a function, a Bandit, a learner, or a name"),
        (lambda contexts: contexts, "the policy 'x' is a function of (contexts); expected one of (contexts, graphs)"),
        (lambda contexts, graphs: "often", "what the policy 'x' gives has type"),
    ],
)
def test_bad_policies_are_refused(made, policy, message):
    with pytest.raises(InputError, match=re.escape(message)):
        evaluate(made.log, {"x": policy})


def test_names_of_policies_or_refused(made):
    assert list(policies_of(["uniform", "logged"], made.log)) == ["uniform", "logged"]
    assert list(policies_of("uniform", made.log)) == ["uniform"]
    assert list(policies_of(np.full(5, 0.2), made.log)) == ["policy"]
    with pytest.raises(SettingError, match="policies is empty"):
        evaluate(made.log, {})
    for nothing in (None, []):
        with pytest.raises(SettingError, match="expected at least one policy"):
            evaluate(made.log, nothing)
    with pytest.raises(SettingError, match="progress is 3"):
        evaluate(made.log, "uniform", progress=3)
    with pytest.raises(SettingError, match="has the name 3"):
        evaluate(made.log, {3: "uniform"})
