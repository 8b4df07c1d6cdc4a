"""The reduction to regression: bounds of all functions within the radius."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import graphbandit as gb
from graphbandit.errors import SettingError
from graphbandit.function_classes import ReductionClass
from tests.function_classes.regressors import D, K, data_of, made, seen


def ellipsoid_bounds(features, rewards, new, radius):
    """min and max of theta'z over |X theta - y|^2 <= min + radius: z'thetahat -+ sqrt(radius z'(X'X)^-1 z)."""
    inverse = np.linalg.inv(features.T @ features)
    center = new @ inverse @ features.T @ rewards
    half = np.sqrt(radius * np.einsum("nd,de,ne->n", new, inverse, new))
    return center - half, center + half


@pytest.mark.parametrize("radius", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("regressor", [LinearRegression(), Ridge(1e-9), make_pipeline(LinearRegression())])
def test_the_reduction_finds_the_bounds_of_the_ellipsoid(regressor, radius):
    observations, new = seen(), np.random.default_rng(6).uniform(-0.5, 1.5, size=(2, D))
    functions = made(regressor, ReductionClass, per_arm=True, tolerance=1e-5, entropy=1.0)
    data = data_of(functions, observations)
    space = functions.version_space(data, radius)
    lower, upper = functions.bounds(space, new)
    low, high = functions.range_of(data)
    for arm in range(K):
        of = observations.arms == arm
        x = observations.contexts[observations.rows[of]]
        exact = ellipsoid_bounds(
            np.column_stack([x, np.ones(len(x))]), observations.rewards[of], np.column_stack([new, np.ones(2)]), radius
        )
        exact_lower, exact_upper = np.clip(exact, low, high)
        np.testing.assert_allclose(lower[:, arm], exact_lower, atol=1e-5)
        np.testing.assert_allclose(upper[:, arm], exact_upper, atol=1e-5)
        assert (lower[:, arm] <= exact_lower + 1e-9).all(), "outside, so that no plausible value is lost"
        assert (upper[:, arm] >= exact_upper - 1e-9).all()


def test_the_reduction_with_shared_parameters():
    rng = np.random.default_rng(2)
    contexts = rng.normal(size=(50, K, D))
    observations = gb.Observations.from_masks(
        contexts, rng.random((50, K)) < 0.5, contexts @ [0.3, -0.2] + 0.1 * rng.normal(size=(50, K))
    )
    functions = made(
        LinearRegression(fit_intercept=False),
        ReductionClass,
        arm_contexts=True,
        tolerance=1e-5,
        entropy=1.0,
        low=-5.0,
        high=5.0,
    )
    data = data_of(functions, observations)
    new = rng.normal(size=(2, K, D))
    x = contexts[observations.rows, observations.arms]
    level = observations.rewards.mean()  # what is fitted is counted from the level of the rewards
    exact = ellipsoid_bounds(x, observations.rewards - level, new.reshape(-1, D), 0.2)
    space = functions.version_space(data, 0.2)
    lower, upper = functions.bounds(space, new)
    np.testing.assert_allclose(
        lower.ravel(), level + exact[0], atol=1e-5 * 10.0
    )  # the tolerance is a share of the range
    np.testing.assert_allclose(upper.ravel(), level + exact[1], atol=1e-5 * 10.0)
    np.testing.assert_array_equal(functions.candidates(space, new), upper >= lower.max(axis=1, keepdims=True))
    available = np.array([[True, False, True], [False, True, True]])
    reached = np.where(available, lower, -np.inf).max(axis=1, keepdims=True)
    np.testing.assert_array_equal(functions.candidates(space, new, available), available & (upper >= reached))


def test_bounds_that_were_found_are_not_searched_for_again():
    class Counted(LinearRegression):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Counted.fits += 1
            return super().fit(X, y, sample_weight)

    functions = made(Counted(), ReductionClass, entropy=1.0)
    data, contexts = data_of(functions, seen()), np.random.default_rng(6).uniform(size=(2, D))
    space = functions.version_space(data, 0.1)
    first, made_then = functions.bounds(space, contexts), Counted.fits
    assert 30 < made_then < 2 * K * 2 * 25
    again = functions.bounds(space, contexts[::-1])
    np.testing.assert_array_equal(again[0][::-1], first[0])
    assert Counted.fits == made_then


def test_the_reduction_of_a_forest_stays_in_order_and_in_range():
    functions = made(RandomForestRegressor(3, bootstrap=False), ReductionClass, entropy=1.0, tolerance=0.1)
    data, contexts = data_of(functions, seen(12)), np.random.default_rng(6).uniform(size=(1, D))
    lower, upper = functions.bounds(functions.version_space(data, 0.1), contexts)
    estimate = functions.predict(functions.fit(data), contexts)
    low, high = functions.range_of(data)
    assert (low <= lower).all()
    assert (lower <= np.clip(estimate, low, high)).all()
    assert (estimate <= upper).all()
    assert (upper <= high).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"entropy": None}, "entropy is None; expected a number"),
        ({"factors": [1.0, 2.0, 3.0]}, "factors came with a ReductionClass"),
        ({"regressor": KNeighborsRegressor()}, "takes no sample_weight"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        made(**{"regressor": Ridge(), "kind": ReductionClass, "entropy": 1.0, **settings})
