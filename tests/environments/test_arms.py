"""Arms without contexts: the means of every case, rewards that have them, and what is refused."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.environments import arms
from graphbandit.errors import SettingError
from tests.environments.portions import check_portions

CASES = ("needle", "ladder", "lottery", "poor-hub", "shifting")


@pytest.mark.parametrize("case", CASES)
def test_rewards_have_their_means_and_the_best_arm_never_changes(case):
    instance = arms(n_arms=5, case=case, gap=0.3).instance(seed=3)
    rounds = instance.rounds(0, 8192)
    best = rounds.means.argmax(axis=1)
    assert (best == instance.order[-1]).all()
    assert ((rounds.rewards >= 0) & (rounds.rewards <= 1)).all()
    error = np.sqrt(0.25 / len(rounds.means))
    np.testing.assert_allclose(rounds.rewards.mean(axis=0), rounds.means.mean(axis=0), atol=4.5 * error)
    second = np.sort(rounds.means, axis=1)[:, -2]
    expected = 0.3 / 4 if case == "ladder" else 0.3
    np.testing.assert_allclose(rounds.means.max(axis=1) - second, expected)
    np.testing.assert_array_equal(rounds.contexts, np.ones((8192, 1)))


def test_the_poor_hub_alone_reveals_and_is_worst():
    environment = arms(n_arms=4, case="poor-hub", gap=0.2)
    instance = environment.instance(seed=0, repeat=1)
    np.testing.assert_array_equal(
        environment.source.graph.to_dense(), np.eye(4, dtype=bool) | (np.arange(4) == 0)[:, None]
    )
    assert instance.means.argmin() == 0
    assert instance.means[0] == pytest.approx(0.3)


def test_all_means_shift_together():
    means = arms(n_arms=3, case="shifting", gap=0.2).instance(seed=0).rounds(0, 4096).means
    levels = np.unique(means.min(axis=1).round(12))
    np.testing.assert_allclose(levels, [0.0, 0.4])
    changes = np.flatnonzero(np.diff(means[:, 0])) + 2  # the rounds, counted from 1, in which a phase begins
    np.testing.assert_array_equal(changes, np.ceil(1.6 ** np.arange(1, 18)).astype(int)[: len(changes)])


def test_portions_agree_and_repeats_differ():
    check_portions(arms(n_arms=6, case="shifting").instance(seed=1))
    orders = {tuple(arms(n_arms=6).instance(seed=1, repeat=r).order) for r in range(5)}
    assert len(orders) == 5


def test_learners_with_and_without_contexts_play_it():
    runs = gb.simulate(
        {"AdaCB.G": gb.AdaCBG(), "IDS.G": gb.IDSG(), "UCB-N": gb.learners.UCBN(), "EXP3.G": gb.learners.Exp3G()},
        arms(n_arms=5, gap=0.5, graph="complete"),
        rounds=512,
    )
    uniform = 512 * 0.5 * 4 / 5
    for name, curve in runs.regret.items():
        assert curve[0, -1] < 0.6 * uniform, name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"case": "x"}, "case is 'x'; expected one of 'needle'"),
        ({"gap": 0.0}, "gap is 0.0; expected"),
        ({"gap": 1.5}, "gap is 1.5; expected at most 1"),
        ({"case": "lottery", "gap": 0.8}, "gap is 0.8; expected at most 0.5 in the case 'lottery'"),
        ({"n_arms": 1}, "n_arms is 1; expected"),
        ({"case": "poor-hub", "graph": "star"}, "graph is 'star'; expected none in the case 'poor-hub'"),
        ({"graph": "tree"}, "graph is 'tree'; expected one of"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        arms(**settings)
