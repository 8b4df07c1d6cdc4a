"""Regressors as oracles: fits, ensembles of refits, draws, bad data, and the same bits every time."""

import logging
import math
import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import graphbandit as gb
from graphbandit.errors import InputError, MissingExtraError, SettingError
from graphbandit.function_classes import FitReport, ReductionClass, RegressorClass
from tests.function_classes.regressors import FORMS, TRUTH, D, K, check_parts, data_of, made, seen

# The estimate


def test_the_estimate_is_the_regressor_fitted_to_features_of_context_and_arm():
    observations = seen()
    x, arms = observations.contexts[observations.rows], observations.arms
    new = np.random.default_rng(5).uniform(size=(7, D))
    one_hot, every_arm = np.eye(K), np.tile(np.arange(K), 7)
    cases = {
        "one-hot": (np.hstack([x, one_hot[arms]]), np.hstack([new.repeat(K, 0), one_hot[every_arm]])),
        "arm features": (np.hstack([x, TRUTH[arms]]), np.hstack([new.repeat(K, 0), TRUTH[every_arm]])),
    }
    for name, (features, wanted) in cases.items():
        functions = made(Ridge(), **FORMS[name])
        data = data_of(functions, observations)
        literal = Ridge().fit(features, observations.rewards)
        np.testing.assert_allclose(
            functions.predict(functions.fit(data), new), literal.predict(wanted).reshape(7, K), rtol=1e-9
        )
        loss = np.square(literal.predict(features) - observations.rewards).sum()
        assert functions.fits(data, 1)[0].loss == pytest.approx(loss)


def test_a_regressor_for_each_arm_sees_that_arm_alone():
    observations, functions = seen(), made(LinearRegression(), per_arm=True)
    predicted = functions.predict(functions.fit(data_of(functions, observations)), np.eye(D))
    for arm in range(K):
        of = observations.arms == arm
        literal = LinearRegression().fit(observations.contexts[observations.rows[of]], observations.rewards[of])
        np.testing.assert_allclose(predicted[:, arm], literal.predict(np.eye(D)), rtol=1e-9)


def test_contexts_with_a_row_for_each_arm():
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(30, K, D))
    observations = gb.Observations.from_masks(contexts, rng.random((30, K)) < 0.5, contexts @ [1.0, -2.0])
    functions = made(LinearRegression(), arm_contexts=True)
    data = data_of(functions, observations)
    np.testing.assert_allclose(functions.predict(functions.fit(data), contexts), contexts @ [1.0, -2.0], atol=1e-12)
    assert data.columns.contexts.shape == (observations.n_observed, D), "the arm's own row is kept, and no other"
    assert not functions.unseen(data.columns).any()
    with pytest.raises(InputError, match=r"contexts have shape \(2, 2\); expected \(n, 3, 2\)"):
        functions.check_contexts(np.zeros((2, 2)))


# The ensemble


def test_members_are_the_fits_within_the_radius_of_the_least_loss(regressor):
    functions = made(regressor)
    data = data_of(functions, seen())
    losses = np.array([fit.loss for fit in functions.fits(data, 5)])
    assert len(set(losses)) == 5
    assert functions.smallest_loss(data) == losses.min()
    for radius in (0.0, float(np.median(losses) - losses.min()), 1e6):
        expected = losses <= losses.min() + radius
        expected[0] = True
        np.testing.assert_array_equal(functions.version_space(data, radius).members, expected)


