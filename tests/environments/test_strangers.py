"""Problems nobody designed for their learners: other units, noise that is not told, curves, loud arms, changes."""

import numpy as np
import pytest

from graphbandit import environments
from graphbandit.errors import SettingError
from tests.environments.portions import check_portions


def linear(**settings):
    return environments.linear(n_arms=4, dimension=3, arm_kind="per-arm", noise=0.5, **settings)


def test_units_change_rewards_and_nothing_else():
    plain = linear().instance(seed=3).rounds(0, 40)
    cents = environments.units(linear(), offset=500.0, factor=80.0).instance(seed=3)
    rounds = cents.rounds(0, 40)
    np.testing.assert_array_equal(rounds.contexts, plain.contexts)
    assert rounds.graphs == plain.graphs
    np.testing.assert_allclose(rounds.rewards, 500.0 + 80.0 * plain.rewards)
    np.testing.assert_allclose(rounds.means, 500.0 + 80.0 * plain.means)
    problem = cents.problem(horizon=40)
    assert problem.noise == 40.0
    assert problem.function_class.norm_bound == 80.0


def test_noise_may_be_left_untold():
    silent = environments.units(linear(), tell_noise=False).instance(seed=0)
    assert silent.problem(horizon=None).noise is None
    finite = environments.units(environments.paper(n_arms=4), tell_noise=False).instance(seed=0)
    assert finite.problem(horizon=None).noise is None


def test_a_finite_class_keeps_its_units():
    instance = environments.units(environments.paper(n_arms=4), offset=5.0).instance(seed=0)
    with pytest.raises(SettingError, match="offset is 5 and factor 1, but the problem's finite function class"):
        instance.problem(horizon=None)


def test_a_curve_bends_the_means():
    straight, bent = (linear(curve=c).instance(seed=1).rounds(0, 50) for c in (0.0, 0.7))
    np.testing.assert_array_equal(straight.contexts, bent.contexts)
    np.testing.assert_allclose(bent.means, straight.means + 0.7 * np.sin(2 * straight.means))


def test_arms_may_be_unequally_loud():
    rounds = linear(noise_spread=9.0).instance(seed=1).rounds(0, 4000)
    noise = (rounds.rewards - rounds.means).std(axis=0)
    assert noise.max() == pytest.approx(0.5, rel=0.1)
    assert noise.max() / noise.min() == pytest.approx(9.0, rel=0.1)


def test_a_sudden_change_comes_in_its_round():
    before, changed = (linear(change=c, change_round=300).instance(seed=2).rounds(0, 600) for c in ("none", "sudden"))
    np.testing.assert_array_equal(before.means[:300], changed.means[:300])
    assert (np.abs(before.means[300:] - changed.means[300:]).max(axis=1) > 1e-6).all()
    other = linear(change="sudden", change_round=1).instance(seed=2).rounds(0, 600)
    np.testing.assert_array_equal(changed.means[300:], other.means[300:])


def test_a_slow_change_arrives_where_a_sudden_one_does():
    slow, sudden = (linear(change=c, change_round=300).instance(seed=2).rounds(0, 600) for c in ("slow", "sudden"))
    np.testing.assert_allclose(slow.means[300:], sudden.means[300:], atol=1e-12)
    steps = np.abs(slow.means[1:300] - sudden.means[1:300]).max(axis=1)
    assert steps[:5].max() < 0.1 < steps[-5:].max()


def test_portions_agree_through_a_change():
    changing = linear(change="slow", change_round=500, noise_spread=3.0)
    check_portions(environments.units(changing, factor=2.0).instance(seed=4))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"change": "often"}, "change is 'often'; expected one of 'none', 'sudden', 'slow'"),
        ({"change_round": 0}, "change_round is 0; expected a whole number of at least 1"),
        ({"noise_spread": 0.5}, "noise_spread is 0.5; expected a finite number of at least 1"),
        ({"curve": -1.0}, "curve is -1.0; expected a finite number of at least 0"),
        ({"curve": 1.0, "link": "logistic"}, "link is 'logistic'; expected 'identity' with curve"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        environments.linear(n_arms=4, dimension=3, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factor": 0.0}, "factor is 0.0; expected a finite number above 0"),
        ({"offset": float("nan")}, "offset is nan; expected a finite number"),
        ({"tell_noise": 1}, "tell_noise is 1; expected True or False"),
    ],
)
def test_bad_units_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        environments.units(linear(), **settings)
