"""Linear classes: against literal ridge regression, sampled ellipsoids and non-negative least squares by SciPy."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import graphbandit as gb
from graphbandit.errors import InputError, ObservationError, SettingError
from graphbandit.function_classes import Ellipsoid
from graphbandit.function_classes.base import Contest
from graphbandit.function_classes.feature_maps import FeatureMap
from graphbandit.function_classes.linear import LinearModel
from graphbandit.kernels import cholesky as factors
from graphbandit.kernels.jit import kernel
from graphbandit.learners.base import predictor_of
from graphbandit.rounds.shown import Shown

ARMS = np.random.default_rng(5).normal(size=(4, 2))

FORMS = {
    "joint": ({"parameters": "shared"}, (4, 3)),
    "joint-intercept": ({"parameters": "shared", "intercept": True}, (4, 3)),
    "arm-features": ({"parameters": "shared", "arm_features": ARMS}, (3,)),
    "arm-features-intercept": ({"parameters": "shared", "arm_features": ARMS, "intercept": True}, (3,)),
    "per-arm": ({"parameters": "per-arm"}, (3,)),
    "per-arm-intercept": ({"parameters": "per-arm", "intercept": True}, (3,)),
    "per-arm-joint": ({"parameters": "per-arm"}, (4, 3)),
}


def literal_phi(settings, contexts):
    """phi in R^p of every context and arm, written out; a parameter an arm is one long parameter with zeros."""
    n, one = len(contexts), settings.get("intercept", False)
    phi = []
    for x in contexts:
        for a in range(4):
            row = list(x[a] if contexts.ndim == 3 else x) + [1.0] * one
            if settings.get("arm_features") is not None:
                row = np.kron(row, list(ARMS[a]) + [1.0] * one)
            if settings["parameters"] == "per-arm":
                whole = np.zeros((4, len(row)))
                whole[a] = row
                row = whole.ravel()
            phi.append(row)
    return np.array(phi).reshape(n, 4, -1)


@pytest.fixture(params=FORMS)
def problem(request):
    """A class, its settings, and observations of it."""
    settings, shape = FORMS[request.param]
    rng = np.random.default_rng(1)
    contexts = rng.normal(size=(600, *shape))
    functions = gb.LinearClass(n_arms=4, dimension=3, ridge=0.7, norm_bound=2.0, **settings)
    rewards = rng.normal(size=(600, 4))
    return functions, settings, gb.Observations.from_masks(contexts, rng.random((600, 4)) < 0.5, rewards)


def literal_fit(settings, observations, ridge=0.7):
    phi = literal_phi(settings, observations.contexts)[observations.rows, observations.arms]
    V = ridge * np.eye(phi.shape[1]) + phi.T @ phi
    return np.linalg.solve(V, phi.T @ observations.rewards), V, phi


def test_ridge_regression(problem):
    functions, settings, seen = problem
    theta, V, phi = literal_fit(settings, seen)
    data = functions.add(functions.empty(), seen)
    assert functions.n_observed(data) == seen.n_observed
    model = functions.fit(data)
    np.testing.assert_allclose(model.parameters.ravel(), theta, atol=1e-10)
    values = literal_phi(settings, seen.contexts) @ theta
    np.testing.assert_allclose(functions.predict(model, seen.contexts), values, atol=1e-10)
    assert functions.smallest_loss(data) == pytest.approx(((phi @ theta - seen.rewards) ** 2).sum(), rel=1e-9)
    p = len(theta)
    bound = 2.0 * np.sqrt(functions.features.blocks)
    radius = np.sqrt(2 * np.log(1 / 0.05) + np.linalg.slogdet(V)[1] - p * np.log(0.7)) * 0.3 + np.sqrt(0.7) * bound
    assert functions.sharp_radius(data, 0.3, 0.05) == pytest.approx(radius**2, rel=1e-9)
    assert functions.log_size == pytest.approx(p * np.log(1 + 2 * bound / 0.01))


def test_bounds_and_widths_are_the_extremes_over_the_ellipsoid(problem):
    functions, settings, seen = problem
    data = functions.add(functions.empty(), seen.between(0, 40))
    theta, V, _ = literal_fit(settings, seen.between(0, 40))
    model = functions.fit(functions.add(data, seen.between(40, 60)))
    space = functions.version_space(data, 1.7)
    contexts = seen.contexts[:50]
    phi = literal_phi(settings, contexts)
    inverse = np.linalg.inv(V)
    reach = np.sqrt(1.7 * np.einsum("nap,pq,naq->na", phi, inverse, phi))
    lower, upper = functions.bounds(space, contexts)
    np.testing.assert_allclose(lower, phi @ theta - reach, atol=1e-9)
    np.testing.assert_allclose(upper, phi @ theta + reach, atol=1e-9)
    best = np.random.default_rng(3).integers(0, 4, 50)
    v = phi - phi[np.arange(50), best][:, None]
    lengths = np.sqrt(np.maximum(np.einsum("nap,pq,naq->na", v, inverse, v), 0))
    wanted = np.random.default_rng(4).random((50, 4)) < 0.7
    found = functions.deviations(space, model, contexts, Contest(best, wanted, 0.3, 1.7))
    np.testing.assert_allclose(found, np.where(wanted, 0.3 * lengths, 0.0), atol=1e-9)
    expected = np.abs(v @ (theta - model.parameters.ravel()))
    expected += np.sqrt(1.7) * lengths
    np.testing.assert_allclose(functions.widths(space, model, contexts, best), expected, atol=1e-9)


def test_draws_are_the_posterior(problem):
    functions, settings, seen = problem
    data = functions.add(functions.empty(), seen.between(0, 200))
    theta, V, _ = literal_fit(settings, seen.between(0, 200))
    draws = functions.draws(data, noise=0.5, count=20_000, rng=np.random.default_rng(0))
    members = draws.members.parameters.reshape(20_000, -1)
    covariance = 0.25 * np.linalg.inv(V)
    np.testing.assert_allclose(members.mean(axis=0), theta, atol=6 * np.sqrt(np.diag(covariance) / 20_000).max())
    np.testing.assert_allclose(np.cov(members.T), covariance, atol=0.05 * np.diag(covariance).max())
    few = functions.draws(data, noise=0.5, count=3, rng=np.random.default_rng(0))
    values = literal_phi(settings, seen.contexts[:5]) @ few.members.parameters.reshape(3, -1).T
    np.testing.assert_allclose(functions.draw_values(few, seen.contexts[:5]), values.transpose(0, 2, 1), atol=1e-9)


def reference_candidates(phi, theta, V, radius):
    """Arms that win strictly somewhere (a linear program) and whose cone is near enough (NNLS); with their witness."""
    upper = np.linalg.cholesky(V).T
    center = upper @ theta
    points = np.linalg.solve(upper.T, phi.T)
    found = {}
    for a in range(len(phi)):
        G = np.delete(points - points[:, [a]], a, axis=1)
        G = G / np.linalg.norm(G, axis=0)
        d = len(G)
        # max s: G'w + s <= 0, |w_i| <= 1
        room = linprog(
            np.append(np.zeros(d), -1.0),
            A_ub=np.column_stack([G.T, np.ones(G.shape[1])]),
            b_ub=np.zeros(G.shape[1]),
            bounds=[(-1, 1)] * d + [(None, None)],
        )
        if -room.fun < 1e-6:
            continue
        weights, _ = nnls(G, center, maxiter=1000)
        nearest = center - G @ weights
        if np.linalg.norm(G @ weights) <= np.sqrt(radius):
            found[a] = np.linalg.solve(upper, nearest + 1e-6 * room.x[:-1])
    return found


@pytest.mark.parametrize(
    ("n_arms", "d", "radius"), [(5, 2, 0.3), (8, 3, 2.0), (12, 4, 8.0), (12, 4, 60.0), (30, 6, 20.0)]
)
def test_candidates_are_exact(n_arms, d, radius):
    rng = np.random.default_rng(n_arms)
    functions = gb.LinearClass(n_arms=n_arms, dimension=d, ridge=1.0)
    contexts = rng.normal(size=(12, n_arms, d))
    rewards = contexts @ rng.normal(size=d)
    data = functions.add(
        functions.empty(), gb.Observations.from_masks(contexts, rng.random((12, n_arms)) < 0.6, rewards)
    )
    space = functions.version_space(data, radius)
    theta, upper = space.center[0], space.factors[0]
    V = upper.T @ upper
    chosen = functions.candidates(space, contexts)
    ball = rng.normal(size=(4000, d))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    ball[::2] *= rng.random((2000, 1)) ** (1 / d)
    sampled = theta + np.sqrt(radius) * np.linalg.solve(upper, ball.T).T
    for t, phi in enumerate(contexts):
        winners = np.argmax(phi @ sampled.T, axis=0)
        assert chosen[t, winners].all()
        witnesses = reference_candidates(phi, theta, V, radius)
        assert set(np.flatnonzero(chosen[t])) == set(witnesses)
        for a, witness in witnesses.items():
            assert np.argmax(phi @ witness) == a
            assert (witness - theta) @ V @ (witness - theta) <= radius * (1 + 1e-3)


def awkward_features(kind, rng, n_arms, d):
    if kind == "lattice":
        return rng.integers(-2, 3, size=(n_arms, d)).astype(float)
    if kind == "corners":
        return rng.integers(0, 2, size=(n_arms, d)).astype(float)
    if kind == "line":
        return np.outer(rng.normal(size=n_arms), rng.normal(size=d)) + 5 * rng.normal(size=d)
    return 1e4 * rng.normal(size=d) + rng.normal(size=(n_arms, d))


@pytest.mark.parametrize("kind", ["lattice", "corners", "line", "far away"])
def test_candidates_of_awkward_features_are_exact(kind):
    """Arms that repeat, tie, lie on faces of each other's hull, on a line, or close together far from 0."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n_arms, d = int(rng.integers(2, 10)), int(rng.integers(1, 5))
        phi = awkward_features(kind, rng, n_arms, d)
        A = rng.normal(size=(int(rng.integers(1, 3 * d + 1)), d))
        V = A.T @ A + 0.1 * np.eye(d)
        theta, radius = rng.integers(-1, 2, size=d).astype(float), float(10 ** rng.uniform(-2, 3))
        space = Ellipsoid(center=theta[None], factors=np.linalg.cholesky(V).T[None].copy(), radius=radius)
        found = gb.LinearClass(n_arms=n_arms, dimension=d).candidates(space, phi[None])[0]
        first = [a for a in range(n_arms) if not (phi[:a] == phi[a]).all(axis=1).any()]
        expected = {first[a] for a in reference_candidates(phi[first], theta, V, radius)} if len(first) > 1 else {0}
        assert set(np.flatnonzero(found)) == expected | {int(np.argmax(phi @ theta))}


