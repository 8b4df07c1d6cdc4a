"""Regressors, forms of the class, and data, for the tests of classes that are fitted from scratch."""

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import graphbandit as gb
from graphbandit.function_classes import RegressorClass

K, D = 3, 2
TRUTH = np.array([[0.5, 0.1], [0.1, 0.6], [0.3, 0.3]])


def seen(n=40, *, arms=range(K), seed=0, noise=0.05, arm_contexts=False):
    """n rounds, in which each of these arms is seen with probability one half, and its reward is TRUTH x + noise.

    With `arm_contexts` each arm has a context of its own, and the first row of TRUTH.
    """
    rng = np.random.default_rng(seed)
    contexts = rng.uniform(size=(n, K, D) if arm_contexts else (n, D))
    means = contexts @ TRUTH[0] if arm_contexts else contexts @ TRUTH.T
    revealed = (rng.random((n, K)) < 0.5) & np.isin(np.arange(K), list(arms))
    return gb.Observations.from_masks(contexts, revealed, means + noise * rng.normal(size=(n, K)))


def made(regressor, kind=RegressorClass, **settings):
    return kind(regressor, **{"n_arms": K, "dimension": D, "members": 4, **settings})


def data_of(functions, observations):
    return functions.add(functions.empty(), observations)


def check_parts(of, contexts):
    """`of` gives a part of 300 contexts the values that it has among all of them, to the last bit."""
    whole = of(contexts)
    for start, stop in ((0, 1), (1, 2), (7, 8), (299, 300), (3, 90), (40, 297)):
        np.testing.assert_array_equal(of(contexts[start:stop]), whole[start:stop])


def lightgbm(**settings):
    if find_spec("lightgbm") is None:
        pytest.skip("lightgbm is not installed")
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=5, min_child_samples=2, verbose=-1, n_jobs=1, **settings)


REGRESSORS = {
    "ridge": lambda: Ridge(1e-3),
    "forest": lambda: RandomForestRegressor(5),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=10, subsample=0.7),
    "pipeline": lambda: make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge(1e-2)),
    "lightgbm": lightgbm,
}
FORMS = {
    "one-hot": {},
    "per arm": {"per_arm": True},
    "arm features": {"arm_features": TRUTH},
    "perturbed": {"resampling": "perturbed"},
}
