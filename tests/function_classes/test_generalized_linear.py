"""Generalised linear classes: against SciPy's minimiser, the linear class, and known truths."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import graphbandit as gb
from graphbandit.errors import FitError, InputError, ObservationError, SettingError
from graphbandit.function_classes.base import Contest
from graphbandit.kernels.function_classes.generalized_linear import slope_of

MEANS = {"identity": lambda eta: eta, "logistic": expit, "poisson": np.exp}
PARTITIONS = {
    "identity": lambda eta: eta**2 / 2,
    "logistic": lambda eta: np.logaddexp(0, eta),
    "poisson": np.exp,
}


def problem(link, parameters, seed=0, n=200):
    """A class, its truth, and observations whose noise is the link's own."""
    rng = np.random.default_rng(seed)
    functions = gb.GeneralizedLinearClass(n_arms=3, dimension=2, link=link, parameters=parameters, ridge=0.5)
    contexts = rng.uniform(-1, 1, size=(n, 3, 2) if parameters == "shared" else (n, 2))
    theta = rng.normal(size=(1 if parameters == "shared" else 3, 2))
    theta /= np.maximum(np.linalg.norm(theta, axis=1)[:, None], 1.0)
    eta = contexts @ theta[0] if parameters == "shared" else contexts @ theta.T
    means = MEANS[link](eta)
    noisy = {
        "identity": lambda: means + 0.5 * rng.normal(size=means.shape),
        "logistic": lambda: (rng.random(means.shape) < means).astype(float),
        "poisson": lambda: rng.poisson(means).astype(float),
    }[link]()
    return functions, theta, gb.Observations.from_masks(contexts, rng.random((n, 3)) < 0.5, noisy)


def rows_of(functions, seen):
    """phi in the long parameter of each observation."""
    x = seen.contexts[seen.rows]
    if functions.parameters == "shared":
        return x[np.arange(len(x)), seen.arms]
    phi = np.zeros((len(x), 3, 2))
    phi[np.arange(len(x)), seen.arms] = x
    return phi.reshape(len(x), 6)


CASES = [(link, parameters) for link in MEANS for parameters in ("shared", "per-arm")]


@pytest.mark.parametrize(("link", "parameters"), CASES)
def test_the_fit_maximises_the_penalised_likelihood(link, parameters):
    functions, _, seen = problem(link, parameters)
    phi, y = rows_of(functions, seen), seen.rewards
    found = minimize(
        lambda theta: (PARTITIONS[link](phi @ theta) - y * (phi @ theta)).sum() + 0.25 * theta @ theta,
        np.zeros(phi.shape[1]),
        jac=lambda theta: phi.T @ (MEANS[link](phi @ theta) - y) + 0.5 * theta,
        tol=1e-12,
    )
    data = functions.add(functions.empty(), seen)
    theta = functions.fit(data).parameters.ravel()
    np.testing.assert_allclose(theta, found.x, atol=1e-5)
    score = phi.T @ (MEANS[link](phi @ theta) - y) + 0.5 * theta
    np.testing.assert_allclose(score, 0.0, atol=1e-9)
    slopes = np.array([slope_of(["identity", "logistic", "poisson"].index(link), eta) for eta in phi @ theta])
    H = 0.5 * np.eye(len(theta)) + (phi * slopes[:, None]).T @ phi
    space = functions.version_space(data, 2.0)
    moved = theta + np.random.default_rng(0).normal(size=len(theta))
    wide = type(space)(center=space.center, factors=space.factors, radius=(moved - theta) @ H @ (moved - theta) * 1.001)
    narrow = type(space)(center=space.center, factors=space.factors, radius=wide.radius * 0.998)
    assert wide.contains(moved.reshape(space.center.shape))
    assert not narrow.contains(moved.reshape(space.center.shape))
    values = MEANS[link](phi @ theta)
    assert functions.smallest_loss(data) == pytest.approx(((values - y) ** 2).sum())
    np.testing.assert_allclose(
        functions.predict(functions.fit(data), seen.contexts)[seen.rows, seen.arms], values, atol=1e-12
    )