def test_candidates_with_a_parameter_an_arm_are_exact():
    rng = np.random.default_rng(2)
    functions = gb.LinearClass(n_arms=6, dimension=2, parameters="per-arm")
    contexts = rng.normal(size=(40, 2))
    seen = gb.Observations.from_masks(contexts, rng.random((40, 6)) < 0.4, contexts @ rng.normal(size=(2, 6)))
    data = functions.add(functions.empty(), seen)
    for radius in (0.05, 0.5, 3.0):
        space = functions.version_space(data, radius)
        V = np.zeros((12, 12))
        for a in range(6):
            V[2 * a : 2 * a + 2, 2 * a : 2 * a + 2] = space.factors[a].T @ space.factors[a]
        chosen = functions.candidates(space, contexts)
        for t in range(15):
            phi = np.kron(np.eye(6), contexts[t])
            assert set(np.flatnonzero(chosen[t])) == set(reference_candidates(phi, space.center.ravel(), V, radius))


def test_arms_without_features_of_their_own_stay_where_they_are():
    """With zero rows the value is 0 for every theta: of two such arms the first stands for both."""
    functions = gb.LinearClass(n_arms=4, dimension=1, parameters="per-arm")
    context = np.array([[[0.0], [1.0], [0.0], [1.0]]])
    space = Ellipsoid(center=np.array([[0.0], [-1.0], [0.0], [-3.0]]), factors=np.ones((4, 1, 1)), radius=4.0)
    np.testing.assert_array_equal(functions.candidates(space, context), [[True, True, False, False]])
    wider = Ellipsoid(center=space.center, factors=space.factors, radius=9.1)
    np.testing.assert_array_equal(functions.candidates(wider, context), [[True, True, False, True]])


