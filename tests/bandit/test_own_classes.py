"""Own learners are saved, and loaded by whoever hands their classes in: a file imports nothing by itself."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import SavedFileError, SettingError


@dataclass(frozen=True, eq=False)
class Means:
    problem: gb.Problem
    rounds: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros(3))
    counts: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True)
class MyLearner(gb.learners.Learner[Means]):
    epsilon: float = 0.3

    def init(self, problem):
        return Means(problem)

    def rounds_until_update(self, state):
        return 1

    def choose(self, state, shown, rng):
        best = np.argmax(state.sums / np.maximum(state.counts, 1))
        probabilities = np.full((len(shown), 3), self.epsilon / 3)
        probabilities[:, best] += 1 - self.epsilon
        return gb.Decisions.from_probabilities(probabilities, graphs=shown.graphs, rng=rng, epoch=state.rounds + 1)

    def update(self, state, observations):
        sums, counts = state.sums.copy(), state.counts.copy()
        np.add.at(sums, observations.arms, observations.rewards)
        np.add.at(counts, observations.arms, 1)
        return replace(state, rounds=state.rounds + 1, sums=sums, counts=counts)


def play(bandit, rounds):
    for _ in range(rounds):
        decision = bandit.decide()
        bandit.observe(decision, {arm: arm / 3 for arm in decision.revealed.tolist()})
    return bandit


@pytest.fixture
def path(tmp_path):
    bandit = gb.Bandit(MyLearner(epsilon=0.2), gb.Problem(n_arms=3), graph=gb.graphs.complete(3), identity="own")
    play(bandit, 20).save(tmp_path / "own.gb")
    return tmp_path / "own.gb"


def test_an_own_learner_goes_on_from_its_file(path):
    loaded = gb.Bandit.load(path, classes=[MyLearner, Means])
    assert loaded.learner == MyLearner(epsilon=0.2)
    assert isinstance(loaded.state, Means)
    loaded.save(path.with_name("again.gb"))
    assert path.with_name("again.gb").read_bytes() == path.read_bytes()
    assert play(loaded, 5).probabilities(np.zeros((2, 1))).argmax(axis=1).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("classes", "error", "message"),
    [
        ([], SavedFileError, "classes=[MyLearner]"),
        ([MyLearner], SavedFileError, "classes=[Means]"),
        ([MyLearner, Means, 3], SettingError, "classes has 3"),
        ([MyLearner, Means, type("Means", (Means,), {})], SettingError, "two classes of the name 'Means'"),
        ([dict], SettingError, "expected dataclasses"),
    ],
    ids=["none", "one of two", "no class", "a name twice", "no dataclass"],
)
def test_classes_that_are_missing_or_wrong_are_refused(classes, error, message, path):
    with pytest.raises(error, match=re.escape(message)):
        gb.Bandit.load(path, classes=classes)


def test_past_rows_and_deciders_work_for_own_learners(path):
    bandit = gb.Bandit.load(path, classes=[MyLearner, Means])
    before = bandit.state
    bandit.learn(np.zeros((4, 1)), np.ones(4), actions=[0, 1, 2, 0])
    bandit.take([bandit.decider().decide(key="k")])
    bandit.observe("k", {0: 1.0}, final=True)
    bandit.decide()  # has everything learnt that was told
    of_the_last_round_in_the_file, told = np.array([1, 1, 1]), np.array([3, 1, 1])
    np.testing.assert_allclose(bandit.state.counts - before.counts, of_the_last_round_in_the_file + told)