@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
def test_with_the_identity_it_is_the_linear_class(parameters):
    functions, _, seen = problem("identity", parameters)
    linear = gb.LinearClass(n_arms=3, dimension=2, parameters=parameters, ridge=0.5, norm_bound=1.0)
    data, sums = functions.add(functions.empty(), seen), linear.add(linear.empty(), seen)
    np.testing.assert_allclose(functions.fit(data).parameters, linear.fit(sums).parameters, atol=1e-12)
    radius = linear.sharp_radius(sums, 0.4, 0.1)
    assert functions.sharp_radius(data, 0.4, 0.1) == pytest.approx(radius)
    one, other = functions.version_space(data, radius), linear.version_space(sums, radius)
    contexts = seen.contexts[:50]
    np.testing.assert_array_equal(functions.candidates(one, contexts), linear.candidates(other, contexts))
    for mine, theirs in zip(functions.bounds(one, contexts), linear.bounds(other, contexts), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    best = np.zeros(50, dtype=int)
    np.testing.assert_allclose(
        functions.widths(one, functions.fit(data), contexts, best),
        linear.widths(other, linear.fit(sums), contexts, best),
        atol=1e-9,
    )
    rngs = np.random.default_rng(0), np.random.default_rng(0)
    mine = functions.draws(data, noise=0.3, count=5, rng=rngs[0])
    other = linear.draws(sums, noise=0.3, count=5, rng=rngs[1])
    np.testing.assert_allclose(mine.members.parameters, other.members.parameters, atol=1e-9)


@pytest.mark.parametrize(("link", "parameters"), CASES)
def test_bounds_widths_and_candidates_hold_for_all_of_the_ellipsoid(link, parameters):
    functions, _, seen = problem(link, parameters, n=40)
    data = functions.add(functions.empty(), seen)
    space, model = functions.version_space(data, 1.5), functions.fit(data)
    rng = np.random.default_rng(1)
    contexts = seen.contexts[:20]
    z = rng.normal(size=(3000, *space.center.shape))
    z *= np.sqrt(1.5) / np.sqrt((z**2).sum(axis=(1, 2), keepdims=True))
    members = space.center + np.stack([np.linalg.solve(u, z[:, b].T).T for b, u in enumerate(space.factors)], axis=1)
    values = functions.draw_values(
        gb.function_classes.Draws(
            members=gb.function_classes.LinearDraws(parameters=members, offsets=np.zeros(3000)),
            weights=np.full(3000, 1 / 3000),
        ),
        contexts,
    )
    lower, upper = functions.bounds(space, contexts)
    assert (lower[:, None] <= values + 1e-9).all()
    assert (values <= upper[:, None] + 1e-9).all()
    assert (values.max(axis=1) > upper - 0.5 * (upper - lower)).all()
    candidates = functions.candidates(space, contexts)
    assert candidates[np.arange(20)[:, None], np.argmax(values, axis=2)].all()
    best = rng.integers(0, 3, 20)
    errors = values - functions.predict(model, contexts)[:, None]
    apart = np.abs(errors - np.take_along_axis(errors, best[:, None, None], axis=2)).max(axis=1)
    widths = functions.widths(space, model, contexts, best)
    assert (apart <= widths + 1e-9).all()
    assert widths.mean() < 2.5 * apart.mean()


@pytest.mark.parametrize("factors", [None, [1.0, 2.0, 5.0]])
@pytest.mark.parametrize(("link", "parameters"), CASES)
def test_deviations_are_those_of_small_steps_of_theta(link, parameters, factors):
    """sigma times the deviation of f(best) - f(a) for theta ~ N(thetahat, e^2 H^-1), over a small e.

    Without factors that of theta'phi, times the slope of mu between best and a: c(a) / s(a) is that of theta'phi.
    """
    functions, _, seen = problem(link, parameters, n=60)
    data = functions.add(functions.empty(), seen)
    space, model, contexts = functions.version_space(data, 1.5), functions.fit(data), seen.contexts[:9]
    if factors is not None:
        told = {"n_arms": 3, "dimension": 2, "link": link, "parameters": parameters, "ridge": 0.5}
        functions = gb.GeneralizedLinearClass(**told, factors=factors)
    z = 1e-4 * np.random.default_rng(2).normal(size=(20_000, *space.center.shape))
    members = space.center + np.stack([np.linalg.solve(u, z[:, b].T).T for b, u in enumerate(space.factors)], axis=1)
    drawn = gb.function_classes.LinearDraws(parameters=members, offsets=np.zeros(20_000))
    draws = gb.function_classes.Draws(members=drawn, weights=np.full(20_000, 1 / 20_000))
    best, wanted = np.arange(9) % 3, np.ones((9, 3), dtype=bool)
    slopes = np.ones((9, 3))
    drawing = functions
    if factors is None and link != "identity":
        drawing = gb.LinearClass(n_arms=3, dimension=2, parameters=parameters)
        apart, risen = (f.predict(model, contexts) for f in (drawing, functions))
        apart, risen = (x - np.take_along_axis(x, best[:, None], axis=1) for x in (apart, risen))
        slopes = np.divide(risen, apart, where=apart != 0.0, out=slopes)
    values = drawing.draw_values(draws, contexts)
    expected = slopes * (values - np.take_along_axis(values, best[:, None, None], axis=2)).std(axis=1) / 1e-4
    found = functions.deviations(space, model, contexts, Contest(best, wanted, 0.3, 1.5))
    np.testing.assert_allclose(found, expected * (0.3 if link == "identity" else 1.0), rtol=0.03, atol=1e-9)


@pytest.mark.parametrize("link", ["logistic", "poisson"])
def test_the_truth_stays_in_the_version_space(link):
    """In at least 1 - delta = 0.9 of 200 runs."""
    stayed = 0
    for seed in range(200):
        functions, theta, seen = problem(link, "shared", seed=seed, n=60)
        data = functions.add(functions.empty(), seen)
        radius = functions.sharp_radius(data, 0.5, 0.1)
        stayed += functions.version_space(data, radius).contains(theta)
    assert stayed >= 180


@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
def test_the_radius_is_that_of_its_formula(parameters):
    for link in ("logistic", "poisson"):
        functions, _, seen = problem(link, parameters)
        data = functions.add(functions.empty(), seen)
        phi = rows_of(functions, seen)
        p = phi.shape[1]
        means = MEANS[link](phi @ functions.fit(data).parameters.ravel())
        slopes = means * (1 - means) if link == "logistic" else means
        inverse = np.linalg.inv(0.5 * np.eye(p) + (phi * slopes[:, None]).T @ phi)
        widths = np.sqrt(np.einsum("ni,ij,nj->n", phi, inverse, phi))
        if link == "logistic":
            growth = np.linalg.slogdet(np.eye(p) + phi.T @ phi / 2)[1]
        else:
            growth = -np.linalg.slogdet(inverse * 0.5)[1] + 2 * (means * (np.exp(widths**2 / 2) - 1)).sum()
            growth += 0.5 * np.trace(inverse) - p
        bound = np.log(10) + growth / 2 + 0.25 * (1 if parameters == "shared" else 3)
        bent = widths.max() * bound
        expected = ((bent + np.sqrt(bent**2 + 8 * bound)) / 2) ** 2
        assert functions.sharp_radius(data, 0.5, 0.1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("link", ["logistic", "poisson"])
def test_what_the_radius_is_made_of(link):
    """growth bounds the integral of the likelihood, and the likelihood its quadratic form, both from the right side."""
    functions, _, seen = problem(link, "shared", n=30)
    data = functions.add(functions.empty(), seen)
    phi, y, theta = rows_of(functions, seen), seen.rewards, functions.fit(data).parameters[0]
    upper = functions.version_space(data, 1.0).factors[0]

    def loss(parameters):
        eta = parameters @ phi.T
        return (PARTITIONS[link](eta) - y * eta).sum(axis=-1) + 0.25 * (parameters**2).sum(axis=-1)

    axis = np.linspace(-10, 10, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    with np.errstate(over="ignore"):
        above = loss(grid) - loss(theta)
    integral = np.log(np.exp(-above).sum() * (axis[1] - axis[0]) ** 2 * 0.5 / (2 * np.pi))
    assert -data.fit.growth / 2 <= integral + 1e-6
    assert integral <= -data.fit.growth / 2 + 0.3
    moves = np.random.default_rng(0).normal(size=(2000, 2)) * 2
    squares = ((moves @ upper.T) ** 2).sum(axis=1)
    reach = np.abs(moves @ phi.T).max(axis=1)
    assert (loss(theta + moves) - loss(theta) >= squares / (2 + reach) - 1e-9).all()


def test_laplace_draws():
    functions, _, seen = problem("logistic", "per-arm")
    data = functions.add(functions.empty(), seen)
    space = functions.version_space(data, 1.0)
    draws = functions.draws(data, noise=123.0, count=20_000, rng=np.random.default_rng(0))
    for b in range(3):
        covariance = np.linalg.inv(space.factors[b].T @ space.factors[b])
        np.testing.assert_allclose(np.cov(draws.members.parameters[:, b].T), covariance, atol=0.05 * covariance.max())


@pytest.mark.filterwarnings("ignore:the mean of 60 rewards")
@pytest.mark.parametrize("link", ["logistic", "poisson"])
def test_rewards_that_the_link_cannot_mean(link):
    """Only the mean has to fit the link: noisy, negative and large rewards have a fit, which solves its equation."""
    functions = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link=link, ridge=1.0)
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(30, 2, 2))
    for scale in (1.0, -3.0, 1e6):
        seen = gb.Observations.from_masks(contexts, np.ones((30, 2), bool), scale * rng.random((30, 2)))
        theta = functions.fit(functions.add(functions.empty(), seen)).parameters[0]
        phi = contexts.reshape(60, 2)
        score = phi.T @ (MEANS[link](phi @ theta) - seen.rewards) + theta
        assert np.abs(score).max() < 1e-7 * max(1, abs(scale))


@pytest.mark.parametrize(("link", "mean"), [("logistic", 5.0), ("logistic", -1.0), ("poisson", -5.0)])
def test_a_mean_that_the_link_cannot_have_is_warned_of_once(link, mean):
    functions = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link=link)
    rng = np.random.default_rng(0)
    seen = gb.Observations.from_masks(
        rng.normal(size=(30, 2, 2)), np.ones((30, 2), bool), rng.normal(mean, 0.5, (30, 2))
    )
    data = functions.add(functions.empty(), seen.take(0, 4))  # 8 rewards are too few to say
    with pytest.warns(UserWarning, match=rf"the mean of 22 rewards is .* which no function with the link '{link}' has"):
        data = functions.add(data, seen.take(4, 11))
    functions.add(data, seen.take(11, 30))