def test_arms_that_only_tie_are_no_candidates():
    """Arms on a line: only its ends can win. Equal arms: the first stands for both, as in a finite class."""
    functions = gb.LinearClass(n_arms=5, dimension=2)
    line = np.array([[[1.0, 0.1], [1.0, 0.2], [1.0, 0.3], [1.0, 0.7], [1.0, 0.7]]])
    for radius in (0.5, 1e4, np.inf):
        space = functions.version_space(functions.empty(), radius)
        np.testing.assert_array_equal(functions.candidates(space, line), [[True, False, False, True, False]])
    assert functions.candidates(space, np.ones((1, 5, 2))).sum() == 1
    offered = np.array([[False, True, True, False, True]])
    np.testing.assert_array_equal(functions.candidates(space, line, offered), [[False, True, False, False, True]])


def test_candidates_at_radius_zero_are_the_best_arms():
    rng = np.random.default_rng(0)
    for parameters in ("shared", "per-arm"):
        functions = gb.LinearClass(n_arms=5, dimension=2, parameters=parameters)
        contexts = rng.normal(size=(30, 5, 2))
        data = functions.add(
            functions.empty(), gb.Observations.from_masks(contexts, np.ones((30, 5), bool), contexts[:, :, 0])
        )
        best = np.argmax(functions.predict(functions.fit(data), contexts), axis=1)
        chosen = functions.candidates(functions.version_space(data, 0.0), contexts)
        np.testing.assert_array_equal(chosen, np.eye(5, dtype=bool)[best])