def test_candidates_bounds_and_widths_are_those_of_the_members(regressor, form):
    functions = made(regressor, **form)
    data, contexts = data_of(functions, seen()), np.random.default_rng(3).uniform(size=(20, D))
    space = functions.version_space(data, functions.sharp_radius(data, 0.05, 0.3))
    assert 2 <= space.size <= 5
    fits = [fit for fit, inside in zip(functions.fits(data, 5), space.members, strict=True) if inside]
    values = np.stack([functions.values(fit, contexts) for fit in fits])
    lower, upper = functions.bounds(space, contexts)
    np.testing.assert_array_equal(lower, values.min(axis=0))
    np.testing.assert_array_equal(upper, values.max(axis=0))
    available = np.random.default_rng(4).random((20, K)) < 0.7
    available[:, 0] |= ~available.any(axis=1)
    for mask in (None, available):
        offered = np.ones((20, K), dtype=bool) if mask is None else mask
        expected = np.zeros((20, K), dtype=bool)
        for member in values:
            expected[np.arange(20), np.where(offered, member, -np.inf).argmax(axis=1)] = True
        np.testing.assert_array_equal(functions.candidates(space, contexts, mask), expected)
    model = functions.fit(data)
    best = functions.predict(model, contexts).argmax(axis=1)
    shift = values - functions.predict(model, contexts)
    shift = shift - shift[:, np.arange(20), best][:, :, None]
    np.testing.assert_allclose(functions.widths(space, model, contexts, best), np.abs(shift).max(axis=0), atol=1e-15)


def test_bootstrap_and_perturbed_refits_spread_as_theory_says():
    """V^-1 X' diag(e^2) X V^-1 for the bootstrap of a linear regression, mean(e^2) V^-1 for perturbed rewards."""
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(400, 1, D))
    x, y = contexts[:, 0], contexts @ [1.0, 2.0] + 0.3 * rng.normal(size=(400, 1))
    observations = gb.Observations.from_masks(contexts, np.ones((400, 1), dtype=bool), y)
    inverse = np.linalg.inv(x.T @ x)
    residuals = y[:, 0] - x @ inverse @ x.T @ y[:, 0]
    theory = {
        "bootstrap": inverse @ (x.T * residuals**2) @ x @ inverse,
        "perturbed": np.square(residuals).mean() * inverse,
    }
    settings = {"n_arms": 1, "arm_contexts": True, "members": 300}
    for resampling, covariance in theory.items():
        functions = made(LinearRegression(fit_intercept=False), resampling=resampling, **settings)
        draws = functions.draws(data_of(functions, observations), noise=0.3, count=300, rng=rng)
        spread = functions.draw_values(draws, np.eye(D)[:, None])[:, :, 0].var(axis=1)
        np.testing.assert_allclose(spread, np.diag(covariance), rtol=0.25)


def test_the_sharp_radius_is_what_refits_exceed_rarely_or_the_formula_if_more():
    data = data_of(made(Ridge(1e-3), members=20), seen())
    functions = made(Ridge(1e-3), members=20)
    losses = np.array([fit.loss for fit in functions.fits(data, 21)])
    above = np.sort(losses[1:] - losses.min())
    assert functions.sharp_radius(data, 0.0, 0.1) == above[18]
    assert functions.sharp_radius(data, 10.0, 0.1) == pytest.approx(200 * math.log(21 / 0.1))
    assert made(Ridge(), entropy=3.0).sharp_radius(data, 0.5, 0.1) == pytest.approx(0.5 * (3 + math.log(10)))
    assert functions.log_size == math.log(21)
    assert made(Ridge(), entropy=3.0).log_size == 3.0