def test_clicks_and_counts_with_noise_are_fine():
    rng = np.random.default_rng(0)
    for link in ("logistic", "poisson"):
        functions = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link=link)
        noisy = rng.integers(0, 2, (200, 2)) + rng.normal(0, 2, (200, 2))
        functions.add(
            functions.empty(),
            gb.Observations.from_masks(rng.normal(size=(200, 2, 2)), np.ones((200, 2), bool), noisy),
        )


def test_one_sided_clicks_and_collinear_features():
    """All clicks, features that say the same thing twice: the ridge keeps the fit finite."""
    functions = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link="logistic", parameters="per-arm", ridge=1e-6)
    contexts = np.ones((50, 2))
    seen = gb.Observations.from_masks(contexts, np.ones((50, 2), bool), np.ones((50, 2)))
    data = functions.add(functions.empty(), seen)
    values = functions.predict(functions.fit(data), contexts)
    assert (values > 0.99).all()
    assert np.isfinite(functions.sharp_radius(data, 0.5, 0.1))
    lower, upper = functions.bounds(functions.version_space(data, 1.0), contexts)
    assert (lower <= values).all()
    assert (values <= upper).all()


def test_bad_input_is_refused():
    functions = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link="logistic")
    other = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link="poisson")
    contexts = np.zeros((1, 2, 2))
    with pytest.raises(SettingError, match="link"):
        gb.GeneralizedLinearClass(n_arms=2, dimension=2, link="probit")
    with pytest.raises(SettingError, match="ridge"):
        gb.GeneralizedLinearClass(n_arms=2, dimension=2, link="logistic", ridge=-1)
    with pytest.raises(InputError, match="expected"):
        functions.fit(other.empty())
    unknown = gb.Observations.from_masks(contexts, np.ones((1, 2), bool), np.full((1, 2), np.nan))
    with pytest.raises(ObservationError, match="nan"):
        functions.add(functions.empty(), unknown)
    with pytest.raises(InputError, match=r"each context has shape \(2,\); expected .*parameters='per-arm'"):
        functions.predict(functions.fit(functions.empty()), np.zeros((1, 2)))
    rows, rewards = np.array([[[1.0, 0.5], [0.2, -1.0]]]), np.array([[1e90, -1e90]])
    huge = gb.Observations.from_masks(rows, np.ones((1, 2), bool), rewards)
    with pytest.raises(FitError, match="does not converge"):
        other.fit(other.add(other.empty(), huge))
    draws = functions.draws(functions.empty(), noise=1.0, count=2, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="parameters of shape"):
        gb.GeneralizedLinearClass(n_arms=2, dimension=3, link="logistic").draw_values(draws, np.zeros((1, 2, 3)))


def test_counts_without_bound_stay_finite():
    counts = gb.GeneralizedLinearClass(n_arms=2, dimension=1, link="poisson", parameters="per-arm")
    space, model = counts.version_space(counts.empty(), 1e8), counts.fit(counts.empty())
    lower, upper = counts.bounds(space, np.ones((1, 1)))
    assert (lower >= 0).all()
    assert (upper == 1e100).all()
    assert np.isfinite(counts.widths(space, model, np.ones((1, 1)), np.array([1]))).all()