def test_a_fine_grid_of_functions_agrees():
    """The finite class of a grid over the ellipsoid's box has the same candidates, but for arms that win in slivers."""
    rng = np.random.default_rng(4)
    linear = gb.LinearClass(n_arms=5, dimension=2, ridge=1e-3)
    truth = np.array([0.3, -0.2])
    contexts = rng.normal(size=(60, 5, 2))
    rewards = contexts @ truth + 0.1 * rng.normal(size=(60, 5))
    seen = gb.Observations.from_masks(contexts, rng.random((60, 5)) < 0.3, rewards)
    axis = np.linspace(-0.25, 0.25, 71)
    grid = truth + np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    finite = gb.FiniteClass(lambda x: np.einsum("nad,md->nma", x, grid), n_functions=len(grid), n_arms=5)
    data, losses = linear.add(linear.empty(), seen), finite.add(finite.empty(), seen)
    nearest = np.argmin(((grid - linear.fit(data).parameters) ** 2).sum(axis=1))
    assert np.abs(grid[finite.fit(losses).index] - grid[nearest]).max() <= 0.011
    others = rng.normal(size=(200, 5, 2))
    radius = 0.8
    by_grid = finite.candidates(finite.version_space(losses, radius), others)
    outer = linear.candidates(linear.version_space(data, radius + 0.05), others)
    inner = linear.candidates(linear.version_space(data, radius * 0.7), others)
    assert (by_grid <= outer).all()
    assert (inner & ~by_grid).mean() < 0.003
    lower, upper = linear.bounds(linear.version_space(data, radius), others)
    finite_lower, finite_upper = finite.bounds(finite.version_space(losses, radius), others)
    np.testing.assert_allclose(lower, finite_lower, atol=0.05)
    np.testing.assert_allclose(upper, finite_upper, atol=0.05)


@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
def test_the_truth_stays_in_the_version_space(parameters):
    """In 200 runs of AdaCB.G, which chooses what it sees, at every epoch: at least 1 - delta = 0.9 of them."""
    stayed = 0
    graph = gb.graphs.star(3)
    shape = (3, 2) if parameters == "shared" else (2,)
    blocks = 1 if parameters == "shared" else 3
    functions = gb.LinearClass(n_arms=3, dimension=2, parameters=parameters, ridge=1.0, norm_bound=1.0)
    problem = gb.Problem(n_arms=3, function_class=functions, horizon=64, noise=0.5)
    learner = gb.AdaCBG(delta=0.1)
    graphs = gb.FeedbackGraphs.repeat(graph, 64)
    for run in range(200):
        rng = np.random.default_rng(run)
        theta = rng.normal(size=(blocks, 2))
        theta /= np.linalg.norm(theta, axis=1)[:, None]
        state, held = learner.init(problem), True
        while learner.rounds_until_update(state):
            n = learner.rounds_until_update(state)
            contexts = rng.uniform(-1, 1, size=(n, *shape))
            means = functions.predict(LinearModel(parameters=theta), contexts)
            decisions = learner.decide(state, Shown(contexts, graphs[:n]), rng)
            revealed = np.stack([graph.to_dense()[arm] for arm in decisions.action])
            rewards = means + 0.5 * rng.normal(size=means.shape)
            first = state.rounds
            state = learner.update(state, gb.Observations.from_masks(contexts, revealed, rewards, first_round=first))
            held = held and state.space.contains(theta)
        stayed += held
    assert stayed >= 180


