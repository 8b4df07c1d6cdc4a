"""Kernel classes: features against the kernels they stand for, and kernel ridge regression written out."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import graphbandit as gb
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.kernel import KERNELS, FourierFeatures, NystromFeatures


def literal_kernel(kernel, x, z, lengthscale):
    if kernel == "laplacian":
        return np.exp(-cdist(x, z, "cityblock") / lengthscale)
    r = cdist(x, z) / lengthscale
    if kernel == "rbf":
        return np.exp(-(r**2) / 2)
    if kernel == "matern-3/2":
        return (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)
    return (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)


@pytest.mark.parametrize("kernel", KERNELS)
def test_fourier_features_have_the_kernels_products(kernel):
    points = np.random.default_rng(0).uniform(-1, 1, size=(30, 2))
    map_ = FourierFeatures(kernel=kernel, dimension=2, size=40_000, lengthscale=0.8, seed=3)
    phi = map_.embed(points)
    np.testing.assert_allclose(phi @ phi.T, literal_kernel(kernel, points, points, 0.8), atol=0.04)
    np.testing.assert_allclose((phi**2).sum(axis=1), 1.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_nystrom_features_are_exact_between_landmarks(kernel):
    rng = np.random.default_rng(1)
    landmarks, points = rng.uniform(-1, 1, size=(12, 2)), rng.uniform(-1, 1, size=(9, 2))
    map_ = NystromFeatures(kernel=kernel, landmarks=landmarks, lengthscale=0.5)
    exact = literal_kernel(kernel, landmarks, points, 0.5)
    np.testing.assert_allclose(map_.embed(landmarks) @ map_.embed(points).T, exact, atol=1e-6)


def test_with_all_points_as_landmarks_it_is_kernel_ridge_regression():
    rng = np.random.default_rng(2)
    contexts = rng.uniform(-1, 1, size=(15, 3, 2))
    rewards = np.sin(3 * contexts).sum(axis=2)
    functions = gb.KernelClass(
        n_arms=3, dimension=2, lengthscale=0.7, landmarks=contexts.reshape(-1, 2), ridge=0.2, kernel="matern-3/2"
    )
    seen = gb.Observations.from_masks(contexts, rng.random((15, 3)) < 0.7, rewards)
    data = functions.add(functions.empty(), seen)
    new = rng.uniform(-1, 1, size=(8, 3, 2))
    x = contexts[seen.rows, seen.arms]
    gram = literal_kernel("matern-3/2", x, x, 0.7) + 0.2 * np.eye(len(x))
    expected = literal_kernel("matern-3/2", new.reshape(-1, 2), x, 0.7) @ np.linalg.solve(gram, seen.rewards)
    predicted = functions.predict(functions.fit(data), new).ravel()
    np.testing.assert_allclose(predicted, expected, atol=1e-6)


def test_a_nonlinear_truth_is_learnt():
    rng = np.random.default_rng(3)
    contexts = rng.uniform(-1, 1, size=(800, 1))
    truth = np.column_stack([np.sin(4 * contexts[:, 0]), np.abs(contexts[:, 0])])
    seen = gb.Observations.from_masks(contexts, rng.random((800, 2)) < 0.5, truth + 0.1 * rng.normal(size=truth.shape))
    functions = gb.KernelClass(
        n_arms=2, dimension=1, parameters="per-arm", n_features=60, lengthscale=0.3, ridge=0.05, seed=1
    )
    data = functions.add(functions.empty(), seen)
    assert np.abs(functions.predict(functions.fit(data), contexts) - truth).mean() < 0.03
    lower, upper = functions.bounds(functions.version_space(data, functions.sharp_radius(data, 0.1, 0.1)), contexts)
    assert ((lower <= truth) & (truth <= upper)).mean() > 0.99
    linear = gb.LinearClass(n_arms=2, dimension=1, parameters="per-arm", intercept=True)
    losses = linear.smallest_loss(linear.add(linear.empty(), seen))
    assert functions.smallest_loss(data) < 0.1 * losses


def test_arm_features_stand_behind_the_context():
    arms = np.array([[0.0, 1.0], [2.0, 3.0]])
    functions = gb.KernelClass(n_arms=2, dimension=1, arm_features=arms, n_features=10)
    joint = gb.KernelClass(n_arms=2, dimension=3, n_features=10)
    context = np.array([[0.5], [-0.5]])
    rows = np.concatenate([np.repeat(context[:, None], 2, axis=1), np.repeat(arms[None], 2, axis=0)], axis=2)
    np.testing.assert_array_equal(functions.features.rows(context), joint.features.rows(rows))


def test_the_seed_decides_the_features():
    context = np.ones((1, 2))
    rows = [
        gb.KernelClass(n_arms=2, dimension=2, parameters="per-arm", seed=seed).features.rows(context)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_equal_landmarks_do_no_harm():
    contexts = np.random.default_rng(4).normal(size=(20, 2, 1))
    seen = gb.Observations.from_masks(contexts, np.ones((20, 2), bool), np.ones((20, 2)))
    found = []
    for copies in (1, 5):
        functions = gb.KernelClass(n_arms=2, dimension=1, landmarks=np.zeros((copies, 1)), ridge=0.1)
        data = functions.add(functions.empty(), seen)
        lower, upper = functions.bounds(functions.version_space(data, 1.0), contexts)
        found.append([functions.predict(functions.fit(data), contexts), lower, upper])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cosine"}, "kernel"),
        ({"n_features": 3}, "even"),
        ({"n_features": 0}, "n_features"),
        ({"lengthscale": 0.0}, "lengthscale"),
        ({"seed": -1}, "seed"),
        ({"landmarks": np.zeros((4, 3))}, "landmarks has shape"),
        ({"landmarks": np.zeros((0, 2))}, "landmarks has shape"),
        ({"landmarks": [[np.nan, 0.0]]}, "landmarks has nan"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        gb.KernelClass(**{"n_arms": 2, "dimension": 2, **settings})


def test_contexts_that_do_not_fit_are_refused():
    functions = gb.KernelClass(n_arms=2, dimension=2, parameters="per-arm")
    with pytest.raises(InputError, match=r"each context has shape \(5,\); expected \(2,\) or \(2, 2\)"):
        functions.predict(functions.fit(functions.empty()), np.zeros((3, 5)))