def test_draws_are_the_refits_equally_weighted(regressor):
    functions = made(regressor)
    data, contexts = data_of(functions, seen()), np.random.default_rng(3).uniform(size=(5, D))
    draws = functions.draws(data, noise=0.1, count=10, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(draws.weights, np.full(4, 0.25))
    expected = np.stack([functions.values(fit, contexts) for fit in functions.fits(data, 5)[1:]], axis=1)
    np.testing.assert_array_equal(functions.draw_values(draws, contexts), expected)
    few = functions.draws(data, noise=0.1, count=2, rng=np.random.default_rng(0))
    assert len(set(few.members.numbers)) == 2
    assert set(few.members.numbers) <= {1, 2, 3, 4}


# What nothing is known about


def test_no_data():
    for functions in (made(Ridge()), made(LinearRegression(), ReductionClass, entropy=1.0)):
        data, contexts = functions.empty(), np.zeros((2, D))
        space = functions.version_space(data, 0.1)
        assert functions.candidates(space, contexts).all()
        assert functions.smallest_loss(data) == 0
        np.testing.assert_array_equal(functions.predict(functions.fit(data), contexts), np.full((2, K), 0.5))
        lower, upper = functions.bounds(space, contexts)
        assert (lower == 0).all()
        assert (upper == 1).all()
        draws = functions.draws(data, noise=0.1, count=3, rng=np.random.default_rng(0))
        assert functions.draw_values(draws, contexts).shape == (2, 1, K)


@pytest.mark.parametrize("settings", [{}, {"per_arm": True}, {"kind": ReductionClass, "entropy": 1.0}])
def test_an_arm_never_seen_is_a_candidate_anywhere_in_the_range(settings):
    functions = made(LinearRegression(), high=2.0, **settings)
    observations, contexts = seen(arms=[0, 1]), np.random.default_rng(3).uniform(size=(4, D))
    data = data_of(functions, observations)
    space = functions.version_space(data, 1e-3)
    model = functions.fit(data)
    assert functions.candidates(space, contexts)[:, 2].all()
    assert not functions.candidates(space, contexts, np.array([[True, True, False]] * 4))[:, 2].any()
    lower, upper = functions.bounds(space, contexts)
    low = min(0.0, observations.rewards.min())
    np.testing.assert_array_equal(lower[:, 2], low)
    np.testing.assert_array_equal(upper[:, 2], 2.0)
    estimate = functions.predict(model, contexts)
    np.testing.assert_allclose(estimate[:, 2], observations.rewards.mean())
    best = np.zeros(4, dtype=int)
    widths = functions.widths(space, model, contexts, best)
    far = np.maximum(
        2.0 - estimate[:, 2] + estimate[:, 0] - lower[:, 0], estimate[:, 2] - low + upper[:, 0] - estimate[:, 0]
    )
    np.testing.assert_allclose(widths[:, 2], far)
    assert (widths[:, 0] == 0).all()
    drawn = functions.draw_values(functions.draws(data, noise=0.1, count=4, rng=np.random.default_rng(0)), contexts)
    assert np.isin(drawn[:, :, 2], observations.rewards).all()


def test_at_radius_infinity_everything_is_plausible():
    functions = made(Ridge(), low=-1.0, high=2.0)
    data, contexts = data_of(functions, seen()), np.zeros((3, D))
    space = functions.version_space(data, np.inf)
    assert functions.candidates(space, contexts).all()
    assert not data.fits, "nothing needs to be fitted for that"
    lower, upper = functions.bounds(space, contexts)
    assert (lower == -1).all()
    assert (upper == 2).all()
    best = np.zeros(3, dtype=int)
    assert (functions.widths(space, functions.fit(data), contexts, best)[:, 1:] >= 3).all()


def test_rewards_beyond_the_range_widen_it():
    functions = made(Ridge(), low=0.0, high=1.0)
    observations = gb.Observations.from_masks(np.zeros((1, D)), np.eye(1, K, dtype=bool), np.full((1, K), -7.5))
    assert functions.range_of(data_of(functions, observations)) == (-7.5, 1.0)


# Bad data


@pytest.mark.parametrize("rows", ["one", "constant", "collinear", "repeated"])
def test_poor_data_is_fitted(regressor, form, rows):
    contexts = np.random.default_rng(0).uniform(size=(8, D))
    contexts = {
        "one": contexts[:1],
        "constant": np.ones((8, D)),
        "collinear": contexts[:, :1] * [1.0, 2.0],
        "repeated": np.repeat(contexts[:1], 8, axis=0),
    }[rows]
    revealed = np.zeros((len(contexts), K), dtype=bool)
    revealed[:, 0] = True
    functions = made(regressor, **form)
    data = data_of(functions, gb.Observations.from_masks(contexts, revealed, contexts @ TRUTH.T))
    space = functions.version_space(data, functions.sharp_radius(data, 0.1, 0.1))
    model = functions.fit(data)
    assert np.isfinite(functions.predict(model, np.zeros((2, D)))).all()
    assert functions.candidates(space, np.zeros((2, D))).any(axis=1).all()


def test_bad_contexts_are_refused():
    functions = made(Ridge())
    with pytest.raises(InputError, match=r"contexts have shape \(1, 3\); expected \(n, 2\)"):
        functions.check_contexts(np.zeros((1, 3)))
    for bad in (np.nan, np.inf, 1e40):
        with pytest.raises(InputError, match=r"contexts have .* at \[0, 1\]; expected finite numbers up to 1e\+30"):
            functions.check_contexts(np.array([[0.0, bad]]))
    observations = gb.Observations.from_masks(np.full((1, D), np.nan), np.ones((1, K), dtype=bool), np.ones((1, K)))
    with pytest.raises(InputError, match="contexts have nan"):
        functions.add(functions.empty(), observations)
    data = data_of(functions, seen())
    with pytest.raises(InputError, match=r"contexts have shape \(1, 5\)"):
        functions.predict(functions.fit(data), np.zeros((1, 5)))
    for radius in (-1.0, math.nan, "wide"):
        with pytest.raises(InputError, match="radius is"):
            functions.version_space(data, radius)


class Unclonable:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]

    def get_params(self, deep=True):
        return {"needed": 1}

    def set_params(self, **parameters):
        return self


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"regressor": Ridge}, "regressor is <class .*Ridge.*>; expected a scikit-learn regressor"),
        ({"regressor": 3}, "regressor is 3; expected a scikit-learn regressor"),
        ({"regressor": Unclonable()}, "cannot be cloned"),
        ({"n_arms": 0}, "n_arms is 0"),
        ({"dimension": 0}, "dimension is 0"),
        ({"members": 0}, "members is 0"),
        ({"low": 0.0, "high": 0.0}, "high is 0.0; expected a number above low, 0.0"),
        ({"low": np.nan}, "low is nan"),
        ({"entropy": -1.0}, "entropy is -1.0"),
        ({"seed": -1}, "seed is -1"),
        ({"on_fit": 3}, "on_fit is 3; expected a callable"),
        ({"per_arm": 1}, "per_arm is 1; expected True or False"),
        ({"arm_contexts": "yes"}, "arm_contexts is 'yes'; expected True or False"),
        ({"arm_features": [[1.0]]}, r"arm_features has shape \(1, 1\); expected \(3, d\)"),
        ({"arm_features": TRUTH, "per_arm": True}, "arm_features came with per_arm"),
        ({"resampling": "jackknife"}, "resampling is 'jackknife'; expected one of"),
        ({"perturbation": -0.1}, "perturbation is -0.1"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        RegressorClass(**{"regressor": Ridge(), "n_arms": K, "dimension": D, **settings})


def test_without_scikit_learn_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'graphbandit\[sklearn\]'"):
        made(Ridge())


# The same bits


def test_the_regressor_that_was_handed_in_is_left_alone():
    mine = Ridge(0.5)
    functions = made(mine)
    mine.set_params(alpha=1e9)
    functions.fit(data_of(functions, seen()))
    assert not hasattr(mine, "coef_")
    assert "Ridge(alpha=0.5)" in repr(functions)


def test_fits_are_the_same_every_time_and_follow_the_seed(regressor, form):
    contexts, values = np.random.default_rng(3).uniform(size=(6, D)), []
    for seed in (1, 1, 2):
        functions = made(regressor, seed=seed, **form)
        data = functions.add(data_of(functions, seen(20)), seen(20, seed=1))
        values.append(np.stack([functions.values(fit, contexts) for fit in functions.fits(data, 5)]))
    np.testing.assert_array_equal(values[0], values[1])
    assert (values[0][1:] != values[2][1:]).any()


def test_predictions_do_not_depend_on_the_batch(regressor, form):
    functions = made(regressor, **form)
    model = functions.fit(data_of(functions, seen()))
    check_parts(lambda x: functions.predict(model, x), np.random.default_rng(3).normal(size=(300, D)))


def test_too_few_observations_are_not_fitted():
    functions = made(LinearRegression(), fewest=5)
    observations = seen(4, arms=[0])
    data, contexts = data_of(functions, observations), np.zeros((1, D))
    assert 0 < len(data) < 5
    assert functions.candidates(functions.version_space(data, 0.1), contexts).all()
    np.testing.assert_allclose(functions.predict(functions.fit(data), contexts), observations.rewards.mean())
    assert not data.fits
    functions = made(LinearRegression(), per_arm=True, fewest=5)
    data = functions.add(data, seen(40, arms=[1, 2]))
    assert functions.unseen(data.columns).tolist() == [True, False, False]
    known = functions.add(functions.empty(), seen(40, arms=[1, 2]))
    assert functions.fits(data, 1)[0].loss == pytest.approx(functions.fits(known, 1)[0].loss), "arm 0 counts nothing"


def test_losses_of_much_data_are_those_of_the_predictions(form):
    functions, observations = made(Ridge(), **form), seen(600)
    data = data_of(functions, observations)
    assert len(data) > 3 * 256
    values = functions.predict(functions.fit(data), observations.contexts)[observations.rows, observations.arms]
    assert functions.fits(data, 1)[0].loss == pytest.approx(np.square(values - observations.rewards).sum(), rel=1e-9)


def test_a_random_state_inside_a_pipeline_is_set_too():
    functions = made(make_pipeline(StandardScaler(), RandomForestRegressor(3)))
    data = data_of(functions, seen())
    states = {
        fit.function.function[-1].get_params()["randomforestregressor__random_state"] for fit in functions.fits(data, 5)
    }
    assert len(states) == 5
    assert None not in states


def test_fits_are_made_once_and_only_when_asked_for():
    reports = []
    functions = made(Ridge(), on_fit=reports.append)
    data = data_of(functions, seen())
    functions.fit(data)
    model = functions.fit(data)
    assert [report.fit for report in reports] == [0]
    functions.version_space(data, 1.0)
    functions.draws(data, noise=0.1, count=4, rng=np.random.default_rng(0))
    functions.smallest_loss(data)
    assert [report.fit for report in reports] == [0, 1, 2, 3, 4]
    assert model.reports == data.reports == reports
    assert isinstance(reports[0], FitReport)
    assert reports[0].observations == len(data)
    assert reports[0].fits == 5
    assert reports[0].seconds > 0
    assert functions.add(data, seen(5, arms=[])) is data


def test_each_fit_is_logged_with_its_time(caplog):
    functions = made(Ridge())
    data = data_of(functions, seen())
    with caplog.at_level(logging.INFO, "graphbandit"):
        functions.fit(data)
        functions.version_space(data, 1.0)
    assert [record.message.rsplit(" in ", 1)[0] for record in caplog.records] == [
        f"Ridge: 1 fit on {len(data)} observations",
        f"Ridge: 4 fits on {len(data)} observations",
    ]


def test_masks_of_another_shape_are_refused_before_a_kernel_sees_them():
    functions = made(Ridge())
    data = data_of(functions, seen())
    space, contexts = functions.version_space(data, 1.0), np.zeros((3, D))
    for mask in (np.empty((0, 0), dtype=bool), np.ones((3, K + 1), dtype=bool), np.ones((2, K), dtype=bool)):
        with pytest.raises(InputError, match="available has shape"):
            functions.outlook(functions.fit(data), space, contexts, mask)
    with pytest.raises(InputError, match="expected booleans"):
        functions.candidates(space, contexts, np.ones((3, K)))