@kernel()
def add_square(factor, vector):
    return factors.add_square(factor, vector)


def test_inner_kernels_refuse_python():
    with pytest.raises(TypeError, match="add_square is an inner kernel; expected a kernel to call it"):
        factors.add_square(np.eye(2), np.ones(2))


def test_cholesky_and_its_updates():
    rng = np.random.default_rng(7)
    for d in (1, 2, 9):
        matrix, factor = 2.0 * np.eye(d), np.empty((d, d))
        factors.cholesky(matrix, 0.0, factor)
        grown = factors.log_determinant(factor)
        for _ in range(30):
            vector = rng.normal(size=d)
            vector[rng.random(d) < 0.2] = 0.0
            matrix += np.outer(vector, vector)
            grown += add_square(factor, vector.copy())
        np.testing.assert_allclose(factor.T @ factor, matrix, rtol=1e-12, atol=1e-12)
        assert np.all(np.tril(factor, -1) == 0)
        whole = np.empty((d, d))
        factors.cholesky(matrix, 0.0, whole)
        np.testing.assert_allclose(factor, whole, rtol=1e-10, atol=1e-12)
        vector = rng.normal(size=d)
        solved = vector.copy()
        factors.solve(factor[None], solved[None])
        np.testing.assert_allclose(matrix @ solved, vector, atol=1e-10)
        assert factors.inverse_trace(np.stack([factor, factor])) == pytest.approx(2.0 * np.linalg.inv(matrix).trace())
        assert factors.log_determinant(factor) == pytest.approx(np.linalg.slogdet(matrix)[1])
        assert grown == pytest.approx(factors.log_determinant(factor))


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e29])
def test_constant_and_collinear_features(scale):
    """V is singular but for the ridge: the fit is that of least norm, and everything stays finite."""
    functions = gb.LinearClass(n_arms=2, dimension=3, parameters="per-arm", ridge=1e-3)
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, size=(50, 1))
    contexts = scale * np.concatenate([x, 2 * x, 3 * x], axis=1)
    seen = gb.Observations.from_masks(contexts, np.ones((50, 2), bool), np.column_stack([x, -x]))
    data = functions.add(functions.empty(), seen)
    model = functions.fit(data)
    np.testing.assert_allclose(functions.predict(model, contexts), np.column_stack([x, -x]), rtol=1e-2)
    space = functions.version_space(data, functions.sharp_radius(data, 0.1, 0.1))
    lower, upper = functions.bounds(space, contexts)
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    assert (lower <= upper).all()
    assert functions.candidates(space, contexts)[:, 0].all()


def test_one_observation():
    functions = gb.LinearClass(n_arms=2, dimension=1, ridge=1.0, norm_bound=1.0)
    seen = gb.Observations.from_masks(np.array([[[2.0], [1.0]]]), np.array([[True, False]]), np.array([[3.0, 0.0]]))
    data = functions.add(functions.empty(), seen)
    assert functions.fit(data).parameters[0, 0] == pytest.approx(6 / 5)
    assert functions.smallest_loss(data) == pytest.approx((2.4 - 3) ** 2)
    empty = functions.empty()
    assert functions.fit(empty).parameters[0, 0] == 0.0
    assert functions.sharp_radius(empty, 0.0, 0.1) == pytest.approx(1.0)


def test_rewards_far_out_of_range():
    functions = gb.LinearClass(n_arms=2, dimension=1, parameters="per-arm", ridge=1.0)
    contexts = np.ones((4, 1))
    seen = gb.Observations.from_masks(contexts, np.ones((4, 2), bool), np.full((4, 2), 1e90))
    data = functions.add(functions.empty(), seen)
    np.testing.assert_allclose(functions.predict(functions.fit(data), contexts), 0.8e90)
    for bad in (np.nan, np.inf, -1e101):
        with pytest.raises(ObservationError, match="expected finite numbers"):
            functions.add(data, gb.Observations.from_masks(contexts, np.ones((4, 2), bool), np.full((4, 2), bad)))


@pytest.mark.parametrize(
    ("settings", "contexts", "message"),
    [
        ({}, np.zeros((2, 3)), r"expected \(4, 3\)"),
        ({}, np.zeros((2, 3, 4)), r"expected \(4, 3\)"),
        ({"arm_features": ARMS}, np.zeros((2, 4, 3)), r"expected \(3,\)"),
        ({"parameters": "per-arm"}, np.zeros((2, 2)), r"expected \(3,\) or \(4, 3\)"),
        ({"parameters": "per-arm"}, np.full((2, 3), np.nan), "nan at"),
        ({"parameters": "per-arm"}, np.full((2, 3), 1e51), "up to 1e\\+30"),
    ],
)
def test_contexts_that_do_not_fit_are_refused(settings, contexts, message):
    functions = gb.LinearClass(n_arms=4, dimension=3, **settings)
    space, model = functions.version_space(functions.empty(), 1.0), functions.fit(functions.empty())
    seen = gb.Observations.from_masks(contexts, np.ones((2, 4), bool), np.zeros((2, 4)))
    for use in (
        lambda: functions.check_contexts(contexts),
        lambda: functions.predict(model, contexts),
        lambda: functions.candidates(space, contexts),
        lambda: functions.bounds(space, contexts),
        lambda: functions.add(functions.empty(), seen),
    ):
        with pytest.raises(InputError, match=message):
            use()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_arms": 0}, "n_arms"),
        ({"dimension": 2.5}, "dimension"),
        ({"parameters": "both"}, "parameters"),
        ({"arm_features": np.zeros((3, 2))}, "arm_features has shape"),
        ({"arm_features": np.full((4, 2), 1e60)}, "arm_features go beyond"),
        ({"arm_features": ARMS, "parameters": "per-arm"}, "parameters='shared'"),
        ({"intercept": 1}, "intercept"),
        ({"ridge": 0.0}, "ridge"),
        ({"norm_bound": np.inf}, "norm_bound"),
        ({"resolution": -1.0}, "resolution"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        gb.LinearClass(**{"n_arms": 4, "dimension": 3, **settings})


def test_values_of_another_class_are_refused():
    functions, other = gb.LinearClass(n_arms=4, dimension=3), gb.LinearClass(n_arms=4, dimension=2)
    contexts = np.zeros((1, 4, 3))
    with pytest.raises(InputError, match="parameters have shape"):
        functions.fit(other.empty())
    with pytest.raises(InputError, match="parameters have shape"):
        functions.predict(other.fit(other.empty()), contexts)
    with pytest.raises(InputError, match="parameters have shape"):
        functions.candidates(other.version_space(other.empty(), 1.0), contexts)
    with pytest.raises(InputError, match="ridge"):
        functions.fit(gb.LinearClass(n_arms=4, dimension=3, ridge=2.0).empty())
    space, model = functions.version_space(functions.empty(), 1.0), functions.fit(functions.empty())
    with pytest.raises(InputError, match="best"):
        functions.widths(space, model, contexts, np.array([4]))
    with pytest.raises(InputError, match="parameters have shape"):
        space.contains(np.zeros((1, 2)))
    with pytest.raises(InputError, match="factors"):
        Ellipsoid(center=np.zeros((1, 2)), factors=np.zeros((1, 3, 3)), radius=1.0)


def test_features_say_what_they_expect():
    assert FeatureMap(n_arms=4, dimension=3, parameters="shared", arm_features=ARMS, intercept=True).size == 12


def test_values_of_a_huge_theta_are_looked_at():
    line = gb.LinearClass(n_arms=2, dimension=1)
    fair, huge = (LinearModel(parameters=np.array([[size]])) for size in (1e60, 1e80))
    assert line.stays_within(fair)
    assert not line.stays_within(huge)
    contexts = np.full((1, 2, 1), 1e30)
    assert predictor_of(line, fair)(contexts).tolist() == [[1e90, 1e90]]
    with pytest.raises(InputError, match=r"predicts 1e\+110 at \[0, 0\]"):
        predictor_of(line, huge)(contexts)
